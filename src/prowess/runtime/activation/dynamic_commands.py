"""Commands in a body: `` !`git status` `` is replaced by the output of the command.

A Markdown parser finds the commands in the body as the author wrote it. A command is inline code with a single pair of
backticks and a `!` before it, outside fences, comments and longer backticks. A code fence whose info string is `!` is
also one command. Code that only shows the notation is not run, and neither is a placeholder's value that contains it.
Two equal commands run twice.

Commands run in the sandbox without a shell: the value of a placeholder stays within its word, and a command that needs
a shell is refused completely.
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
MAX_OUTPUT = 10_000  # characters of one command's output
COMMAND_SECONDS = 10.0


class DynamicCommand(Struct, frozen=True, kw_only=True):
    """One command: its text, and the range of the whole notation in the body, in code points."""

    text: str
    start: int
    end: int

    def argv(self, values: Values) -> tuple[str, ...] | ShellRefusal:
        """Return the words of the command, or the reason why it needs a shell."""
        placeholders = Placeholders(values)
        return plain_words(self.text, placeholders.pattern, placeholders.value)


def commands(body: str) -> tuple[DynamicCommand, ...]:
    """Return the commands of a body in order; empty if the Markdown parser gives no positions."""
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
    """Return the command. A command of several lines is returned as written, because Markdown joins the lines."""
    written = body[code.start + 1 : code.end - 1]
    return written if "\n" in written or "\r" in written else code.text


def _is_marked(body: str, start: int, end: int) -> bool:
    """Whether inline code has one backtick on each side and follows a `!`, not escaped and not ending a word."""
    marked = start > 0 and body[start - 1] == "!"
    before = body[max(start - 2, 0) : start - 1]
    marked = marked and before != "\\" and not before.isalnum()
    return marked and not body.startswith("``", start) and not body.endswith("``", start, end)


def shown(done: ExecResult) -> str:
    """Return the text that replaces a command: its output, or one line that states how it failed."""
    text = done.stdout.decode("utf-8", "replace").rstrip("\n")
    if done.timed_out:
        return f"[command timed out after {COMMAND_SECONDS:g} s]"
    if done.exit_code != 0:
        wrong = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = f": {wrong[-1][:200]}" if wrong else ""
        return f"[command failed with status {done.exit_code}{reason}]"
    if len(text) > MAX_OUTPUT:
        return f"{text[:MAX_OUTPUT]}\n[output cut at {MAX_OUTPUT} of {len(text)} characters]"
    return text
