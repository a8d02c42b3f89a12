"""The rule `catalog.overlap`: two skills of a set that compete for the same tasks.

The pairs are found by `prowess.catalog.matching.overlap`; this module has the declaration and the message. The rule
reads every description of the set again, so it runs only if it is selected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.diagnostics import Location
from prowess.format.rules.meta import Page, RuleMeta, Severities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument

CATALOG_OVERLAP = RuleMeta(
    id="catalog.overlap",
    order=67,
    family="catalog",
    severities=Severities(),
    summary="No two skills have nearly the same description.",
    page=Page(
        what="Compares the descriptions of all skills in a folder, by the words that few of them have, and reports "
        "each pair that shares most of them. It runs only if it is selected: `--select catalog`.",
        why="A task finds both skills, and a model picks one of them by chance.",
        example='"Fill in PDF forms from a table" and "Fill in the forms of a PDF from a table or by hand"',
        instead="Merge the skills, or state in each description which tasks are for the other one.",
    ),
)
_MOST_WORDS = 6


def overlap_finding(document: SkillDocument, name: str, other: str, words: Sequence[str]) -> Diagnostic:
    """Return the finding on a skill whose description has mostly the words of the `other` skill, named at `words`."""
    shown = ", ".join(words[:_MOST_WORDS])
    more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    message = (
        f"{name} competes with {other}: both descriptions have the words {shown}{more}. Merge the skills, or state in "
        f"each description which tasks are for the other one"
    )
    field = document.field("description")
    place = Location(path=document.path) if field is None else field.location
    return CATALOG_OVERLAP.found(message, place)
