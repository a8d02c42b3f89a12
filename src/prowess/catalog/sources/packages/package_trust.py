"""Finds installed packages by name, and trusts them as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.catalog.project import default_sources
from prowess.catalog.scan import Scan
from prowess.catalog.sources.packages.installed_packages import InstalledPackages
from prowess.catalog.sources.packages.node_packages import hashes_of
from prowess.catalog.sources.packages.package import PackageSource
from prowess.catalog.sources.packages.python_packages import normalised
from prowess.catalog.trust import TrustedPackage, TrustStore

if TYPE_CHECKING:
    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.sources.directory import DirectorySource

KINDS = ("python", "node")


class PackageOffer(Struct, frozen=True, kw_only=True):
    """A package as it would be trusted, and the skills that it would offer. `problems` are skills that it would not."""

    trusted: TrustedPackage
    entries: tuple[SkillEntry, ...]
    problems: tuple[str, ...]


def installed_packages(cwd: str | None, name: str) -> list[DirectorySource]:
    """Return the installed packages with this name, as a catalog of `cwd` finds them.

    `name` is compared in its normal form, and may be `python:NAME` or `node:NAME`.
    """
    kind, colon, bare = name.partition(":")
    kinds = (kind,) if colon and kind in KINDS else KINDS
    wanted = bare if kinds == (kind,) else name
    groups = [source for source in default_sources(cwd, ()) if isinstance(source, InstalledPackages)]
    parts = [part for group in groups for part in group.parts(Scan())]
    return [part for part in parts if _identity(part) in {(one, _normal(one, wanted)) for one in kinds}]


def offer_of(source: PackageSource) -> PackageOffer:
    """Return what trusting the package means. Trusts nothing yet.

    Raises:
        OSError, LimitExceededError, UnsafePathError: the files of a node package cannot be hashed.
    """
    package = source.package
    files: dict[str, str] = {}
    if package.kind == "node":
        files = hashes_of(package)
    trusted = TrustedPackage(
        kind=package.kind, name=package.name, version=package.version, record=package.record, files=files
    )
    looked = PackageSource(package, source.label)
    looked.decide(trusted)
    scan = Scan()
    looked.scan(scan)
    problems = tuple(f"{skipped.place}: {skipped.reason}" for skipped in scan.skipped)
    return PackageOffer(trusted=trusted, entries=tuple(scan.finished()), problems=problems)


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
