"""Whether an active skill is still there; one that has left the catalog leaves every session (runtime protocol 002)."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from prowess.errors import SkillNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.catalog import Catalog
    from prowess.runtime.state import ActiveSkill


# As `os.path.lexists`, which also brings what the file is like, and takes longer.
_seems_to_exist: Callable[[str], bool] = (
    partial(os.access, mode=os.F_OK, follow_symlinks=False)
    if os.access in os.supports_follow_symlinks
    else os.path.lexists
)


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
        generation = self._catalog.generation
        if self._generation != generation:
            self._generation, self._known = generation, set()
        if (skill.name, skill.location) not in self._known:
            try:
                self._catalog.get(skill.name, skill.location)
            except SkillNotFoundError:
                return False
            self._known.add((skill.name, skill.location))
        try:
            # Some sandboxes refuse the question; and the real user may not see what the effective one does.
            return _seems_to_exist(skill.location) or os.path.lexists(skill.location)
        except ValueError:
            return False
