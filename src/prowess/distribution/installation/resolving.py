"""The lock that results from the present lock, new requests and updates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution.installation.requests import ALL, chosen_offers
from prowess.distribution.resolution.resolver import resolve
from prowess.distribution.resolution.source_supply import SourceSupply, place_of
from prowess.distribution.resolution.supply import PLACE_SIGN, Candidate, Locked
from prowess.errors import DistributionError
from prowess.lockfile import LockedSkill, Lockfile
from prowess.lockfile.requirement import Requirement
from prowess.lockfile.version_ranges import ANY, is_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from prowess.distribution.installation.requests import SkillRequest
    from prowess.distribution.installation.scope import InstallScope
    from prowess.distribution.resolution.source_supply import Opener
    from prowess.lockfile.source_reference import SourceReference

    Key = tuple[str, str]

Mode = Literal["held", "preferred", "released"]
_STATE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|sha256:.*")  # a commit of digits only would be a range


def held(skill: LockedSkill) -> Mode:
    """Let no locked skill change."""
    del skill
    return "held"


class Root(Struct, frozen=True, kw_only=True):
    """A skill that the scope asks for. `requested` is the text for the lock, None for a skill without request."""

    requirement: Requirement  # its source is the place
    requested: str | None


class Resolving:
    """Resolves one scope. `mode_of` returns how much a locked skill may change."""

    def __init__(self, before: Lockfile, scope: InstallScope, opener: Opener) -> None:
        self._before, self._scope, self._opener = before, scope, opener
        self._supply = SourceSupply(opener, scope.directory)
        self._needed = {Requirement.parse(one).name for skill in before.skills for one in skill.requires}

    def resolved(
        self, requests: Sequence[SkillRequest] = (), mode_of: Callable[[LockedSkill], Mode] = held
    ) -> Lockfile:
        """Return the lock. `requests` are added to those of the lock, and replace requests for the same skill.

        Raises:
            ResolutionError: no versions meet all demands.
            DistributionError: two different requests are for one skill of the lock.
            UnavailableError, DistributionError: as the sources raise.
        """
        roots: dict[Key, Root] = {}
        asked = _each_once(root for request in requests for root in self._asked(request))
        modes: dict[Key, Mode] = {
            one.key: "released" if one.key in asked else mode_of(one) for one in self._before.skills
        }
        for skill in self._before.skills:
            if skill.key not in asked and (root := self._root_of(skill, modes[skill.key])) is not None:
                roots[root_key(root)] = root
        roots |= asked
        kept = sorted(self._before.skills, key=lambda skill: skill.order)
        chosen = resolve(
            [root.requirement for root in roots.values()],
            self._supply,
            [self._locked(skill, modes[skill.key]) for skill in kept],
        )
        return self._lock_of(chosen, roots)

    def latest(self, skill: LockedSkill) -> str | None:
        """Return the newest version that the source of a locked skill has, whatever is asked for."""
        place = self._supply.place(self._reference(skill), skill.name, skill.package)
        if place is None:
            return None
        found = resolve([Requirement(name=skill.name, source=place)], _WithoutNeeds(self._supply))
        return found[0].version

    def _asked(self, request: SkillRequest) -> Iterable[Root]:
        reference, supply = request.reference, self._supply
        version = reference.version
        state = version if version is not None and not _is_range(version) else None
        self._opener.expect(reference, () if ALL in request.names else request.names)
        chosen = chosen_offers(request, supply.offers(reference, state))
        self._opener.expect(reference, [offer.name for offer in chosen])
        for offer in chosen:
            place = place_of(reference, offer.package or "")
            if state is not None:
                supply.pin(place, offer)
            wanted = ANY if version is None or state is not None else version
            requirement = Requirement(name=offer.name, range=wanted, source=place)
            yield Root(requirement=requirement, requested=version or ANY)

    def _root_of(self, skill: LockedSkill, mode: Mode) -> Root | None:
        """Return the request of the lock for a skill. A skill that nobody asked for and nothing needed is kept."""
        if skill.requested is None and skill.name in self._needed:
            return None
        requested = skill.requested or ANY
        place = self._place(skill)
        wanted = requested if _is_range(requested) else ANY
        if mode == "released":
            reference = self._reference(skill)
            place = self._supply.place(reference, skill.name, skill.package) or place
            if wanted != requested:
                for offer in self._supply.offers(reference, requested):
                    if offer.name == skill.name and place == place_of(reference, offer.package or ""):
                        self._supply.pin(place, offer)
        requirement = Requirement(name=skill.name, range=wanted, source=place)
        return Root(requirement=requirement, requested=skill.requested)

    def _locked(self, skill: LockedSkill, mode: Mode) -> Locked:
        candidate = Candidate(name=skill.name, version=skill.version, source=self._place(skill), locked=True)
        return Locked(candidate=candidate, requires=tuple(map(Requirement.parse, skill.requires)), mode=mode)

    def _lock_of(self, chosen: Sequence[Candidate], roots: dict[Key, Root]) -> Lockfile:
        locked = {(skill.name, self._place(skill)): skill for skill in self._before.skills}
        former = {skill.key: skill for skill in self._before.skills}
        last = max((skill.order for skill in self._before.skills), default=0)
        requested = {(root.requirement.name, root.requirement.source): root.requested for root in roots.values()}
        skills: list[LockedSkill] = []
        for candidate in sorted(chosen, key=lambda one: (one.name, one.source) in requested):
            key = (candidate.name, candidate.source)
            if candidate.locked:
                skills.append(replace(locked[key], requested=requested.get(key)))
                continue
            fetched = self._supply.fetched(candidate)
            before = former.get((fetched.name, fetched.package or ""))
            last += before is None
            skills.append(
                LockedSkill(
                    name=fetched.name,
                    package=fetched.package or "",
                    version=fetched.version,
                    source=self._supply.reference(candidate.source).relative_to(self._scope.directory),
                    path=fetched.path or None,
                    commit=fetched.commit,
                    artifact=fetched.artifact,
                    tree=fetched.tree,
                    requires=tuple(map(str, self._supply.requirements(candidate))),
                    order=last if before is None else before.order,
                    requested=requested.get(key),
                    unsigned=before is not None and before.unsigned,
                )
            )
        return Lockfile(skills=tuple(skills), targets=self._before.targets)

    def _place(self, skill: LockedSkill) -> str:
        return place_of(self._reference(skill), skill.package)

    def _reference(self, skill: LockedSkill) -> SourceReference:
        return self._supply.reference(skill.source)


class _WithoutNeeds:
    """A supply of skills that need nothing (`Supply`)."""

    def __init__(self, supply: SourceSupply) -> None:
        self.versions, self.candidate, self.source_for = supply.versions, supply.candidate, supply.source_for
        self.yanked = supply.yanked

    def requirements(self, candidate: Candidate) -> tuple[Requirement, ...]:
        """Nothing."""
        del candidate
        return ()


def _each_once(roots: Iterable[Root]) -> dict[Key, Root]:
    """Return the roots by their key. A lock has one skill of a name and a package: two requests for it are refused."""
    found: dict[Key, Root] = {}
    for root in roots:
        before = found.setdefault(root_key(root), root)
        if before != root:
            name, package = root_key(root)
            places = {(one.requirement.source or "").partition(PLACE_SIGN)[0]: one for one in (before, root)}
            asked = sorted(places) if len(places) > 1 else sorted(str(one.requested) for one in (before, root))
            raise DistributionError(
                f"the skill {name!r} of the package {package!r} is requested twice: {' and '.join(asked)}; a lock "
                "contains only one of them, so request one"
            )
    return found


def root_key(root: Root) -> Key:
    """Return name and package, as a lock has them."""
    return root.requirement.name, (root.requirement.source or "").rpartition(PLACE_SIGN)[2]


def _is_range(text: str) -> bool:
    return is_range(text) and _STATE.fullmatch(text) is None
