"""Findings as one JSON document. Its keys are a public interface, documented in `docs/reference/command-line.md`."""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from prowess.report.checked import CheckedSkill, Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

_BLANKS = re.compile(r"\s+")
_DIGITS = re.compile(r"[0-9]+")


def check_document(skills: Sequence[CheckedSkill]) -> dict[str, object]:
    """Return `{"summary", "diagnostics", "skills"}` as plain data."""
    return {
        "summary": asdict(Tally.of(skills)),
        "diagnostics": [diagnostic_object(found) for skill in skills for found in skill.diagnostics],
        "skills": [{"path": as_unicode(skill.path), "name": skill.name, "valid": skill.valid} for skill in skills],
    }


def diagnostic_object(found: Diagnostic) -> dict[str, object]:
    """Return one finding as plain data. A finding at a single point has that point as its end."""
    location, fix = found.location, found.fix
    edits = None if fix is None else [asdict(edit) for edit in fix.edits]
    return {
        "rule": found.rule,
        "family": found.family,
        "severity": found.severity.value,
        "message": as_unicode(found.message),
        "path": None if location.path is None else as_unicode(location.path),
        "line": location.line,
        "column": location.column,
        "end_line": location.line if location.end_line is None else location.end_line,
        "end_column": location.column if location.end_column is None else location.end_column,
        "skill": None if found.skill is None else as_unicode(found.skill),
        "detail": found.detail,
        "fix": None if fix is None else {"safety": fix.safety.value, "title": fix.title, "edits": edits},
    }


def as_unicode(text: str) -> str:
    r"""Replace bytes that are not UTF-8 by `\xNN`, as on a terminal: file names may hold such bytes, JSON may not."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") if not text.isascii() else text


def fingerprint(found: Diagnostic, document: SkillDocument) -> str:
    """Return 32 hexadecimal digits that identify a finding even after its line has moved.

    The digest covers the rule, its detail, the file and the text of the line, but neither the line number nor the
    message. If a finding has no range in the document, the message with its numbers masked replaces the line's text.
    """
    location = found.location
    lead = os.path.join(os.path.dirname(document.path or ""), "")
    file = (location.path or "").removeprefix(lead).replace(os.sep, "/")
    if location.path == document.path and location.end_line is not None:
        lines = document.text.split("\n", location.line)
        text = lines[location.line - 1] if location.line <= len(lines) else ""
    else:
        text = _DIGITS.sub("#", found.message)
    parts = (found.rule, found.detail or "", file, _BLANKS.sub(" ", text).strip())
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
