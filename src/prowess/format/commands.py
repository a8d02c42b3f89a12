"""Commands in a body: `` !`git status` `` is replaced by the output of the command when the skill is loaded.

A Markdown parser finds the commands in the body as the author wrote it. A command is inline code with a single pair of
backticks and a `!` before it, outside fences, comments and longer backticks. A code fence whose info string is `!` is
also one command. Code that only shows the notation is no command.
"""

from __future__ import annotations

from msgspec import Struct

from prowess._internal.markdown import InlineCode, inline_code, outline
from prowess.format.limits import COMMAND_FENCE, may_hold_commands


class BodyCommand(Struct, frozen=True, kw_only=True):
    """One command: its text, and the range of the whole notation in the body, in code points."""

    text: str
    start: int
    end: int


def commands(body: str) -> tuple[BodyCommand, ...]:
    """Return the commands of a body in order; empty if the Markdown parser gives no positions."""
    if not may_hold_commands(body):
        return ()
    if (spans := inline_code(body)) is None:
        return ()
    found = [
        BodyCommand(text=_text(body, code), start=code.start - 1, end=code.end)
        for code in spans
        if _is_marked(body, code.start, code.end)
    ]
    if COMMAND_FENCE in body:
        found += [
            BodyCommand(text=_inside(body[block.start : block.end]), start=block.start, end=block.end)
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
