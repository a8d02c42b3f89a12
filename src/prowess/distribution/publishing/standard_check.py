"""The errors of skills by the rules of Prowess, without the settings of a user or project: for servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Severity
from prowess.format.reading import read_document, validate_skill
from prowess.lint.linting import lint_skill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic


def standard_errors(directories: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Return the errors of the skills in these directories. Raises SkillParseError if one cannot be read at all."""
    found: list[Diagnostic] = []
    for directory in directories:
        document = read_document(directory)
        found += [one for one in (*validate_skill(document), *lint_skill(document)) if one.severity is Severity.ERROR]
    return tuple(found)
