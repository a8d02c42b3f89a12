"""The skills of one installed package as a source. They are held back until the package is trusted.

Each SKILL.md is compared with the package's record when it is listed, and each file when the skill is loaded. The label
of the source is the package's name, so `skill@package` names its copy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.catalog.layers import Layer
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.labels import free_label, labels_of, package_label
from prowess.catalog.sources.packages.recorded_files import DOCUMENT, RULE, RecordedFiles
from prowess.catalog.trust import TrustedPackage, TrustStore
from prowess.catalog.viewing.left_out import HeldPackage, LeftOut

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource

NOT_TRUSTED = "it is not trusted"


class FoundPackage:
    """An installed package with skills, as it was found.

    `kind` is `python` or `node`. `skills` are the directories of its skills, relative to `root`. `hashes` are SHA-256
    by path relative to `root`: all recorded files of a Python distribution; empty for a node package, which has no
    record. `record` is the SHA-256 of RECORD, or empty. `reason` is why the package can never be trusted, or None.
    `folders` are directories of skills that its owner works on (an editable or linked installation). `faults` are
    messages about skills that are left out.
    """

    __slots__ = (
        "faults",
        "folders",
        "hashes",
        "kind",
        "name",
        "origin",
        "reason",
        "record",
        "root",
        "skills",
        "version",
    )

    def __init__(
        self,
        *,
        kind: str,
        name: str,
        version: str,
        root: str,
        origin: str,
        skills: Sequence[str] = (),
        hashes: Mapping[str, str] | None = None,
        record: str = "",
        reason: str | None = None,
        folders: Sequence[str] = (),
    ) -> None:
        self.kind, self.name, self.version = kind, name, version
        self.root, self.origin = root, origin
        self.skills, self.hashes, self.record = tuple(skills), hashes or {}, record
        self.reason, self.folders = reason, tuple(folders)
        self.faults: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The name and version for messages."""
        return f"{self.name} {self.version}".rstrip()

    def identity(self) -> tuple[str, ...]:
        """Return the facts that a source is kept for."""
        facts = (self.kind, self.name, self.version, self.origin, self.root, self.record, self.reason or "")
        return (*facts, *self.skills, *self.folders, *self.faults)


def sources_of(
    found: Sequence[FoundPackage],
    project: str | None,
    taken: Sequence[CatalogSource],
    known: Mapping[tuple[str, ...], list[DirectorySource]],
) -> list[tuple[tuple[str, ...], list[DirectorySource]]]:
    """Return the sources of each package by its identity, in the order of precedence. Sources in `known` are kept.

    `found` begins with the nearest place. Of several packages with one kind and name only the nearest is used. The
    packages are ordered by kind and name, and the last one has the highest precedence, as in the rest of the layer.
    """
    nearest: dict[tuple[str, str], FoundPackage] = {}
    for package in found:
        first = nearest.setdefault((package.kind, package.name), package)
        if first is not package and first.root == package.root and first.origin != package.origin:
            first.reason = f"{package.root} has two packages with this name"
    trusted = TrustStore().packages()
    labels = labels_of(taken)
    result = []
    for key in sorted(nearest, key=lambda key: (key[0] != "python", key[1]), reverse=True):
        package = nearest[key]
        label = free_label(package_label(package.name, package.kind), labels)
        labels.add(label)
        identity = (*package.identity(), label)
        parts = known.get(identity) or _sources(package, label, project)
        for part in parts:
            if isinstance(part, PackageSource):
                part.decide(trusted.get(key))
        result.append((identity, parts))
    return result


def _sources(package: FoundPackage, label: str, project: str | None) -> list[DirectorySource]:
    inside = project is not None and all(f"{folder}/".startswith(f"{project}/") for folder in package.folders)
    if package.folders and package.reason is None and inside:
        # The owner of the project works on these files, so the trust in the project decides.
        return [DirectorySource(folder, layer=Layer.PLUGIN, label=label, project=project) for folder in package.folders]
    return [PackageSource(package, label)]


class PackageSource(DirectorySource):
    """The skills of one package. `recorded` are the files that may be read; None as long as it is not trusted."""

    def __init__(self, package: FoundPackage, label: str) -> None:
        super().__init__(package.root, layer=Layer.PLUGIN, label=label)
        self.package = package
        self.version = package.version
        self.recorded: RecordedFiles | None = None
        self.held: str | None = None

    def decide(self, trusted: TrustedPackage | None) -> None:
        """Set whether the skills are offered, by the row of the trust store for this package."""
        package = self.package
        if package.reason is not None or package.folders:
            where = f"it is installed from {package.origin}, where no record covers its files; use --plugin DIR"
            self.held = package.reason or where
        elif trusted is None:
            self.held = NOT_TRUSTED
        elif trusted.version != package.version:
            self.held = f"version {trusted.version or '(none)'} of it is trusted, not this one"
        elif trusted.record != package.record:
            self.held = "another record of this version is trusted"
        else:
            self.held = None
            self.recorded = RecordedFiles(package.shown, self.root, package.hashes or trusted.files)
            return
        self.recorded = None

    def scan(self, scan: Scan) -> None:
        """Add the skills that are as they were recorded, or hold all of them back."""
        if self.held is None:
            for fault in self.package.faults:
                scan.report(RULE, self.package.origin, fault)
            for relative in self.package.skills:
                self._take(scan, relative, self.recorded)
            return
        aside = scan.aside()
        unrecorded = RecordedFiles(self.package.shown, self.root, {})
        for relative in self.package.skills:
            self._take(aside, relative, unrecorded, compare=False)
        for folder in self.package.folders:
            DirectorySource(folder, layer=self.layer).scan(aside)
        copies = [self._held_copy((entry.name,), entry.location, entry) for entry in aside.entries.values()]
        copies += [self._held_copy(skipped.names, skipped.location, None) for skipped in aside.skipped]
        if copies:
            reason = None if self.held == NOT_TRUSTED else self.held
            scan.held.append(HeldPackage(self.package.shown, reason, copies, trustable=self.is_trustable))

    def _held_copy(self, names: tuple[str, ...], location: str, entry: SkillEntry | None) -> LeftOut:
        package = self.package
        reason = f"held back because its package {package.shown} is not trusted"
        if not self.is_trustable:
            reason = f"held back because its package {package.shown} cannot be trusted: {self.held}"
        elif self.held != NOT_TRUSTED:
            reason += f": {self.held}"
        copy = LeftOut(names, state="held_back", rule="catalog.trust", reason=reason, location=location, source=self)
        copy.entry = entry
        copy.advice = f"prowess trust --package {package.name}" if self.is_trustable else None
        return copy

    def _take(self, scan: Scan, relative: str, recorded: RecordedFiles | None, *, compare: bool = True) -> None:
        directory = os.path.join(self.root, relative) if relative else self.root
        if scan.reached(directory, directory):
            return
        assert recorded is not None, "the package is trusted"  # noqa: S101 -- proves it to mypy
        read = recorded.read_document(relative, compare=compare)
        if isinstance(read, str):
            scan.skip(directory, DOCUMENT, RULE, f"not loaded: {read}; install the package again")
            return
        files, found = read
        scan.found(directory, directory, self, relative, found, files.kept[DOCUMENT].data, files)

    @property
    def is_trustable(self) -> bool:
        """Whether `prowess trust --package` can trust the package."""
        return self.package.reason is None and not self.package.folders
