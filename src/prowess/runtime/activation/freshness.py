"""Checks with `stat` alone whether the catalog is up to date.

If a skill file was edited or removed, its `stat` signature differs. If a directory gained a skill, its modification
time differs. The catalog is scanned again only if one of these has changed. An active skill that the catalog no longer
lists is unloaded from every session (runtime protocol 002).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.errors import SkillNotFoundError

if TYPE_CHECKING:
    from prowess.catalog import Catalog, SkillEntry
    from prowess.runtime.state import ActiveSkill


class Freshness:
    """Keeps one catalog up to date with its directories."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._directories: dict[str, int | None] = {}

    def restore(self) -> None:
        """Refresh the catalog if files changed. Blocks for a `stat` per skill and per directory with skills."""
        entries = self._catalog.all_entries()
        known, self._directories = self._directories, self._look(entries)
        moved = any(known.get(path, time) != time for path, time in self._directories.items())
        if moved or not all(entry.is_current() for entry in entries):
            self._catalog.refresh()
            self._directories = self._look(self._catalog.all_entries())

    def _look(self, entries: tuple[SkillEntry, ...]) -> dict[str, int | None]:
        roots = {source.root for source in self._catalog.sources}
        return {path: _changed(path) for path in roots | {os.path.dirname(entry.root_dir) for entry in entries}}


class Presence:
    """Looks up whether active skills are still listed in one catalog, once per skill and `generation` of the catalog.

    Every call needs this answer several times for every active skill.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._generation = -1
        self._known: set[tuple[str, str]] = set()

    def holds(self, skill: ActiveSkill) -> bool:
        """Whether the catalog lists this copy of the skill and its file exists."""
        generation = self._catalog.generation
        if self._generation != generation:
            self._generation, self._known = generation, set()
        if (skill.name, skill.location) not in self._known:
            try:
                self._catalog.get(skill.name, skill.location)
            except SkillNotFoundError:
                return False
            self._known.add((skill.name, skill.location))
        return os.path.lexists(skill.location)


def _changed(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
