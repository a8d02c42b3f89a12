"""A directory as a registry: `.well-known/agent-skills/` with an index and artifacts, for any web server.

An artifact never changes once it is written: a version with other bytes is refused. The index is replaced after all
artifacts are written, so a reader sees the old index or the new one, and each of its artifacts exists.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.atomic_write import remove_drafts, write_atomically
from prowess._internal.files.file_lock import locked
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.installation.disk.staging import nothing_changed
from prowess.distribution.publishing.packing import pack
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.distribution.sources.index.document import (
    INDEX_PATH,
    MAX_DESCRIPTION,
    IndexArtifact,
    IndexEntry,
    is_index_name,
    parse_index,
    render_index,
)
from prowess.distribution.sources.index.site import DirectorySite
from prowess.errors import DistributionError, IntegrityError
from prowess.lockfile.version_ranges import newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.distribution.publishing.package import SkillPackage

_ARTIFACTS = "artifacts"
_IN_FILE_NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,99}")
_SHORT = 12  # digits of a digest in a file name

PublishedStatus = Literal["published", "unchanged", "yanked", "pending"]


class Published(Struct, frozen=True, kw_only=True):
    """What became of one version. `artifact` is its digest, for OCI that of the manifest.

    A publication or a yank that waits for signatures is `pending`.
    """

    name: str
    version: str | None
    artifact: str
    status: PublishedStatus


class DirectoryRegistry:
    """A registry in a directory, which is created with the first skill."""

    def __init__(self, directory: str) -> None:
        self._directory = os.path.abspath(directory)
        self._index = os.path.join(self._directory, *INDEX_PATH.split("/"))
        self._beside = os.path.dirname(self._index)

    def entries(self) -> dict[str, IndexEntry]:
        """Return the published skills by name; empty if there is no index yet.

        Raises:
            DistributionError: the index cannot be read completely, so it must not be replaced.
        """
        try:
            with open(self._index, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return {}
        return entries_of(data, self._index)

    def read(self, artifact: IndexArtifact) -> bytes:
        """Return the bytes of an artifact. Raises DistributionError if it cannot be read."""
        return DirectorySite(self._directory).read(artifact.url, INDEX_PATH, MAX_PACKED).data

    def publish(self, packages: Sequence[SkillPackage]) -> tuple[Published, ...]:
        """Add these skills, all or none.

        Raises:
            DistributionError: a version was published with other bytes, or the index does not allow a skill.
            StoreError: the directory cannot be written.
        """
        with self._exclusive():
            entries = self.entries()
            results, files = add_packages(entries, packages)
            self._write_artifacts(files)
            self._replace(entries)
        return tuple(results)

    def yank(self, wanted: Sequence[tuple[str, str]]) -> tuple[Published, ...]:
        """Mark versions (name and version) so that only a lock that names them installs them.

        Raises:
            DistributionError: a version is not published here.
        """
        with self._exclusive():
            entries = self.entries()
            results = yank_versions(entries, wanted, self._directory)
            self._replace(entries)
        return tuple(results)

    def refresh(self) -> int:
        """Compare every artifact with its digest, write the index anew, and return the number of artifacts.

        Raises:
            IntegrityError: an artifact was changed.
            DistributionError: an artifact is missing, or there is no index.
        """
        with self._exclusive():
            entries = self.entries()
            if not entries:
                raise DistributionError(f"{self._directory} has no index of skills; `prowess publish` writes one")
            artifacts = [artifact for entry in entries.values() for artifact in entry.artifacts]
            for artifact in artifacts:
                if (actual := sha256_of(self.read(artifact))) != artifact.digest:
                    raise IntegrityError(artifact.url, artifact.digest, actual)
            self._replace(
                {name: replace(entry, artifacts=_ordered(entry.artifacts)) for name, entry in entries.items()}
            )
        return len(artifacts)

    def place(self, files: Mapping[str, bytes], index: bytes) -> None:
        """Write artifacts by their path beside the index, then this index, whose entries were signed.

        Raises:
            DistributionError: an artifact is there with other bytes.
            OSError: the directory cannot be written.
        """
        with self._exclusive():
            self._write_artifacts(files)
            self._write_index(index)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        artifacts = os.path.join(self._beside, _ARTIFACTS)
        with nothing_changed(self._directory):
            os.makedirs(artifacts, mode=0o755, exist_ok=True)
            with locked(os.path.join(self._beside, ".publish.lock")):
                for place in (self._beside, artifacts):
                    remove_drafts(place)
                yield

    def _write(self, path: str, data: bytes) -> None:
        try:
            with open(path, "rb") as found:  # of a run that was killed before it replaced the index
                if found.read() != data:
                    raise DistributionError(f"{path} exists with other bytes, and no index names it; remove it")
        except FileNotFoundError:
            write_atomically(path, data, 0o644)

    def _write_artifacts(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            self._write(os.path.join(self._beside, path), data)

    def _replace(self, entries: Mapping[str, IndexEntry]) -> None:
        self._write_index(render_index(tuple(entries.values())))

    def _write_index(self, index: bytes) -> None:
        try:
            with open(self._index, "rb") as file:
                if file.read() == index:
                    return
        except FileNotFoundError:
            pass
        write_atomically(self._index, index, 0o644)


def entries_of(index: bytes, what: str) -> dict[str, IndexEntry]:
    """Return the published skills of an index by name. `what` is its path.

    Raises:
        DistributionError: it cannot be read completely, so it must not be replaced.
    """
    found = parse_index(index, what)
    if found.legacy:
        raise DistributionError(f"{what} has version 0.1; publish to another directory")
    if found.problems:
        raise DistributionError(f"{what} was not written by Prowess: {found.problems[0]}; correct it first")
    return {entry.name: entry for entry in found.entries}


def add_packages(
    entries: dict[str, IndexEntry], packages: Sequence[SkillPackage]
) -> tuple[list[Published], dict[str, bytes]]:
    """Add skills to the entries of an index. Return the results, and new artifacts by their path beside the index.

    Raises:
        DistributionError: a version was published with other bytes, or the index does not allow a skill.
    """
    results: list[Published] = []
    files: dict[str, bytes] = {}
    for package in packages:
        require_publishable(package)
        data = pack(package.contents.files)
        digest = sha256_of(data)
        known = entries.get(package.name)
        old = None if known is None else _same_version(known, package.version, digest)
        if old is None:
            artifact = _artifact(package, digest)
            files[unquote(artifact.url)] = data
            entries[package.name] = _added(known, package, artifact)
        elif old.digest != digest:
            raise DistributionError(
                f"{package.name} {package.version} is published with other bytes (artifact {old.digest}); "
                "raise metadata.version in SKILL.md"
            )
        status: PublishedStatus = "published" if old is None else "unchanged"
        results.append(Published(name=package.name, version=package.version, artifact=digest, status=status))
    return results, files


def yank_versions(entries: dict[str, IndexEntry], wanted: Sequence[tuple[str, str]], directory: str) -> list[Published]:
    """Mark versions in the entries of the index of a directory. Raises DistributionError if one is not published."""
    results: list[Published] = []
    for name, version in wanted:
        entry = entries.get(name)
        found = None if entry is None else _same_version(entry, version, "")
        if entry is None or found is None:
            raise DistributionError(f"{name} {version} is not published in {directory}")
        marked = [replace(each, yanked=each.yanked or each is found) for each in entry.artifacts]
        entries[name] = replace(entry, artifacts=_ordered(marked))
        results.append(Published(name=name, version=version, artifact=found.digest, status="yanked"))
    return results


def _artifact(package: SkillPackage, digest: str) -> IndexArtifact:
    version = package.version
    if version is None or _IN_FILE_NAMES.fullmatch(version) is None:
        version = digest.removeprefix("sha256:")[:_SHORT]
    return IndexArtifact(
        type="archive",
        url=quote(f"{_ARTIFACTS}/{package.name}-{version}.tar.gz"),
        digest=digest,
        version=package.version,
        requires=package.requires,
    )


def require_publishable(package: SkillPackage) -> None:
    """Raise DistributionError if the index does not allow this skill."""
    if not is_index_name(package.name):
        raise DistributionError(f"{package.name}: an index allows only names of a-z, 0-9 and single hyphens")
    if len(package.description) > MAX_DESCRIPTION:
        raise DistributionError(f"{package.name}: an index allows {MAX_DESCRIPTION} characters of description")


def _same_version(entry: IndexEntry, version: str | None, digest: str) -> IndexArtifact | None:
    for artifact in entry.artifacts:
        if artifact.version == version and (version is not None or artifact.digest == digest):
            return artifact
    return None


def _added(known: IndexEntry | None, package: SkillPackage, artifact: IndexArtifact) -> IndexEntry:
    artifacts = _ordered([artifact, *(() if known is None else known.artifacts)])
    # The description belongs to the artifact that other readers use.
    is_first = artifacts[0] is artifact or known is None
    description = package.description if is_first or known is None else known.description
    return IndexEntry(name=package.name, description=description, artifacts=artifacts)


def _ordered(artifacts: Sequence[IndexArtifact]) -> tuple[IndexArtifact, ...]:
    """Return the artifacts, the newest that is not yanked first. Equal ones keep their order."""
    order = newest_first({artifact.version for artifact in artifacts})
    return tuple(sorted(artifacts, key=lambda artifact: (artifact.yanked, order.index(artifact.version))))
