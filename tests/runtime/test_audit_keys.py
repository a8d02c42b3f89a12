"""Every record of a session names who calls and which skill it is about, refused or not."""

from __future__ import annotations

import json
import os
import pwd
from typing import TYPE_CHECKING, Any

import pytest

from prowess import Catalog, Session
from prowess.audit import AuditEvent, Caller, JsonlAuditLog
from prowess.audit.caller import CALLER_KEYS, SKILL_KEYS
from prowess.policy import Policy, read_policy_file
from prowess.runtime import AgentType, ForkOutcome, ForkRequest
from prowess.tools.functions.function_tool import FunctionTool
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

_KEYS = {*CALLER_KEYS, *SKILL_KEYS}


def _note(text: str) -> str:
    """Write a note."""
    return text


def _records(log: Path, *kinds: str) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [record for record in records if not kinds or record["kind"] in kinds]


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    for name in ("deploy", "other"):
        write_skill(tmp_path / "skills", name, files={"references/a.md": "a\n"}, extra="allowed-tools: Read\n")
    write_skill(tmp_path / "skills", "review", extra="context: fork\nagent: reviewer\n")
    return tmp_path / "skills"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log" / "audit.jsonl"


def _policy(place: Path, text: str) -> Policy:
    (place / "p.toml").write_text(text, encoding="utf-8")
    return Policy(files=(read_policy_file(str(place / "p.toml")),))


@pytest.mark.proves("governance.audit.keys")
async def test_every_record_has_every_key(skills: Path, log: Path) -> None:
    session = Session(Catalog(skills), audit=JsonlAuditLog(log), extra_tools=[FunctionTool(_note)])
    await session.call("skills.load", {"names": ["deploy", "other"]})
    await session.call("skills.read", {"path": "references/a.md", "skill": "deploy"})
    await session.call("_note", {"text": "x"})
    await session.call("skills.load", {"names": ["nothing"]})
    await session.call("skills.load", {"unknown": 1})
    await session.call("no_such_tool", {})
    await session.call("skills.unload", {"all": True})
    await session.close()
    records = _records(log)
    assert {record["kind"] for record in records} >= {"tool.started", "tool.finished", "tool.refused", "skill.loaded"}
    mine = {"user": pwd.getpwuid(os.getuid()).pw_name, "uid": os.getuid(), "host": os.uname().nodename}
    for record in records:
        assert record["data"].keys() >= _KEYS, record["kind"]
        assert {name: record["data"][name] for name in mine} == mine
        assert (record["data"]["client"], record["data"]["agent"], record["data"]["tenant"]) == (None, None, None)
    digest = Catalog(skills).skill("deploy").digest
    about = {"layer": "project", "source": str(skills), "skill": "deploy", "digest": digest, "publisher": None}
    for record in _records(log, "skill.loaded", "skill.unloaded"):
        if record["data"]["skill"] == "deploy":
            assert {key: record["data"][key] for key in SKILL_KEYS} == about
    both, read, note, *_ = _records(log, "tool.started")
    assert both["data"]["skill"] == ["deploy", "other"]
    assert both["data"]["digest"][0] == digest
    assert {key: read["data"][key] for key in SKILL_KEYS} == about
    assert note["data"] is not None
    refused = {
        record["data"]["code"]: record["data"]
        for record in _records(log, "tool.refused", "tool.finished")
        if "code" in record["data"]
    }
    assert (refused["skill_not_found"]["skill"], refused["skill_not_found"]["digest"]) == ("nothing", None)
    assert refused["tool_not_found"]["skill"] is None


