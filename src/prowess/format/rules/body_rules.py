"""The rule on the length of the body: advice in the official text, a limit in the profile `boxxy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Location
from prowess.format.limits import MAX_BODY_LINES
from prowess.format.parsing import finding

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument


def body_findings(document: SkillDocument) -> list[Diagnostic]:
    """Return what is wrong with the body as a whole, at the first line too many."""
    lines = body_lines(document.body)
    if lines <= MAX_BODY_LINES:
        return []
    message = f"the body has {lines} lines, at most {MAX_BODY_LINES} are advised; move detail into references/"
    location = Location(path=document.path, line=document.body_line + MAX_BODY_LINES, column=1)
    return [finding("body.maxLines", message, location)]


def body_lines(body: str) -> int:
    """Count the lines of a body; a final line break adds none."""
    return body.count("\n") + (not body.endswith("\n") and bool(body))
