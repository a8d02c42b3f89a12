"""Policy, restriction and approval before a run, through the executor: in this order, audited, and asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest

from prowess.errors import ApprovalRequiredError, PolicyDeniedError, PolicyError, SkillError, ToolNotAllowedError
from prowess.policy.approval import Approval, ApprovalMemory, ApprovalRequest, Refusal, Unanswered
from prowess.policy.decision import RuleOrigin
from prowess.policy.policy import Policy
from prowess.policy.policy_file import PolicyFile
from prowess.policy.restriction import Restriction
from prowess.policy.rule import Effect, PolicyRule
from prowess.tools import ToolCall, ToolExecutor, ToolResult, ToolSpec
from prowess.tools.gates import CallbackApprover, PolicyGate, standard_gates
from prowess.tools.wrappers import NeedsApproval
from tests.tools.wrappers.kept_log import KeptLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.policy.approval import Answer, Approver
    from prowess.tools import Tool

pytestmark = pytest.mark.anyio

_SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}, "file_path": {"type": "string"}}}


class Stub:
    """A tool that counts its runs."""

    def __init__(self, name: str, *aliases: str) -> None:
        self.spec = ToolSpec(name=name, description="Count.", input_schema=_SCHEMA, aliases=aliases)
        self.runs = 0

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        del arguments, call
        self.runs += 1
        return {"runs": self.runs}


class Host:
    """An executor with the three gates, as a session builds it, and what a session knows."""

    def __init__(
        self,
        *files: PolicyFile,
        approver: Approver | None = None,
        active: tuple[Restriction, ...] = (),
        extra: tuple[Tool, ...] = (),
    ) -> None:
        self.active = list(active)
        self.bash, self.read = Stub("Bash", "bash_exec"), Stub("Read")
        self.log, self.memory = KeptLog(), ApprovalMemory()
        policy = Policy(files=files)

        async def restrictions() -> list[Restriction]:
            return self.active

        self.gates = standard_gates(
            policy, restrictions, approver=approver, memory=self.memory, session_id="s", workspace="/nowhere"
        )
        skills = (Stub(name) for name in ("skills.load", "skills.unload", "skills.read", "skills.run_script"))
        self.executor = ToolExecutor(
            [self.bash, self.read, *skills, *extra], audit=self.log, gates=self.gates, session_id="s"
        )

    async def call(self, name: str, **arguments: object) -> ToolResult:
        return await self.executor.call(ToolCall(id="1", name=name, arguments=arguments))


class Asked:
    """An approver that gives one answer and keeps the questions."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[ApprovalRequest] = []

    async def approve(self, request: ApprovalRequest) -> Answer:
        self.requests.append(request)
        await anyio.sleep(0.01)
        return self.answer


def _file(*effects: tuple[Effect, str], default: Effect | None = None) -> PolicyFile:
    rules = tuple(
        PolicyRule(effect=effect, tool=tool, matches=(), reason="so it is", origin=RuleOrigin(path="p.toml", line=line))
        for line, (effect, tool) in enumerate(effects, 1)
    )
    return PolicyFile(path="p.toml", rules=rules, default=default)


ALLOW_ALL = _file(default="allow")
REVIEW = Restriction.of_field("code-review", "Read Bash(git:*)", digest="sha256:1")


@pytest.mark.proves("runtime.restrict.message")
async def test_a_restricted_call_names_tool_skill_reason_and_the_way_out() -> None:
    host = Host(ALLOW_ALL, active=(REVIEW,))
    result = await host.call("Bash", command="git diff & rm -rf .")
    assert result.success is False
    assert result.error == (
        "Tool 'Bash' not allowed by active skill 'code-review': '&' runs a command in the background. "
        "Unload 'code-review' to lift this."
    )
    assert isinstance(result.cause, ToolNotAllowedError)
    assert host.bash.runs == 0


async def test_a_skill_that_asks_takes_no_rule_of_a_policy_away() -> None:
    """The question names the rule of the policy, and the approval gate alone refuses what the policy denies."""
    asks = Restriction.of_field("review", "Read", mode="ask")
    asked = Asked(Approval(scope="once", by="ann"))
    assert (await Host(_file(("ask", "Bash")), approver=asked, active=(asks,)).call("Bash", command="id")).success
    assert [request.reason for request in asked.requests] == ["so it is"]

    denied = Host(_file(("deny", "Bash")), approver=asked, active=(asks,))
    alone = ToolExecutor([denied.bash], gates=denied.gates[-1:])
    result = await alone.call(ToolCall(id="1", name="Bash", arguments={"command": "id"}))
    assert isinstance(result.cause, PolicyDeniedError)
    assert (denied.bash.runs, len(asked.requests)) == (0, 1)


