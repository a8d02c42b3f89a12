"""The view of another agent on a directory: the skills, the copies that it does not use, and what its list cuts.

The directories of the agent are searched by the scan of the catalog. The agent's own rules then decide on each copy.
Plugins, built-in skills and settings of the agent are not considered, nor is trust: this is about another program.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess.catalog.layers import Layer
from prowess.catalog.other_agents.places import OtherAgent, other_agents
from prowess.catalog.ownership import SKILL_FOLDERS, project_root
from prowess.catalog.scan import Scan
from prowess.catalog.sources.directory import DirectorySource
from prowess.catalog.sources.enterprise import ENTERPRISE_ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.catalog.entry import SkillEntry
    from prowess.catalog.other_agents.places import ListBudget
    from prowess.catalog.viewing.left_out import LeftOut

State = Literal["listed", "by_hand", "shadowed", "link_ignored", "too_deep"]
_WHY_NOT = {
    "by_hand": "disable-model-invocation is set, so the model does not see it",
    "link_ignored": "links to directories are ignored",
    "too_deep": "only immediate subdirectories are searched",
}


_PROWESS = OtherAgent(
    title="Prowess",
    places=(*SKILL_FOLDERS, *(f"~/{folder}" for folder in SKILL_FOLDERS), ENTERPRISE_ROOT),
    sources=(),
    searched="upwards",
)


class SeenSkill(Struct, frozen=True, kw_only=True):
    """One copy of a skill in a directory of the agent.

    `name` is the name that the agent uses. `place` is the directory as in the agent's row, `path` the path by which the
    skill is reached. `reason` states why a copy is not listed. `length` and `shown` are the characters of the texts
    that the agent counts, and how many of them it shows; 0 if the copy is not listed.
    """

    name: str
    description: str
    place: str
    path: str
    location: str
    state: State = "listed"
    reason: str | None = None
    length: int = 0
    shown: int = 0


class ListCost(Struct, frozen=True, kw_only=True):
    """The characters of the list, its limit, and what is cut if the list is longer than the limit.

    `cut` is the number of descriptions that are dropped or shortened, and `left_out` the number of skills that are not
    in the list at all. Which descriptions are dropped may depend on the use of the skills, so `cut` is then the least
    possible number.
    """

    characters: int
    limit: int
    cut: int = 0
    left_out: int = 0


class AgentView(Struct, frozen=True, kw_only=True):
    """Findings of an agent. `skills` are in the order of precedence, `unreadable` are the copies that cannot be read.

    `places` maps each directory that was searched to the place in the agent's row. `elsewhere` has the number of skills
    in each directory that other agents or Prowess search here, but this agent does not. `cost` is None if no limit of
    the whole list is documented.
    """

    places: dict[str, str]
    skills: tuple[SeenSkill, ...]
    unreadable: tuple[LeftOut, ...]
    elsewhere: dict[str, int]
    cost: ListCost | None

    @property
    def listed(self) -> tuple[SeenSkill, ...]:
        """The skills that a model sees."""
        return tuple(skill for skill in self.skills if skill.state == "listed")


def view_of(agent: OtherAgent, start: str) -> AgentView:
    """Return what the agent finds if it is started in the directory `start`."""
    places = {path: place for path, _, place in _places(agent, start)}
    sources = {path: DirectorySource(path, layer=layer) for path, layer, _ in _places(agent, start)}
    scan = _scanned(sources.values())
    order = list(sources)
    found = [_seen(agent, entry, sources, places) for entry in scan.finished()]
    found.sort(key=lambda pair: (order.index(pair[0]), pair[1].name, pair[1].path))
    skills = _without_shadowed(agent, [skill for _, skill in found])
    counted, cost = _within_budget(agent.budget, skills)
    return AgentView(
        places=places,
        skills=tuple(counted),
        unreadable=tuple(scan.skipped),
        elsewhere=_elsewhere(scan, places, start),
        cost=cost,
    )


def _scanned(sources: Iterable[DirectorySource]) -> Scan:
    scan = Scan()
    for source in sources:
        scan.begin(source)
        source.scan(scan)
    return scan


def _elsewhere(found: Scan, searched: dict[str, str], start: str) -> dict[str, int]:
    """Count the skills that `found` does not have, by the directory of another agent or of Prowess."""
    all_places = (place for agent in (_PROWESS, *other_agents().values()) for place in _places(agent, start))
    others = ((path, layer) for path, layer, _ in all_places if path not in searched and os.path.isdir(path))
    there = {path: DirectorySource(path, layer=layer) for path, layer in others}
    scan = _scanned(there.values())
    counts = Counter(entry.source for directory, entry in scan.entries.items() if directory not in found.entries)
    return {path: counts[source.label] for path, source in there.items() if counts[source.label]}


def _places(agent: OtherAgent, start: str) -> Iterator[tuple[str, Layer, str]]:
    """Yield path, layer and place of each directory in the order of precedence."""
    here = os.path.realpath(start)
    root = project_root(here) if agent.searched == "upwards" else here
    for place in agent.places:
        if place.startswith("~/"):
            yield agent.personal_path(place), Layer.PERSONAL, place
        elif place.startswith("/"):
            yield place, Layer.ENTERPRISE, place
        else:
            above = here
            while True:
                yield os.path.join(above, place), Layer.PROJECT, place
                if above in {root, os.path.dirname(above)}:
                    break
                above = os.path.dirname(above)


def _seen(
    agent: OtherAgent, entry: SkillEntry, sources: dict[str, DirectorySource], places: dict[str, str]
) -> tuple[str, SeenSkill]:
    """Return the directory in which the agent finds the copy, and the copy."""
    real = entry.root_dir
    own = next(path for path, source in sources.items() if id(source) == entry.source_id)
    direct = next((path for path, source in sources.items() if real.startswith(f"{source.root}/")), None)
    linked = not real.startswith(f"{sources[own].root}/")
    state: State = "listed"
    if linked and agent.links == "ignored":
        if direct is None:
            state = "link_ignored"
        else:
            own, linked = direct, False
    base = sources[own]
    path = next((alias for alias in entry.aliases if alias.startswith(f"{base.named}/")), real) if linked else real
    below = path.removeprefix(f"{base.named}/" if linked else f"{base.root}/")
    if state == "listed" and agent.depth == "children" and "/" in below:
        state = "too_deep"
    if state == "listed" and agent.by_hand and entry.extended.disable_model_invocation:
        state = "by_hand"
    texts = [entry.description if key == "description" else _text(entry, key) for key in agent.budget.counted]
    skill = SeenSkill(
        name=os.path.basename(path) if agent.named_by == "directory" else entry.name,
        description=entry.description,
        place=places[own],
        path=os.path.join(base.named, below),
        location=entry.location,
        state=state,
        reason=_WHY_NOT.get(state),
        length=sum(map(len, texts)),
    )
    return own, skill


def _text(entry: SkillEntry, key: str) -> str:
    value = entry.properties.get(key) if entry.has_field(key) else None
    return value if isinstance(value, str) else ""


def _without_shadowed(agent: OtherAgent, skills: list[SeenSkill]) -> list[SeenSkill]:
    """Mark the copies that the agent does not use because an earlier copy has the same name."""
    if agent.same_name != "first":
        return skills
    first: dict[str, SeenSkill] = {}
    marked = []
    for skill in skills:
        used = first.setdefault(skill.name, skill) if skill.state in {"listed", "by_hand"} else skill
        reason = f"{used.path} has the same name and comes first"
        marked.append(skill if used is skill else replace(skill, state="shadowed", reason=reason))
    return marked


def _within_budget(budget: ListBudget, skills: Sequence[SeenSkill]) -> tuple[list[SeenSkill], ListCost | None]:
    """Set `shown` of the listed skills, and return the cost of the list."""
    most = budget.description
    shown = [
        replace(skill, shown=skill.length if most is None else min(skill.length, most)) if skill.state == "listed"
        else replace(skill, length=0)
        for skill in skills
    ]  # fmt: skip
    if budget.total is None:
        return shown, None
    listed = [skill for skill in shown if skill.state == "listed"]
    fixed = [len(skill.name) + (len(skill.location) if budget.counts_path else 0) for skill in listed]
    cost = ListCost(characters=sum(fixed) + sum(skill.shown for skill in listed), limit=budget.total)
    left = budget.total - sum(fixed)
    if cost.characters <= cost.limit:
        return shown, cost
    if budget.beyond == "drop":
        return shown, replace(cost, cut=_dropped([skill.shown for skill in listed], left))
    if left < 0:
        kept = list(fixed)
        while kept and sum(kept) > budget.total:
            kept.pop()
        cost = replace(cost, cut=len(listed), left_out=len(listed) - len(kept))
        return [replace(skill, shown=0) for skill in shown], cost
    each = _even([skill.shown for skill in listed], left)
    cost = replace(cost, cut=sum(skill.shown > each for skill in listed))
    return [replace(skill, shown=min(skill.shown, each)) for skill in shown], cost


def _dropped(lengths: list[int], left: int) -> int:
    """Return the least number of descriptions that must be dropped so that the others have `left` characters."""
    over, number = sum(lengths) - left, 0
    for length in sorted(lengths, reverse=True):
        if over <= 0 or not length:
            break
        over -= length
        number += 1
    return number


def _even(lengths: list[int], left: int) -> int:
    """Return the number of characters that each description may have if together they may have `left`."""
    each, rest = 0, sorted(lengths)
    while rest:
        each = left // len(rest)
        if rest[0] > each:
            return each
        left -= rest.pop(0)
    return each
