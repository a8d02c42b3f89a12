"""Where other agents look for skills, and how they list them: the rows of `agents.toml`.

The file states what the documentation of each agent states, with the source and the date of reading. What a source does
not state is absent, and is reported as unknown.
"""

from __future__ import annotations

import os
from datetime import date  # noqa: TC003 -- msgspec decodes it
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from prowess._internal.places import user_home
from prowess._internal.text.near_words import near_words
from prowess.errors import InvalidArgumentsError

DATA = "agents.toml"


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document, and the date on which it was read."""

    title: str
    url: str
    read: date


class ListBudget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the descriptions a model sees; None if no limit is documented.

    `description` is the limit of one skill in characters; the fields in `counted` count together. `total` is the limit
    of the whole list in characters if the size of the context window is not known, otherwise it is `share` of the
    window. If the list is longer, whole descriptions are dropped, or all descriptions are shortened evenly.
    """

    description: int | None = None
    counted: tuple[Literal["description", "when_to_use"], ...] = ("description",)
    total: int | None = None
    share: float | None = None
    beyond: Literal["drop", "shorten"] | None = None
    counts_path: bool = False


class OtherAgent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent.

    `places` are directories, the one with the highest precedence first if `same_name` is `first`: relative ones in the
    project, those with `~/` in the home directory, absolute ones of the machine. `moved_by` maps the beginning of a
    place to the environment variable that replaces it. `searched` states whether places of the project are only those
    of the directory in which the agent is started, or also those above it, up to the root of the project. `depth` is
    `children` if only immediate subdirectories of a place are skills. `same_name` states whether the first copy of a
    name is used, or all copies are listed. `links` is about links to directories of skills. If `by_hand` is true, a
    skill with `disable-model-invocation: true` is not shown to the model.
    """

    title: str
    places: tuple[str, ...]
    sources: tuple[str, ...]
    moved_by: dict[str, str] = {}
    searched: Literal["start", "upwards"] = "start"
    depth: Literal["children", "any"] | None = None
    same_name: Literal["first", "all"] | None = None
    named_by: Literal["field", "directory"] = "field"
    links: Literal["followed", "ignored"] | None = None
    by_hand: bool = False
    budget: ListBudget = ListBudget()
    note: str = ""

    def personal_path(self, place: str) -> str:
        """Return the path of a place that begins with `~/`, which an environment variable may have moved."""
        for begin, variable in self.moved_by.items():
            if place.startswith(begin) and (moved := os.environ.get(variable, "").strip()):
                return os.path.abspath(moved + place[len(begin) :])
        return f"{user_home()}{place[1:]}"


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    sources: dict[str, Source]
    agents: dict[str, OtherAgent]


@cache
def _read() -> _File:
    # Not `importlib.resources`: importing that takes longer than reading the file, for each change of installed skills.
    with open(os.path.join(os.path.dirname(__file__), DATA), "rb") as file:
        return msgspec.toml.decode(file.read(), type=_File)


def other_agents() -> dict[str, OtherAgent]:
    """Return every agent by its id, sorted by id."""
    return dict(sorted(_read().agents.items()))


def other_agent(name: str) -> OtherAgent:
    """Return the agent with this id.

    Raises:
        InvalidArgumentsError: there is none. The message has all ids.
    """
    agents = other_agents()
    if name in agents:
        return agents[name]
    near = near_words(name, agents)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise InvalidArgumentsError((f"no agent is called {name!r}{hint}; known agents: {', '.join(agents)}",))


def all_sources() -> dict[str, Source]:
    """Return every document by its id."""
    return dict(_read().sources)


def sources_of(agent: OtherAgent) -> tuple[Source, ...]:
    """Return the documents from which the row was taken."""
    known = _read().sources
    return tuple(known[source] for source in agent.sources)
