"""Whether an active skill is still there; one that has left the catalog leaves every session (runtime protocol 002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import SkillNotFoundError
from prowess.runtime.context import is_there

if TYPE_CHECKING:
    from prowess.catalog import Catalog
    from prowess.runtime.state import ActiveSkill


class Presence:
    """What one catalog still holds.

    It is asked several times a call, about every active skill; what the catalog says changes with its generation alone,
    so each skill is looked up once a generation.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._generation = -1
        self._known: set[tuple[str, str]] = set()

    def holds(self, skill: ActiveSkill) -> bool:
        """Tell whether the catalog lists this copy of the skill and its file exists."""
        if self._generation != self._catalog.generation:
            self._generation, self._known = self._catalog.generation, set()
        if (skill.name, skill.location) not in self._known:
            try:
                self._catalog.get(skill.name, skill.location)
            except SkillNotFoundError:
                return False
            self._known.add((skill.name, skill.location))
        return is_there(skill.location)