@pytest.mark.proves("runtime.restrict.skill-tools")
@pytest.mark.parametrize("field", ["", "Read", "Read(", "Bash(git:*)"])
async def test_no_restriction_refuses_the_skill_tools(field: str) -> None:
    host = Host(active=(Restriction.of_field("s", field),))
    for name in ("skills.load", "skills_unload", "skills-read", "skills-run-script"):
        assert (await host.call(name)).success


@pytest.mark.proves("runtime.restrict.lifted", "runtime.restrict.immediate")
async def test_a_restriction_holds_from_the_next_call_and_goes_with_its_skill() -> None:
    host = Host(ALLOW_ALL)
    assert (await host.call("Bash", command="id")).success
    host.active.append(REVIEW)
    assert not (await host.call("Bash", command="id")).success
    host.active.append(Restriction.of_field("b", "Read"))
    assert not (await host.call("Bash", command="git log")).success
    assert not (await host.call("Bash", command=3)).success  # an error in between changes nothing
    host.active.pop()
    assert (await host.call("Bash", command="git log")).success
    host.active.clear()
    assert (await host.call("Bash", command="id & ls")).success


async def test_restrictions_of_one_session_do_not_reach_another() -> None:
    restricted, free = Host(ALLOW_ALL, active=(REVIEW,)), Host(ALLOW_ALL)
    results: dict[str, list[bool]] = {"restricted": [], "free": []}

    async def many(name: str, host: Host) -> None:
        for _ in range(20):
            results[name].append((await host.call("Bash", command="id")).success)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(many, "restricted", restricted)
        group.start_soon(many, "free", free)
    assert results == {"restricted": [False] * 20, "free": [True] * 20}


async def test_policy_comes_before_restriction_and_restriction_before_approval() -> None:
    asked = Asked(Approval())
    denied = Host(_file(("deny", "Bash")), active=(REVIEW,), approver=asked)
    assert isinstance((await denied.call("Bash", command="id")).cause, PolicyDeniedError)
    restricted = Host(_file(("ask", "Bash")), active=(REVIEW,), approver=asked)
    assert isinstance((await restricted.call("Bash", command="id")).cause, ToolNotAllowedError)
    assert asked.requests == []
    assert (await restricted.call("Bash", command="git log")).success
    assert len(asked.requests) == 1


async def test_each_prevented_call_is_audited_with_rule_and_skill_and_without_arguments() -> None:
    host = Host(_file(("deny", "Read"), default="allow"), active=(REVIEW,))
    await host.call("Read", file_path="a-secret")
    await host.call("bash_exec", command="rm a-secret")
    await host.call("Bash", command="git a-secret & x")
    events = [(event.kind, event.data["tool"], event.data["code"]) for event in host.log.events]
    assert events == [
        ("tool.refused", "Read", "policy_denied"),
        ("tool.refused", "Bash", "tool_not_allowed"),
        ("tool.refused", "Bash", "tool_not_allowed"),
    ]
    assert [(event.data.get("rule"), event.data.get("skill")) for event in host.log.events] == [
        ("p.toml:1", None),
        ("allowed-tools:command", "code-review"),
        ("allowed-tools:background", "code-review"),
    ]
    assert "a-secret" not in repr(host.log.events)


async def test_a_call_that_nobody_can_approve_says_which_request_would_grant_it() -> None:
    host = Host()
    result = await host.call("Bash", command="make")
    assert isinstance(result.cause, ApprovalRequiredError)
    assert result.error_detail is not None
    assert result.error_detail["code"] == "approval_required"
    request = str(result.error_detail["request"])
    assert request in str(result.error)
    assert host.bash.runs == 0

    assert host.memory.settle(request, Approval(scope="once")) is not None
    assert (await host.call("Bash", command="make")).success
    assert not (await host.call("Bash", command="make")).success
    host.memory.settle(request, Approval(scope="session"))
    assert (await host.call("Bash", command="make")).success
    assert (await host.call("Bash", command="make")).success
    assert not (await host.call("Bash", command="make all")).success


