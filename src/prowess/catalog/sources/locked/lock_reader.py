"""Reads one lock, and adds the skills whose trees in the store are those that it names."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.open_flags import READ
from prowess._internal.files.tree_digest import read_stamped_tree
from prowess.catalog.entry import key_of
from prowess.catalog.ownership import stranger
from prowess.catalog.scan import HEAD_BYTES
from prowess.catalog.sources.labels import free_label, labels_of, package_label
from prowess.catalog.sources.locked.known_trees import KnownTrees
from prowess.catalog.sources.locked.locked_source import RULE, LockedSource
from prowess.errors import LimitExceededError, LockfileError
from prowess.format.limits import MAX_DOCUMENT_BYTES
from prowess.lockfile.places import lock_bytes, tree_directory
from prowess.lockfile.text import parse_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.lockfile import LockedSkill

_FILE = "SKILL.md"


class LockReader:
    """The skills of the lock at `lock`, which `LockedSkills` describes. What did not change keeps its objects."""

    def __init__(self, lock: str, project: str | None, taken: Sequence[CatalogSource]) -> None:
        self._lock = lock
        self._project = project
        self._taken = taken
        self._read: tuple[bytes | None, str, set[str]] = (None, "", set())
        self._sources: list[LockedSource] = []
        self._known = KnownTrees()

    def scan(self, scan: Scan, store: str) -> None:
        """Add the skills of the lock in the order of precedence. A lock that cannot be read is one finding.

        `store` is the real path of the store.
        """
        path = self._lock
        if self._project is None and (why := stranger(path)) is not None:
            scan.report(RULE, path, f"no skill of this lock is offered: {why}")
            return
        try:
            read = (lock_bytes(path), store, labels_of(self._taken))
            if read != self._read:
                skills = () if read[0] is None else parse_lock(read[0], path).skills
                self._sources, self._read = self._sources_of(skills, store, read[2]), read
        except LockfileError as fault:
            scan.report(RULE, path, f"no skill of this lock is offered: {fault}")
            return
        except OSError as fault:
            scan.report(RULE, path, f"no skill of this lock is offered: it cannot be read ({fault.strerror})")
            return
        for source in self._sources:
            if scan.memo.wants(source.block.name):
                scan.begin(source)
                self._take(scan, source)
        if not scan.memo.is_partial:
            self._known.save()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the skills in the lock."""
        return tuple({label: None for source in self._sources for label in source.labels})

    def _sources_of(self, skills: Iterable[LockedSkill], store: str, taken: set[str]) -> list[LockedSource]:
        """Return a source for each tree, the one that was installed last first. Blocks with one tree share a source."""
        groups: dict[str, tuple[LockedSkill, ...]] = {}
        for block in sorted(skills, key=lambda block: (block.order, block.package), reverse=True):
            root = f"{store}/{tree_directory(block.tree)}/{block.name}"
            groups[root] = (*groups.get(root, ()), block)
        known = {source.root: source for source in self._sources}
        sources = []
        for root, blocks in groups.items():
            names = (package_label(block.package or block.source, "lock") for block in blocks)
            labels = tuple(free_label(name, taken) for name in names)
            source = known.get(root)
            if source is None or (source.blocks, source.labels) != (blocks, labels):
                source = LockedSource(blocks, labels, root, lock=self._lock, project=self._project)
            sources.append(source)
        return sources

    def _take(self, scan: Scan, source: LockedSource) -> None:
        """Add one skill, or report why it is not offered."""
        directory = source.root
        if scan.reached(directory, directory):
            return
        known = self._known.reading(directory, source.block.tree)
        if known is not None:
            scan.take(directory, directory, source, "", known)
        else:
            self._compare_and_read(scan, source)
        scan.learnt.unlisted.pop(directory, None)
        entry = scan.entries.get(directory)
        if entry is None:
            return
        if entry.reading.name == source.block.name or entry.key == key_of(source.block.name):
            scan.learnt.unindexed.add(directory)
            return
        del scan.entries[directory]
        _skip(scan, source, f"its SKILL.md has the name {entry.name!r}")

    def _compare_and_read(self, scan: Scan, source: LockedSource) -> None:
        """Hash the files of a skill. If they are those of the lock, read SKILL.md and add the skill."""
        directory = source.root
        try:
            if not all(stat.S_ISDIR(os.lstat(path).st_mode) for path in (os.path.dirname(directory), directory)):
                _skip(scan, source, f"{directory} is a link, or not a directory")
                return
            files = read_stamped_tree(directory, allow_hard_links=True)
        except FileNotFoundError:
            _skip(scan, source, "it is not in the store")
            return
        except (OSError, LimitExceededError) as fault:
            _skip(scan, source, f"its files in the store cannot be read ({fault})")
            return
        if (why := source.fault_of(files)) is not None:
            _skip(scan, source, why)
            return
        _read(scan, source)
        reading = scan.learnt.readings.pop(directory, None)
        if reading is not None and files.stamp is not None and files.stamp.has(reading.file, reading.stamp):
            self._known.add(directory, source.block.tree, files.stamp.folded(reading.file), reading)


def _read(scan: Scan, source: LockedSource) -> None:
    """Read SKILL.md of a compared skill and add it, or reserve its name."""
    directory = source.root
    try:
        fd = os.open(f"{directory}/{_FILE}", READ)
    except OSError:
        scan.read_in_full(directory, directory, source, "", None)
        return
    try:
        found = os.fstat(fd)
        head = os.read(fd, HEAD_BYTES) if stat.S_ISREG(found.st_mode) else b""
    finally:
        os.close(fd)
    if found.st_size > MAX_DOCUMENT_BYTES or not stat.S_ISREG(found.st_mode):
        scan.read_in_full(directory, directory, source, "", None)
    else:
        scan.found(directory, directory, source, "", found, head)


def _skip(scan: Scan, source: LockedSource, why: str) -> None:
    message = f"{source.block.name} of {source.shown} is not offered: {why}; run `{source.repair}`"
    scan.skip(source.root, "", RULE, message)
