"""The input of every report: skills with their findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument


class CheckedSkill(Struct, frozen=True, kw_only=True):
    """One skill and its findings. `path` is its directory as the user wrote it; `name` is None if the skill has none.

    `read` returns the document. It is a callable because most reports need no document, so that a skill with cached
    findings does not have to be read.
    """

    path: str
    name: str | None
    read: Callable[[], SkillDocument]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def document(self) -> SkillDocument:
        """The skill's parsed document; every access calls `read`."""
        return self.read()

    @property
    def valid(self) -> bool:
        """Whether no finding is an error."""
        return all(found.severity is not Severity.ERROR for found in self.diagnostics)


class Tally(Struct, frozen=True, kw_only=True):
    """Number of skills, and of findings by severity."""

    skills: int
    errors: int
    warnings: int
    infos: int

    @classmethod
    def of(cls, skills: Iterable[CheckedSkill]) -> Tally:
        """Count the findings of `skills`."""
        skills = tuple(skills)
        severities = [found.severity for skill in skills for found in skill.diagnostics]
        return cls(
            skills=len(skills),
            errors=severities.count(Severity.ERROR),
            warnings=severities.count(Severity.WARNING),
            infos=severities.count(Severity.INFO),
        )
