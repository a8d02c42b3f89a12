"""Finds installed packages by name, and trusts them as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.catalog.project import default_sources
from prowess.catalog.scan import Scan
from prowess.catalog.sources.packages.installed_packages import InstalledPackages
from prowess.catalog.sources.packages.package import PackageSource
from prowess.catalog.sources.packages.python_packages import normalised
from prowess.catalog.trust import TrustedPackage, TrustStore
from prowess.errors import LimitExceededError, UnsafePathError
from prowess.format.reading import read_files

if TYPE_CHECKING:
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.sources.directory import DirectorySource
    from prowess.catalog.sources.packages.package import FoundPackage

MAX_FILES = 2000  # of all skills of one node package; each is a row of the trust store
KINDS = ("python", "node")


class PackageOffer(Struct, frozen=True, kw_only=True):
    """A package as it would be trusted, and the skills that it would offer. `problems` are skills that it would not."""

    trusted: TrustedPackage
    entries: tuple[SkillEntry, ...]
    problems: tuple[str, ...]


def packages_with_skills(cwd: str | None) -> list[DirectorySource]:
    """Return the installed packages that have skills, as a catalog of `cwd` finds them."""
    groups = [source for source in default_sources(cwd, ()) if isinstance(source, InstalledPackages)]
    return [part for group in groups for part in group.parts(Scan())]


def installed_packages(cwd: str | None, name: str) -> list[DirectorySource]:
    """Return the packages of `packages_with_skills` that have this name.

    `name` is compared in its normal form, and may be `python:NAME` or `node:NAME`.
    """
    kind, colon, bare = name.partition(":")
    kinds = (kind,) if colon and kind in KINDS else KINDS
    wanted = bare if kinds == (kind,) else name
    return [
        part for part in packages_with_skills(cwd) if _identity(part) in {(one, _normal(one, wanted)) for one in kinds}
    ]


def offer_of(source: PackageSource) -> PackageOffer:
    """Return what trusting the package means. Trusts nothing yet.

    Raises:
        OSError, LimitExceededError, UnsafePathError: the files of a node package cannot be hashed.
    """
    package = source.package
    files: dict[str, str] = {}
    if package.kind == "node":
        files = _hashes_of(package)
    trusted = TrustedPackage(
        kind=package.kind, name=package.name, version=package.version, record=package.record, files=files
    )
    looked = PackageSource(package, source.label)
    looked.decide(trusted)
    scan = Scan()
    looked.scan(scan)
    problems = tuple(f"{skipped.place}: {skipped.reason}" for skipped in scan.skipped)
    return PackageOffer(trusted=trusted, entries=tuple(scan.finished()), problems=problems)


def _hashes_of(package: FoundPackage) -> dict[str, str]:
    """Return the SHA-256 of each file of the package's skills by its path in the package.

    Raises:
        OSError: a skill cannot be read.
        LimitExceededError: the skills have too many files or bytes.
        UnsafePathError: a skill has a link or a special file.
    """
    files: dict[str, str] = {}
    for skill in package.skills:
        manifest = read_files(f"{package.root}/{skill}", allow_hard_links=True).manifest
        if manifest.obstacles:
            raise UnsafePathError(f"{skill}/{manifest.obstacles[0]}", "it is a link or not a regular file")
        files.update((f"{skill}/{file.path}", file.sha256) for file in manifest.files)
        if len(files) > MAX_FILES:
            raise LimitExceededError(f"files of the skills of {package.name}", MAX_FILES, len(files))
    return files


def trusted_keys(name: str, store: TrustStore) -> list[tuple[str, str]]:
    """Return the kind and name of each trusted package that `name` may mean, even if it is no longer installed."""
    kind, colon, bare = name.partition(":")
    known = store.packages()
    if colon and kind in KINDS:
        return [key for key in known if key == (kind, _normal(kind, bare))]
    return [key for key in known if key[1] == _normal(key[0], name)]


def _identity(part: DirectorySource) -> tuple[str, str]:
    if isinstance(part, PackageSource):
        return part.package.kind, part.package.name
    return "", ""


def _normal(kind: str, name: str) -> str:
    return normalised(name) if kind == "python" else name
