"""Who approved what: every answer is recorded before it counts, without arguments, and forks inherit only the no."""

from __future__ import annotations

import json
import os
import pwd
from typing import TYPE_CHECKING, Any

import pytest

from prowess.audit import JsonlAuditLog
from prowess.audit.caller import CALLER_KEYS, SKILL_KEYS
from prowess.catalog import Catalog
from prowess.policy import Approval, Policy, PolicyFile, Refusal
from prowess.policy.decision import RuleOrigin
from prowess.policy.rule import PolicyRule
from prowess.runtime import AgentType, ForkOutcome, Session
from prowess.tools.functions.function_tool import FunctionTool
from prowess.tools.gates import CallbackApprover, TerminalApprover
from tests.runtime.making import failure, result, write_skill
from tests.tools.test_approvers import Terminal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from prowess.audit import AuditEvent, AuditRecord
    from prowess.policy import ApprovalRequest
    from prowess.runtime import ForkRequest
    from prowess.tools import Tool

pytestmark = pytest.mark.anyio

_KINDS = ("approval.given", "tool.started", "tool.finished")
SECRET = "t0p-s3cret"


def publish(text: str) -> str:
    """Publish a text."""
    return text


def _tool() -> Tool:
    return FunctionTool(publish)


def _asking(effect: str = "ask", tool: str = "publish") -> Policy:
    rule = PolicyRule(effect=effect, tool=tool, matches=(), reason=None, origin=RuleOrigin(path="p.toml", line=7))  # type: ignore[arg-type]  # a word of the table below
    return Policy(files=(PolicyFile(path="p.toml", default="allow", rules=(rule,)),))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "lister", extra="allowed-tools: publish\n")
    write_skill(tmp_path / "skills", "forked", extra="context: fork\nagent: writer\n")
    return tmp_path / "skills"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit" / "audit.jsonl"


def _session(root: Path, log: Path, **options: Any) -> Session:  # noqa: ANN401 -- the options of Session
    return Session(Catalog(root), extra_tools=(_tool(),), audit=JsonlAuditLog(str(log)), **options)


def _records(log: Path, *kinds: str) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in log.read_text().splitlines()]
    return [record for record in records if record["kind"] in kinds]


async def test_the_person_at_the_terminal_is_named_and_an_answer_for_the_session_is_remembered(
    root: Path, log: Path
) -> None:
    session = _session(root, log, policy=_asking(), approver=TerminalApprover(Terminal("s\n"), Terminal()))
    for call_id in ("one", "two"):
        assert (await session.call("publish", {"text": SECRET}, call_id)).success

    person = f"terminal:{pwd.getpwuid(os.getuid()).pw_name}"
    given = _records(log, "approval.given")
    assert [(record["call_id"], record["data"]["remembered"]) for record in given] == [("one", False), ("two", True)]
    for record in given:
        assert record["session_id"] == session.session_id
        said = {key: value for key, value in record["data"].items() if key not in (*CALLER_KEYS, *SKILL_KEYS)}
        assert said.pop("policy_version").startswith("sha256:")
        assert said == {
            "tool": "publish",
            "request": given[0]["data"]["request"],
            "rule": "p.toml:7",
            "approval": given[0]["data"]["request"],
            "trigger": "model",
            "by": person,
            "scope": "session",
            "remembered": record["call_id"] == "two",
        }
    assert {record["data"]["allowed_by"] for record in _records(log, "tool.started")} == {person}
    assert SECRET not in json.dumps(_records(log, *_KINDS))


async def test_a_callback_a_host_and_a_refusal_are_told_apart(root: Path, log: Path) -> None:
    answers: Iterator[Approval | Refusal] = iter([Approval(), Approval(by="ada"), Refusal(reason="no", by="grace\nx")])
    session = _session(root, log, policy=_asking(), approver=CallbackApprover(lambda _: next(answers)))
    for text in ("a", "b", "c", "c"):
        await session.call("publish", {"text": text})

    assert [record["data"]["by"] for record in _records(log, "approval.given")] == ["callback", "ada"]
    refused = _records(log, "approval.refused")
    assert [record["data"]["remembered"] for record in refused] == [False, True]
    assert {record["data"]["by"] for record in refused} == {"grace\\nx"}
    assert [record["data"]["rule"] for record in _records(log, "tool.refused")] == ["approval", "approval"]


