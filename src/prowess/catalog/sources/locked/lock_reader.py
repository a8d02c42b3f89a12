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
from prowess.catalog.sources.locked.known_trees import KnownTrees
from prowess.catalog.sources.locked.locked_source import RULE, LockedSource, label_of
from prowess.catalog.sources.precedence import labels_of
from prowess.errors import LimitExceededError, LockfileError
from prowess.format.limits import MAX_DOCUMENT_BYTES
from prowess.lockfile.places import lock_bytes, tree_directory
from prowess.lockfile.text import parse_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.lock_place import LockPlace
    from prowess.lockfile import LockedSkill

_FILE = "SKILL.md"


class LockReader:
    """The skills of one lock. What did not change since the last scan keeps its objects."""

    def __init__(self, place: LockPlace, taken: Sequence[CatalogSource]) -> None:
        self._place = place
        self._taken = taken
        self._read: tuple[bytes | None, str, set[str]] = (None, "", set())
        self._sources: list[LockedSource] = []
        self._known = KnownTrees()

    def scan(self, scan: Scan, store: str) -> None:
        """Add the skills of the lock in the order of precedence. A lock that cannot be read is one finding.

        `store` is the real path of the store.
        """
        path = self._place.path
        if self._place.project is None and (why := stranger(path)) is not None:
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
            if scan.memo.wants(source.locked.name):
                scan.begin(source)
                self._take(scan, source)
        if not scan.memo.is_partial:
            self._known.save()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the skills in the lock."""
        return tuple({source.label: None for source in self._sources})

    def _sources_of(self, skills: Iterable[LockedSkill], store: str, taken: set[str]) -> list[LockedSource]:
        """Return a source for each tree, the one that was installed last first. Blocks with one tree share a source."""
        labels: dict[tuple[str, str], str] = {}
        groups: dict[str, list[LockedSkill]] = {}
        for locked in sorted(skills, key=lambda locked: (locked.order, locked.package), reverse=True):
            groups.setdefault(f"{store}/{tree_directory(locked.tree)}/{locked.name}", []).append(locked)
        known = {source.root: source for source in self._sources}
        sources = []
        for root, (locked, *others) in groups.items():
            package = (locked.package, locked.source)
            label = labels.get(package) or labels.setdefault(package, _free(label_of(locked), taken))
            source = known.get(root)
            if source is None or (source.locked, source.label, source.others) != (locked, label, tuple(others)):
                source = LockedSource(locked, root, label, place=self._place, others=tuple(others))
            sources.append(source)
        return sources

    def _take(self, scan: Scan, source: LockedSource) -> None:
        """Add one skill, or report why it is not offered."""
        directory = source.root
        if scan.reached(directory, directory):
            return
        known = self._known.reading(directory, source.locked.tree)
        if known is not None:
            scan.take(directory, directory, source, "", known)
        else:
            self._compare_and_read(scan, source)
        scan.learnt.unlisted.pop(directory, None)  # it is kept here, not in the index
        entry = scan.entries.get(directory)
        if entry is not None and entry.reading.name != source.locked.name and entry.key != key_of(source.locked.name):
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
            self._known.add(directory, source.locked.tree, files.stamp.folded(reading.file), reading)


def _free(base: str, taken: set[str]) -> str:
    """Return a label that no source of a higher precedence has."""
    label, number = base, 1
    while label in taken:
        number += 1
        label = f"{base}-{number}"
    return label


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
    locked = source.locked
    shown = f"{locked.name} of {source.shown}"
    message = f"{shown} is not offered: {why}; run `{source.repair}`"
    scan.skip(source.root, "", RULE, message)
