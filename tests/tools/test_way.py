"""A gate that never has a say about a tool does not stand on its way; every other one is asked about every call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from prowess.errors import PolicyDeniedError
from prowess.policy import Policy
from prowess.policy.approval import ApprovalMemory
from prowess.policy.decision import Deny
from prowess.tools import Proceed, Refuse, ToolCall, ToolExecutor, ToolSpec, require_door
from prowess.tools.approval_gate import ApprovalGate
from prowess.tools.approvers import NoApprover
from prowess.tools.gates import PROCEED, settled
from prowess.tools.policy_gate import PolicyGate
from prowess.tools.restriction_gate import RestrictionGate
from prowess.tools.way import Way
from tests.tools.wrappers.kept_log import KeptLog

if TYPE_CHECKING:
    from prowess.policy.decision import Decision
    from prowess.policy.restriction import Restriction
    from prowess.policy.rule import PolicyCall
    from prowess.tools import Gate

pytestmark = pytest.mark.anyio


class Echo:
    """A tool whose specification may change."""

    def __init__(self, name: str = "skills.load") -> None:
        self.spec = ToolSpec(name=name, description="", input_schema={"type": "object"})

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_door(self, call)
        return dict(arguments)


class Asked:
    """A gate that counts how often it is asked."""

    def __init__(self, answer: Proceed | Refuse = PROCEED) -> None:
        self.answer, self.times = answer, 0

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        del call, spec
        self.times += 1
        return self.answer


class Silent(Asked):
    """A gate that lets a tool pass before anybody calls it, by a rule."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        return await super().check(call, spec)

    def settled(self, spec: ToolSpec) -> Proceed | None:
        return self.answer if spec.name == "skills.load" and isinstance(self.answer, Proceed) else None


class Strict(Silent):
    """One that takes over what is told beforehand and checks in a way of its own."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        await super().check(call, spec)
        return Refuse(error=PolicyDeniedError("strict", "never"))


async def _nothing_active() -> tuple[Restriction, ...]:
    return ()


async def test_a_gate_is_not_asked_about_a_tool_that_it_lets_pass_always() -> None:
    silent, asked = Silent(), Asked()
    executor = ToolExecutor([Echo(), Echo("other")], gates=[silent, asked])
    assert (await executor.call(ToolCall(id="1", name="skills.load", arguments={}))).success
    assert (silent.times, asked.times) == (0, 1)
    assert (await executor.call(ToolCall(id="2", name="other", arguments={}))).success
    assert (silent.times, asked.times) == (1, 2)


async def test_a_class_that_checks_in_a_way_of_its_own_is_asked_about_every_call() -> None:
    strict = Strict()
    executor = ToolExecutor([Echo()], gates=[strict])
    refused = await executor.call(ToolCall(id="1", name="skills.load", arguments={}))
    assert (refused.success, strict.times) == (False, 1)


class Derived(Silent):
    """One that changes what the check of the class above it makes use of, and takes over both methods."""

    answer = PROCEED

    def __init__(self) -> None:
        self.times = 0


class Passing:
    """One that hands everything on to another, and has no methods itself."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def __getattr__(self, name: str) -> object:
        return getattr(self._gate, name)


async def test_a_gate_that_is_derived_replaced_or_handed_on_is_asked_about_every_call() -> None:
    derived, handed, replaced, told = Derived(), Silent(), Silent(), Asked()
    vars(replaced)["check"] = told.check
    for gate in (derived, Passing(handed), replaced):
        executor = ToolExecutor([Echo()], gates=[gate])  # type: ignore[list-item]  # one has its methods from another
        assert (await executor.call(ToolCall(id="1", name="skills.load", arguments={}))).success
    assert (derived.times, handed.times, told.times) == (1, 1, 1)


@pytest.mark.parametrize(
    ("gates", "by"),
    [
        ([Silent(Proceed(by="first"))], "first"),
        ([Silent(Proceed(by="first")), Silent(PROCEED)], "first"),
        ([Silent(Proceed(by="first")), Silent(Proceed(by="second"))], "second"),
        ([Asked(Proceed(by="first")), Silent(Proceed(by="second"))], "second"),
        ([Silent(Proceed(by="first")), Asked(Proceed(by="second"))], "second"),
        ([Silent(Proceed(by="first")), Asked(PROCEED)], "first"),
    ],
)
async def test_the_log_names_the_last_that_let_the_call_pass_whoever_was_asked(gates: list[Gate], by: str) -> None:
    log = KeptLog()
    await ToolExecutor([Echo()], gates=gates, audit=log).call(ToolCall(id="1", name="skills.load", arguments={}))
    assert [event.data.get("allowed_by") for event in log.events if event.kind == "tool.started"] == [by]


async def test_a_specification_that_changes_has_another_way() -> None:
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


def test_a_way_stays_while_the_specification_is_an_equal_one() -> None:
    tool = Echo()
    way = Way(tool, ())
    tool.spec = replace(tool.spec)
    assert way.renewed() is way
    tool.spec = replace(tool.spec, description="other")
    assert way.renewed() is not way


class Own(Policy):
    """A policy of a host that decides in its own way."""

    def decide(self, call: PolicyCall, workspace: str | None = None) -> Decision:
        del call, workspace
        return Deny(rule="own", reason="never")


@pytest.mark.parametrize("tool", ["skills.load", "skills.unload", "Read", "Bash", "host.tool"])
async def test_what_a_gate_settles_is_what_it_says_about_a_call(tool: str) -> None:
    spec = ToolSpec(name=tool, description="", input_schema={"type": "object"})
    for policy in (Policy(), Policy(fault="torn"), Own()):
        gates = (
            PolicyGate(policy),
            RestrictionGate(_nothing_active),
            ApprovalGate(policy, _nothing_active, NoApprover(), ApprovalMemory()),
        )
        for gate in gates:
            answer = settled(gate, spec)
            call = ToolCall(id="1", name=tool, arguments={"command": "true"})
            assert answer in {None, await gate.check(call, spec)}
            if not isinstance(gate, RestrictionGate) and policy != Policy():
                assert answer is None
    marked = replace(spec, needs_approval="it is costly")
    assert settled(gates[2], marked) is None
