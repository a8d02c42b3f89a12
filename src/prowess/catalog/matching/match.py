"""`Match` and `Reason`, the results of matching, and the protocol `Matcher`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection

    from prowess.catalog.entry import SkillEntry

MatchedField = Literal["name", "tags", "when_to_use", "description", "body"]


class Reason(Struct, frozen=True, kw_only=True):
    """A word of the task that a skill has, as written in the task, and the most important field that has it."""

    word: str
    field: MatchedField


class Match(Struct, frozen=True, kw_only=True):
    """A skill that fits a task.

    `score` is above 0 and at most 1, and means the same for every task and catalog: 1 if the task names the skill as
    `/name` or `$name`, else an estimate of how well the skill's words cover those of the task. `reasons` are in the
    order of the task.
    """

    entry: SkillEntry
    score: float
    reasons: tuple[Reason, ...]

    @property
    def name(self) -> str:
        """The skill's name."""
        return self.entry.name

    @property
    def location(self) -> str:
        """The absolute path of its SKILL.md."""
        return self.entry.location


class Matcher(Protocol):
    """Ranks skills for a task. `Catalog` is one; a host may combine it with a ranking of its own, as by vectors."""

    def match(
        self, task: str, limit: int = 5, *, bodies: bool = False, among: Collection[SkillEntry] | None = None
    ) -> tuple[Match, ...]:
        """Return at most `limit` matches, best first."""
        ...
