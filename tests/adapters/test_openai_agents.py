"""The tools and instructions in an agent of the OpenAI Agents SDK, over Responses and over Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")

from agents import Agent, Model, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig, Runner
from openai import AsyncOpenAI

from prowess.adapters.openai_agents import skills_instructions, skills_tools
from tests.adapters import scenario
from tests.adapters.provider import provider

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.runtime import Session

_QUIET = RunConfig(tracing_disabled=True)  # traces would be sent to OpenAI


def _agent(session: Session, model: Model) -> Agent[None]:
    return Agent(
        name="Clerk",
        instructions=skills_instructions(session, scenario.RULES),
        tools=skills_tools(session),
        model=model,
    )


@pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
@pytest.mark.anyio
async def test_a_run_loads_reads_runs_and_is_told_what_it_may_not(
    tmp_path: Path, kind: type[OpenAIResponsesModel | OpenAIChatCompletionsModel]
) -> None:
    scene = scenario.scene(tmp_path)
    with provider(*scenario.TURNS) as running:
        async with AsyncOpenAI(base_url=running.url, api_key="none") as client:
            agent = _agent(scene.session, kind("gpt-4o", client))
            result = await Runner.run(agent, "How many rows?", run_config=_QUIET)
    assert result.final_output == "42 rows."
    scenario.check(running.asked, scene)
