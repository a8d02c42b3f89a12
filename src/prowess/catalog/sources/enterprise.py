"""Enterprise skills as a source: directories that only administrators can change."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.places import MACHINE_STATE, TENANT_FOLDER, bundle_folder, exposure, weakness_above
from prowess.catalog.layers import Layer
from prowess.catalog.ownership import weakness_below
from prowess.catalog.sources.directory import DEFAULT_BOUNDS, DirectorySource, Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prowess.catalog.scan import Scan

ENTERPRISE_ROOT = "/etc/prowess/skills"
DEPLOYED_ROOTS = (f"{MACHINE_STATE}/skills", f"{MACHINE_STATE}/{TENANT_FOLDER}/skills")  # the organisation's first


def enterprise_sources(further: str | None = None) -> list[EnterpriseSource]:
    """Return the sources of this machine's enterprise layer.

    They are the default directory, the deployed skills of an enrolled machine, and `further` if it is set.
    """
    deployed = () if bundle_folder() is None else DEPLOYED_ROOTS
    roots = dict.fromkeys((ENTERPRISE_ROOT, *deployed, *([] if further is None else [os.path.abspath(further)])))
    return [EnterpriseSource(root, layer=Layer.ENTERPRISE) for root in roots]


def deployed_sources(directories: Iterable[str]) -> list[EnterpriseSource]:
    """Return the sources of skills that an organisation has deployed and this process keeps in private directories."""
    return [DeployedSource(os.path.abspath(directory)) for directory in directories]


class EnterpriseSource(DirectorySource):
    """A directory of skills that only administrators can change. Skills that others could change are refused.

    `owner` is the numeric user id that must own every file, every directory and every parent directory (root: 0).
    """

    def __init__(self, root: str, *, layer: Layer, owner: int = 0) -> None:
        super().__init__(root, layer=layer)
        self._owner = owner

    def scan(self, scan: Scan) -> None:
        """Add every skill below the root that passes the ownership check."""
        if os.path.lexists(self.named) and (weakness := self.weakness_of(self.named)):
            message = f"no enterprise skill is loaded: {weakness}"
            scan.report("catalog.enterprise", self.named, message)
            self.root = os.path.realpath(self.named)
            _reserve_below(scan, self, lambda walk: walk.search_root(), message)
            return
        super().scan(scan)

    def weakness_of(self, path: str) -> str | None:
        """Return why someone else than the owner could change a path, or None."""
        return weakness_above(path, self._owner)

    def _walk(self, scan: Scan) -> Walk:
        return _GuardedWalk(self, scan, self._owner)


class DeployedSource(EnterpriseSource):
    """A directory of this user with skills of the enterprise layer, which were verified when they were written."""

    def __init__(self, root: str) -> None:
        super().__init__(root, layer=Layer.ENTERPRISE, owner=os.geteuid() if hasattr(os, "geteuid") else 0)

    def weakness_of(self, path: str) -> str | None:
        """Return why another user could change a path, or None."""
        try:
            return exposure(path)
        except OSError as fault:
            return f"{path} cannot be examined ({fault.strerror})"


class _GuardedWalk(Walk):
    """A search that enters a directory only if `owner` is the only user who can change it."""

    def __init__(self, source: EnterpriseSource, scan: Scan, owner: int) -> None:
        super().__init__(source, scan, DEFAULT_BOUNDS)
        self._owner, self._weakness_of = owner, source.weakness_of

    def visit(self, directory: str, path: str, relative: str, depth: int) -> None:
        """Check the ownership of the path to the directory first, then handle it as `Walk` does."""
        weakness = self._weakness_of(path)
        if weakness is None:
            super().visit(directory, path, relative, depth)
            return
        message = f"not loaded: {weakness}"
        self._scan.skip(directory, "", "catalog.enterprise", message)
        _reserve_below(self._scan, self._source, lambda walk: walk.visit(directory, path, relative, depth), message)

    def _admits(self, directory: str) -> bool:
        weakness = weakness_below(directory, self._owner)
        if weakness is not None:
            self._scan.skip(directory, "", "catalog.enterprise", f"not loaded: {weakness}")
        return weakness is None


def _reserve_below(scan: Scan, source: DirectorySource, look: Callable[[Walk], None], reason: str) -> None:
    """Reserve the names of the skills in a refused directory, so that lower layers cannot use them.

    A person who can change the directory could use this to block names, but gains no other advantage.
    """
    aside = scan.aside()
    look(Walk(source, aside, DEFAULT_BOUNDS))
    scan.reserve_all(aside, "catalog.enterprise", reason)
