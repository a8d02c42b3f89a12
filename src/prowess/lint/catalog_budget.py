"""The rule `catalog.budget`: the size of the names and descriptions of a set of skills.

A host puts the list of skills into every conversation, before any skill is used. Hosts cut a long list: Codex shows at
most about 2 % of the context or 8000 characters. A model never finds a skill that was cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.format.rules.meta import Page, RuleMeta, Severities
from prowess.format.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.format.document import SkillDocument

CATALOG_BUDGET = RuleMeta(
    id="catalog.budget",
    order=66,
    family="catalog",
    severities=Severities(
        spec=Severity.INFO, skillscraft=Severity.INFO, boxxy=Severity.INFO, claude_code=Severity.INFO
    ),
    summary="The listing of a set of skills is not cut.",
    page=Page(
        what="Counts the characters of the names and descriptions of all skills in a folder, and reports more than "
        "8000. Codex lists no more.",
        why="A model never finds a skill that the host cut from its list.",
        example="Forty skills with descriptions of 600 characters",
        instead="Shorten the longest descriptions, or offer fewer skills at once.",
    ),
)
LISTING_CHARACTERS = 8000  # Codex documentation, skills
_LONGEST_NAMED = 3


def listed_characters(document: SkillDocument) -> int:
    """Return the number of characters that a skill adds to a list: its name and its description."""
    return len(document.text_of("name") or "") + len((document.text_of("description") or "").strip())


def catalog_budget(listed: Sequence[int], document_at: Callable[[int], SkillDocument]) -> tuple[int, Diagnostic] | None:
    """Return the index of the skill with the longest entry in the list and a finding, or None if the list is not cut.

    `listed` has the `listed_characters` of each skill. `document_at` returns the document at an index; it is called
    only for the skills that the finding names.
    """
    total = sum(listed)
    if total <= LISTING_CHARACTERS:
        return None
    longest = sorted(range(len(listed)), key=lambda at: (-listed[at], at))
    names = ", ".join(document_at(at).directory_name or "?" for at in longest[:_LONGEST_NAMED])
    cost = count_tokens("x" * total, "characters")
    message = (
        f"names and descriptions of {len(listed)} skills have {total} characters, {cost}; Codex lists at most"
        f" {LISTING_CHARACTERS} characters and cuts the rest. Shorten the longest: {names}"
    )
    first = document_at(longest[0])
    field = first.field("description")
    place = Location(path=first.path) if field is None else field.location
    return longest[0], CATALOG_BUDGET.found(message, place)
