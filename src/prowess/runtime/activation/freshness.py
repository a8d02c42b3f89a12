"""Whether the catalog is up to date, and whether active skills are still listed in it.

An active skill that the catalog no longer lists is unloaded from every session (runtime protocol 002).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.errors import SkillNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.catalog import Catalog, SkillEntry
    from prowess.runtime.state import ActiveSkill


def look_again(catalog: Catalog, shown: Iterable[SkillEntry] = ()) -> bool:
    """Call `Catalog.look_again` for the skills that are shown; return whether the skills in use differ now. Blocks."""
    before = catalog.generation
    catalog.look_again(shown)
    return catalog.generation != before


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
