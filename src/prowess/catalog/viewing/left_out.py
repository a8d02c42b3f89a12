"""`LeftOut`: a copy of a skill that the catalog knows and does not list, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from prowess.catalog.entry import locked_source
from prowess.catalog.layers import Layer

if TYPE_CHECKING:
    from prowess.catalog.entry import EntrySource, SkillEntry

    OutState = Literal["skipped", "held_back", "out_of_scope", "disabled"]


class HeldPackage:
    """An installed package whose skills are held back.

    `shown` are its name and version. `reason` is why, unless it is only not trusted yet; `trustable` is whether
    `prowess trust --package` can trust it.
    """

    __slots__ = ("copies", "reason", "shown", "trustable")

    def __init__(self, shown: str, reason: str | None, copies: list[LeftOut], *, trustable: bool) -> None:
        self.shown, self.reason = shown, reason
        self.copies, self.trustable = copies, trustable


class LeftOut:
    """A copy of a skill that is not listed, and why.

    `names` are the names that it reserves. `rule` is the id of the finding or of the rule that decided. `reason` is the
    message of the finding if the copy is skipped, else it completes the sentence "it is ...". `place` is the location,
    with line and column if the finding has them. `advice` states what to do, if that is known. `entry` is None if the
    skill could not be read. `locked` is the lock that names the copy, or None. If `is_told` is false, only
    `Catalog.why` may mention the copy.
    """

    __slots__ = (
        "advice",
        "entry",
        "is_told",
        "layer",
        "location",
        "locked",
        "names",
        "origin",
        "place",
        "project",
        "reason",
        "rule",
        "source",
        "state",
    )

    def __init__(
        self,
        names: tuple[str, ...],
        *,
        state: OutState = "skipped",
        rule: str,
        reason: str,
        location: str,
        source: EntrySource | None,
        entry: SkillEntry | None = None,
        advice: str | None = None,
        place: str | None = None,
    ) -> None:
        self.names = names
        self.state = state
        self.rule = rule
        self.reason = reason
        self.advice = advice
        self.location = location
        self.place = place or location
        self.entry = entry
        self.is_told = state in {"skipped", "held_back"}
        self.layer = Layer.PLUGIN if source is None else source.layer
        self.source = location if source is None else source.label
        self.origin: str | None = getattr(source, "origin", None)
        self.project: str | None = getattr(source, "project", None)
        self.locked = locked_source(source)

    @classmethod
    def of_entry(cls, entry: SkillEntry, state: OutState, rule: str, reason: str, advice: str | None = None) -> LeftOut:
        """Return the record of a copy that was read, but is not listed."""
        left_out = cls(
            (entry.name,), state=state, rule=rule, reason=reason, location=entry.location, source=None, entry=entry
        )
        left_out.layer, left_out.source = entry.layer, entry.source
        left_out.origin, left_out.project = entry.origin, entry.project
        left_out.locked = entry.locked
        left_out.advice = advice
        return left_out

    @classmethod
    def held_back(cls, entry: SkillEntry, project: str) -> LeftOut:
        """Return the record of a copy whose project is not trusted."""
        reason = f"held back because its project {project} is not trusted"
        return cls.of_entry(entry, "held_back", "catalog.trust", reason, f"prowess trust {project}")

    def __repr__(self) -> str:
        return f"<LeftOut {self.names} {self.state} {self.rule} {self.location!r}>"

    @property
    def why_missing(self) -> str:
        """Why a request for the name finds no skill, for the error message."""
        if self.state == "skipped":
            return f"{self.place}: {self.reason} ({self.rule})"
        return f"it is {self.reason}" if self.advice is None else f"it is {self.reason}; to trust it: {self.advice}"
