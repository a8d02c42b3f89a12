"""The values of a resolution: candidates, the demands that they have to meet, and the supply that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from prowess.lockfile.requirement import Requirement  # noqa: TC001 -- msgspec resolves it

if TYPE_CHECKING:
    from collections.abc import Sequence


PLACE_SIGN = "\0"  # between a source and a package in it


class Candidate(Struct, frozen=True, kw_only=True):
    """One skill in one version from one source. `locked` means that the lock names it, so nothing is fetched.

    `source` is the text of a source, or of a source and a package in it, with `PLACE_SIGN` between them.
    """

    name: str
    version: str | None
    source: str
    locked: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name


class Demand(Struct, frozen=True, kw_only=True):
    """A requirement and who makes it: a candidate, or None for the person or program that asks.

    `requirement.source` is the source that has the skill, or None if no source has it.
    """

    requirement: Requirement
    by: Candidate | None = None

    @property
    def name(self) -> str:
        """The name of the skill that is demanded."""
        return self.requirement.name


class Locked(Struct, frozen=True, kw_only=True):
    """A skill of the lock that takes part in a resolution.

    `held`: its version must not change. `preferred`: it is kept if all demands allow it. `released`: it may change, and
    only its source is kept for demands that declare none.
    """

    candidate: Candidate
    requires: tuple[Requirement, ...] = ()
    mode: Literal["held", "preferred", "released"] = "held"


class Supply(Protocol):
    """The skills that can be chosen. Reads as little as possible: versions first, then one candidate at a time.

    Every method may raise UnavailableError and DistributionError, which end the resolution.
    """

    def source_for(self, requirement: Requirement, dependant: Candidate) -> str | None:
        """Return the one source from which a dependency comes; None if no source has the name."""
        ...

    def versions(self, source: str, name: str) -> Sequence[str | None]:
        """Return the versions that a source may have of a skill, without those that were withdrawn."""
        ...

    def yanked(self, source: str, name: str) -> Sequence[str]:
        """Return the versions of a skill that were withdrawn, for messages."""
        ...

    def candidate(self, source: str, name: str, version: str | None) -> Candidate | None:
        """Return the candidate, or None if this version of the source does not have the skill."""
        ...

    def requirements(self, candidate: Candidate) -> Sequence[Requirement]:
        """Return the dependencies that a candidate declares."""
        ...
