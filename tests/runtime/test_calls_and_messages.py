"""What a call that waits for a person counts as, and how errors name tools."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from prowess import Session, SyncSession
from prowess.agent.model import Budget, ToolUse
from prowess.agent.turn_loop import MOST_FAILURES, Tally
from prowess.cli.dispatch import _code_for
from prowess.errors import ApprovalRequiredError, SkillNotActiveError, ToolNotFoundError
from prowess.policy import Approval, Policy, read_policy_file
from prowess.runtime.json_lines import serve_json_lines
from prowess.tools import ToolResult
from prowess.tools.executor import REPEATED
from prowess.tools.spec import as_called
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

ASKS = 'default = "allow"\n[[rule]]\neffect = "ask"\ntool = "skills.read"\n'


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "alpha", files={"note.txt": "note\n", "scripts/a.sh": "echo\n"})
    return tmp_path / "skills"


@pytest.fixture
def asks(tmp_path: Path) -> Policy:
    (tmp_path / "policy.toml").write_text(ASKS)
    return Policy(files=(read_policy_file(str(tmp_path / "policy.toml")),))


async def test_a_call_that_waits_for_an_approval_has_not_failed(skills: Path, asks: Policy) -> None:
    session = Session(skills, policy=asks)
    await session.load("alpha")
    call = ("skills.read", {"path": "note.txt"})

    waits = [failure(await session.call(*call)) for _ in range(4)]

    assert {told["code"] for told in waits} == {"approval_required"}
    assert not any(REPEATED in told["message"] for told in waits)
    session.approve(waits[0]["request"], Approval())
    assert result(await session.call(*call))["text"] == "note\n"
    session.approve(failure(await session.call(*call))["request"], Approval(scope="session"))
    wrong = ("skills.read", {"path": "gone.txt"})
    first = failure(await session.call(*wrong))
    assert first["code"] == "approval_required"
    session.approve(first["request"], Approval(scope="session"))
    assert REPEATED not in failure(await session.call(*wrong))["message"]
    assert REPEATED in failure(await session.call(*wrong))["message"]


def test_waiting_calls_neither_end_a_run_nor_a_row_of_failures() -> None:
    tally, call = Tally(Budget()), ToolUse(id="1", name="Write", arguments={})
    waits = ToolResult.failed(ApprovalRequiredError("Write", "ask-1", "it writes"))
    fails = ToolResult.failed(SkillNotActiveError(None))

    assert all(tally.called(call, waits) is None for _ in range(3 * MOST_FAILURES))
    assert tally.called(call, fails) is None
    assert tally.called(call, waits) is None
    assert tally.called(call, fails) is None
    stop = tally.called(call, fails)
    assert stop is not None
    assert stop.ended == "repeated_failure"


def test_a_command_that_waits_for_a_person_ends_as_one_that_policy_denies() -> None:
    assert _code_for(ApprovalRequiredError("Bash", "ask-1", "it runs")) == 3


@pytest.mark.parametrize(
    ("tool", "load", "run"),
    [
        ("skills.read", "skills.load", "skills.run_script"),
        ("skills_read", "skills_load", "skills_run_script"),
        ("skills-read", "skills-load", "skills-run_script"),
    ],
)
async def test_results_name_tools_as_the_caller_spells_them(skills: Path, tool: str, load: str, run: str) -> None:
    session = Session(skills)
    told = failure(await session.call(tool, {"path": "skills.load"}))["message"]
    assert told == f"no skill is loaded; call {load} with the name of one first"
    told = failure(await session.call(tool, {"path": "a", "skill": "alpha"}))["message"]
    assert told.endswith(f"call {load} with names ['alpha'] first")
    await session.load("alpha")
    assert f"with {run}: skill" in result(await session.call(tool, {"path": "scripts/a.sh"}))["usage"]
    gone = failure(await session.call(tool, {"path": "skills.load"}))["message"]
    assert "'skills.load'" in gone  # a file of this name is no tool


async def test_an_unknown_tool_is_answered_with_a_name_that_the_model_knows(skills: Path) -> None:
    session = Session(skills)

    under = failure(await session.call("skills_laod", {}))
    dotted = failure(await session.call("skills.laod", {}))

    assert (under["suggestions"][0], dotted["suggestions"][0]) == ("skills_load", "skills.load")
    assert "did you mean 'skills_load'" in under["message"]
    assert isinstance((await session.call("skills_laod", {})).cause, ToolNotFoundError)


async def test_an_approval_names_the_tool_as_it_was_called(skills: Path, asks: Policy) -> None:
    session = Session(skills, policy=asks)
    await session.load("alpha")

    outcome = await session.call("skills_read", {"path": "note.txt"})

    assert "Tool 'skills_read' needs the approval" in str(outcome.error)
    assert isinstance(outcome.cause, ApprovalRequiredError)
    assert outcome.cause.tool == "skills.read"


def test_names_are_spelled_as_the_called_one() -> None:
    assert as_called("skills.run_script", "skills.read") == "skills.run_script"
    assert as_called("skills.run_script", "skills_read") == "skills_run_script"
    assert as_called("skills.run_script", "Read") == "skills_run_script"
    assert as_called("skills.load", "skills-read") == "skills-load"


@pytest.mark.parametrize("name", ["skills.list", "skills_list"])
def test_json_lines_list_the_skills(skills: Path, name: str) -> None:
    write_skill(skills, "beta")
    lines = [
        {"id": 1, "tool": "skills.load", "arguments": {"names": ["beta"]}},
        {"id": 2, "tool": name, "arguments": {}},
        {"id": 3, "tool": name, "arguments": {"query": "ALPH"}},
        {"id": 4, "method": "tools", "arguments": {"shape": "anthropic"}},
    ]
    written: list[dict[str, object]] = []
    for _ in range(2):  # a session may be served again
        source = io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())
        written.clear()
        with SyncSession(skills) as session:
            serve_json_lines(session, source.readline, lambda line: written.append(json.loads(line)))
            serve_json_lines(session, io.BytesIO().readline, lambda _: None)

    listed = written[1]["result"]["skills"]  # type: ignore[index]  # JSON
    assert [(skill["name"], skill["active"]) for skill in listed] == [("alpha", False), ("beta", True)]
    assert [skill["name"] for skill in written[2]["result"]["skills"]] == ["alpha"]  # type: ignore[index]  # JSON
    offered = written[3]["result"]["tools"]  # type: ignore[index]  # JSON
    assert [tool["name"] for tool in offered][-1] == "skills_list"
