"""The scan of the sources: collects entries by real path, and a reason for every skill that is not listed.

Sources are scanned from the highest layer down. A directory belongs to the source that reaches it first; a second path
to it becomes an alias of the entry.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.file_mark import last_change, stamp_of
from prowess.catalog.deferred_findings import DeferredFindings, full_reading
from prowess.catalog.entry import SkillEntry
from prowess.catalog.memo.readings import Learnt, Listing, LookInFullError, NoMemo, Reading
from prowess.catalog.memo.seen import MemoryMemo
from prowess.catalog.viewing.left_out import HeldPackage, LeftOut
from prowess.format.limits import MANIFEST_FILE
from prowess.format.source.plain_front_matter import read_plain_skill

if TYPE_CHECKING:
    from prowess._internal.files.tree_digest import TreeReading
    from prowess.catalog.entry import EntrySource
    from prowess.catalog.memo.readings import Memo
    from prowess.diagnostics import Diagnostic

SKIPPED_NAMES = frozenset({".git", "node_modules"})  # client guide, discovery
HEAD_BYTES = 4096  # Bytes read of each SKILL.md. Among some 800 public skills, every front matter ends within 4 KiB.

_LENGTH = len("SKILL.md")


class Scan:
    """Collects entries and findings.

    What is unchanged is not read again but taken from `memo`. `learnt` collects what this scan reads, so that the next
    one need not. Files and directories that were changed after `settled_before` (nanoseconds) are read again next time.
    """

    def __init__(self, memo: Memo | None = None, learnt: Learnt | None = None) -> None:
        self.entries: dict[str, SkillEntry] = {}
        self.faults: dict[str, tuple[Diagnostic | DeferredFindings, ...]] = {}
        self.skipped: list[LeftOut] = []
        self.diagnostics: list[Diagnostic | DeferredFindings] = []
        self.held: list[HeldPackage] = []  # packages that are not trusted; other copies can use the names
        self.memo: Memo = NoMemo() if memo is None else memo
        self.learnt = Learnt() if learnt is None else learnt
        self._aliases: dict[str, list[str]] = {}
        self._source: EntrySource | None = None
        self._is_listed = learnt is None

    def aside(self) -> Scan:
        """Return a scan whose entries are not listed. It has the memo of this scan and adds to what this one learns."""
        return Scan(self.memo, self.learnt)

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
        self,
        directory: str,
        path: str,
        source: EntrySource,
        relative: str,
        stat: os.stat_result,
        head: bytes,
        files: TreeReading | None = None,
    ) -> None:
        """Add the skill whose SKILL.md begins with `head`. `head` and `stat` must come from one descriptor.

        If the full parser is needed, it takes SKILL.md and the manifest from `files`, or from the disk if None.
        """
        name = directory[directory.rfind("/") + 1 :]
        if name == relative:
            name = relative  # one object, which saves memory
        plain = read_plain_skill(head, name, complete=stat.st_size <= len(head))
        if plain is None or (files is not None and plain.has_findings):
            self.read_in_full(directory, path, source, relative, stat, files)
            return
        name = name if plain.name == name else plain.name  # equal names are one object
        reading = Reading(name, "SKILL.md", plain.source, stamp_of(stat), self._is_settled(stat), plain.has_findings)
        self.learnt.readings[directory] = reading
        self.take(directory, path, source, relative, reading)

    def read_in_full(  # noqa: PLR0917 -- called as `found` is
        self,
        directory: str,
        path: str,
        source: EntrySource,
        relative: str,
        stat: os.stat_result | None,
        files: TreeReading | None = None,
    ) -> None:
        """Add a skill that is read with the full parser. If the file cannot be opened, `stat` is None."""
        file, frontmatter, diagnostics = full_reading(directory, files)
        reserved = None
        if any(found.severity == "error" for found in diagnostics):
            names = {directory.rpartition("/")[2]: None, frontmatter.name: None}
            reserved = tuple(name for name in names if name)
        reading = Reading(
            name=frontmatter.name,
            file=file,
            facts=frontmatter.properties(),
            stamp=0 if stat is None else stamp_of(stat),
            # The findings depend on a manifest too, whose stamp is not kept.
            settled=stat is not None and self._is_settled(stat) and not has_manifest(directory),
            faults=diagnostics,
            reserved=reserved,
        )
        self.learnt.readings[directory] = reading
        self.take(directory, path, source, relative, reading)

    def take(self, directory: str, path: str, source: EntrySource, relative: str, reading: Reading) -> None:
        """Add the skill with this reading of its SKILL.md, or reserve its names if the skill is skipped."""
        if reading.faults or reading.deferred:
            found = (DeferredFindings(directory, reading),) if reading.deferred else reading.faults
            self.diagnostics += found
            self.faults[directory] = found
        if not self._is_listed:
            self.learnt.unlisted[directory] = reading
        if reading.reserved is not None:
            self.learnt.unlisted[directory] = reading
            fault = next(found for found in reading.faults if found.severity == "error")
            place = fault.location
            self.reserve(reading.reserved, fault.rule, place.path or directory, fault.message, place=str(place))
            return
        self.entries[directory] = SkillEntry(reading, source, relative)
        if path != directory:
            self._aliases[directory] = [path]

    def _is_settled(self, found: os.stat_result) -> bool:
        return last_change(found) <= self.learnt.settled_before

    def is_unchanged(self, directory: str) -> bool:
        """Whether the memo has the listing of a directory without SKILL.md, and `stat` shows it unchanged."""
        listing = self.memo.listing(directory)
        if listing is None or not listing.settled or "SKILL.md" in listing.loose:
            return False
        try:
            unchanged = stamp_of(os.lstat(directory)) == listing.stamp
        except OSError:
            return False
        if unchanged:
            self.learnt.listings[directory] = listing
        return unchanged

    def listing(self, directory: str) -> Listing:
        """Return the names in a searched directory.

        Raises:
            OSError: the directory cannot be read.
        """
        if directory in self.learnt.listings or self.is_unchanged(directory):
            return self.learnt.listings[directory]
        if self.memo.is_partial:
            raise LookInFullError
        found = os.lstat(directory)  # before it is listed, so that any later change has a later time
        listing = self.learnt.listings[directory] = list_directory(directory)
        listing.stamp, listing.settled = stamp_of(found), self._is_settled(found)
        return listing

    def finished(self) -> list[SkillEntry]:
        """Return the entries with their aliases. Unchanged entries are the objects of the last scan of this process."""
        before = self.memo.entry if isinstance(self.memo, MemoryMemo) else None
        if before is None and not self._aliases:
            return list(self.entries.values())
        result = []
        for directory, found in self.entries.items():
            entry = found.with_aliases(tuple(self._aliases.get(directory, ())))
            known = None if before is None else before(directory)
            result.append(known if known is not None and known.same_as(entry) else entry)
        return result


def has_manifest(directory: str) -> bool:
    """Whether a skill has a manifest beside its SKILL.md."""
    return os.path.lexists(f"{directory}/{MANIFEST_FILE}")


def list_directory(directory: str) -> Listing:
    """Return the sorted names in a directory, without those in `SKIPPED_NAMES`. Raises OSError."""
    directories: list[str] = []
    links: list[str] = []
    loose: list[str] = []
    with os.scandir(directory) as found:
        for entry in found:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in SKIPPED_NAMES:
                    directories.append(name)
            elif len(name) == _LENGTH and name.lower() == "skill.md":
                loose.append(name)
            elif entry.is_symlink():
                links.append(name)
    directories.sort()
    links.sort()
    loose.sort()
    return Listing(directories, links, loose)
