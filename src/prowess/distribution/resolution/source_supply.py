"""The supply of a resolution from sources. Everything is read as late as possible.

A *place* is the text that identifies where a skill comes from: the source and, behind a NUL, the package in it. So two
packages of one marketplace may have a skill of the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prowess.distribution.resolution.declared import declared_requirements
from prowess.distribution.resolution.supply import PLACE_SIGN, Candidate
from prowess.errors import DistributionError
from prowess.lockfile.requirement import Requirement
from prowess.lockfile.source_reference import parse_reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.distribution.sources.protocol import Fetched, Offer, SkillSource
    from prowess.lockfile.source_reference import SourceReference


class Opener(Protocol):
    """Opens sources and fetches from them, each once. `registries` are asked in their order."""

    @property
    def registries(self) -> Sequence[SourceReference]:
        """Where a dependency is searched that names no source."""
        ...

    def expect(self, reference: SourceReference, names: Iterable[str] = ()) -> None:
        """Ask for permission to contact a source and to fetch skills of it."""
        ...

    def open(self, reference: SourceReference) -> SkillSource:
        """Return the source of a reference, whatever its version."""
        ...

    def fetch(self, source: SkillSource, offer: Offer) -> Fetched:
        """Fetch one skill."""
        ...


class SourceSupply:
    """The skills of all sources that a resolution asks (`Supply`)."""

    def __init__(self, opener: Opener, base: str) -> None:
        self._opener, self._base, self._registries = opener, base, opener.registries
        self._references: dict[str, SourceReference] = {}  # by source
        self._offers: dict[tuple[str, str | None], tuple[Offer, ...]] = {}
        self._pinned: dict[tuple[str, str], Offer] = {}
        self._chosen: dict[Candidate, Offer] = {}
        self._fetched: dict[Candidate, Fetched] = {}
        self._named: dict[tuple[str, str | None], dict[str, list[Offer]]] = {}  # by source and version, then by name
        self._declared: dict[Candidate, tuple[Requirement, ...]] = {}

    def reference(self, place: str) -> SourceReference:
        """Return the reference of a place, without a version."""
        source = place.partition(PLACE_SIGN)[0]
        if source not in self._references:
            self._references[source] = parse_reference(source, base=self._base, has_version=False)
        return self._references[source]

    def offers(self, reference: SourceReference, version: str | None = None) -> tuple[Offer, ...]:
        """Return the offers of a source: each skill in its newest version, or in the version that is given."""
        self._references.setdefault(reference.source, reference)
        key = (reference.source, version)
        if key not in self._offers:
            self._offers[key] = self._opener.open(reference).offers(version)
        return self._offers[key]

    def _of_name(self, reference: SourceReference, name: str, version: str | None = None) -> list[Offer]:
        """Return the offers of one skill, in the order of `offers`."""
        key = (reference.source, version)
        if key not in self._named:
            named: dict[str, list[Offer]] = {}
            for offer in self.offers(reference, version):
                named.setdefault(offer.name, []).append(offer)
            self._named[key] = named
        return self._named[key].get(name, [])

    def place(self, reference: SourceReference, name: str, package: str | None = None) -> str | None:
        """Return the place of a skill in a source; None if the source has no such name.

        If several packages have the name, `package` decides.

        Raises:
            DistributionError: several packages have the name, and `package` is none of them.
        """
        packages = list(dict.fromkeys(one.package or "" for one in self._of_name(reference, name)))
        if package in packages or len(packages) == 1:
            return place_of(reference, package if package in packages else packages[0])
        if not packages:
            return None
        shown = ", ".join(packages)
        raise DistributionError(f"{reference.source} has several skills {name!r}, in the packages {shown}; install one")

    def pin(self, place: str, offer: Offer) -> None:
        """Let a place have one version of a skill only: the state of a source that somebody asked for."""
        self._pinned[place, offer.name] = offer

    def source_for(self, requirement: Requirement, dependant: Candidate) -> str | None:
        """See `Supply`. A skill of a remote source cannot name a local one."""
        own = self.reference(dependant.source)
        package = dependant.source.partition(PLACE_SIGN)[2]
        if requirement.source is not None:
            declared = parse_reference(requirement.source, base=own.location if own.is_local else None)
            if declared.is_local and not own.is_local:
                what = f"{dependant} of {own.source} needs {requirement.name} from a local source, {declared.source}"
                raise DistributionError(f"{what}; only skills of local sources may do that")
            return self.place(declared, requirement.name, package)
        for reference in (own, *self._registries):
            if (found := self.place(reference, requirement.name, package)) is not None:
                return found
        return None

    def versions(self, source: str, name: str) -> Sequence[str | None]:
        """See `Supply`."""
        if (pinned := self._pinned.get((source, name))) is not None:
            return [pinned.version]
        reference = self.reference(source)
        newest = [offer.version for offer in self._of_name(reference, name) if _is(offer, source) and not offer.yanked]
        return [*newest, *(one for one in self._opener.open(reference).versions() if one not in newest)]

    def yanked(self, source: str, name: str) -> Sequence[str]:
        """See `Supply`."""
        if (source, name) in self._pinned:
            return []  # other versions are not chosen, and reading each of them only for a message takes long
        reference = self.reference(source)
        known = (None, *self._opener.open(reference).versions())
        offers = (offer for version in known for offer in self._of_name(reference, name, version))
        return list(dict.fromkeys(one.version for one in offers if one.yanked and one.version and _is(one, source)))

    def candidate(self, source: str, name: str, version: str | None) -> Candidate | None:
        """See `Supply`."""
        offer = self._offer(source, name, version)
        if offer is None:
            return None
        candidate = Candidate(name=name, version=version, source=source)
        self._chosen[candidate] = offer
        return candidate

    def _offer(self, source: str, name: str, version: str | None) -> Offer | None:
        if (pinned := self._pinned.get((source, name))) is not None:
            return pinned
        reference = self.reference(source)
        for asked in dict.fromkeys((None, version)):
            for offer in self._of_name(reference, name, asked):
                if _is(offer, source) and not offer.yanked and (asked is not None or offer.version == version):
                    return offer
        return None

    def requirements(self, candidate: Candidate) -> Sequence[Requirement]:
        """See `Supply`. Fetches the skill if its source does not state them."""
        stated = self._chosen[candidate].requires
        if stated is not None:
            return tuple(map(Requirement.parse, stated))
        if candidate not in self._declared:
            self._declared[candidate] = declared_requirements(self.fetched(candidate).directory)
        return self._declared[candidate]

    def fetched(self, candidate: Candidate) -> Fetched:
        """Return the fetched skill.

        Raises:
            DistributionError: the skill needs other skills than its source stated.
        """
        if candidate not in self._fetched:
            offer = self._chosen[candidate]
            fetched = self._opener.fetch(self._opener.open(self.reference(candidate.source)), offer)
            if offer.requires is not None:
                declared = sorted(map(str, declared_requirements(fetched.directory)))
                if declared != sorted(str(Requirement.parse(one)) for one in offer.requires):
                    message = (
                        f"{candidate} needs other skills than {fetched.source} states; its publisher must correct that"
                    )
                    raise DistributionError(message)
            self._fetched[candidate] = fetched
        return self._fetched[candidate]


def place_of(reference: SourceReference, package: str) -> str:
    """Return the place of a package in a source."""
    return f"{reference.source}{PLACE_SIGN}{package}"


def _is(offer: Offer, place: str) -> bool:
    """Whether an offer is of the package of a place."""
    return (offer.package or "") == place.partition(PLACE_SIGN)[2]
