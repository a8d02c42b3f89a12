"""One moment of a catalog: immutable, so that a reader keeps a consistent view while another thread refreshes.

Copies of one name stand in the order of precedence: by layer, then by the order of the sources (nearest or first),
then by path. That is the order in which a scan reaches them, and the first is used. Nothing else counts, so the same
files give the same winners on every run.

A skill that is skipped keeps its names from lower layers. Otherwise a fault in a skill of the machine's owner would
hand its name, and what people take it for, to whoever wrote the project at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.entry import SkillEntry, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.catalog.faults import Notice
    from prowess.diagnostics import Diagnostic


class Skipped:
    """A skill that is not listed: what it may be called, why it is skipped, and the rank of its layer.

    Its names stay its own: lower layers do not get them.
    """

    __slots__ = ("names", "rank", "reason")

    def __init__(self, names: tuple[str, ...], reason: str, rank: int) -> None:
        self.names = names
        self.reason = reason
        self.rank = rank


class CatalogIndex:
    """What one scan of all sources gave; made from its entries in the order of precedence.

    `entries` are the winners and `copies` all entries, both sorted by name, copies of one name by precedence.
    `skipped` and `held_back` say why a name is not among them, `reserved` (by key) that a skipped skill of a higher
    layer keeps its name from copies below. `faults` are the findings about a skill that was read
    in full, by its directory. A file that was last changed before `settled_before`, in nanoseconds, had its
    mark when the scan began.
    """

    __slots__ = (
        "_clashes",
        "_winners",
        "copies",
        "diagnostics",
        "entries",
        "faults",
        "held_back",
        "notices",
        "reserved",
        "settled_before",
        "skipped",
    )

    def __init__(
        self,
        entries: Sequence[SkillEntry],
        *,
        diagnostics: Sequence[Diagnostic] = (),
        faults: Mapping[str, tuple[Diagnostic, ...]] | None = None,
        skipped: Sequence[Skipped] = (),
        held_back: Mapping[str, str] | None = None,
        notices: tuple[Notice, ...] = (),
        settled_before: int = 0,
    ) -> None:
        winners: dict[str, SkillEntry] = {}
        clashes: dict[str, list[SkillEntry]] = {}
        kept, blocked = _reservations(skipped), []
        for entry in entries:
            if kept and _is_blocked(entry, winners, kept):
                blocked.append(entry)
            elif (first := winners.setdefault(key_of(entry.name), entry)) is not entry:
                clashes.setdefault(first.key, [first]).append(entry)
        self._winners = winners
        self._clashes = clashes
        self.entries = tuple(sorted(winners.values(), key=_by_name))
        self.copies = _with_clashes(self.entries, clashes) if clashes else self.entries
        self.diagnostics = tuple(diagnostics)
        self.reserved: dict[str, str] = {}
        if clashes or blocked:
            # Imported here: in most catalogs each name has one copy, and nothing is skipped.
            from prowess.catalog.resolution import blocked_errors, shadow_warnings

            self.reserved, found = blocked_errors(blocked, {key: one.reason for key, one in kept.items()})
            self.diagnostics = (*self.diagnostics, *shadow_warnings(clashes), *found)
        self.faults = faults or {}
        self.skipped = tuple(skipped)
        self.held_back = held_back or {}
        self.notices = notices
        self.settled_before = settled_before

    def winner(self, key: str) -> SkillEntry | None:
        """Return the entry that answers to the bare name."""
        return self._winners.get(key)

    def copies_of(self, key: str) -> list[SkillEntry]:
        """Return every copy of a name in the order of precedence."""
        winner = self._winners.get(key)
        return self._clashes.get(key, [winner]) if winner is not None else []

    def differs_from(self, other: CatalogIndex) -> bool:
        """Whether a reader could tell the two apart. Unchanged entries are the same objects."""
        return (
            len(self.copies) != len(other.copies)
            or any(mine is not theirs for mine, theirs in zip(self.copies, other.copies, strict=True))
            or self.diagnostics != other.diagnostics
            or self.notices != other.notices
        )


def _reservations(skipped: Sequence[Skipped]) -> dict[str, Skipped]:
    """Return key -> the skipped skill of the highest layer with that name."""
    kept: dict[str, Skipped] = {}
    for one in skipped:
        for name in one.names:
            if kept.setdefault(key_of(name), one).rank > one.rank:
                kept[key_of(name)] = one
    return kept


def _is_blocked(entry: SkillEntry, winners: Mapping[str, SkillEntry], kept: Mapping[str, Skipped]) -> bool:
    """Whether a skipped skill of a higher layer keeps the name, and no copy of its own layer or above has it."""
    holder = kept.get(entry.key)
    return holder is not None and entry.layer.rank > holder.rank and entry.key not in winners


def _by_name(entry: SkillEntry) -> str:
    return entry.name


def _with_clashes(entries: tuple[SkillEntry, ...], clashes: Mapping[str, list[SkillEntry]]) -> tuple[SkillEntry, ...]:
    return tuple(copy for entry in entries for copy in clashes.get(entry.key, (entry,)))
