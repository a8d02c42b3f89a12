"""What the executor knows of a tool that it offers: its specification of now, and the gates before each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.policy import Policy
from prowess.policy.approval import ApprovalMemory
from prowess.tools import Proceed, Refuse, ToolCall, ToolExecutor, ToolSpec, require_executor
from prowess.tools.gates import PROCEED, ApprovalGate, NoApprover, PolicyGate
from tests.tools.wrappers.kept_log import KeptLog

if TYPE_CHECKING:
    from prowess.policy.restriction import Restriction
    from prowess.tools import Gate

pytestmark = pytest.mark.anyio


class Echo:
    """A tool whose specification may change."""

    def __init__(self, name: str = "skills.load") -> None:
        self.spec = ToolSpec(name=name, description="", input_schema={"type": "object"})

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        return dict(arguments)


class Asked:
    """A gate that counts how often it is asked."""

    def __init__(self, answer: Proceed | Refuse = PROCEED) -> None:
        self.answer, self.times = answer, 0

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        del call, spec
        self.times += 1
        return self.answer


async def _nothing_active() -> tuple[Restriction, ...]:
    return ()


@pytest.mark.parametrize(
    ("gates", "by"),
    [
        ([Asked(Proceed(by="first"))], "first"),
        ([Asked(Proceed(by="first")), Asked(PROCEED)], "first"),
        ([Asked(Proceed(by="first")), Asked(Proceed(by="second"))], "second"),
        ([Asked(PROCEED)], None),
    ],
)
async def test_the_log_names_the_last_gate_that_gave_a_reason(gates: list[Gate], by: str | None) -> None:
    log = KeptLog()
    await ToolExecutor([Echo()], gates=gates, audit=log).call(ToolCall(id="1", name="skills.load", arguments={}))
    assert [event.data.get("allowed_by") for event in log.events if event.kind == "tool.started"] == [by]


async def test_a_specification_that_changes_is_enforced_from_the_next_call_on() -> None:
    tool, asked = Echo(), Asked()
    policy = Policy()
    gate = ApprovalGate(policy, _nothing_active, NoApprover(), ApprovalMemory())
    executor = ToolExecutor([tool], gates=[PolicyGate(policy), gate, asked])
    assert (await executor.call(ToolCall(id="1", name="skills.load", arguments={}))).success
    tool.spec = replace(tool.spec, needs_approval="it is costly", input_schema={"type": "object", "required": ["a"]})
    for arguments, code in (({"a": 1}, "approval_required"), ({}, "invalid_arguments")):
        result = await executor.call(ToolCall(id="2", name="skills.load", arguments=arguments))
        assert result.error_detail is not None
        assert result.error_detail["code"] == code
    assert asked.times == 1
