"""Demands of locked skills that no locked skill satisfies, as a merge of two locks may leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.format.name import normalise
from prowess.lockfile.requirement import Requirement

if TYPE_CHECKING:
    from prowess.lockfile.lock import LockedSkill, Lockfile


class UnmetRequirement(Struct, frozen=True, kw_only=True):
    """A demand of `skill` that no locked skill satisfies. `versions` are those of the locked skills of that name."""

    skill: str
    requirement: Requirement
    versions: tuple[str | None, ...]

    def __str__(self) -> str:
        found = " and ".join(version or "a copy without version" for version in self.versions)
        rest = f"but the lock has {found}" if found else "which is not in the lock"
        return f"skill {self.skill!r} requires {self.requirement}, {rest}"


def unmet(lock: Lockfile) -> tuple[UnmetRequirement, ...]:
    """Return the demands of the locked skills that no locked skill satisfies, in the order of the lock.

    Raises:
        MissingExtraError: a demand has a range, and the extra `install` is missing.
    """
    by_name: dict[str, list[LockedSkill]] = {}
    for skill in lock.skills:
        by_name.setdefault(normalise(skill.name), []).append(skill)
    faults = []
    for skill in lock.skills:
        for requirement in map(Requirement.parse, skill.requires):
            versions = tuple(one.version for one in by_name.get(requirement.name, ()))
            if not any(requirement.allows(version) for version in versions):
                faults.append(UnmetRequirement(skill=skill.name, requirement=requirement, versions=versions))
    return tuple(faults)
