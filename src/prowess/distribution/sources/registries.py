"""The skills of several registries, each with the newest version that is not yanked."""

from __future__ import annotations

from tempfile import mkdtemp
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.sources.opening import open_source
from prowess.errors import DistributionError, SkillError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.distribution.sources.protocol import Access
    from prowess.lockfile.source_reference import SourceReference


class RegisteredSkill(Struct, frozen=True, kw_only=True):
    """One skill of a registry. `source` is the reference to install it from."""

    name: str
    version: str | None
    description: str
    source: str


class RegistryListing(Struct, frozen=True, kw_only=True):
    """The skills of registries, in their order and then by name. `problems` are sentences."""

    skills: tuple[RegisteredSkill, ...]
    problems: tuple[str, ...]
    contacted: tuple[str, ...]


def list_registries(
    references: Sequence[SourceReference], *, ask: Callable[[SourceReference], object], scratch: str, access: Access
) -> RegistryListing:
    """Read registries. If there are several, one that cannot be read is a problem, and the other ones are read.

    `ask` is called before a registry is read, and raises an error if the policy refuses it. Each source has its own
    directory in `scratch`.

    Raises:
        PolicyDeniedError: the policy refuses the only one.
        UnavailableError: the only one cannot be reached.
        DistributionError: none of them can be read.
    """
    skills: list[RegisteredSkill] = []
    problems: list[str] = []
    contacted: set[str] = set()
    failed = 0
    for reference in references:
        with open_source(reference, scratch=mkdtemp(dir=scratch), access=access) as source:
            try:
                ask(reference)
                offers = source.offers(reference.version)
            except SkillError as fault:
                if len(references) == 1:
                    raise
                problems.append(str(fault))
                failed += 1
                offers = ()
            problems += source.problems
            contacted.update(source.contacted)
        skills += [
            RegisteredSkill(
                name=offer.name, version=offer.version, description=offer.description, source=reference.source
            )
            for offer in offers
            if not offer.yanked
        ]
    if references and failed == len(references):
        raise DistributionError("; ".join(problems))
    return RegistryListing(skills=tuple(skills), problems=tuple(problems), contacted=tuple(sorted(contacted)))


def search(skills: Sequence[RegisteredSkill], words: Sequence[str]) -> tuple[RegisteredSkill, ...]:
    """Return the skills that contain every word in name or description, those with more words in the name first."""
    wanted = [word.casefold() for word in words]

    def in_name(skill: RegisteredSkill) -> int:
        return sum(word in skill.name.casefold() for word in wanted)

    found = [
        skill for skill in skills if all(word in f"{skill.name} {skill.description}".casefold() for word in wanted)
    ]
    return tuple(sorted(found, key=lambda skill: -in_name(skill)))
