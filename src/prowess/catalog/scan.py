"""The scan of the sources: collects entries by real path, and a reason for every skill that is not listed.

Sources are scanned from the highest layer down. A directory belongs to the source that reaches it first; a second path
to it becomes an alias of the entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.files.file_mark import last_change
from prowess.catalog.entry import SkillEntry
from prowess.catalog.viewing.left_out import LeftOut
from prowess.format.source.plain_front_matter import read_plain_skill

if TYPE_CHECKING:
    import os

    from prowess.catalog.catalog_index import CatalogIndex
    from prowess.catalog.entry import EntrySource
    from prowess.diagnostics import Diagnostic

HEAD_BYTES = 4096  # Bytes read of each SKILL.md. Among some 800 public skills, every front matter ends within 4 KiB.


class Scan:
    """Collects entries and findings. Unchanged entries are taken from `previous`, the last index."""

    def __init__(self, previous: CatalogIndex | None = None) -> None:
        self.entries: dict[str, SkillEntry] = {}
        self.faults: dict[str, tuple[Diagnostic, ...]] = {}
        self.skipped: list[LeftOut] = []
        self.diagnostics: list[Diagnostic] = []
        self._previous = previous
        self._before = {} if previous is None else {entry.root_dir: entry for entry in previous.copies}
        self._aliases: dict[str, list[str]] = {}
        self._source: EntrySource | None = None

    def begin(self, source: EntrySource) -> None:
        """Set the source of the skills that are added next."""
        self._source = source

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
        self.reserve((name,), rule, path, message)

    def reserve(
        self, names: tuple[str, ...], rule: str, location: str, message: str, *, place: str | None = None
    ) -> None:
        """Reserve names without a finding: lower layers cannot use them. `message` is why they are not listed."""
        self.skipped.append(
            LeftOut(names, rule=rule, location=location, reason=message, source=self._source, place=place)
        )

    def reserve_all(self, other: Scan, rule: str, reason: str) -> None:
        """Reserve every name that `other`, a scan of the directory, found or skipped, for one fault around them."""
        for directory, entry in other.entries.items():
            if self.skipped and self.skipped[-1].location == directory:
                self.skipped.pop()  # reported as a directory; now its file is known
            names = dict.fromkeys((directory.rpartition("/")[2], entry.name))
            self.reserve(tuple(names), rule, entry.location, reason)
        for skipped in other.skipped:
            self.reserve(skipped.names, rule, skipped.location, reason)

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
            path = fault.location.path or directory
            self.reserve(
                tuple(name for name in names if name), fault.rule, path, fault.message, place=str(fault.location)
            )
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
