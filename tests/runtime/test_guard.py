"""What stands before every call of a session: policy, active skills, somebody to ask, a log where one is due."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import pytest

from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, PolicyError, SessionNotFoundError
from prowess.policy import Allow, Approval, Ask, Deny, Policy, PolicyFile, Refusal, read_policy_file
from prowess.runtime import Session, SyncSession
from prowess.runtime.json_lines import answer as answer_line
from prowess.store import MemorySessionStore, SqliteSessionStore
from prowess.tools.functions.function_tool import FunctionTool
from prowess.tools.gates import CallbackApprover
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.policy import ApprovalRequest
    from prowess.tools import Tool

pytestmark = pytest.mark.anyio


def _echo(text: str = "") -> str:
    return text


def _host_tools() -> tuple[Tool, ...]:
    """Tools of a host under names that skills write."""
    schemas = (("Bash", "command"), ("Write", "file_path"))
    made: list[Tool] = [FunctionTool(_echo, name=name) for name in ("lookup", "publish", "Read", "Grep", "Edit")]
    for name, argument in schemas:
        scope: dict[str, object] = {}
        exec(f"def tool({argument}: str) -> str:\n    return {argument}", scope)  # noqa: S102 -- two literal sources
        made.append(FunctionTool(scope["tool"], name=name))  # type: ignore[arg-type]  # exec gives no type
    return tuple(made)


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    root = tmp_path / "skills"
    write_skill(root, "free")
    write_skill(root, "looker", extra="allowed-tools: lookup Bash(git:*)\n")
    write_skill(root, "writer", extra="allowed-tools: [lookup, publish, 'Bash(git status:*)', Write]\n")
    write_skill(root, "closed", extra="allowed-tools: ''\n", files={"references/a.md": "Text.\n"})
    return Catalog(root)


@pytest.fixture
def all_allowed() -> Policy:
    return Policy(files=(PolicyFile(path="test", default="allow"),))


async def _permitted(session: Session, tool: str, **arguments: object) -> bool:
    outcome = await session.call(tool, arguments)
    if not outcome.success:
        assert failure(outcome)["code"] == "tool_not_allowed", outcome.error
    return outcome.success


@pytest.mark.proves(
    "runtime.restrict.allowlist",
    "runtime.restrict.absent",
    "runtime.restrict.immediate",
    "runtime.restrict.lifted",
    "runtime.restrict.give-up",
)
async def test_a_restriction_holds_from_the_load_to_the_unload(catalog: Catalog) -> None:
    session = Session(catalog, extra_tools=_host_tools())

    await session.load(["free"])
    assert await _permitted(session, "publish")
    await session.load(["looker"])
    assert not await _permitted(session, "publish")
    assert await _permitted(session, "lookup")
    assert (await session.call("skills.unload", {"names": ["looker"]})).success
    assert await _permitted(session, "publish")

    store = MemorySessionStore()
    mine, theirs = (Session(catalog, extra_tools=_host_tools(), store=store, session_id="both") for _ in range(2))
    assert await _permitted(mine, "publish")
    await theirs.load(["looker"])
    assert not await _permitted(mine, "publish")  # its first call after a load that another one made


async def test_a_restriction_is_lifted_by_replacing_the_skill_and_by_its_removal(
    catalog: Catalog, tmp_path: Path
) -> None:
    session = Session(catalog, extra_tools=_host_tools())
    await session.load(["looker"])
    await session.load(["free"])
    assert await _permitted(session, "publish")

    await session.load(["looker"])
    assert not (await session.call("skills.load", {"names": ["nobody"]})).success
    assert not await _permitted(session, "publish")  # a load that fails changes nothing
    (tmp_path / "skills" / "looker" / "SKILL.md").unlink()
    assert await _permitted(session, "publish")


@pytest.mark.proves("runtime.restrict.no-widening", "governance.compose.restrictions")
async def test_of_several_skills_each_must_permit_a_call(catalog: Catalog, all_allowed: Policy) -> None:
    session = Session(catalog, extra_tools=_host_tools(), policy=all_allowed)
    await session.load(["looker", "writer", "free"])

    assert await _permitted(session, "lookup")
    assert await _permitted(session, "Bash", command="git status -s")
    assert not await _permitted(session, "publish")  # the first does not list it
    assert not await _permitted(session, "Bash", command="git push")  # the second does not
    assert not await _permitted(session, "Write", file_path="x")
    await session.unload(["looker"])
    assert await _permitted(session, "publish")
    assert not await _permitted(session, "Bash", command="git push")


@pytest.mark.proves("runtime.restrict.empty", "runtime.restrict.skill-tools", "runtime.skilltool.restricts")
async def test_nothing_locks_the_skill_tools_out(catalog: Catalog) -> None:
    session = Session(catalog, extra_tools=_host_tools())
    await session.load(["closed"])

    assert not await _permitted(session, "lookup")
    assert result(await session.call("skills-read", {"path": "references/a.md"}))["text"] == "Text.\n"
    missing = failure(await session.call("skills_run_script", {"path": "scripts/none.py"}))
    assert missing["code"] == "resource_not_found"  # the tool itself answers
    assert (await session.call("skill", {"skill": "looker"})).success
    assert not await _permitted(session, "publish")
    assert (await session.call("skills.unload", {"all": True})).success
    assert await _permitted(session, "lookup")


@pytest.mark.proves("runtime.restrict.message", "runtime.restrict.logged")
async def test_a_refusal_says_who_refuses_and_how_to_lift_it_and_is_recorded(catalog: Catalog, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    session = Session(catalog, extra_tools=_host_tools(), audit=JsonlAuditLog(str(log)))
    await session.load(["looker"])

    refused = await session.call("publish", {"text": "s3cret"}, "call-1")
    await session.call("Bash", {"command": "git log && s3cret"}, "call-2")

    assert refused.success is False
    assert str(refused.error).startswith("Tool 'publish' not allowed by active skill 'looker'")
    assert "Unload 'looker' to lift this." in str(refused.error)
    records = [json.loads(line) for line in log.read_text().splitlines()]
    prevented = [record for record in records if record["kind"] == "tool.refused"]
    assert [(record["call_id"], record["data"]["tool"], record["data"]["skill"]) for record in prevented] == [
        ("call-1", "publish", "looker"),
        ("call-2", "Bash", "looker"),
    ]
    assert all(record["data"]["code"] == "tool_not_allowed" for record in prevented)
    assert all(record["data"]["rule"].startswith("allowed-tools:") for record in prevented)
    assert "s3cret" not in log.read_text()


@pytest.mark.proves("runtime.restrict.every-call", "runtime.restrict.executor")
async def test_functions_registered_later_pass_the_same_gates_under_every_spelling(catalog: Catalog) -> None:
    session = Session(catalog)
    await session.load(["looker"])
    ran = []

    @session.function
    def store_file(name: str) -> None:
        """Keep a file."""
        ran.append(name)

    @session.function(name="host.remove", destructive=True)
    def remove() -> None:
        """Remove it."""
        ran.append("removed")

    assert store_file.__name__ == "store_file"  # the function stays what it was
    assert {"store_file", "host.remove"} <= {spec.name for spec in session.tools()}
    for spelling in ("store_file", "store-file"):
        outcome = await session.call(spelling, {"name": "x"})
        assert failure(outcome)["code"] in {"tool_not_allowed", "tool_not_found"}
    for spelling in ("host.remove", "host_remove", "host-remove"):
        assert not await _permitted(session, spelling)
    assert ran == []
    await session.unload(all=True)
    assert await _permitted(session, "store_file", name="x")
    assert await _permitted(session, "host_remove")
    assert ran == ["x", "removed"]
    with pytest.raises(ValueError, match="store_file"):
        session.function(store_file)


@pytest.mark.proves("runtime.restrict.per-session")
async def test_tasks_on_sessions_that_share_tools_and_store_do_not_restrict_each_other(
    catalog: Catalog, tmp_path: Path
) -> None:
    store, tools = MemorySessionStore(), _host_tools()
    seen: list[tuple[bool, bool]] = []

    async def work(number: int) -> None:
        session = Session(catalog, store=store, extra_tools=tools)
        restricted = bool(number % 2)
        for _ in range(4):
            await session.load(["looker" if restricted else "free"])
            await anyio.lowlevel.checkpoint()
            seen.append((restricted, await _permitted(session, "publish")))
            await session.unload(all=True)
            await anyio.lowlevel.checkpoint()
            assert await _permitted(session, "publish")

    async with anyio.create_task_group() as group:
        for number in range(64):
            group.start_soon(work, number)

    assert len(seen) == 64 * 4
    assert all(permitted is not restricted for restricted, permitted in seen)


async def test_what_one_process_loads_restricts_the_other_at_once(catalog: Catalog, tmp_path: Path) -> None:
    stores = [SqliteSessionStore(str(tmp_path / "s.db")) for _ in range(2)]
    one, two = (Session(catalog, store=store, session_id="one", extra_tools=_host_tools()) for store in stores)
    assert await _permitted(two, "publish")
    await one.load(["looker"])
    assert not await _permitted(two, "publish")
    await two.unload(all=True)
    assert await _permitted(one, "publish")
    await one.close()
    gone = await two.call("publish", {})
    assert failure(gone)["code"] == "session_not_found"  # what restricts it cannot be known
    for store in stores:
        await store.close()


async def test_without_a_policy_what_changes_things_waits_for_an_approval(catalog: Catalog) -> None:
    session = Session(catalog, extra_tools=_host_tools())

    for tool in ("lookup", "Read", "Grep"):
        assert await _permitted(session, tool)
    for tool, arguments in (("Write", {"file_path": "x"}), ("Edit", {}), ("Bash", {"command": "ls"})):
        assert failure(await session.call(tool, arguments))["code"] == "approval_required"

    request = failure(await session.call("Bash", {"command": "make"}))["request"]
    assert session.approve(request, Approval()).arguments == {"command": "make"}
    assert (await session.call("Bash", {"command": "make"})).success
    assert failure(await session.call("Bash", {"command": "make"}))["code"] == "approval_required"  # once
    session.approve(request, Approval(scope="session"))
    assert (await session.call("Bash", {"command": "make"})).success
    assert (await session.call("Bash", {"command": "make"})).success
    await session.load(["free"])
    assert failure(await session.call("Bash", {"command": "make"}))["request"] != request  # other skills, other bytes
    with pytest.raises(InvalidArgumentsError, match="ask-nothing"):
        session.approve("ask-nothing", Approval())


async def test_an_approver_is_asked_and_a_refusal_stands(catalog: Catalog) -> None:
    asked: list[ApprovalRequest] = []

    def answer(request: ApprovalRequest) -> Approval | Refusal:
        asked.append(request)
        return Refusal(reason="not today") if "push" in str(request.arguments) else Approval()

    session = Session(catalog, extra_tools=_host_tools(), approver=CallbackApprover(answer))

    assert (await session.call("Bash", {"command": "git status"})).success
    for _ in range(2):
        refused = await session.call("Bash", {"command": "git push"})
        assert failure(refused)["code"] == "policy_denied"
        assert "not today" in str(refused.error)
    assert [request.arguments["command"] for request in asked] == ["git status", "git push"]
    assert {request.session_id for request in asked} == {session.session_id}


async def test_a_policy_file_decides_before_skills_and_people(catalog: Catalog, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('default = "allow"\n[[rule]]\neffect = "deny"\ntool = "publish"\nreason = "people publish"\n')
    session = Session(catalog, extra_tools=_host_tools(), policy=Policy(files=(read_policy_file(str(file)),)))

    refused = await session.call("publish", {})

    assert failure(refused)["code"] == "policy_denied"
    assert "people publish" in str(refused.error)
    assert (await session.call("Bash", {"command": "ls"})).success


async def test_a_policy_that_cannot_be_read_permits_nothing_in_any_path(catalog: Catalog) -> None:
    session = Session(catalog, policy=Policy.closed(PolicyError(("policy.toml: broken",))))

    assert failure(await session.call("skills.load", {"names": ["free"]}))["code"] == "policy_invalid"
    assert failure(await session.user_call("free"))["code"] == "policy_invalid"


async def test_pre_approval_asks_nobody_about_what_a_skill_lists_and_refuses_nothing(catalog: Catalog) -> None:
    session = Session(catalog, extra_tools=_host_tools(), allowed_tools="preapprove")
    await session.load(["looker"])

    assert (await session.call("publish", {})).success
    assert (await session.call("Bash", {"command": "git log"})).success
    assert failure(await session.call("Bash", {"command": "ls"}))["code"] == "approval_required"


@pytest.mark.parametrize(
    ("file", "chosen", "restricts"),
    [
        (None, None, True),
        (None, "preapprove", False),
        ("preapprove", None, False),
        ("preapprove", "restrict", True),
        ("restrict", "preapprove", True),
    ],
)
async def test_a_policy_that_restricts_has_the_last_word_about_the_mode(
    catalog: Catalog, file: str | None, chosen: str | None, *, restricts: bool
) -> None:
    policy = Policy(files=(PolicyFile(path="test", default="allow", allowed_tools=file),))  # type: ignore[arg-type]  # parametrised
    session = Session(catalog, extra_tools=_host_tools(), policy=policy, allowed_tools=chosen)  # type: ignore[arg-type]  # as above
    await session.load(["looker"])

    assert await _permitted(session, "publish") is not restricts


async def test_where_the_policy_wants_records_a_session_without_a_log_runs_nothing(
    catalog: Catalog, tmp_path: Path
) -> None:
    policy = Policy(files=(PolicyFile(path="test", default="allow", audit_required=True),))
    without = Session(catalog, policy=policy)
    assert failure(await without.call("skills.load", {"names": ["free"]}))["code"] == "unavailable"
    assert failure(await without.user_call("free"))["code"] == "unavailable"

    logged = Session(catalog, policy=policy, audit=JsonlAuditLog(str(tmp_path / "audit.jsonl")))
    assert (await logged.call("skills.load", {"names": ["free"]})).success


async def test_the_user_starts_skills_whatever_is_restricted(catalog: Catalog) -> None:
    session = Session(catalog)
    await session.load(["closed"])

    assert (await session.user_call("free")).success


async def test_a_decision_runs_nothing_and_asks_nobody(catalog: Catalog) -> None:
    session = Session(catalog, extra_tools=_host_tools())
    await session.load(["looker"])

    assert isinstance(await session.decide("lookup", {}), Allow)
    assert isinstance(await session.decide("Bash", {"command": "git log"}), Ask)
    assert isinstance(await session.decide("Bash", {"command": "git log"}, by_skills_alone=True), Allow)
    refused = await session.decide("unknown", {})
    assert isinstance(refused, Deny)
    assert refused.skill == "looker"
    await session.close()
    with pytest.raises(SessionNotFoundError):
        await session.decide("lookup", {})


def test_a_session_without_await_decides_and_is_approved(catalog: Catalog) -> None:
    with SyncSession(catalog, extra_tools=_host_tools()) as session:

        @session.function
        def later() -> str:
            """Come later."""
            return "done"

        assert result(session.call("later", {})) == {"result": "done"}
        request = failure(session.call("Bash", {"command": "make"}))["request"]
        session.approve(request, Approval())
        assert result(session.call("Bash", {"command": "make"})) == {"result": "make"}
        assert isinstance(session.decide("Bash", {"command": "make"}), Ask)


def test_a_host_approves_over_json_lines_and_the_call_is_sent_again(catalog: Catalog) -> None:
    def send(request: dict[str, object]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(answer_line(session, json.dumps({"id": 1, **request}).encode()))
        return found

    def approve(**arguments: object) -> dict[str, Any]:
        return send({"method": "approve", "arguments": arguments})

    make: dict[str, object] = {"tool": "Bash", "arguments": {"command": "make"}}
    with SyncSession(catalog, extra_tools=_host_tools()) as session:
        request = send(make)["error_detail"]["request"]
        said = approve(request=request, decision="allow", scope="session")
        assert said["result"] == {"request": request, "tool": "Bash", "decision": "allow"}
        assert send(make)["success"]
        assert send(make)["success"]
        approve(request=request, decision="deny")
        assert send(make)["error_detail"]["code"] == "policy_denied"
        assert approve(request="ask-other", decision="allow")["error_detail"]["code"] == "invalid_arguments"
        assert approve(request=request, decision="maybe")["error_detail"]["code"] == "invalid_arguments"


async def test_the_list_of_skills_of_a_server_is_not_taken_away(catalog: Catalog) -> None:
    session = Session(catalog)
    await session.load(["closed"])

    assert await _permitted(session, "skills_list")
