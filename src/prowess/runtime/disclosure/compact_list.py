"""The list of skills in 1,024 bytes, whatever their number: the best matches for a task, and how many are left out.

Names of more than some forty skills do not fit into so little, so this is asked for and never the default. What is left
out can still be loaded: a phrase in place of a name is answered with the nearest names. Platform requirements 003,
technical outcomes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.text.shared_words import scores
from prowess.runtime.disclosure import model_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.runtime.disclosure.model_texts import ListedSkill

MOST_BYTES = 1024
_MOST_SHOWN = 8
_READABLE = 60  # characters of a description that still say something
_LEFT_OUT = (
    "{} more are not shown; skills.load with a few words of the task in place of a name names the nearest ones.\n"
)


def compact_list(listed: Sequence[ListedSkill], task: str) -> tuple[str, tuple[ListedSkill, ...], tuple[str, ...]]:
    """Return the section, the skills in it, best first, and the names of those whose descriptions were cut."""
    rated = scores(task, [f"{skill.name} {skill.name} {skill.description}" for skill in listed])
    order = sorted(range(len(listed)), key=lambda place: -rated[place])[:_MOST_SHOWN]
    best = [replace(listed[place], location=None) for place in order]
    shown = next(
        (best[:count] for count in range(len(best), 0, -1) if _fits(best[:count], len(listed), _READABLE)), best[:1]
    )
    limit = model_texts.common_limit(shown, lambda limit: _fits(shown, len(listed), limit))
    if not _fits(shown, len(listed), limit):
        shown = []  # one name alone is longer than all that there is room for
    cut = () if limit is None else tuple(skill.name for skill in shown if len(skill.description) > limit)
    return _section(shown, len(listed), limit), tuple(shown), cut


def _fits(shown: Sequence[ListedSkill], among: int, limit: int | None) -> bool:
    return len(_section(shown, among, limit).encode("utf-8", "replace")) <= MOST_BYTES


def _section(shown: Sequence[ListedSkill], among: int, limit: int | None) -> str:
    items = model_texts.available_skills(shown, limit).removeprefix(model_texts.AVAILABLE).removesuffix(model_texts.END)
    rest = _LEFT_OUT.format(among - len(shown)) if among > len(shown) else ""
    return f"{model_texts.AVAILABLE}{items}{rest}{model_texts.END}"
