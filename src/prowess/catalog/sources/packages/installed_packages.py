"""Finds the installed packages that have skills, by reading directories and records. No code of a package is run.

Environments, nearest first: `.venv` of the working directory and of each directory above it up to the project's root,
`VIRTUAL_ENV`, and the environment that this process runs in. The node packages are those of `node_modules` in the same
directories. A package that is installed at several places is taken from the nearest one.

The first look at a package is cheap: one read of RECORD, or three questions whether a directory exists. The modules
that read a package in full are imported only if a package seems to have skills.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from prowess._internal.files.open_flags import READ
from prowess.catalog.layers import Layer
from prowess.catalog.sources.packages.skill_places import GROUP, MAX_RECORD_BYTES, NODE_PLACES, PYTHON_PLACES
from prowess.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.directory import DirectorySource

SWITCH = "PROWESS_PACKAGES"
_LIMITS = frozenset({"", "off", "project"})
_MAX_READ = 256 * 1024 * 1024  # of all records of one environment
_MOST = 20_000  # packages in one directory
_MOST_PYTHONS = 8
_CHUNK = 1 << 16
_SITES = ("site-packages", "dist-packages")
_DIST_INFO = ".dist-info"
_GROUP = GROUP.encode()
_DOCUMENT = b"SKILL.md"


class InstalledPackages:
    """The packages with skills that are installed where a catalog looks, as one source that has parts.

    `directories` are the working directory and those above it up to the project's root `project`; empty without a
    project. A package does not get a label of one of the sources `taken`, which have precedence over it.
    """

    layer = Layer.PLUGIN
    label = "packages"
    live = False
    project: str | None = None

    def __init__(self, directories: Sequence[str], project: str | None, taken: Sequence[CatalogSource] = ()) -> None:
        self._directories = tuple(directories)
        self._root = project
        self._taken = tuple(taken)
        self._known: dict[tuple[str, ...], list[DirectorySource]] = {}
        self.named = self.root = f"{directories[0]}/.venv" if directories else sys.prefix

    def scan(self, scan: Scan) -> None:
        """Add every skill of every package. A catalog scans the parts instead, to know the source of each skill."""
        for part in self.parts(scan):
            scan.begin(part)
            part.scan(scan)

    def parts(self, scan: Scan) -> list[DirectorySource]:
        """Return a source for each package, in the order of precedence. An unchanged package keeps its source."""
        if _searched() == "off":
            return []
        looks = [(site, name) for site in self._sites() for name in _distributions(site, _listed(scan, site))]
        nodes = [(folder, name) for folder in self._node_folders() for name in _node_packages(scan, folder)]
        if not looks and not nodes:
            return []
        # Imported here: most environments have no package with skills.
        from prowess.catalog.sources.packages.package_reading import read_packages

        sources = read_packages(looks, nodes, self._root, self._taken, self._known)
        self._known = dict(sources)
        return [part for _, parts in sources for part in parts]

    def _sites(self) -> Iterator[str]:
        seen: set[str] = set()
        active = os.environ.get("VIRTUAL_ENV", "")
        prefixes = [f"{directory}/.venv" for directory in self._directories]
        prefixes += [active] if os.path.isabs(active) else []
        own = [] if _searched() == "project" else [path for path in sys.path if os.path.basename(path) in _SITES]
        for site in (*(site for prefix in prefixes for site in _sites_of(prefix)), *own):
            real = os.path.realpath(site)
            if real not in seen:
                seen.add(real)
                yield real

    def _node_folders(self) -> Iterator[str]:
        for directory in self._directories:
            if os.path.isdir(folder := f"{directory}/node_modules"):
                yield os.path.realpath(folder)


def _searched() -> str:
    """Return what is searched: `off`, `project` (not the environment of this process), or everything (empty)."""
    chosen = os.environ.get(SWITCH, "").strip().lower()
    if chosen not in _LIMITS:
        raise ConfigurationError((f"{SWITCH}: {chosen!r} is not one of off, project",))
    return chosen


def _sites_of(prefix: str) -> Iterator[str]:
    """Yield the directories of an environment that contain distributions."""
    if os.name == "nt":
        yield f"{prefix}/Lib/site-packages"
        return
    for library in ("lib", "lib64"):
        pythons = sorted((name for name in _names(f"{prefix}/{library}") if name.startswith("python")), reverse=True)
        for python in pythons[:_MOST_PYTHONS]:
            yield from (path for site in _SITES if os.path.isdir(path := f"{prefix}/{library}/{python}/{site}"))


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _listed(scan: Scan, directory: str) -> list[str]:
    """Return the sorted names of the directories and links in a directory. The scan remembers that it was searched."""
    try:
        listing = scan.listing(directory)
    except OSError:
        return []
    return sorted((*listing.directories, *listing.links)) if listing.links else listing.directories


def _distributions(site: str, names: Iterable[str]) -> Iterator[str]:
    """Yield the metadata directory of each distribution that seems to have skills."""
    left = _MAX_READ
    for name in [name for name in names if name.endswith(_DIST_INFO)][:_MOST]:
        info = f"{site}/{name}"
        size, lists_skill = _first_look(f"{info}/RECORD", min(left, MAX_RECORD_BYTES))
        left -= size
        if (
            lists_skill
            or (not size and any(os.path.isdir(f"{site}/{name.partition('-')[0]}/{place}") for place in PYTHON_PLACES))
            or (os.access(f"{info}/entry_points.txt", os.F_OK) and _GROUP in _start(f"{info}/entry_points.txt"))
            or (os.access(f"{info}/direct_url.json", os.F_OK) and b'"editable"' in _start(f"{info}/direct_url.json"))
        ):
            yield name


def _first_look(path: str, most: int) -> tuple[int, bool]:
    """Read at most `most` bytes of a RECORD. Return their number (0: unreadable), and whether a skill is listed."""
    try:
        fd = os.open(path, READ)
    except OSError:
        return 0, False
    size, tail = 0, b""
    try:
        while size <= most and (part := os.read(fd, _CHUNK)):
            size += len(part)
            if _DOCUMENT in part or (tail and _DOCUMENT in tail + part[: len(_DOCUMENT)]):
                return size, True
            tail = part[-len(_DOCUMENT) :]
    except OSError:
        return 0, False
    finally:
        os.close(fd)
    return size, size > most  # whatever is too large is judged in full


def _start(path: str) -> bytes:
    """Return the first bytes of a small file; empty if it cannot be read."""
    try:
        fd = os.open(path, READ)
    except OSError:
        return b""
    try:
        return os.read(fd, _CHUNK)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _node_packages(scan: Scan, folder: str) -> Iterator[str]:
    """Yield the name of each package in a `node_modules` that seems to have skills."""
    for name in _with_scopes(scan, folder):
        if any(os.access(f"{folder}/{name}/{place}", os.F_OK) for place in NODE_PLACES):
            yield name


def _with_scopes(scan: Scan, folder: str) -> Iterable[str]:
    left = _MOST
    for name in _listed(scan, folder):
        below = [f"{name}/{one}" for one in _listed(scan, f"{folder}/{name}")] if name[0] == "@" else [name]
        for one in below:
            if left <= 0:
                return
            left -= 1
            if one[0] != "." and "/." not in one:
                yield one
