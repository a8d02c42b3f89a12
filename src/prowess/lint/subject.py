"""What a lint rule may look at: the document, its links, and the names of the skill's files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.format.references import references
from prowess.lint.skill_files import SkillFiles

if TYPE_CHECKING:
    from prowess.format.document import SkillDocument
    from prowess.format.profiles import Profile
    from prowess.format.references import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSubject:
    """One skill under advice, and the profile it is judged by; `files` is None where the document has no directory."""

    document: SkillDocument
    links: tuple[Reference, ...]
    files: SkillFiles | None
    profile: Profile

    @classmethod
    def of(cls, document: SkillDocument, profile: Profile) -> LintSubject:
        """Return the subject of a document; the directory is read when a rule asks for a file."""
        links = tuple(link for link in references(document) if link.leads == "inside")
        files = None if document.directory is None else SkillFiles(document.directory)
        return cls(document=document, links=links, files=files, profile=profile)
