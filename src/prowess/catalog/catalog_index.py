"""`CatalogIndex`: an immutable snapshot of a catalog, made from one scan of all sources.

Readers keep a consistent view while another thread refreshes. Copies of one name are in the order of precedence: by
layer, in a layer by the field `priority` (the highest first), then by the order of the sources, then by path. The first
copy is used. So equal files give equal winners on every run.

The names of a copy that is left out are reserved: lower layers cannot use them. Otherwise, if an administrator's skill
had a fault or were hidden from this audience, a project's skill could take over its name, and users would mistake it
for the administrator's.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from prowess._internal.text.qualified_names import qualified_forms, version_form
from prowess.catalog.deferred_findings import DeferredFindings
from prowess.catalog.entry import key_of
from prowess.catalog.layers import DEFAULT_RANKS, Layer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.faults import Notice
    from prowess.catalog.resolution import Resolution
    from prowess.catalog.viewing.left_out import LeftOut
    from prowess.diagnostics import Diagnostic


class CatalogIndex:
    """The result of one scan of all sources.

    The argument `entries` must be in the order of the scan: by layer, then by source, then by path. The attribute
    `entries` has only the winners, `copies` has all entries. Both are sorted by name, and copies of one name by
    precedence. `skipped`, `held_back` and `hidden` are the copies that are not listed: faulty ones, those whose source
    is not trusted, and those that this audience does not see. `reserved` maps a key to the reason why copies of lower
    layers are blocked by a skipped skill. `problems` has the findings on skills that are not listed or not in use,
    `diagnostics` has all findings. `ranks` is the rank of each layer.
    """

    __slots__ = (
        "_blocked",
        "_clashes",
        "_diagnostics",
        "_found",
        "_has_patterns",
        "_left_out",
        "_winners",
        "copies",
        "entries",
        "held_back",
        "hidden",
        "notices",
        "ranks",
        "reserved",
        "skipped",
    )

    def __init__(
        self,
        entries: Sequence[SkillEntry],
        *,
        ranks: Mapping[Layer, int] = DEFAULT_RANKS,
        diagnostics: Sequence[Diagnostic | DeferredFindings] = (),
        skipped: Sequence[LeftOut] = (),
        held_back: Sequence[LeftOut] = (),
        hidden: Sequence[LeftOut] = (),
        notices: tuple[Notice, ...] = (),
        has_patterns: bool = False,
    ) -> None:
        self.ranks = ranks
        self._has_patterns = has_patterns
        self.skipped = tuple(skipped)
        self.held_back = tuple(held_back)
        self.hidden = tuple(hidden)
        self._left_out: dict[str, list[LeftOut]] | None = None
        winners: dict[str, SkillEntry] = {}
        clashes: dict[str, list[SkillEntry]] = {}
        holders = self._reservations() if skipped or hidden else {}
        blocked: dict[str, list[SkillEntry]] = {}
        add = winners.setdefault
        for entry in entries:
            if holders and self._is_blocked(entry, winners, holders):
                blocked.setdefault(entry.key, []).append(entry)
            elif (first := add(key_of(entry.reading.name), entry)) is not entry:
                clashes.setdefault(first.key, [first]).append(entry)
        for key, group in clashes.items():
            group.sort(key=self._precedence)  # stable: the order of the scan decides what is left
            winners[key] = group[0]
        self._winners = winners
        self._clashes = clashes
        self._blocked = {key: (holders[key], group) for key, group in blocked.items()}
        self.entries = tuple(sorted(winners.values(), key=attrgetter("reading.name")))
        self.copies = _with_clashes(self.entries, clashes) if clashes else self.entries
        self._found = tuple(diagnostics)
        self._diagnostics: tuple[Diagnostic, ...] | None = None
        self.reserved: dict[str, str] = {}
        unusual = [entry for entry in self.copies if entry.hides_something]
        if clashes or blocked or unusual:
            # Imported here: in most catalogs each name has one copy, no skill is skipped, and no description has hidden
            # text.
            from prowess.catalog.resolution import blocked_errors, hidden_text_warnings, shadow_warnings

            # A name that a hidden copy reserves is not reported: the finding would reveal the copy.
            told = {key: pair for key, pair in self._blocked.items() if pair[0].state == "skipped"}
            self.reserved, found = blocked_errors(told)
            shadowed = shadow_warnings(clashes)
            self._found = (*self._found, *shadowed, *found, *hidden_text_warnings(unusual))
        self.notices = notices

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every finding, in the order of the scan. Deferred findings are computed on first use."""
        if self._diagnostics is None:
            self._diagnostics = tuple(
                found for one in self._found for found in (one.found() if isinstance(one, DeferredFindings) else (one,))
            )
        return self._diagnostics

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """The errors and the findings of the catalog, without the warnings about the files of listed skills."""
        return tuple(one for one in self._found if not isinstance(one, DeferredFindings) and _is_problem(one))

    @property
    def warned_files(self) -> int:
        """The number of files of listed skills with warnings. Most deferred findings are counted without parsing."""
        files: set[str | None] = set()
        for one in self._found:
            if isinstance(one, DeferredFindings):
                files |= one.files()
            elif one.severity == "warning" and not _is_problem(one):
                files.add(one.location.path)
        return len(files)

    def winner(self, key: str) -> SkillEntry | None:
        """Return the entry in use for a key, or None."""
        return self._winners.get(key)

    def named(self, name: str, location: str | None = None) -> SkillEntry | None:
        """Return the entry that `name` refers to, or None.

        That is the copy of a plugin as `name@plugin` or `plugin/name`, else the winner. A skill with such a name in its
        front matter cannot take the place of a plugin's copy. `name@VERSION` is the winner or a plugin's copy with this
        version, the first one by precedence. With `location`, return the listed copy there.
        """
        if location is not None:
            copies = self.copies_of(self.key_named(name))
            return next((copy for copy in copies if location in _places(copy)), None)
        for bare, label in qualified_forms(name) if "@" in name or "/" in name else ():
            for copy in self.copies_of(key_of(bare)):
                if copy.layer is Layer.PLUGIN and label in copy.labels:
                    return copy
        if "@" in name and (asked := version_form(name)) is not None:
            return next((copy for copy in self._versioned(asked[0]) if asked[1] in copy.versions), None)
        # Most names are already in normal form, so the lookup without normalisation comes first.
        return self._winners.get(name) or self._winners.get(key_of(name))

    def _versioned(self, name: str) -> list[SkillEntry]:
        """Return the copies that a version may mean: not those that a higher layer replaced."""
        copies = self.copies_of(key_of(name))
        return [*copies[:1], *(copy for copy in copies[1:] if copy.layer is Layer.PLUGIN)]

    def copies_of(self, key: str) -> list[SkillEntry]:
        """Return every copy of a name in the order of precedence; empty if there is none."""
        winner = self._winners.get(key)
        return self._clashes.get(key, [winner]) if winner is not None else []

    def left_out_of(self, key: str) -> list[LeftOut]:
        """Return the copies of a name that are not listed: skipped ones, then held-back ones, then hidden ones."""
        if self._left_out is None:
            self._left_out = {}
            for one in (*self.skipped, *self.held_back, *self.hidden):
                for name in dict.fromkeys(map(key_of, one.names)):
                    self._left_out.setdefault(name, []).append(one)
        return self._left_out.get(key, [])

    def left_out_as(self, name: str) -> list[LeftOut]:
        """Return the copies that are not listed and that `name`, plain or qualified, refers to."""
        found: list[LeftOut] = []
        for bare, label in qualified_forms(name):
            found += [one for one in self.left_out_of(key_of(bare)) if one.source == label]
        asked = version_form(name)
        return found or self.left_out_of(key_of(name if asked is None else asked[0]))

    def why_missing(self, name: str, location: str | None = None) -> str | None:
        """Return why a name, or its copy at `location`, is not listed; None if that is unknown or must not be told."""
        if location is not None and self.named(name) is not None:
            return f"no copy of it is listed at {location}"
        if (reserved := self.reserved.get(key_of(name))) is not None:
            return reserved
        if (asked := version_form(name)) is not None and (copies := self._versioned(asked[0])):
            found = ", ".join(dict.fromkeys(version for copy in copies for version in copy.versions))
            there = f"there is {found}" if found else "none has a version"
            return f"no copy of {asked[0]!r} has the version {asked[1]}; {there}"
        left_out = sorted(self.left_out_as(name), key=lambda one: one.state != "held_back")
        return next((one.why_missing for one in left_out if one.is_told), None)

    def has_copy(self, name: str) -> bool:
        """Whether a plugin or package has the copy `name`, written in a qualified form, that may be mentioned."""
        for bare, label in qualified_forms(name):
            copies = self.copies_of(key_of(bare))
            if any(one.layer is Layer.PLUGIN and label in one.labels for one in copies):
                return True
            if any(one.is_told and one.source == label for one in self.left_out_of(key_of(bare))):
                return True
        return False

    def key_named(self, name: str) -> str:
        """Return the key that `name` refers to: of a qualified name with a known copy, the key of its plain name."""
        for bare, label in qualified_forms(name):
            key = key_of(bare)
            labels = {label for one in self.copies_of(key) for label in one.labels}
            if label in labels | {one.source for one in self.left_out_of(key)}:
                return key
        asked = version_form(name)
        return key_of(name if asked is None else asked[0])

    def explained(self, key: str) -> Resolution | None:
        """Return every copy of a name with its state, or None if no copy is known."""
        from prowess.catalog.resolution import resolve  # Imported here: a listing does not need it.

        copies, left_out = self.copies_of(key), self.left_out_of(key)
        if not copies and not left_out:
            return None
        return resolve(copies, left_out=left_out, blocked=self._blocked.get(key), ranks=self.ranks)

    @property
    def is_for_everyone(self) -> bool:
        """Whether every catalog of these sources shows these skills: no copy is hidden, held back or has a scope."""
        return not (self._has_patterns or self.held_back or self.depends_on_audience())

    def depends_on_audience(self) -> bool:
        """Whether another audience may see other copies."""
        return bool(self.hidden) or any(entry.has_scope for entry in self.copies)

    def differs_from(self, other: CatalogIndex) -> bool:
        """Whether the two indexes differ. Unchanged entries are the same objects in both."""
        return (
            len(self.copies) != len(other.copies)
            or any(mine is not theirs for mine, theirs in zip(self.copies, other.copies, strict=True))
            or self._found != other._found
            or self.notices != other.notices
        )

    def _precedence(self, entry: SkillEntry) -> tuple[int, int]:
        return self.ranks[entry.layer], -entry.priority

    def _reservations(self) -> dict[str, LeftOut]:
        """Return, for each key, the copy of the highest layer that is left out; a skipped one before a hidden one."""
        holders: dict[str, LeftOut] = {}
        for one in (*self.skipped, *self.hidden):
            for key in map(key_of, one.names):
                if self.ranks[holders.setdefault(key, one).layer] > self.ranks[one.layer]:
                    holders[key] = one
        return holders

    def _is_blocked(self, entry: SkillEntry, winners: Mapping[str, SkillEntry], holders: Mapping[str, LeftOut]) -> bool:
        """Whether a copy of a higher layer reserves the name of `entry`, and no listed copy above it has the name."""
        holder = holders.get(entry.key)
        if holder is None or entry.key in winners:
            return False
        return self.ranks[entry.layer] > self.ranks[holder.layer]


def _is_problem(found: Diagnostic) -> bool:
    return found.severity == "error" or found.family == "catalog"


def _with_clashes(entries: tuple[SkillEntry, ...], clashes: Mapping[str, list[SkillEntry]]) -> tuple[SkillEntry, ...]:
    return tuple(copy for entry in entries for copy in clashes.get(entry.key, (entry,)))


def _places(entry: SkillEntry) -> list[str]:
    """Return the paths of a skill's directory and of its file."""
    file, places = entry.location.rpartition("/")[2], (entry.root_dir, *entry.aliases)
    return [*places, *(f"{place}/{file}" for place in places)]
