"""The list of skills that a model sees, within a budget.

Every name is listed as long as all names fit. To fit the budget, descriptions are cut to one common length: short ones
stay complete and only long ones are cut. If the names alone exceed the budget, the list has as many skills as fit with
a readable beginning of their descriptions, the preferred ones first, and the number of skills left out. A list never
exceeds its budget, and the result depends only on the candidates and the budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.tools.prompt_escaping import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CUT = "…"
READABLE = 60  # characters; a shorter beginning of a description hardly tells what a skill is for
_FIRST_TRIED = 32  # skills


class ListedSkill(Struct, frozen=True, kw_only=True):
    """A skill in the list for a model. `location` is None if not exposed; `origin` is its server as `mcp:label`."""

    name: str
    description: str
    location: str | None = None
    is_fork: bool = False
    origin: str | None = None


class SkillList(Struct, frozen=True, kw_only=True):
    """The skills in a list, in its order.

    `limit` is the maximum length of a description in characters, None if all are complete. `left_out` is the number of
    skills that the list does not show.
    """

    shown: tuple[ListedSkill, ...] = ()
    limit: int | None = None
    left_out: int = 0

    @property
    def shortened(self) -> tuple[str, ...]:
        """The names of the listed skills whose descriptions are cut."""
        if self.limit is None:
            return ()
        return tuple(skill.name for skill in self.shown if len(one_line(skill.description)) > self.limit)

    @property
    def is_complete(self) -> bool:
        """Whether the list shows every skill with its complete description."""
        return not self.left_out and not self.shortened


class Candidates:
    """The skills that a list may show. Skills that no list shows are never created.

    `count` is their number. `least` is a lower bound for the characters of their names. `every` returns all of them in
    the order of the list. `best` returns the given number of them, or all if there are fewer, the preferred ones first.
    """

    def __init__(
        self,
        count: int,
        least: int,
        every: Callable[[], Sequence[ListedSkill]],
        best: Callable[[int], Sequence[ListedSkill]],
    ) -> None:
        self.count, self.least, self.every, self.best = count, least, every, best

    @classmethod
    def of(cls, skills: Sequence[ListedSkill]) -> Candidates:
        """Return candidates of which the first ones are preferred."""
        return cls(len(skills), sum(len(skill.name) for skill in skills), lambda: skills, lambda most: skills[:most])


def fit(candidates: Candidates, size: Callable[[SkillList], int], room: int | None) -> SkillList:
    """Return the list of greatest size that is at most `room`. `size` is measured as `room` is; None means no limit."""
    if room is None:
        return SkillList(shown=tuple(candidates.every()))
    if candidates.least <= room:
        whole = SkillList(shown=tuple(candidates.every()))
        if size(whole) <= room or size(_with(whole, 0)) <= room:
            return _with_longest(whole, size, room)
    tried = _FIRST_TRIED
    while tried < candidates.count and size(_first(candidates.best(tried), candidates.count, tried, 0)) <= room:
        tried *= 2
    return fit_best(candidates.best(tried), candidates.count, size, room)


def fit_best(best: Sequence[ListedSkill], count: int, size: Callable[[SkillList], int], room: int) -> SkillList:
    """Return a list of the first skills of `best`, out of `count` skills, of a size of at most `room`."""
    for limit in (READABLE, 0):
        most = _most_that_fit(best, count, limit, size, room)
        if most:
            return _with_longest(_first(best, count, most, None), size, room)
    return SkillList(left_out=count)


def _most_that_fit(
    best: Sequence[ListedSkill], count: int, limit: int, size: Callable[[SkillList], int], room: int
) -> int:
    # Checked first: a list of all skills does not tell a number of skills left out, so it may be shorter than others.
    if best and size(_first(best, count, len(best), limit)) <= room:
        return len(best)
    low, high = 0, max(0, len(best) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if size(_first(best, count, middle, limit)) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _first(best: Sequence[ListedSkill], count: int, most: int, limit: int | None) -> SkillList:
    return SkillList(shown=tuple(best[:most]), limit=limit, left_out=count - most)


def text_of(found: SkillList, render: Callable[[SkillList], str], room: int | None) -> str:
    """Return the rendered list. Empty if `room` is too small even for the number of skills left out."""
    text = render(found)
    return text if room is None or found.shown or len(text) <= room else ""


def cut(skill: ListedSkill, limit: int | None) -> str:
    """Return the description on one line, with at most `limit` characters."""
    text = one_line(skill.description)
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + _CUT if limit > 1 else ""


def _with_longest(found: SkillList, size: Callable[[SkillList], int], room: int) -> SkillList:
    """Return the list with the greatest common limit on descriptions that fits; without a limit if none is needed."""
    if size(found) <= room:
        return found
    low, high = 0, max((len(skill.description) for skill in found.shown), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if size(_with(found, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return _with(found, low)


def _with(found: SkillList, limit: int) -> SkillList:
    return SkillList(shown=found.shown, limit=limit, left_out=found.left_out)
