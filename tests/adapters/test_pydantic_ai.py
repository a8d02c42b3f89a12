"""What is pydantic-ai's alone: toolsets that are wrapped, images in results, and arguments as objects."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pydantic_ai", reason="the extra `pydantic-ai` is not installed")

from pydantic_ai import Agent
from pydantic_ai.messages import BinaryContent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from prowess.adapters.pydantic_ai import skills_toolset
from prowess.catalog import Catalog
from prowess.runtime import Session
from tests.adapters import scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _calling(*calls: ToolCallPart) -> tuple[FunctionModel, list[AgentInfo]]:
    """Return a model that makes these calls in one turn and then answers, and what it is told."""
    told: list[AgentInfo] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(info)
        return ModelResponse(parts=list(calls) if len(messages) == 1 and calls else [TextPart("Done.")])

    return FunctionModel(answer), told


def _returned(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


@pytest.mark.anyio
async def test_an_image_is_shown_to_the_model(tmp_path: Path) -> None:
    scene = scenario.scene(tmp_path)
    (tmp_path / "skills" / "tally" / "dot.png").write_bytes(PIXEL)
    await scene.session.load(["tally"])
    model, _ = _calling(ToolCallPart("skills_read", {"path": "dot.png", "encoding": "binary"}))
    result = await Agent(model, toolsets=[skills_toolset(scene.session)]).run("What colour?")
    (part,) = _returned(result.all_messages())
    assert isinstance(part.content, list)
    text, image = part.content
    assert "data_base64" not in str(text)
    assert image == BinaryContent(data=PIXEL, media_type="image/png")


@pytest.mark.anyio
async def test_a_failed_call_is_a_failed_result_and_no_retry(tmp_path: Path) -> None:
    scene = scenario.scene(tmp_path)
    model, _ = _calling(
        *(ToolCallPart("skills_read", {"path": "x.md"}) for _ in range(5)), ToolCallPart("skills_load", "[1]")
    )
    result = await Agent(model, toolsets=[skills_toolset(scene.session)], retries=0).run("Go.")
    parts = _returned(result.all_messages())
    assert [part.outcome for part in parts] == ["failed"] * 6
    assert "load" in str(parts[0].content)
    assert parts[-1].content == "Arguments must be a JSON object"


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda session: [skills_toolset(session).prefixed("house")],
        lambda session: [skills_toolset(session, id="house").renamed({"house_skills_load": "skills_load"})],
    ],
    ids=["prefixed", "renamed"],
)
@pytest.mark.anyio
async def test_a_wrapped_toolset_keeps_its_instructions_and_its_door(
    tmp_path: Path, wrapped: Callable[[Session], list[object]]
) -> None:
    scene = scenario.scene(tmp_path)
    model, told = _calling(ToolCallPart("house_skills_load", {"names": ["tally"]}))
    await Agent(model, toolsets=wrapped(scene.session)).run("Go.")  # type: ignore[arg-type]  # a wrapper of a toolset is one
    assert [scenario.BODY in str(info.instructions) for info in told] == [False, True]


@pytest.mark.anyio
async def test_two_sessions_of_one_agent_need_ids_and_prefixes(tmp_path: Path) -> None:
    one, two = scenario.scene(tmp_path / "one"), scenario.scene(tmp_path / "two")
    model, told = _calling(ToolCallPart("b_skills_load", {"names": ["tally"]}))
    toolsets = [
        skills_toolset(one.session, id="a").prefixed("a"),
        skills_toolset(two.session, id="b").prefixed("b"),
    ]
    await Agent(model, toolsets=toolsets).run("Go.")
    assert (one.session.active_skill_name, two.session.active_skill_name) == (None, "tally")
    assert len(told[0].function_tools) == len({tool.name for tool in told[0].function_tools})


@pytest.mark.anyio
async def test_without_skills_an_agent_is_what_it_was(tmp_path: Path) -> None:
    model, told = _calling()
    await Agent(model, toolsets=[skills_toolset(Session(Catalog(tmp_path)))]).run("Go.")
    assert (told[0].function_tools, told[0].instructions) == ([], None)


def test_an_agent_serves_several_runs_each_with_an_event_loop_of_its_own(tmp_path: Path) -> None:
    scene = scenario.scene(tmp_path)
    model, told = _calling(*(ToolCallPart("skills_load", {"names": ["tally"]}) for _ in range(2)))
    agent = Agent(model, toolsets=[skills_toolset(scene.session)])
    # Not `run_sync`, which leaves a loop behind that it never closes and takes it again.
    assert [asyncio.run(agent.run("Go.")).output for _ in range(2)] == ["Done.", "Done."]
    assert len(told) == 4
