"""Checks with `stat` alone whether the catalog is up to date.

If a skill file was edited or removed, its `stat` signature differs. If a directory gained a skill, its modification
time differs. One check looks at the searched directories, at the skills that are shown, and at a bounded number of the
others, the next ones at each check. So its time hardly depends on the number of skills, and every edit is found after
some checks. The catalog is scanned again only if something has changed. An active skill that the catalog no longer
lists is unloaded from every session (runtime protocol 002).
"""

from __future__ import annotations

import os
from itertools import chain
from typing import TYPE_CHECKING

from prowess.errors import SkillNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.catalog import Catalog, SkillEntry
    from prowess.runtime.state import ActiveSkill

SLICE = 100  # entries beyond the shown ones that one check looks at


class Freshness:
    """Keeps one catalog up to date with its directories."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._times: dict[str, int | None] = {}
        self._next = 0  # position in `Catalog.all_entries` of the next entry to look at
        self._copies: tuple[SkillEntry, ...] | None = None
        self._searched: frozenset[str] = frozenset()

    def restore(self, shown: Iterable[SkillEntry] = ()) -> bool:
        """Refresh the catalog if a change is found, and return whether one was found. Blocks.

        Calls `stat` for each searched directory, each entry of `shown`, and at most `SLICE` further entries.
        """
        known, self._times = self._times, self._look()
        moved = any(known.get(path, time) != time for path, time in self._times.items())
        if not moved and all(entry.is_current() for entry in chain(shown, self._others())):
            return False
        self._catalog.refresh()
        self._times = self._look()
        return True

    def _others(self) -> tuple[SkillEntry, ...]:
        copies = self._catalog.all_entries()
        begin = self._next if self._next < len(copies) else 0
        self._next = begin + SLICE
        return copies[begin : self._next]

    def _look(self) -> dict[str, int | None]:
        copies = self._catalog.all_entries()
        if copies is not self._copies:
            roots = {source.root for source in self._catalog.sources}
            self._searched = frozenset(roots | {os.path.dirname(entry.root_dir) for entry in copies})
            self._copies = copies
        return {path: _changed(path) for path in self._searched}


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
