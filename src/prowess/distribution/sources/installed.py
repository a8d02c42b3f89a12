"""An installed package as a source: `python:DISTRIBUTION` or `npm:PACKAGE`, read and never imported.

Packages are found where a catalog of the working directory finds them. The files of a Python distribution are compared
with its RECORD. A node package has no record of its files.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.open_flags import Closing
from prowess._internal.files.tree_digest import read_stamped_tree
from prowess.catalog.sources.packages.package import PackageSource
from prowess.catalog.sources.packages.package_trust import installed_packages, offer_of
from prowess.catalog.sources.packages.recorded_files import RecordedFiles
from prowess.distribution.sources.directory import with_version
from prowess.distribution.sources.found_skills import offer_for
from prowess.distribution.sources.staged_tree import StagedTree
from prowess.errors import DistributionError, LimitExceededError, SkillParseError, UnavailableError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.files.tree_digest import FileRecord, TreeReading
    from prowess.catalog.entry import SkillEntry
    from prowess.distribution.sources.protocol import Access, Fetched, Offer
    from prowess.lockfile.source_reference import SourceReference

_INSTALLERS = {"python": "pip install", "npm": "npm install"}
_KINDS = {"python": "python", "npm": "node"}  # as the catalog calls them


class InstalledPackage(Closing):
    """The skills of one installed package (`SkillSource`)."""

    contacted: tuple[str, ...] = ()

    def __init__(self, reference: SourceReference, scratch: str, access: Access) -> None:
        del scratch, access  # nothing is unpacked or contacted
        self.reference = reference
        self.problems: tuple[str, ...] = ()
        self._found: PackageSource | None = None
        self._entries: dict[str, SkillEntry] = {}

    def versions(self) -> tuple[str, ...]:
        """Return the version that is installed."""
        version = self._package().version
        return (version,) if version else ()

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """Return the skills of the package, if it is installed in this version."""
        source = self._package()
        offers = []
        for path, entry in self._entries.items():
            found = offer_for(entry, path, source.package.name)
            offers.append(replace(found, version=source.version or found.version))
        offers.sort(key=lambda offer: (offer.name, offer.path))
        return with_version(tuple(offers), version, str(self.reference))

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """Copy the skill as the package recorded it. See `SkillSource.fetch`."""
        source = self._package()
        entry = self._entries.get(offer.path)
        if entry is None or not isinstance(entry.recorded, RecordedFiles):
            raise DistributionError(f"{offer.name} was not offered by {self.reference.source}")
        directory = os.path.join(source.root, offer.path)
        with ContainedRoot(directory) as root, StagedTree(into, offer.name) as staged:
            reading = read_stamped_tree(directory, allow_hard_links=True)
            try:
                files = entry.recorded.compared(directory, reading).manifest.files
            except SkillParseError as fault:
                raise DistributionError(f"{self.reference.source}: {fault}") from fault
            for record in (*files, *self._signature(offer.path, reading, entry.recorded)):
                staged.copy(root, record)
        return staged.fetched(offer, self.reference.source)

    def _signature(self, path: str, reading: TreeReading, recorded: RecordedFiles) -> Iterator[FileRecord]:
        """Yield the file with the skill's signature, unless the package recorded another one."""
        found = reading.manifest.signature
        has_record = bool(self._package().package.record)
        if found is not None and (not has_record or recorded.skill_hashes(path).get(found.path) == found.sha256):
            yield found

    def close(self) -> None:
        """Do nothing: nothing is kept open."""

    def _package(self) -> PackageSource:
        """Find the package, and read its entries by their path. Naming the package in a command is trust in it."""
        if self._found is None:
            kind, name = self.reference.kind, self.reference.location
            found = [
                part
                for part in installed_packages(os.getcwd(), f"{_KINDS[kind]}:{name}")
                if isinstance(part, PackageSource)
            ]
            if not found:
                reason = f"no installed package with skills has this name; run {_INSTALLERS[kind]} {name}"
                raise UnavailableError(self.reference.source, None, reason)
            source = found[0]
            if source.held is not None and not source.is_trustable:
                raise DistributionError(f"{self.reference.source} is not used: {source.held}")
            try:
                offered = offer_of(source)
            except (OSError, LimitExceededError, UnsafePathError) as fault:
                raise DistributionError(f"{self.reference.source} cannot be read: {fault}") from fault
            self.problems = offered.problems
            self._entries = {os.path.relpath(entry.root_dir, source.root): entry for entry in offered.entries}
            self._found = source
        return self._found
