"""The skills of one `prowess.lock` as a source of the lowest layer. Without a lock it costs one look at the disk.

The lock of a person is always trusted, that of a project if the project is. Nothing is fetched: a skill that is not in
the store of the home, or whose files are not those of the lock, is a finding.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.places import LOCK_FILE, prowess_home, store_home
from prowess.catalog.layers import Layer
from prowess.catalog.ownership import stranger
from prowess.catalog.sources import locked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.catalog.scan import Scan
    from prowess.catalog.sources import CatalogSource
    from prowess.catalog.sources.locked import LockReader


class LockedSkills:
    """The skills of one lock: of `project`, the real path of a project's root, or without it of this person.

    The label of a skill is its package, and never that of one of the sources `taken`, which have precedence over it.
    """

    layer = Layer.PLUGIN
    live = False

    def __init__(self, project: str | None = None, taken: Sequence[CatalogSource] = ()) -> None:
        self.project = project
        self._lock = os.path.join(prowess_home() if project is None else project, LOCK_FILE)
        self._taken = tuple(taken)
        self.label = LOCK_FILE
        self.named = self.root = store_home()
        self._reader: LockReader | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the skills that the last scan found in the lock."""
        return () if self._reader is None else self._reader.labels

    @property
    def manifests(self) -> tuple[str, ...]:
        """The lock: if it changes, the catalog is out of date."""
        return (self._lock,)

    def scan(self, scan: Scan) -> None:
        """Add every skill of the lock, those that were installed last first."""
        if not os.path.lexists(self._lock):
            self._reader = None
            return
        self.root = os.path.realpath(self.named)
        if self._reader is None:
            self._reader = locked.LockReader(self._lock, self.project, self._taken)
        self._reader.scan(scan, self.root)

    def why_foreign(self) -> str | None:
        """Return why another user could change the lock, or None."""
        return stranger(self._lock)
