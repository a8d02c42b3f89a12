"""Whether the catalog still says what is on disk: asked by `stat` alone, before a list is shown or a name looked up.

A file that was edited or removed has another signature; a directory in which a skill was added has another time of
change. Only then is the catalog scanned again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.catalog.entry import signature_of

if TYPE_CHECKING:
    from prowess.catalog import Catalog, SkillEntry


def is_current(entry: SkillEntry) -> bool:
    """Tell whether the file of an entry is as it was when it was listed."""
    try:
        return entry.has_signature(signature_of(os.lstat(entry.location)))
    except OSError:
        return False


class Freshness:
    """Keeps one catalog up to date with its directories."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._directories: dict[str, int | None] = {}

    def restore(self) -> None:
        """Scan again where something has changed since the last look. Blocks for one `stat` a skill."""
        entries = self._catalog.all_entries()
        known, self._directories = self._directories, self._look(entries)
        moved = any(known.get(path, time) != time for path, time in self._directories.items())
        if moved or not all(is_current(entry) for entry in entries):
            self._catalog.refresh()
            self._directories = self._look(self._catalog.all_entries())

    def _look(self, entries: tuple[SkillEntry, ...]) -> dict[str, int | None]:
        roots = {source.root for source in self._catalog.sources}
        return {path: _changed(path) for path in roots | {os.path.dirname(entry.root_dir) for entry in entries}}


def _changed(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
