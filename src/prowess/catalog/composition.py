"""Checks of the dependencies and conflicts between the skills of a set.

`composition_findings` reports dependencies that are not in the set, dependencies that exclude the skill or another
dependency, and circular dependencies.

Source: extended specification 001, skill composition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.yaml_reader import MAX_FAULTS
from prowess.format.manifest.manifest_reader import place_in_composition
from prowess.format.name import normalise
from prowess.format.parsing import finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from prowess.diagnostics import Diagnostic
    from prowess.format.manifest.manifest import Composition, SkillDependency

_SHOWN = 10  # names of a circular dependency in a message
_SELF = "composition.cycle"


class Member(Struct, frozen=True, kw_only=True):
    """One skill of a set. `directory` is absolute; `shown_as` is the path of the skill in reports."""

    name: str
    directory: str
    shown_as: str
    composition: Composition | None

    def found(self, rule: str, message: str, part: str, index: int) -> Diagnostic:
        """Return a finding at one entry of this skill's composition."""
        location = place_in_composition(self.directory, self.shown_as, part, index)
        return finding(rule, message, location)


def composition_findings(members: Sequence[Member], *, whole: bool = True) -> list[tuple[Member, Diagnostic]]:
    """Return the findings between the skills of a set, each with its skill; at most 100 of each kind.

    `whole=False` means that the set is a part of an unknown larger set, so missing dependencies are not reported.
    """
    declared = [member for member in members if member.composition is not None]
    if not declared:
        return []
    by_name: dict[str, Member] = {}
    for member in members:
        by_name.setdefault(normalise(member.name), member)
    found: list[tuple[Member, Diagnostic]] = []
    for kind in (_missing(declared, by_name) if whole else iter(()), _conflicts(declared, by_name), _circles(declared)):
        found += [pair for pair, _ in zip(kind, range(MAX_FAULTS), strict=False)]
    return found


def _missing(declared: Sequence[Member], by_name: Mapping[str, Member]) -> Iterator[tuple[Member, Diagnostic]]:
    for member in declared:
        for index, dependency in _dependencies(member):
            if not dependency.optional and dependency.skill_name not in by_name:
                message = (
                    f"{member.name} depends on {dependency.skill_name}, which is not here; "
                    "add the skill, or mark the dependency as optional"
                )
                yield member, member.found("composition.missing", message, "dependencies", index)


def _conflicts(declared: Sequence[Member], by_name: Mapping[str, Member]) -> Iterator[tuple[Member, Diagnostic]]:
    for member in declared:
        own = normalise(member.name)
        needed = [(index, each.skill_name) for index, each in _dependencies(member) if not each.optional]
        for index, name in enumerate(_conflicts_of(member)):
            if name == own:
                message = f"{member.name} names itself as a conflict: {member.name} -> {member.name}"
                yield member, member.found(_SELF, message, "conflicts", index)
        together = {own} | {name for _, name in needed}
        for index, name in needed:
            other = by_name.get(name)
            for excluded in sorted(set() if other is None else together.intersection(_conflicts_of(other)) - {name}):
                beside = "it" if excluded == own else f"{excluded}, on which it depends too"
                message = f"{member.name} depends on {name}, which excludes {beside}; they cannot be active at once"
                yield member, member.found("composition.conflict", message, "dependencies", index)
            if name in _conflicts_of(member):
                message = f"{member.name} depends on {name} and names it as a conflict; they cannot be active at once"
                yield member, member.found("composition.conflict", message, "dependencies", index)


def _circles(declared: Sequence[Member]) -> Iterator[tuple[Member, Diagnostic]]:
    """Walk along the dependencies, depth first. A dependency on a skill of the current path closes a circle."""
    members = {normalise(member.name): member for member in reversed(declared)}
    done: set[str] = set()
    for start, first in members.items():
        if start in done:
            continue
        walked: dict[str, Iterator[tuple[int, str]]] = {start: _edges(first)}
        while walked:
            here = next(reversed(walked))
            step = next(walked[here], None)
            if step is None:
                del walked[here]
                done.add(here)
            elif (name := step[1]) in walked:
                circle = [*list(walked)[list(walked).index(name) :], name]
                shown = circle if len(circle) <= _SHOWN else [*circle[: _SHOWN - 1], "...", name]
                message = f"a skill depends on itself: {' -> '.join(shown)}"
                yield members[here], members[here].found(_SELF, message, "dependencies", step[0])
            elif name in members and name not in done:
                walked[name] = _edges(members[name])


def _edges(member: Member) -> Iterator[tuple[int, str]]:
    return iter([(index, each.skill_name) for index, each in _dependencies(member)])


def _dependencies(member: Member) -> Iterable[tuple[int, SkillDependency]]:
    return enumerate(() if member.composition is None else member.composition.dependencies)


def _conflicts_of(member: Member) -> tuple[str, ...]:
    return () if member.composition is None else member.composition.conflicts
