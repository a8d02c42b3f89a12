"""The middleware in an agent of LangChain, and the tools in a graph, with its client of OpenAI against our server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("langchain", reason="the extra `langchain` is not installed")
pytest.importorskip("langchain_openai", reason="LangChain's client of OpenAI is not installed")

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from prowess.adapters.langchain import skills_middleware
from tests.adapters import scenario
from tests.adapters.provider import provider

if TYPE_CHECKING:
    from pathlib import Path

_ASKED = {"messages": [{"role": "user", "content": "How many rows?"}]}


def _model(url: str, *, responses: bool = False) -> ChatOpenAI:
    return ChatOpenAI(
        model="gpt-4o", base_url=url, api_key=SecretStr("none"), max_retries=0, use_responses_api=responses
    )


@pytest.mark.parametrize("protocol", ["chat completions", "responses"])
@pytest.mark.anyio
async def test_a_run_loads_reads_runs_and_is_told_what_it_may_not(tmp_path: Path, protocol: str) -> None:
    scene = scenario.scene(tmp_path)
    with provider(*scenario.TURNS) as running:
        agent = create_agent(
            _model(running.url, responses=protocol == "responses"),
            system_prompt=scenario.RULES,
            middleware=[skills_middleware(scene.session)],
        )
        result = await agent.ainvoke(_ASKED)
    assert result["messages"][-1].text == "42 rows."
    scenario.check(running.asked, scene, malformed="arguments were malformed")
    statuses = [message.status for message in result["messages"] if isinstance(message, ToolMessage)]
    assert statuses == ["success"] * 3 + ["error"] * 3 + ["success"]
