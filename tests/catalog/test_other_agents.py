"""The file of other agents: every row has its sources, and the page is generated from the file."""

from __future__ import annotations

import re
from datetime import date

import pytest

from prowess.catalog.other_agents.places import all_sources, other_agent, other_agents, sources_of
from prowess.errors import InvalidArgumentsError

_PLACE = re.compile(r"(?:~/|/)?(?:\.?[a-z0-9][a-z0-9.-]*/)*skills")


@pytest.mark.parametrize("name", other_agents())
def test_a_row_has_sources_and_places_of_a_known_form(name: str) -> None:
    agent = other_agent(name)
    assert re.fullmatch(r"[a-z0-9-]+", name)
    assert sources_of(agent)
    assert agent.places
    assert len(set(agent.places)) == len(agent.places)
    assert [place for place in agent.places if not _PLACE.fullmatch(place)] == []
    assert all(any(place.startswith(begin) for place in agent.places) for begin in agent.moved_by)
    assert (agent.budget.total is None) == (agent.budget.beyond is None) == (agent.budget.share is None)


def test_every_source_has_an_address_and_a_date_and_is_used() -> None:
    used = {source for agent in other_agents().values() for source in agent.sources}
    assert set(all_sources()) == used
    for source in all_sources().values():
        assert source.url.startswith("https://")
        assert date(2026, 1, 1) <= source.read <= date.today()  # noqa: DTZ011 -- days, not times


def test_the_agents_with_most_users_are_there() -> None:
    assert {"claude-code", "codex", "cursor", "github-copilot", "gemini-cli", "opencode"} <= other_agents().keys()


def test_an_unknown_agent_names_all_known_ones() -> None:
    with pytest.raises(InvalidArgumentsError, match=r"no agent is called '-'; known agents: adal, .*zenflow"):
        other_agent("-")
