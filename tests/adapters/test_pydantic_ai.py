"""The toolset in an agent of pydantic-ai, with its client of OpenAI against a server in the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pydantic_ai", reason="the extra `pydantic-ai` is not installed")
pytest.importorskip("openai", reason="OpenAI's client is not installed")

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from prowess.adapters.pydantic_ai import skills_toolset
from tests.adapters import scenario
from tests.adapters.provider import provider

if TYPE_CHECKING:
    from pathlib import Path


def _model(url: str) -> OpenAIChatModel:
    return OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="none"))


@pytest.mark.anyio
async def test_a_run_loads_reads_runs_and_is_told_what_it_may_not(tmp_path: Path) -> None:
    scene = scenario.scene(tmp_path)
    with provider(*scenario.TURNS) as running:
        async with _model(running.url) as model:
            agent = Agent(model, instructions=scenario.RULES, toolsets=[skills_toolset(scene.session)])
            result = await agent.run("How many rows?")
    assert result.output == "42 rows."
    scenario.check(running.asked, scene)
