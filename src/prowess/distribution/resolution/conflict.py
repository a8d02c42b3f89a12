"""Explains why no choice of versions meets all demands: each demand, who makes it, and the versions there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.resolution.supply import PLACE_SIGN, Candidate, Demand
from prowess.lockfile.version_ranges import newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_VERSIONS = 12


class Conflict(Struct, frozen=True, kw_only=True):
    """The demands for one name that take part in a conflict.

    `versions` are those of each source, the newest first. `held` is the locked skill if its version must not change.
    """

    name: str
    demands: tuple[Demand, ...]
    versions: dict[str, tuple[str | None, ...]]
    held: Candidate | None = None


def explain(conflicts: Sequence[Conflict]) -> str:
    """Return the text of an error, one line for each fact."""
    lines = ["no choice of versions meets all demands; nothing was changed"]
    for conflict in conflicts:
        lines += _lines(conflict)
    lines.append(f"to go on: {'; or '.join(_advice(conflicts))}")
    return "\n".join(lines)


def _lines(conflict: Conflict) -> Iterator[str]:
    if not conflict.versions:
        yield f"  {conflict.name}: no source has a skill of this name"
    for source, versions in conflict.versions.items():
        yield f"  {conflict.name}: {_shown(source)} has {_listed(versions)}"
    if conflict.held is not None:
        yield f"    the lock has {conflict.held}, and this command keeps it"
    for text in _makers(conflict.demands):
        yield f"    {text}"


def _makers(demands: Sequence[Demand]) -> Iterator[str]:
    """Yield who makes each demand. Versions of one skill with the same demand are named together."""
    versions: dict[tuple[str, str], list[str | None]] = {}
    several = len({demand.requirement.source for demand in demands}) > 1
    for demand in demands:
        requirement = demand.requirement
        text = requirement.name if requirement.range == "*" else f"{requirement.name}@{requirement.range}"
        if several:
            text += f" from {_shown(requirement.source)}"
        if demand.by is None:
            yield f"this scope asks for {text}"
        else:
            versions.setdefault((text, demand.by.name), []).append(demand.by.version)
    for (text, name), known in versions.items():
        shown = [version for version in newest_first(dict.fromkeys(known)) if version is not None]
        verb = "need" if len(shown) > 1 else "needs"
        yield f"{f'{name} {_joined(_shortened(shown))}' if shown else name} {verb} {text}"


def _advice(conflicts: Sequence[Conflict]) -> Iterator[str]:
    held = sorted({conflict.name for conflict in conflicts if conflict.held is not None})
    if held:
        yield f"allow another version of what the lock has: prowess update {' '.join(held)}"
    asked = sorted(
        {
            demand.name
            for conflict in conflicts
            for demand in conflict.demands
            if demand.by is None and (demand.requirement.range != "*" or len(conflict.versions) > 1)
        }
    )
    if asked:
        yield f"ask for another version of {_joined(asked)}"
    if any(not conflict.versions for conflict in conflicts):
        yield "install the missing skill from a source that has it"
    makers = sorted({demand.by.name for conflict in conflicts for demand in conflict.demands if demand.by is not None})
    yield f"leave out {_joined(makers, 'or')}" if makers else "leave out one of the skills"


def _shown(source: str | None) -> str:
    return "no source" if source is None else source.partition(PLACE_SIGN)[0]


def _listed(versions: Sequence[str | None]) -> str:
    named = [version or "no version" for version in versions]
    return ", ".join(_shortened(named)) or "no skill of this name"


def _shortened(texts: Sequence[str]) -> list[str]:
    if len(texts) <= _MOST_VERSIONS:
        return list(texts)
    return [*texts[: _MOST_VERSIONS - 1], f"{len(texts) - _MOST_VERSIONS + 1} older ones"]


def _joined(texts: Sequence[str], word: str = "and") -> str:
    *first, last = texts
    return f"{', '.join(first)} {word} {last}" if first else last
