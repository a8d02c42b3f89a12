"""`CatalogIndex`: an immutable snapshot of a catalog, made from one scan of all sources.

Readers keep a consistent view while another thread refreshes. Copies of one name are in the order of precedence: by
layer, then by the order of the sources, then by path. A scan reaches the copies in this order, and the first copy is
used. So equal files give equal winners on every run.

The names of a skipped skill are reserved: lower layers cannot use them. Otherwise, if an administrator's skill had a
fault, a project's skill could take over its name, and users would mistake it for the administrator's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.entry import key_of
from prowess.catalog.layers import Layer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.faults import Notice
    from prowess.diagnostics import Diagnostic


class Skipped:
    """A skill that is not listed: its reserved names, the reason, and the rank of its layer."""

    __slots__ = ("names", "rank", "reason")

    def __init__(self, names: tuple[str, ...], reason: str, rank: int) -> None:
        self.names = names
        self.reason = reason
        self.rank = rank


class CatalogIndex:
    """The result of one scan of all sources.

    The argument `entries` must be in the order of precedence. The attribute `entries` has only the winners, `copies`
    has all entries. Both are sorted by name, and copies of one name by precedence. `skipped`, `held_back` and
    `out_of_scope` contain the reasons why a name is not listed. `reserved` maps a key to the reason why copies of lower
    layers are blocked by a skipped skill. `faults` maps the directory of each skill that was read in full to its
    findings. If the last change of a file is before `settled_before` (nanoseconds), the file has not changed since the
    scan began.
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
        "out_of_scope",
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
        out_of_scope: Mapping[str, str] | None = None,
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
        hiding = [entry for entry in self.copies if entry.hides_something]
        if clashes or blocked or hiding:
            # Imported here: in most catalogs each name has one copy, no skill is skipped, and no description has hidden
            # text.
            from prowess.catalog.resolution import blocked_errors, hidden_text_warnings, shadow_warnings

            self.reserved, found = blocked_errors(blocked, {key: one.reason for key, one in kept.items()})
            self.diagnostics = (*self.diagnostics, *shadow_warnings(clashes), *found, *hidden_text_warnings(hiding))
        self.faults = faults or {}
        self.skipped = tuple(skipped)
        self.held_back = held_back or {}
        self.out_of_scope = out_of_scope or {}
        self.notices = notices
        self.settled_before = settled_before

    def winner(self, key: str) -> SkillEntry | None:
        """Return the entry in use for a key, or None."""
        return self._winners.get(key)

    def named(self, name: str) -> SkillEntry | None:
        """Return the entry that `name` refers to: the winner, or the copy of a plugin as `name@plugin`; or None."""
        # Most names are already in normal form, so the lookup without normalisation comes first.
        entry = self._winners.get(name) or self._winners.get(key_of(name))
        if entry is not None:
            return entry
        bare, at, label = name.rpartition("@")
        copies = self.copies_of(key_of(bare)) if at else []
        return next((copy for copy in copies if copy.layer is Layer.PLUGIN and copy.source == label), None)

    def copies_of(self, key: str) -> list[SkillEntry]:
        """Return every copy of a name in the order of precedence; empty if there is none."""
        winner = self._winners.get(key)
        return self._clashes.get(key, [winner]) if winner is not None else []

    def differs_from(self, other: CatalogIndex) -> bool:
        """Whether the two indexes differ. Unchanged entries are the same objects in both."""
        return (
            len(self.copies) != len(other.copies)
            or any(mine is not theirs for mine, theirs in zip(self.copies, other.copies, strict=True))
            or self.diagnostics != other.diagnostics
            or self.notices != other.notices
        )


def _reservations(skipped: Sequence[Skipped]) -> dict[str, Skipped]:
    """Return, for each key, the skipped skill of the highest layer with that name."""
    kept: dict[str, Skipped] = {}
    for one in skipped:
        for name in one.names:
            if kept.setdefault(key_of(name), one).rank > one.rank:
                kept[key_of(name)] = one
    return kept


def _is_blocked(entry: SkillEntry, winners: Mapping[str, SkillEntry], kept: Mapping[str, Skipped]) -> bool:
    """Whether a skipped skill of a higher layer reserves the name of `entry`, and the name has no winner above it."""
    holder = kept.get(entry.key)
    return holder is not None and entry.layer.rank > holder.rank and entry.key not in winners


def _by_name(entry: SkillEntry) -> str:
    return entry.name


def _with_clashes(entries: tuple[SkillEntry, ...], clashes: Mapping[str, list[SkillEntry]]) -> tuple[SkillEntry, ...]:
    return tuple(copy for entry in entries for copy in clashes.get(entry.key, (entry,)))
