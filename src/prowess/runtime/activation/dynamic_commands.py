"""Commands in a body: `` !`git status` `` stands for what the command prints.

Which inline code is a command is told by a Markdown parser, from the body as its author wrote it: a single pair of
backticks with a `!` before it, outside fences, comments and longer backticks, or a block whose fence is followed by `!`
alone, which has one command. So neither code that shows the notation
nor a value that holds it is run, and two equal commands are two commands. A command runs in the sandbox and no shell
reads it: the value of a placeholder stays within its word, and a command that needs a shell is refused whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.markdown import inline_code, outline
from prowess._internal.shell.plain_command import plain_words
from prowess.format.limits import COMMAND_FENCE, may_hold_commands
from prowess.runtime.activation.substitution import Placeholders

if TYPE_CHECKING:
    from prowess._internal.markdown import InlineCode
    from prowess._internal.shell.words import ShellRefusal
    from prowess.execution import ExecResult
    from prowess.runtime.activation.substitution import Values

MAX_COMMANDS = 16
MAX_OUTPUT = 10_000  # characters of one command
COMMAND_SECONDS = 10.0


class DynamicCommand(Struct, frozen=True, kw_only=True):
    """One command: its text between the backticks, and the range of the whole notation in code points."""

    text: str
    start: int
    end: int

    def argv(self, values: Values) -> tuple[str, ...] | ShellRefusal:
        """Return its words, or why it cannot be run without a shell."""
        placeholders = Placeholders(values)
        return plain_words(self.text, placeholders.pattern, placeholders.value)


def commands(body: str) -> tuple[DynamicCommand, ...]:
    """Return the commands of a body in order. Where no parser gives positions, there are none."""
    if not may_hold_commands(body):
        return ()
    if (spans := inline_code(body)) is None:
        return ()
    found = [
        DynamicCommand(text=_text(body, code), start=code.start - 1, end=code.end)
        for code in spans
        if _is_marked(body, code.start, code.end)
    ]
    if COMMAND_FENCE in body:
        found += [
            DynamicCommand(text=_inside(body[block.start : block.end]), start=block.start, end=block.end)
            for block in outline(body).blocks
            if body.startswith(COMMAND_FENCE, block.start) and (block.info or "").strip() == "!"
        ]
    return tuple(sorted(found, key=lambda command: command.start))


def _inside(block: str) -> str:
    """Return the lines between the fences."""
    first, *lines = block.splitlines()
    closed = bool(lines) and lines[-1].strip().strip(first.strip()[0]) == ""
    return "\n".join(lines[:-1] if closed else lines)


def _text(body: str, code: InlineCode) -> str:
    """Return the command as written if it has several lines, which Markdown would join to one."""
    written = body[code.start + 1 : code.end - 1]
    return written if "\n" in written or "\r" in written else code.text


def _is_marked(body: str, start: int, end: int) -> bool:
    """Whether inline code has one backtick on each side, and before it a `!` that ends no word and is not escaped."""
    marked = start > 0 and body[start - 1] == "!"
    before = body[max(start - 2, 0) : start - 1]
    marked = marked and before != "\\" and not before.isalnum()
    return marked and not body.startswith("``", start) and not body.endswith("``", start, end)


def shown(done: ExecResult) -> str:
    """Return what stands in the place of a command: its output, or one line that says how it failed."""
    text = done.stdout.decode("utf-8", "replace").rstrip("\n")
    if done.timed_out:
        return f"[command ended after {COMMAND_SECONDS:g} s]"
    if done.exit_code != 0:
        wrong = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = f": {wrong[-1][:200]}" if wrong else ""
        return f"[command failed with status {done.exit_code}{reason}]"
    if len(text) > MAX_OUTPUT:
        return f"{text[:MAX_OUTPUT]}\n[output cut at {MAX_OUTPUT} of {len(text)} characters]"
    return text
