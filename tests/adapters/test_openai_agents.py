"""What is the OpenAI Agents SDK's alone: images in outputs, and tools that it does not run itself."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, WebSearchTool, function_tool
from openai import AsyncOpenAI

from prowess.adapters.openai_agents import guarded, skills_instructions, skills_tools
from tests.adapters import scenario
from tests.adapters.provider import provider

if TYPE_CHECKING:
    from pathlib import Path

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.mark.anyio
async def test_an_image_is_shown_to_the_model(tmp_path: Path) -> None:
    scene = scenario.scene(tmp_path)
    (tmp_path / "skills" / "tally" / "dot.png").write_bytes(PIXEL)
    await scene.session.load(["tally"])
    with provider([("skills_read", {"path": "dot.png", "encoding": "binary"})], "Done.") as running:
        async with AsyncOpenAI(base_url=running.url, api_key="none") as client:
            agent = Agent[None](
                name="Clerk",
                instructions=skills_instructions(scene.session),
                tools=skills_tools(scene.session),
                model=OpenAIResponsesModel("gpt-4o", client),
            )
            await Runner.run(agent, "What colour?", run_config=RunConfig(tracing_disabled=True))
    output = running.asked[-1].body["input"][-1]["output"]
    assert [part["type"] for part in output] == ["input_text", "input_image"]
    assert base64.b64decode(output[1]["image_url"].partition(",")[2]) == PIXEL
    assert "data_base64" not in output[0]["text"]


def test_guarding_copies_function_tools_and_leaves_the_others(tmp_path: Path) -> None:
    def wipe(path: str) -> str:
        """Remove a file."""
        return path

    own, search = function_tool(wipe), WebSearchTool()
    held, untouched = guarded(scenario.scene(tmp_path).session, [own, search])
    assert untouched is search
    assert held is not own
    assert own.tool_input_guardrails is None
