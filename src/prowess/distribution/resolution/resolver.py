"""Chooses one version of each skill that meets all demands, or explains the conflict.

A scope has one version of a name. The newest version that fits is preferred. `*` allows a prerelease only if there is
no release, as the tag `latest` of npm.

A dependency that declares no source comes from the source from which the scope asks for its name, else from the source
that the lock has for it, else from the source that `Supply.source_for` returns. If a name is asked for from several
sources, each one is chosen for itself, and the last one serves the dependencies.

The search finds an answer if and only if there is one. It decides one name after another. If a name has no version
left, it returns to the last name that took part in excluding one (conflict-directed backjumping).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.distribution.resolution.conflict import Conflict, explain
from prowess.distribution.resolution.supply import Candidate, Demand
from prowess.errors import ResolutionError
from prowess.lockfile.requirement import Requirement
from prowess.lockfile.version_ranges import ANY, is_prerelease, is_semantic, newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.distribution.resolution.supply import Locked, Supply

_MOST_STEPS = 200_000  # candidates that are tried
_TOO_MANY = "the demands are too many to find fitting versions in time; ask for some of the skills by exact versions"


def resolve(asked: Sequence[Requirement], supply: Supply, locked: Sequence[Locked] = ()) -> tuple[Candidate, ...]:
    """Return the chosen candidates, sorted by name and source: the skills that are asked for, and their dependencies.

    `asked` are the requests of the scope, each with its source.

    Raises:
        ResolutionError: no choice meets all demands; the message names each demand, who makes it, and the versions.
        MissingExtraError: the extra `install` is missing.
    """
    demands = tuple(Demand(requirement=one) for one in asked)
    facts = _Facts(demands, supply, locked)
    search = _Search(facts, demands)
    if (chosen := search.run()) is not None:
        return tuple(sorted(chosen, key=lambda one: (one.name, one.source)))
    core = _least(facts, [demands[at] for at in sorted(search.at_fault)])
    last = _Search(facts, core)
    last.run()
    raise ResolutionError(explain(_conflicts(facts, last)))


def _least(facts: _Facts, core: list[Demand]) -> list[Demand]:
    """Leave out the demands without which there is a conflict too."""
    for demand in tuple(core):
        rest = [one for one in core if one is not demand]
        if rest and _Search(facts, rest).run() is None:
            core = rest
    return core


def _conflicts(facts: _Facts, search: _Search) -> list[Conflict]:
    """Return the names that exclude all versions, and above them the names whose candidates demand them."""
    names = list(search.clashing)
    for name in names:  # grows while it is read
        makers = dict.fromkeys(facts.identify(demand.by) for demand in search.seen[name] if demand.by is not None)
        names += [maker for maker in makers if maker not in names]
    return [facts.conflict(search.seen[name]) for name in names]


class _Facts:
    """The facts of the supply and the lock. Each fact is read once, also for several searches."""

    def __init__(self, asked: Sequence[Demand], supply: Supply, locked: Sequence[Locked]) -> None:
        self._supply = supply
        self._locked = {(one.candidate.name, one.candidate.source): one for one in locked}
        self._homes: dict[str, str | None] = {one.candidate.name: one.candidate.source for one in locked}
        self._asked_from: dict[str, dict[str | None, None]] = {}
        for demand in asked:
            self._asked_from.setdefault(demand.name, {})[demand.requirement.source] = None
        self._homes |= {name: list(sources)[-1] for name, sources in self._asked_from.items()}
        self._versions: dict[tuple[str, str], list[str | None]] = {}
        self._allowed: dict[tuple[str, str, str], dict[str | None, None]] = {}
        self._candidates: dict[tuple[str, str, str | None], Candidate | None] = {}
        self._demands: dict[Candidate, tuple[Demand, ...]] = {}

    def identify(self, it: Demand | Candidate) -> str:
        """Return the name; if the name is asked for from several sources, also the source, except for the last one."""
        name, source = (it.name, it.source) if isinstance(it, Candidate) else (it.name, it.requirement.source)
        further = self._asked_from.get(name, ())
        return f"{name} {source}" if len(further) > 1 and source in further and source != self._homes[name] else name

    def demands(self, candidate: Candidate) -> tuple[Demand, ...]:
        """Return the demands of a candidate, each with the source from which the skill comes."""
        if candidate not in self._demands:
            entry = self._locked.get((candidate.name, candidate.source)) if candidate.locked else None
            required = self._supply.requirements(candidate) if entry is None else entry.requires
            self._demands[candidate] = tuple(self._demand(one, candidate) for one in required)
        return self._demands[candidate]

    def _demand(self, requirement: Requirement, by: Candidate) -> Demand:
        if requirement.source is None and requirement.name in self._homes:
            source = self._homes[requirement.name]
        else:
            source = self._supply.source_for(requirement, by)
        return Demand(requirement=replace(requirement, source=source), by=by)

    def fitting(self, demands: Sequence[Demand]) -> Iterator[Candidate]:
        """Yield the candidates that meet all demands for one name, the preferred one first."""
        name, source = demands[0].name, demands[0].requirement.source
        if source is None or any(demand.requirement.source != source for demand in demands):
            return
        entry = self._locked.get((name, source))
        if entry is not None and entry.mode != "released" and self.meets(entry.candidate, demands):
            yield entry.candidate
        if entry is None or entry.mode != "held":
            first, *others = [self._in_range(source, name, demand.requirement.range) for demand in demands]
            for version in first:
                if all(version in other for other in others) and (found := self._candidate(source, name, version)):
                    yield found

    def meets(self, candidate: Candidate, demands: Sequence[Demand]) -> bool:
        """Return whether a candidate meets all demands."""
        return all(
            demand.requirement.source == candidate.source
            and (
                demand.requirement.allows(candidate.version)
                if candidate.locked
                else candidate.version in self._in_range(candidate.source, candidate.name, demand.requirement.range)
            )
            for demand in demands
        )

    def conflict(self, demands: Sequence[Demand]) -> Conflict:
        """Return the facts of a conflict about one name."""
        name = demands[0].name
        sources = list(dict.fromkeys(demand.requirement.source for demand in demands))
        held = [self._locked.get((name, source)) for source in sources if source is not None]
        return Conflict(
            name=name,
            demands=tuple(demands),
            versions={source: tuple(self._there(source, name)) for source in sources if source is not None},
            yanked={source: tuple(self._supply.yanked(source, name)) for source in sources if source is not None},
            held=next((one.candidate for one in held if one is not None and one.mode == "held"), None),
        )

    def _there(self, source: str, name: str) -> Iterator[str | None]:
        """Yield the versions that the source has of this skill."""
        return (version for version in self._known(source, name) if self._candidate(source, name, version) is not None)

    def _in_range(self, source: str, name: str, wanted: str) -> dict[str | None, None]:
        """Return the versions in a range, the preferred one first."""
        key = (source, name, wanted)
        if key not in self._allowed:
            known = self._known(source, name)
            hides = wanted == ANY and any(map(is_prerelease, known)) and self._has_release(source, name, known)
            requirement = Requirement(name=name, range=wanted)
            self._allowed[key] = {
                version: None
                for version in known
                if requirement.allows(version) and not (hides and is_prerelease(version))
            }
        return self._allowed[key]

    def _has_release(self, source: str, name: str, known: Sequence[str | None]) -> bool:
        releases = (version for version in known if is_semantic(version) and not is_prerelease(version))
        return any(self._candidate(source, name, version) is not None for version in releases)

    def _known(self, source: str, name: str) -> list[str | None]:
        if (source, name) not in self._versions:
            self._versions[source, name] = newest_first(dict.fromkeys(self._supply.versions(source, name)))
        return self._versions[source, name]

    def _candidate(self, source: str, name: str, version: str | None) -> Candidate | None:
        key = (source, name, version)
        if key not in self._candidates:
            self._candidates[key] = self._supply.candidate(source, name, version)
        return self._candidates[key]


class _Frame:
    """One name that is being decided: its candidates that are left, and the names that excluded the other ones."""

    __slots__ = ("candidates", "culprits", "known", "name", "trail")

    def __init__(self, name: str, candidates: Iterator[Candidate], culprits: set[str | int], known: int) -> None:
        self.name, self.candidates, self.culprits = name, candidates, culprits
        self.known = known  # names in the agenda before this one was decided
        self.trail: list[str] = []  # names that got a demand from the candidate


class _Search:
    """One search for a choice. A culprit is the name of a decided skill, or the index of a demand that was asked."""

    def __init__(self, facts: _Facts, asked: Sequence[Demand]) -> None:
        self._facts, self._asked = facts, asked
        self._agenda: list[str] = []  # names in the order in which they are decided
        self._chosen: dict[str, Candidate] = {}
        self._wanted: dict[str, list[tuple[Demand, str | int]]] = {}  # name: its demands and their culprits
        self.at_fault: set[int] = set()
        self.clashing: dict[str, None] = {}  # names that excluded a candidate
        self.seen: dict[str, list[Demand]] = {}  # name: every demand for it that was met on the way

    def run(self) -> list[Candidate] | None:
        """Return the choice. None if there is none: then `at_fault` are the demands that exclude each other."""
        for at, demand in enumerate(self._asked):
            clash = self._add(demand, at)
            if clash is not None:
                self.at_fault = {one for one in clash if isinstance(one, int)}
                return None
        frames: list[_Frame] = []
        steps = 0
        while len(frames) < len(self._agenda):
            frame = self._frame(self._agenda[len(frames)])
            frames.append(frame)
            while not self._decide(frame):
                steps += 1
                if steps > _MOST_STEPS:
                    raise ResolutionError(_TOO_MANY)
                returned = self._return(frames)
                if returned is None:
                    return None
                frame = returned
        return [self._chosen[name] for name in self._agenda]

    def _frame(self, name: str) -> _Frame:
        wanted = self._wanted[name]
        candidates = self._facts.fitting([demand for demand, _ in wanted])
        return _Frame(name, candidates, {by for _, by in wanted}, len(self._agenda))

    def _decide(self, frame: _Frame) -> bool:
        """Choose the next candidate whose own demands can be met, or return False."""
        for candidate in frame.candidates:
            clash: set[str | int] | None = None
            self._chosen[frame.name] = candidate
            for demand in self._facts.demands(candidate):
                clash = self._add(demand, frame.name)
                if clash is not None:
                    break
                frame.trail.append(self._facts.identify(demand))
            if clash is None:
                return True
            self._undo(frame)
            frame.culprits |= clash
        return False

    def _add(self, demand: Demand, by: str | int) -> set[str | int] | None:
        """Add a demand, or return who excludes it."""
        name = self._facts.identify(demand)
        seen = self.seen.setdefault(name, [])
        if demand not in seen:
            seen.append(demand)
        wanted = self._wanted.setdefault(name, [])
        chosen = self._chosen.get(name)
        if chosen is not None:
            if self._facts.meets(chosen, (demand,)):
                wanted.append((demand, by))
                return None
            self.clashing[name] = None
            return {name, by}
        if next(self._facts.fitting([*(one for one, _ in wanted), demand]), None) is None:
            self.clashing[name] = None
            return {by, *(culprit for _, culprit in wanted)}
        if not wanted:
            self._agenda.append(name)
        wanted.append((demand, by))
        return None

    def _return(self, frames: list[_Frame]) -> _Frame | None:
        """Undo decisions back to the last culprit. None if only demands that were asked are at fault."""
        culprits = frames.pop().culprits
        while frames:
            frame = frames[-1]
            self._undo(frame)
            if frame.name in culprits:
                frame.culprits |= culprits - {frame.name}
                return frame
            frames.pop()
        self.at_fault = {one for one in culprits if isinstance(one, int)}
        return None

    def _undo(self, frame: _Frame) -> None:
        self._chosen.pop(frame.name, None)
        for name in frame.trail:
            self._wanted[name].pop()
        frame.trail.clear()
        del self._agenda[frame.known :]