async def test_an_answer_from_outside_is_recorded_when_it_lets_a_call_through(root: Path, log: Path) -> None:
    session = _session(root, log, policy=_asking())
    waiting = failure(await session.call("publish", {"text": SECRET}, "first"))
    assert _records(log, "approval.given") == []
    session.approve(waiting["request"], Approval(by="host"))

    assert (await session.call("publish", {"text": SECRET}, "second")).success

    (given,) = _records(log, "approval.given")
    assert given["call_id"] == "second"
    assert (given["data"]["by"], given["data"]["scope"], given["data"]["remembered"]) == ("host", "once", True)
    assert given["data"]["request"] == waiting["request"]
    assert failure(await session.call("publish", {"text": SECRET}))["code"] == "approval_required"


async def test_what_a_rule_or_a_skill_lets_through_names_it(root: Path, log: Path) -> None:
    await _session(root, log, policy=_asking("allow")).call("publish", {"text": "a"})
    await _session(root, log).call("publish", {"text": "a"})
    default = Policy(files=(PolicyFile(path="p.toml", allowed_tools="preapprove"),))
    session = _session(root, log, policy=default)
    receipt = await session.call("skills.load", {"names": ["lister"]})
    assert failure(receipt)["code"] == "approval_required"
    session.approve(failure(receipt)["request"], Approval(by="host"))
    await session.call("skills.load", {"names": ["lister"]})
    assert (await session.call("publish", {"text": "a"})).success

    started = [record["data"] for record in _records(log, "tool.started")]
    assert [(data["tool"], data["allowed_by"]) for data in started] == [
        ("publish", "p.toml:7"),
        ("publish", "built-in"),
        ("skills.load", "host"),
        ("publish", "allowed-tools of skill 'lister'"),
    ]


class _FullDisk:
    """A log that cannot take the record of an approval."""

    def append(self, event: AuditEvent) -> AuditRecord:
        raise OSError(28, "no space left", event.kind)


async def test_an_approval_that_cannot_be_recorded_permits_nothing(root: Path) -> None:
    ran: list[str] = []

    def act() -> str:
        ran.append("x")
        return ""

    policy = _asking(tool="act")
    approver = CallbackApprover(lambda _: Approval(scope="session"))
    options: dict[str, Any] = {"policy": policy, "approver": approver, "audit": _FullDisk()}
    session = Session(Catalog(root), extra_tools=(FunctionTool(act),), **options)

    assert failure(await session.call("act", {}))["code"] == "unavailable"
    assert ran == []


class _Runner:
    def __init__(self, act: Callable[[ForkRequest], Awaitable[str]]) -> None:
        self._act = act

    async def run(self, request: ForkRequest) -> ForkOutcome:
        return ForkOutcome(output=await self._act(request), turns=1)


async def test_a_fork_inherits_what_was_refused_and_nothing_that_was_approved(root: Path, log: Path) -> None:
    asked: list[ApprovalRequest] = []
    answers: dict[str, Approval | Refusal] = {
        "good": Approval(scope="session", by="ada"),
        "bad": Refusal(reason="never", by="ada"),
    }

    def ask(request: ApprovalRequest) -> Approval | Refusal:
        asked.append(request)
        return answers[str(request.arguments["text"])]

    async def act(request: ForkRequest) -> str:
        codes = []
        for text in ("good", "bad"):
            outcome = await request.session.call("publish", {"text": text})
            codes.append("ok" if outcome.success else failure(outcome)["code"])
        return " ".join(codes)

    session = _session(
        root,
        log,
        policy=_asking(),
        approver=CallbackApprover(ask),
        fork_runner=_Runner(act),
        agent_types=[AgentType(name="writer", tools=(_tool(),))],
    )
    assert (await session.call("publish", {"text": "good"})).success
    assert failure(await session.call("publish", {"text": "bad"}))["code"] == "policy_denied"

    said = result(await session.call("skill", {"skill": "forked"}))

    assert said["output"] == "ok policy_denied"
    assert [request.arguments["text"] for request in asked] == ["good", "bad", "good"]
    (inherited,) = [r for r in _records(log, "approval.refused") if r["session_id"] == said["child_session_id"]]
    assert (inherited["data"]["by"], inherited["data"]["remembered"]) == ("ada", True)


async def test_a_person_who_changes_their_mind_is_asked_again_in_forks(root: Path, log: Path) -> None:
    seen: list[str] = []

    async def act(request: ForkRequest) -> str:
        seen.append(str(failure(await request.session.call("publish", {"text": "x"}))["code"]))
        return ""

    kind = AgentType(name="writer", tools=(_tool(),))
    session = _session(root, log, policy=_asking(), fork_runner=_Runner(act), agent_types=[kind])
    request = failure(await session.call("publish", {"text": "x"}))["request"]
    session.approve(request, Refusal(by="ada"))
    await session.call("skill", {"skill": "forked"})
    session.approve(request, Approval(by="ada"))
    await session.call("skill", {"skill": "forked"})

    assert seen == ["policy_denied", "approval_required"]
