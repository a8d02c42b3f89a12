"""Detection of argument placeholders in a body, and of text that only looks like a placeholder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.format.fields.placeholders import NUMBERED, NUMBERED_IN_CLAUDE_CODE
from prowess.lint.subject import blanked

if TYPE_CHECKING:
    from prowess.lint.subject import LintSubject

_LARGEST = 9  # highest argument number that a text is likely to use; a larger number is an amount
_WHOLE = r"\$ARGUMENTS(?![A-Za-z0-9_])"
_FIRST = r"\$ARGUMENTS\[0\]"
_SECOND = r"(?<!\\)\$ARGUMENTS\[1\]"
_NOT_FOR_ARGUMENTS = ("awk", "{print", "sed ", "()")  # signs of code with a `$1` of its own


def declares_arguments(subject: LintSubject) -> bool:
    """Whether the skill declares arguments: by a field, or by `$ARGUMENTS` in the body."""
    keys = {field.key for field in subject.document.fields}
    return not keys.isdisjoint({"arguments", "argument-hint"}) or re.search(_WHOLE, subject.body) is not None


def second_argument(subject: LintSubject) -> re.Match[str] | None:
    """Return the first `$1` or `$ARGUMENTS[1]` if the author seems to count from one; None if index 0 is used too."""
    if "$1" not in subject.body and "$ARGUMENTS[1]" not in subject.body:
        return None
    text = _for_arguments(subject, declared=(declared := declares_arguments(subject)))
    found = {match["number"]: match for match in reversed([*re.finditer(rf"(?<!\\){NUMBERED}", text)])}
    if "0" in found or re.search(_FIRST, text) is not None:
        return None
    if not declared and any(int(number) > _LARGEST for number in found):
        return None
    return found.get("1") or re.search(_SECOND, text)


def dollars_in_prose(subject: LintSubject) -> re.Match[str] | None:
    """Return the first `$N` outside code that would be replaced by mistake, such as the price `$5`."""
    text = _without_blocks(subject)
    replaced = re.finditer(NUMBERED_IN_CLAUDE_CODE, text)
    meant = declares_arguments(subject) or "$0" in text or second_argument(subject) is not None
    places = {match.start() for match in re.finditer(NUMBERED, text)} if meant else set()
    return next((match for match in replaced if match.start() not in places), None)


def _without_blocks(subject: LintSubject) -> str:
    blocks = [(block.start, block.end) for block in subject.outline.blocks]
    return blanked(subject.body, (*blocks, *subject.outline.comments))


def _for_arguments(subject: LintSubject, *, declared: bool) -> str:
    """Return the body with the code that uses `$1` for itself, such as awk, replaced by blanks.

    Offsets stay as they are.

    If the skill declares no arguments, all code blocks are blanked too.
    """
    body, outline = subject.body, subject.outline
    blocks = [(block.start, block.end) for block in outline.blocks]
    code = (*blocks, *((span.start, span.end) for span in outline.spans))
    own = [(start, end) for start, end in code if any(sign in body[start:end] for sign in _NOT_FOR_ARGUMENTS)]
    return blanked(body, (*own, *(() if declared else blocks), *outline.comments))
