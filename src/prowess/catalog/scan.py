"""The scan of the sources, and the index that is made from it.

The scan collects entries by real path, and a reason for every skill that is not listed. Sources are scanned from the
highest layer down. A directory belongs to the source that reaches it first; a second path to it becomes an alias of the
entry.

An index is an immutable snapshot of a catalog: readers keep a consistent view while another thread refreshes. Copies of
one name are in the order of precedence: by layer, then by the order of the sources, then by path. A scan reaches the
copies in this order, and the first copy is used. So equal files give equal winners on every run.

The names of a skipped skill are reserved: lower layers cannot use them. Otherwise, if an administrator's skill had a
fault, a project's skill could take over its name, and users would mistake it for the administrator's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.files.file_mark import last_change
from prowess.catalog.entry import SkillEntry, key_of
from prowess.format.source.plain_front_matter import read_plain_skill

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from prowess.catalog.entry import EntrySource
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


HEAD_BYTES = 4096  # Bytes read of each SKILL.md. Among some 800 public skills, every front matter ends within 4 KiB.


class Scan:
    """Collects entries and findings. Unchanged entries are taken from `previous`, the last index."""

    def __init__(self, previous: CatalogIndex | None = None) -> None:
        self.entries: dict[str, SkillEntry] = {}
        self.faults: dict[str, tuple[Diagnostic, ...]] = {}
        self.skipped: list[Skipped] = []
        self.diagnostics: list[Diagnostic] = []
        self._previous = previous
        self._before = {} if previous is None else {entry.root_dir: entry for entry in previous.copies}
        self._aliases: dict[str, list[str]] = {}
        self._rank = 0

    def begin(self, source: EntrySource) -> None:
        """Set the source of the skills that are added next."""
        self._rank = source.layer.rank

    def report(self, rule: str, path: str, message: str, *, skill: str | None = None) -> None:
        """Add a finding of the catalog."""
        # Imported here: a scan without findings does not need the modules behind them.
        from prowess.catalog.faults import fault

        self.diagnostics.append(fault(rule, path, message, skill=skill))

    def skip(self, directory: str, file: str, rule: str, message: str) -> None:
        """Report the skill in `directory` as not listed, and reserve its name."""
        name = directory.rpartition("/")[2]
        path = f"{directory}/{file}" if file else directory
        self.report(rule, path, message, skill=name)
        self.reserve((name,), f"{path}: {message} ({rule})")

    def reserve(self, names: tuple[str, ...], reason: str) -> None:
        """Reserve names without a finding: lower layers cannot use them. `reason` is why they are not listed."""
        self.skipped.append(Skipped(names, reason, self._rank))

    def reserve_all(self, other: Scan, reason: str) -> None:
        """Reserve every name that `other`, a scan of the directory, found or skipped."""
        names = {entry.name: None for entry in other.entries.values()}
        names.update((path.rpartition("/")[2], None) for path in other.entries)
        names.update((name, None) for skipped in other.skipped for name in skipped.names)
        if names:
            self.reserve(tuple(names), reason)

    def reached(self, directory: str, path: str) -> bool:
        """Whether the skill in the real `directory` is already listed. If so, `path` becomes an alias of its entry."""
        if directory not in self.entries:
            return False
        aliases = self._aliases.setdefault(directory, [])
        if path != directory and path not in aliases:
            aliases.append(path)
        return True

    def found(  # noqa: PLR0917 -- called once per skill; keywords cost a tenth of the time
        self, directory: str, path: str, source: EntrySource, relative: str, stat: os.stat_result, head: bytes
    ) -> None:
        """Add the skill whose SKILL.md begins with `head`. `head` and `stat` must come from one descriptor."""
        name = directory[directory.rfind("/") + 1 :]
        facts = read_plain_skill(head, name, complete=stat.st_size <= len(head))
        if facts is None:
            self.read_in_full(directory, path, source, relative, stat)
            return
        entry = SkillEntry(
            name=name,
            source=source,
            relative=name if relative == name else relative,
            file="SKILL.md",
            facts=facts,
            found=stat,
        )
        self._add(directory, path, entry)

    def read_in_full(
        self, directory: str, path: str, source: EntrySource, relative: str, stat: os.stat_result | None
    ) -> None:
        """Add a skill that is read with the full parser. If the file cannot be opened, `stat` is None."""
        if stat is not None and self._taken_over(directory, path, stat):
            return
        # Imported here: many collections of skills never need the full parser.
        from prowess.format.reading import read_frontmatter

        file, frontmatter, diagnostics = read_frontmatter(directory)
        if diagnostics:
            self.diagnostics += diagnostics
            self.faults[directory] = diagnostics
        if (fault := next((found for found in diagnostics if found.severity == "error"), None)) is not None:
            names = {directory.rpartition("/")[2]: None, frontmatter.name: None}
            reason = f"{fault.location}: {fault.message} ({fault.rule})"
            self.reserve(tuple(name for name in names if name), reason)
            return
        entry = SkillEntry(
            name=frontmatter.name,
            source=source,
            relative=relative,
            file=file,
            facts=frontmatter.properties(),
            found=stat,
        )
        self._add(directory, path, entry)

    def _add(self, directory: str, path: str, entry: SkillEntry) -> None:
        self.entries[directory] = entry
        if path != directory:
            self._aliases[directory] = [path]

    def _taken_over(self, directory: str, path: str, stat: os.stat_result) -> bool:
        """Reuse an entry of the last index that needed the full parser, if its file is certainly unchanged."""
        if self._previous is None:
            return False
        known = self._before.get(directory)
        fresh = last_change(stat) > self._previous.settled_before
        if known is None or fresh or not known.lists(stat):
            return False
        if faults := self._previous.faults.get(directory):
            self.diagnostics += faults
            self.faults[directory] = faults
        self._add(directory, path, known)
        return True

    def finished(self) -> list[SkillEntry]:
        """Return the entries with their aliases. Unchanged entries are the objects of the last index."""
        result = []
        for directory, found in self.entries.items():
            entry = found.with_aliases(tuple(self._aliases.get(directory, ())))
            known = self._before.get(directory)
            result.append(known if known is not None and known.same_as(entry) else entry)
        return result
