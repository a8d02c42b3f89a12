"""What a list of skills needs of one skill: no body, no digest, no files.

This module and what it imports at the top stay cheap; `prowess list` reads thousands of skills through it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.diagnostics import Severity
from prowess.format.skill import frontmatter_of
from prowess.format.validation import validate_skill

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument


class Listing(Struct, frozen=True, kw_only=True):
    """One skill as the profile `lenient` lists it.

    `properties` is what `Frontmatter.properties` gives. If `loads` is false the rest is what could be read, and
    `diagnostics` holds an error with the reason.
    """

    name: str
    description: str
    properties: dict[str, object]
    diagnostics: tuple[Diagnostic, ...] = ()
    loads: bool = True

    def __repr__(self) -> str:
        return f"Listing(name={self.name!r}, loads={self.loads!r})"


def listing_from_document(document: SkillDocument, *, name_hint: str = "") -> Listing:
    """Return the listing of a document; `name_hint` names a skill that has neither name nor directory."""
    diagnostics = tuple(validate_skill(document, profile="lenient", references=False))
    frontmatter = frontmatter_of(document, name_hint=name_hint)
    return Listing(
        name=frontmatter.name,
        description=frontmatter.description,
        properties=frontmatter.properties(),
        diagnostics=diagnostics,
        loads=not any(found.severity is Severity.ERROR for found in diagnostics),
    )
