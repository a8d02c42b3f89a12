"""Random worlds of a few skills, and a search through all choices as the reference for the resolver."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from prowess.distribution.resolution.supply import Candidate
from prowess.lockfile.requirement import Requirement
from prowess.lockfile.version_ranges import fits, is_prerelease, is_semantic

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

_PLAIN: tuple[str | None, ...] = ("1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0", "3.0.0")
_MIXED = ("1.0.0", "1.1.0", "2.0.0", "2.0.0-rc.1", "3.0.0", "spring", None)
_RANGES = ("*", "^1", "^2", "~1.0", "<2", ">=2", ">=1.1 <3", "^2.0.0-rc.1", "spring", "3.x", "1.0.0")
REGISTRIES = ("first", "second")

Choice = dict[str, tuple[str, str | None]]  # name: source and version


class World:
    """Skills by source and name: what each version needs. It is also the supply of the resolver."""

    def __init__(self, skills: Mapping[tuple[str, str], Mapping[str | None, Sequence[Requirement]]]) -> None:
        self.skills = skills
        self.withdrawn: dict[tuple[str, str], tuple[str, ...]] = {}
        self.read: list[Candidate] = []

    def source_for(self, requirement: Requirement, dependant: Candidate) -> str | None:
        """The declared source, else the dependant's, else the first registry that has the name."""
        if requirement.source is not None:
            return requirement.source
        places = (dependant.source, *REGISTRIES)
        return next((place for place in places if (place, requirement.name) in self.skills), None)

    def versions(self, source: str, name: str) -> Sequence[str | None]:
        """The versions of a skill."""
        return list(self.skills.get((source, name), ()))

    def yanked(self, source: str, name: str) -> Sequence[str]:
        """The versions that were withdrawn."""
        return self.withdrawn.get((source, name), ())

    def candidate(self, source: str, name: str, version: str | None) -> Candidate | None:
        """One version of a skill."""
        return Candidate(name=name, version=version, source=source)

    def requirements(self, candidate: Candidate) -> Sequence[Requirement]:
        """What a version needs."""
        self.read.append(candidate)
        return self.skills[candidate.source, candidate.name][candidate.version]

    def is_answer(self, asked: Sequence[Requirement], choice: Choice) -> bool:
        """Whether a choice meets what is asked for, and everything that its skills need."""
        homes = {one.name: one.source for one in asked}
        for one in asked:
            if not self._meets(one, one.source, choice):
                return False
        for name, (source, version) in choice.items():
            by = Candidate(name=name, version=version, source=source)
            for one in self.skills[source, name][version]:
                if not self._meets(one, one.source or homes.get(one.name) or self.source_for(one, by), choice):
                    return False
        return True

    def has_answer(self, asked: Sequence[Requirement]) -> bool:
        """Whether any choice at all is an answer."""
        names = sorted({name for _, name in self.skills})
        known = [(name, (source, version)) for (source, name), each in self.skills.items() for version in each]
        options = [[None, *(one for own, one in known if own == name)] for name in names]
        return any(
            self.is_answer(asked, {name: one for name, one in zip(names, picked, strict=True) if one is not None})
            for picked in itertools.product(*options)
        )

    def _meets(self, wanted: Requirement, source: str | None, choice: Choice) -> bool:
        if wanted.name not in choice or choice[wanted.name][0] != source:
            return False
        version = choice[wanted.name][1]
        known = self.versions(str(source), wanted.name)
        has_release = any(is_semantic(one) and not is_prerelease(one) for one in known)
        return fits(version, wanted.range) and not (wanted.range == "*" and is_prerelease(version) and has_release)


def random_world(chance: random.Random) -> tuple[World, list[Requirement]]:
    """Return a world of four to six skills, and what is asked for."""
    names = "abcdef"[: chance.randint(4, 6)]
    has_registries = chance.random() < 0.3
    skills: dict[tuple[str, str], dict[str | None, list[Requirement]]] = {}
    for name in names:
        sources = chance.sample(("own", *REGISTRIES), chance.choice((1, 1, 2))) if has_registries else ["own"]
        for source in sources:
            kinds = _PLAIN if chance.random() < 0.7 else _MIXED
            versions = chance.sample(kinds, chance.randint(2, 5))
            skills[source, name] = {
                version: [
                    Requirement(
                        name=other,
                        range=chance.choice(_RANGES),
                        source=chance.choice([None] * 6 + ["first", "own"]) if has_registries else None,
                    )
                    for other in chance.sample(names, chance.choice((0, 0, 1, 1, 2)))
                    if other != name or chance.random() < 0.1
                ]
                for version in versions
            }
    asked = [
        Requirement(
            name=name,
            range=chance.choice(("*", "*", "*", "^1", ">=1", "<3")),
            source=chance.choice([source for source, own in skills if own == name]),
        )
        for name in chance.sample(names, chance.randint(1, 4))
    ]
    return World(skills), asked


def large_world(chance: random.Random, skills: int, versions: int) -> tuple[World, list[Requirement]]:
    """Return a world with many skills, of which each is asked for, and needs some of the others."""
    names = [f"skill-{number:04}" for number in range(skills)]
    ranges = ("*", "*", ">=1", "<9", "^1 || ^2", ">=1.1.0", "<2.4.0")
    world: dict[tuple[str, str], dict[str | None, list[Requirement]]] = {
        ("own", name): {
            f"{1 + number // 3}.{number % 3}.0": [
                Requirement(name=other, range=chance.choice(ranges))
                for other in chance.sample(names, chance.choice((0, 1, 1, 2, 3)))
            ]
            for number in range(versions)
        }
        for name in names
    }
    return World(world), [Requirement(name=name, source="own") for name in names]
