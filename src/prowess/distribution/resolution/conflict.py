"""Explains why no choice of versions meets all demands: each demand, who makes it, and the versions there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.distribution.resolution.supply import PLACE_SIGN, Candidate, Demand
from prowess.lockfile.version_ranges import ANY, fits, is_prerelease, is_range, is_semantic, newest_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_VERSIONS = 12
_OPERATOR = re.compile(r"[<>=~^|*\s]")


class Conflict(Struct, frozen=True, kw_only=True):
    """The demands for one name that take part in a conflict.

    `versions` are those of each source, the newest first, `yanked` those that only a lock may choose. `held` is the
    locked skill if its version must not change.
    """

    name: str
    demands: tuple[Demand, ...]
    versions: dict[str, tuple[str | None, ...]]
    yanked: dict[str, tuple[str, ...]] = {}
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
        yield f"  {conflict.name}: {_shown(source)} has {_listed(versions, conflict.yanked.get(source, ()))}"
    if conflict.held is not None:
        yield f"    the lock has {conflict.held}, and this command keeps it"
    for text in _makers(conflict.demands):
        yield f"    {text}"
    wanted = dict.fromkeys((demand.requirement.source or "", demand.requirement.range) for demand in conflict.demands)
    for source, range_ in wanted:
        if reason := _misfit(range_, conflict.versions.get(source, ())):
            yield f"    {reason}"


def _misfit(wanted: str, versions: Sequence[str | None]) -> str | None:
    """Return why a range allows none of these versions, if the reason is not their order."""
    if not versions or any(fits(version, wanted) for version in versions):
        return None
    if not is_range(wanted):
        return f"{wanted} is not a range" if _OPERATOR.search(wanted) else None
    for version in versions:
        if version is not None and is_prerelease(version) and fits(version.partition("-")[0], wanted):
            return f"{wanted} allows no prerelease such as {version}; ^{version} does"
    if not any(map(is_semantic, versions)):
        what = f"{versions[0]} is no semantic version" if versions[0] else "the skill states no version"
        return f"{what}, so no range allows it; only {versions[0] or 'a demand without version'} does"
    return None


def _makers(demands: Sequence[Demand]) -> Iterator[str]:
    """Yield who makes each demand. Versions of one skill with the same demand are named together."""
    versions: dict[tuple[str, str], list[str | None]] = {}
    several = len({demand.requirement.source for demand in demands}) > 1
    for demand in demands:
        requirement = demand.requirement
        text = requirement.name if requirement.range == ANY else f"{requirement.name}@{requirement.range}"
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
    for conflict in conflicts:
        if conflict.held is not None:
            yield _release_of(conflict, conflict.held)
    asked = [demand for conflict in conflicts for demand in conflict.demands if demand.by is None]
    several = {conflict.name for conflict in conflicts if len(conflict.versions) > 1}
    if other := sorted({one.name for one in asked if one.requirement.range != ANY or one.name in several}):
        yield f"ask for another version of {_joined(other)}"
    for conflict in conflicts:
        if not any(conflict.versions.values()):
            yield f"install {conflict.name} from a source that has it"
    if any(demand.by is not None for conflict in conflicts for demand in conflict.demands) or len(asked) > 1:
        yield f"leave out {_joined(sorted({one.name for one in asked}), 'or')}"


def _release_of(conflict: Conflict, held: Candidate) -> str:
    """Return what lets a locked skill change. An update takes the newest version, which may not fit either."""
    newest = next(iter(conflict.versions.get(held.source, ())), None)
    if newest != held.version and all(one.requirement.allows(newest) for one in conflict.demands):
        return f"let {held.name} change first: prowess update {held.name}"
    return f"name {held.name} in the same command, so that it can change too"


def _shown(source: str | None) -> str:
    return "no source" if source is None else source.partition(PLACE_SIGN)[0]


def _listed(versions: Sequence[str | None], yanked: Sequence[str]) -> str:
    named = ", ".join(_shortened([version or "no version" for version in versions]))
    if yanked:
        return f"{f'{named}; yanked' if named else 'only yanked versions'}: {', '.join(_shortened(yanked))}"
    return named or "no skill of this name"


def _shortened(texts: Sequence[str]) -> list[str]:
    if len(texts) <= _MOST_VERSIONS:
        return list(texts)
    return [*texts[: _MOST_VERSIONS - 1], f"{len(texts) - _MOST_VERSIONS + 1} older ones"]


def _joined(texts: Sequence[str], word: str = "and") -> str:
    *first, last = texts
    return f"{', '.join(first)} {word} {last}" if first else last
