from __future__ import annotations

import pytest

from prowess.policy import Policy, PolicyFile, Restriction
from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.functions.function_tool import FunctionTool
from prowess.tools.gates import NoLogGate, standard_gates

pytestmark = pytest.mark.anyio


async def test_without_a_log_no_call_is_run_where_the_policy_wants_a_record() -> None:
    ran: list[int] = []

    def note() -> None:
        ran.append(1)

    call = ToolCall(id="1", name="note", arguments={})
    wanting = Policy(files=(PolicyFile(path="p.toml", default="allow", audit_required=True),))
    result = await ToolExecutor([FunctionTool(note)], gates=(NoLogGate(wanting),)).call(call)
    assert result.error_detail is not None
    assert result.error_detail["code"] == "unavailable"
    assert "audit.required" in str(result.error)
    assert ran == []
    assert (await ToolExecutor([FunctionTool(note)], gates=(NoLogGate(Policy()),)).call(call)).success
    assert ran == [1]


async def test_calls_of_skill_tools_and_allowed_ones_do_not_look_up_what_is_active() -> None:
    looked: list[int] = []

    async def active() -> list[Restriction]:
        looked.append(1)
        return []

    def load() -> str:
        return "loaded"

    def other() -> str:
        return "done"

    executor = ToolExecutor(
        [FunctionTool(load, name="skills.load"), FunctionTool(other)], gates=standard_gates(Policy(), active)
    )

    assert (await executor.call(ToolCall(id="1", name="skills_load", arguments={}))).success
    assert looked == []
    assert (await executor.call(ToolCall(id="2", name="other", arguments={}))).success
    assert looked == [1, 1]  # the restriction looks whether it refuses, the approval whether a skill asks