@pytest.mark.proves("governance.audit.keys", "governance.policy.version-recorded")
@pytest.mark.parametrize("tool", ["skills.load", "skill", "invoke"])
async def test_a_refused_load_names_the_skill_and_the_policy(
    tool: str, skills: Path, log: Path, tmp_path: Path
) -> None:
    policy = _policy(tmp_path, '[[rule]]\neffect = "deny"\ntool = "skills.load"\n')
    session = Session(Catalog(skills), audit=JsonlAuditLog(log), policy=policy)
    if tool == "invoke":
        assert not (await session.user_call("/deploy to production")).success
    else:
        arguments: dict[str, object] = {"names": ["deploy"]} if tool == "skills.load" else {"skill": "deploy"}
        assert not (await session.call(tool, arguments)).success
    (record,) = _records(log)
    skill = Catalog(skills).skill("deploy")
    assert record["kind"] == "tool.refused"
    assert {key: record["data"][key] for key in SKILL_KEYS} == {
        "layer": "project",
        "source": str(skills),
        "skill": "deploy",
        "digest": skill.digest,
        "publisher": None,
    }
    assert record["data"]["policy_version"].startswith("sha256:")


@pytest.mark.proves("governance.policy.version-recorded")
async def test_each_decision_names_the_version_of_the_policy_that_made_it(
    skills: Path, log: Path, own_home: Path
) -> None:
    file = own_home / ".prowess" / "policy.toml"
    file.parent.mkdir(mode=0o700)
    session = Session(Catalog(skills), audit=JsonlAuditLog(log), extra_tools=[FunctionTool(_note)])

    async def version(text: str | None) -> str:
        if text is not None:
            file.write_text(text, encoding="utf-8")
        await session.call("_note", {"text": "x"})
        return str(_records(log, "tool.started", "tool.refused")[-1]["data"]["policy_version"])

    assert await version(None) == "built-in"
    first, denied = await version('default = "allow"\n'), await version('default = "deny"\n')
    assert first.startswith("sha256:")
    assert first != denied
    assert await version("default = ") == "invalid"
    assert await version('default = "allow"\n') == first
    assert [record["kind"] for record in _records(log, "tool.started", "tool.refused")] == [
        "tool.started",
        "tool.started",
        "tool.refused",
        "tool.refused",
        "tool.started",
    ]


async def test_a_skill_that_restricts_is_named_with_what_is_known_of_it(skills: Path, log: Path) -> None:
    session = Session(Catalog(skills), audit=JsonlAuditLog(log), extra_tools=[FunctionTool(_note)])
    await session.load(["deploy", "other"])
    await session.call("_note", {"text": "x"})
    (refused,) = _records(log, "tool.refused")
    assert (refused["data"]["skill"], refused["data"]["layer"]) == ("deploy", "project")
    assert refused["data"]["digest"] == Catalog(skills).skill("deploy").digest


async def test_a_host_says_who_calls_and_a_fork_is_its_own_agent(skills: Path, log: Path) -> None:
    class Runner:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            await request.session.call("skills.read", {"path": "SKILL.md"})
            return ForkOutcome(output="done", turns=1)

    caller = Caller(user="ada", identified_by="token", client="editor 1.0", agent="main", tenant="acme")
    reviewer = AgentType(name="reviewer", instructions="Review.")
    session = Session(
        Catalog(skills), audit=JsonlAuditLog(log), caller=caller, fork_runner=Runner(), agent_types=[reviewer]
    )
    await session.call("skill", {"skill": "review"})
    records = _records(log)
    assert {record["data"]["user"] for record in records} == {"ada"}
    assert {record["data"]["identified_by"] for record in records} == {"host"}  # no program vouches for itself
    assert {record["data"]["uid"] for record in records} == {None}
    assert {record["data"]["tenant"] for record in records} == {"acme"}
    agents = {record["session_id"] == session.session_id: record["data"]["agent"] for record in records}
    assert agents == {True: "main", False: "reviewer"}


def test_a_record_of_the_log_itself_names_the_process(log: Path) -> None:
    written = JsonlAuditLog(log)
    written.append(AuditEvent(kind="a"))
    with log.open("ab") as stream:
        stream.write(b'{"half')
    JsonlAuditLog(log).append(AuditEvent(kind="b"))
    recovered = _records(log)[1]
    assert recovered["kind"] == "log.recovered"
    assert recovered["data"].keys() >= _KEYS
    assert recovered["data"]["uid"] == os.getuid()