async def test_nobody_is_asked_twice_for_the_same_bytes() -> None:
    asked = Asked(Approval(scope="session"))
    host = Host(approver=asked)
    for _ in range(3):
        assert (await host.call("Bash", command="make")).success
    assert len(asked.requests) == 1
    assert asked.requests[0].arguments == {"command": "make"}
    host.active.append(Restriction.of_field("s", None, digest="sha256:2"))
    assert (await host.call("Bash", command="make")).success
    assert len(asked.requests) == 2
    assert asked.requests[1].skills == ("sha256:2",)


async def test_a_refusal_is_remembered_too() -> None:
    asked = Asked(Refusal(reason="not today"))
    host = Host(approver=asked)
    for _ in range(2):
        result = await host.call("Bash", command="make")
        assert isinstance(result.cause, PolicyDeniedError)
        assert "not today" in str(result.error)
    assert len(asked.requests) == 1


async def test_parallel_calls_of_the_same_bytes_ask_once() -> None:
    asked = Asked(Approval(scope="session"))
    host = Host(approver=asked)
    async with anyio.create_task_group() as group:
        for command in ("make", "make", "make", "other"):
            group.start_soon(lambda text: host.call("Bash", command=text), command)
    assert host.bash.runs == 4
    assert sorted(str(request.arguments["command"]) for request in asked.requests) == ["make", "other"]


async def test_a_cancelled_question_does_not_block_the_next_one() -> None:
    class Sleeper:
        async def approve(self, request: ApprovalRequest) -> Answer:
            del request
            await anyio.sleep(5)
            return Unanswered()

    host = Host(approver=Sleeper())
    for _ in range(2):
        with anyio.move_on_after(0.02) as scope:
            await host.call("Bash", command="make")
        assert scope.cancelled_caught
    assert host.bash.runs == 0


async def test_an_approver_that_fails_permits_nothing() -> None:
    def broken(_: ApprovalRequest) -> Answer:
        raise RuntimeError

    host = Host(approver=CallbackApprover(broken))
    result = await host.call("Bash", command="make")
    assert isinstance(result.cause, SkillError)
    assert result.cause.code == "internal"
    assert host.bash.runs == 0


@pytest.mark.proves("client.safety.preapprove")
async def test_a_pre_approved_call_is_not_asked_about_and_others_are() -> None:
    listed = Restriction.of_field("s", "Bash(git:*)", mode="preapprove")
    host = Host(active=(listed,))
    assert (await host.call("Bash", command="git log")).success
    assert isinstance((await host.call("Bash", command="make")).cause, ApprovalRequiredError)
    assert (await host.call("Read", file_path="a")).success


@pytest.mark.parametrize(
    "host",
    [
        lambda listed: Host(_file(("ask", "Bash")), active=(listed,)),
        lambda listed: Host(_file(default="ask"), _file(("ask", "*")), active=(listed,)),
    ],
    ids=["a rule", "a rule of one layer"],
)
async def test_a_skill_does_not_answer_for_a_rule_that_asks(host: Callable[[Restriction], Host]) -> None:
    listed = Restriction.of_field("s", "Bash", mode="preapprove")
    result = await host(listed).call("Bash", command="make")
    assert isinstance(result.cause, ApprovalRequiredError)


async def test_a_tool_that_its_host_marked_always_asks() -> None:
    asked = Asked(Approval())
    tool = Stub("deploy")
    listed = Restriction.of_field("s", "deploy", mode="preapprove")
    host = Host(ALLOW_ALL, approver=asked, active=(listed,), extra=(NeedsApproval(tool, "it reaches customers"),))
    await host.call("deploy")
    assert [request.reason for request in asked.requests] == ["it reaches customers"]
    await Host(_file(("deny", "deploy")), approver=asked, extra=(NeedsApproval(tool, "x"),)).call("deploy")
    assert len(asked.requests) == 1


async def test_the_approval_gate_alone_denies_what_the_policy_denies() -> None:
    host = Host(_file(("deny", "Bash")))
    executor = ToolExecutor([host.bash], gates=host.gates[2:])
    result = await executor.call(ToolCall(id="1", name="Bash", arguments={"command": "id"}))
    assert isinstance(result.cause, PolicyDeniedError)


async def test_a_policy_that_cannot_be_read_stops_every_call() -> None:
    policy = Policy(fault="p.toml:1: x")
    host = Host()
    executor = ToolExecutor([host.read], gates=[PolicyGate(policy)])
    result = await executor.call(ToolCall(id="1", name="Read", arguments={"file_path": "a"}))
    assert isinstance(result.cause, PolicyError)
    assert str(result.error).startswith("the policy cannot be read, so nothing is permitted: p.toml:1: x")
