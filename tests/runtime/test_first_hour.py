"""What a user writes first: a path for a catalog, `with`, a function that approves, tools by name, a restart."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog, Session, SyncSession
from prowess.adapters.skill_contents import SkillContents
from prowess.agent import Agent
from prowess.agent.scripted import ScriptedModel
from prowess.errors import InvalidArgumentsError, SessionNotFoundError, StoreError, ToolNotFoundError
from prowess.policy import Approval, ApprovalRequest, Policy, Refusal, read_policy_file
from prowess.policy.approval import Unanswered
from prowess.runtime import SessionOptions
from prowess.store import MemorySessionStore, SqliteSessionStore
from prowess.tools.gates import ApproverError, CallbackApprover
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    for name in ("alpha", "beta"):
        write_skill(root, name, files={"note.txt": f"note of {name}\n"})
    return root


# ── a path in place of a catalog ───────────────────────────────────────────────────────────────────────


@pytest.mark.proves("runtime.session.path")
@pytest.mark.parametrize("kind", [str, Path])
async def test_a_path_is_taken_where_a_catalog_is(skills: Path, kind: Callable[[str], str | Path]) -> None:
    given = kind(str(skills))

    assert [entry.name for entry in Session(given).catalog.entries()] == ["alpha", "beta"]
    assert [skill.name for skill in (await Session.create(given, initial="beta")).active_skills] == ["beta"]
    with SyncSession(given) as session:
        assert session.load("alpha").active_skills[0].root_dir == str(skills / "alpha")
    assert SkillContents(given).names() == ["alpha", "beta"]
    assert "read_file" not in Agent(ScriptedModel([]), catalog=given).system_prompt().text


async def test_a_relative_path_and_that_of_one_skill_are_taken(skills: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(skills.parent)

    assert [entry.name for entry in Session("skills").catalog.entries()] == ["alpha", "beta"]
    assert [entry.name for entry in Session("skills/alpha").catalog.entries()] == ["alpha"]


@pytest.mark.proves("runtime.session.path")
@pytest.mark.parametrize("make", [Session, SyncSession, SkillContents, partial(Agent, ScriptedModel([]))])
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("skils", "there is no directory of skills at {here}/skils; make it, or give the directory that holds the"),
        (Path("~"), "there is no directory of skills at {here}/~;"),
        ("skills/alpha/SKILL.md", "{here}/skills/alpha/SKILL.md is not a directory; give the directory that holds the"),
        ("", "the path of the skills is empty"),
        (None, "skills come from a Catalog or a path, not from NoneType"),
        (["skills"], "skills come from a Catalog or a path, not from list"),
    ],
)
def test_a_directory_that_is_not_there_is_named(
    skills: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., object], given: object, expected: str
) -> None:
    monkeypatch.chdir(skills.parent)

    with pytest.raises(InvalidArgumentsError) as caught:
        make(catalog=given)

    assert expected.format(here=os.getcwd()) in str(caught.value)


# ── with ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_session_is_closed_at_the_end_of_its_block(skills: Path) -> None:
    async with Session(skills) as session:
        await session.load("alpha")
        assert not session.is_closed

    assert session.is_closed
    assert failure(await session.call("skills.load", {"names": ["alpha"]}))["code"] == "session_not_found"
    with pytest.raises(SessionNotFoundError):
        async with session:
            pass


async def test_a_session_is_closed_when_its_block_fails_and_when_it_was_closed_before(skills: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with Session(skills) as session:
            raise ZeroDivisionError
    assert session.is_closed

    async with Session(skills) as session:
        await session.close()
    assert session.is_closed


async def test_a_store_that_cannot_be_read_is_told_at_the_beginning(skills: Path, tmp_path: Path) -> None:
    (tmp_path / "state.db").write_text("no database at all, but long enough to be read as one" * 100)

    with pytest.raises(StoreError):
        async with Session(skills, store=SqliteSessionStore(tmp_path / "state.db"), session_id="x"):
            pass


# ── a function that approves ───────────────────────────────────────────────────────────────────────────

ASKS = 'default = "allow"\n[[rule]]\neffect = "ask"\ntool = "skills.read"\nreason = "reading is watched"\n'


def _asks(directory: Path) -> Policy:
    file = directory / "policy.toml"
    file.write_text(ASKS)
    return Policy(files=(read_policy_file(str(file)),))


async def _awaited(answer: object) -> object:
    return answer


async def _read(skills: Path, **options: object) -> dict[str, object]:
    session = Session(skills, policy=_asks(skills.parent), **options)  # type: ignore[arg-type]  # the options of a case
    await session.load("alpha")
    return (await session.call("skills.read", {"path": "note.txt"})).as_dict()


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("answer", [True, Approval(), Approval(scope="session", by="me")])
async def test_a_function_approves(skills: Path, answer: object, *, later: bool) -> None:
    seen: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> object:
        seen.append(request)
        return _awaited(answer) if later else answer

    assert (await _read(skills, approve=approve))["success"] is True
    assert [(request.tool, request.arguments["path"]) for request in seen] == [("skills.read", "note.txt")]


@pytest.mark.parametrize("answer", [False, Refusal(reason="not today")])
async def test_a_function_refuses(skills: Path, answer: object) -> None:
    async def approve(_: ApprovalRequest) -> object:
        return answer

    refused = await _read(skills, approve=approve)

    assert refused["success"] is False
    assert refused["error_detail"]["code"] == "policy_denied"  # type: ignore[index]  # a failure has one


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("wrong", [None, 1, 0, "yes", "", [], {"allow": True}, Approval, object()])
async def test_a_wrong_answer_is_the_hosts_mistake_and_never_an_approval(
    skills: Path, wrong: object, *, later: bool
) -> None:
    def my_approver(_: ApprovalRequest) -> object:
        return _awaited(wrong) if later else wrong

    class Own:
        def approve(self, request: ApprovalRequest) -> object:
            return my_approver(request)

    for options in ({"approve": my_approver}, {"approver": CallbackApprover(my_approver)}, {"approver": Own()}):
        if not later and "approver" in options and isinstance(options["approver"], Own):
            continue
        told = await _read(skills, **options)
        assert told["success"] is False
        error = str(told["error"])
        assert "approve" in error
        assert f"returned {repr(wrong)[:20]}"[:20] in error
        assert "which is not an Approval, Refusal, True or False" in error
        assert "nothing was approved and the call was not run" in error
        assert told["error_detail"]["code"] == "internal"  # type: ignore[index]  # as above


async def test_a_function_that_fails_approves_nothing(skills: Path) -> None:
    def my_approver(_: ApprovalRequest) -> bool:
        raise RuntimeError("secret")

    session = Session(skills, policy=_asks(skills.parent), approve=my_approver)
    await session.load("alpha")
    told = await session.call("skills.read", {"path": "note.txt"})

    assert isinstance(told.cause, ApproverError)
    assert isinstance(told.cause.__cause__, RuntimeError)
    assert "my_approver" in str(told.error)
    assert "failed (RuntimeError)" in str(told.error)
    assert "secret" not in str(told.error)


async def test_nobody_is_asked_a_second_time_after_a_no(skills: Path) -> None:
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return False

    session = Session(skills, policy=_asks(skills.parent), approve=approve)
    await session.load("alpha")
    for _ in range(2):
        await session.call("skills.read", {"path": "note.txt"})
    assert len(asked) == 1


async def test_a_function_may_leave_it_unanswered(skills: Path) -> None:
    told = await _read(skills, approve=lambda _: Unanswered())

    assert told["error_detail"]["code"] == "approval_required"  # type: ignore[index]  # as above


def test_one_of_both_is_given_and_the_later_one_wins(skills: Path) -> None:
    first = CallbackApprover(lambda _: False)
    with pytest.raises(InvalidArgumentsError, match="not both"):
        Session(skills, approve=lambda _: True, approver=first)
    with pytest.raises(InvalidArgumentsError, match="not str"):
        Session(skills, approve="always")  # type: ignore[arg-type]  # a mistake

    merged = SessionOptions.of(SessionOptions(approver=first), {"approve": lambda _: True})
    assert merged.approver is not first
    assert SessionOptions.of(merged, {"cap": 2}).approver is merged.approver


# ── tools by name ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("named", ["read,bash", " Read , BASH,read", ["read", "Bash"], ("Read", "bash")])
async def test_built_in_tools_are_offered_by_name(skills: Path, tmp_path: Path, named: str | list[str]) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("hello\n")

    session = Session(skills, tools=named, workspace=work)

    assert [spec.name for spec in session.tools()][-2:] == ["Read", "Bash"]
    assert "hello" in str(result(await session.call("Read", {"file_path": "a.txt"})))
    await session.load("alpha")
    in_skill = await session.call("Read", {"file_path": str(skills / "alpha" / "note.txt")})
    assert in_skill.success, in_skill.error


def test_an_unknown_tool_is_told_with_what_may_be_meant(skills: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolNotFoundError, match="no tool is called 'raed'; did you mean 'Read'"):
        Session(skills, tools="raed", workspace=tmp_path)
    with pytest.raises(ToolNotFoundError, match="did you mean 'Read' or 'Write' or"):
        Session(skills, tools=["x"], workspace=tmp_path)


def test_tools_need_a_workspace(skills: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="need a workspace; pass the directory"):
        Session(skills, tools="read")


# ── after a restart ────────────────────────────────────────────────────────────────────────────────────


async def test_after_a_restart_the_active_skill_is_known_at_once(skills: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    first = SqliteSessionStore(path)
    session = Session(skills, store=first, session_id="kept")
    await session.load(["alpha", "beta"])
    await first.close()

    again = Session(skills, store=SqliteSessionStore(path), session_id="kept")

    assert again.active_skill_name == "beta"
    assert [skill.name for skill in again.active_skills] == ["alpha", "beta"]
    assert "Body of alpha." in again.instructions()
    with SqliteSessionStore(path) as store:
        reopened = SyncSession(skills, store=store, session_id="kept")
        assert reopened.active_skill_name == "beta"
        reopened.detach()


async def test_a_block_ends_a_session_unless_it_is_detached(skills: Path, tmp_path: Path) -> None:
    async def before_a_load(*, detached: bool) -> str | None:
        async with (
            SqliteSessionStore(tmp_path / "state.db") as store,
            Session(skills, store=store, session_id="kept") as session,
        ):
            before = session.active_skill_name
            await session.load("alpha")
            if detached:
                session.detach()
            return before

    assert [await before_a_load(detached=one) for one in (False, True, False, False)] == [None, None, "alpha", None]


async def test_what_is_gone_is_not_active_after_a_restart(skills: Path, tmp_path: Path) -> None:
    store = SqliteSessionStore(tmp_path / "state.db")
    await Session(skills, store=store, session_id="kept").load(["alpha", "beta"])
    for path in sorted((skills / "beta").iterdir()):
        path.unlink()

    assert Session(skills, store=store, session_id="kept").active_skill_name == "alpha"
    late = Session(skills, store=store, session_id="kept", clock=lambda: 4_000_000_000.0)
    assert late.active_skill_name is None


def test_a_look_makes_no_file_and_a_broken_one_is_left_to_the_first_call(skills: Path, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    assert Session(skills, store=SqliteSessionStore(path), session_id="x").active_skill_name is None
    assert not path.exists()
    path.write_text("no database at all, but long enough to be read as one" * 100)
    assert Session(skills, store=SqliteSessionStore(path), session_id="x").active_skill_name is None


async def test_a_session_in_memory_is_known_at_once_too(skills: Path) -> None:
    store = MemorySessionStore()
    await Session(skills, store=store, session_id="x").load("alpha")

    assert Session(Catalog(skills), store=store, session_id="x").active_skill_name == "alpha"
