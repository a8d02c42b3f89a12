"""NaN and infinity from a tool: one clear error, and never JSON that is none, whichever way the result goes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.client import Client

from prowess import Catalog
from prowess.agent.model import AssistantMessage, ToolUse
from prowess.agent.transcript import Transcript
from prowess.mcp_server.server import build_server, open_session
from prowess.policy.approval import Approval
from prowess.runtime import SyncSession
from prowess.runtime.json_lines import answer
from prowess.tools import ToolCall, ToolExecutor, ToolResult, ToolSpec, require_executor
from prowess.tools.functions.json_values import NotJsonValueError, require_finite
from prowess.tools.gates import CallbackApprover
from prowess.tools.shapes import SHAPES
from prowess.tools.wrappers import Caching
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

NUMBERS = [math.nan, math.inf, -math.inf]


class Measure:
    """A tool of a host's own that passes numbers on as they are."""

    spec = ToolSpec(name="measure", description="Measure.", input_schema={"type": "object"}, read_only=True)

    def __init__(self, number: float) -> None:
        self._number = number

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        return {"values": [1.5, {"x": self._number}]}


@pytest.mark.parametrize("number", NUMBERS)
async def test_the_executor_names_the_place_of_the_number(number: float) -> None:
    for tool in (Measure(number), Caching(Measure(number), seconds=60)):
        result = await ToolExecutor([tool]).call(ToolCall(id="1", name="measure", arguments={}))
        assert not result.success
        assert result.error == f"the result.values[1].x is the number {number}, which has no JSON form"
        assert (result.error_detail or {})["code"] == "internal"


async def test_over_mcp_and_json_lines_it_is_a_failed_call(tmp_path: Path) -> None:
    write_skill(tmp_path, "one")
    session = open_session(Catalog(tmp_path))
    session._parts.executor.add(Measure(math.nan))
    async with Client(build_server(session), mode="legacy") as client:
        result = await client.call_tool("measure", {})
        assert (result.is_error, result.structured_content) == (True, None)
        assert "the number nan" in str(result.content)
    await session.close()


def test_over_json_lines_it_is_a_failed_call(tmp_path: Path) -> None:
    write_skill(tmp_path, "one")
    approver = CallbackApprover(lambda _: Approval())
    with SyncSession(Catalog(tmp_path), extra_tools=(Measure(math.nan),), approver=approver) as session:
        line = json.loads(answer(session, b'{"id": 1, "tool": "measure", "arguments": {}}'), parse_constant=pytest.fail)
    assert (line["success"], line["error_detail"]["code"]) == (False, "internal")
    assert "the number nan" in line["error"]


@pytest.mark.parametrize("shape", list(SHAPES))
def test_no_shape_writes_what_is_no_json(shape: str) -> None:
    call = ToolCall(id="1", name="measure", arguments={})
    with pytest.raises(ValueError, match="JSON"):
        SHAPES[shape].result_message(ToolResult.ok({"x": math.nan}), call)


def test_a_value_that_holds_itself_is_looked_through_once() -> None:
    value: list[Any] = [1]
    value += [value, value, {"again": value}]

    require_finite(value)
    value.append(math.inf)
    with pytest.raises(NotJsonValueError, match=r"the value\[4\] is the number inf"):
        require_finite(value)


def test_a_transcript_keeps_a_call_that_no_json_can_hold_in_words(tmp_path: Path) -> None:
    call = ToolUse(id="1", name="measure", arguments={"x": [math.nan, 1.5]})
    with Transcript(tmp_path / "t.jsonl") as transcript:
        transcript.message(AssistantMessage(text="", calls=(call,)))

    line = json.loads((tmp_path / "t.jsonl").read_text(), parse_constant=pytest.fail)
    assert line["calls"][0]["arguments"] == {"x": ["nan", 1.5]}
