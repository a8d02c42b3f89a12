"""`create_skill`: an agent that writes a skill, and a person who has a say."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, cast

import pytest

from prowess._internal.files.atomic_write import write_atomically
from prowess.agent import Agent, ScriptedModel
from prowess.catalog import Catalog
from prowess.format import read_skill, validate_skill
from prowess.policy.approval import Approval, Refusal
from prowess.policy.policy_in_force import load_policy
from prowess.tools.gates import CallbackApprover, question
from tests.agent.making import add_skill, calls, error_code, tool_messages, value

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.agent import AgentResult, ModelRequest, ScriptedTurn
    from prowess.policy.approval import Answer, ApprovalRequest

STATUS: dict[str, object] = {
    "name": "weekly-status",
    "description": 'Writes weekly status reports: open issues, done issues. Use for "status" requests.',
    "instructions": "# Weekly status\n\n1. Read [the format](references/format.md).\n2. Run scripts/count.sh.\n",
    "allowed_tools": ["Read", "Bash(git:*)"],
    "files": [
        {"path": "references/format.md", "text": "# Format\n\nOne line an issue.\n"},
        {"path": "scripts/count.sh", "text": "wc -l\n"},
    ],
}


class _Person:
    """Answers every request alike and remembers it."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[ApprovalRequest] = []
        self._answer = answer

    def approver(self) -> CallbackApprover:
        return CallbackApprover(self._say)

    def _say(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self._answer


async def _created(
    skills: Path, *changes: dict[str, object], person: _Person | None, then: tuple[Any, ...] = ("Done.",)
) -> tuple[AgentResult, ScriptedModel]:
    model = ScriptedModel([*(calls(("create_skill", {**STATUS, **change})) for change in changes), *then])
    approver = None if person is None else person.approver()
    agent = Agent(model, catalog=Catalog(skills), skills_dir=skills, approver=approver)
    return await agent.run("I want weekly status reports from our issues."), model


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    add_skill(tmp_path / "skills", "old")
    return (tmp_path / "skills").resolve()


@pytest.mark.proves("governance.journey.agent-builds", "governance.journey.agent-available")
@pytest.mark.anyio
async def test_a_created_skill_is_valid_and_used_in_the_same_run(skills: Path) -> None:
    person = _Person(Approval(by="test"))

    def use(request: ModelRequest) -> ScriptedTurn:
        assert "<name>weekly-status</name>" in request.instructions
        return calls(("skills_load", {"names": ["weekly-status"]}))

    result, model = await _created(skills, {}, person=person, then=(use, "Done."))
    created = value(result, 0)
    assert created["location"] == str(skills / "weekly-status" / "SKILL.md")
    assert created["files"] == ["SKILL.md", "references/format.md", "scripts/count.sh"]
    assert created["available"] is True
    assert "1. Read [the format]" in model.requests[-1].instructions
    skill = read_skill(skills / "weekly-status")
    assert validate_skill(skills / "weekly-status") == []
    assert skill.description == STATUS["description"]
    assert [str(token) for token in skill.frontmatter.allowed_tools or ()] == ["Read", "Bash(git:*)"]
    assert stat.S_IMODE(os.stat(skills / "weekly-status" / "scripts" / "count.sh").st_mode) == 0o755
    # The person saw the whole text, and where it would go.
    (request,) = person.asked
    assert request.arguments["directory"] == str(skills / "weekly-status")
    assert request.arguments["SKILL.md"] == (skills / "weekly-status" / "SKILL.md").read_text(encoding="utf-8")
    assert request.arguments["scripts/count.sh"] == "wc -l\n"


@pytest.mark.proves("governance.journey.agent-confirms")
@pytest.mark.anyio
async def test_the_agent_is_told_to_say_so_and_to_offer_a_test_and_nothing_is_loaded(skills: Path) -> None:
    def confirm(request: ModelRequest) -> str:
        told = json.loads(request.messages[-1].text)["result"]["next"]
        assert "offer to test it" in told
        assert "Do not load it before the user says so" in told
        assert "<active_skills>" not in request.instructions
        return "I have created a skill for weekly status reports. Shall I test it?"

    result, _ = await _created(skills, {}, person=_Person(Approval()), then=(confirm,))
    assert (result.skills_used, result.text.endswith("Shall I test it?")) == ((), True)


@pytest.mark.anyio
async def test_every_fault_of_a_draft_goes_back_and_nobody_is_asked(skills: Path) -> None:
    person = _Person(Approval())
    wrong: dict[str, object] = {"name": "Weekly Status", "description": "x" * 1025}
    result, _ = await _created(skills, wrong, person=person)
    assert error_code(result, 0) == "skill_invalid"
    text = str(tool_messages(result)[0].result.error)
    assert "name" in text
    assert "1024" in text
    assert person.asked == []
    assert sorted(os.listdir(skills)) == ["old"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"files": [{"path": "../out.md", "text": ""}]}, "unsafe_path"),
        ({"files": [{"path": "/etc/out.md", "text": ""}]}, "unsafe_path"),
        ({"files": [{"path": "sub/skill.MD", "text": ""}]}, "invalid_arguments"),
        ({"files": [{"path": ".git/config", "text": ""}]}, "invalid_arguments"),
        ({"files": [{"path": "a", "text": ""}, {"path": "a/b", "text": ""}]}, "invalid_arguments"),
        ({"files": [{"path": "A.md", "text": ""}, {"path": "a.md", "text": ""}]}, "invalid_arguments"),
        ({"files": [{"path": ".", "text": ""}]}, "invalid_arguments"),
        ({"name": "../weekly-status"}, "skill_invalid"),
        ({"allowed_tools": ["Bash(git"]}, "skill_invalid"),
        ({"name": "old"}, "skill_conflict"),
    ],
)
@pytest.mark.anyio
async def test_a_draft_that_reaches_too_far_is_refused_before_anybody_is_asked(
    change: dict[str, object], code: str, skills: Path
) -> None:
    person = _Person(Approval())
    before = (skills / "old" / "SKILL.md").read_bytes()
    result, _ = await _created(skills, change, person=person)
    assert (error_code(result, 0), person.asked) == (code, [])
    assert sorted(os.listdir(skills)) == ["old"]
    assert (skills / "old" / "SKILL.md").read_bytes() == before


@pytest.mark.anyio
async def test_whatever_has_the_name_stays_as_it_is(skills: Path) -> None:
    (skills / "weekly-status").mkdir()
    result, _ = await _created(skills, {}, person=_Person(Approval()))
    assert error_code(result, 0) == "skill_conflict"
    assert os.listdir(skills / "weekly-status") == []


@pytest.mark.anyio
async def test_a_name_that_is_taken_while_the_person_thinks_is_not_overwritten(skills: Path) -> None:
    class Slow(_Person):
        def _say(self, request: ApprovalRequest) -> Answer:
            (skills / "weekly-status").mkdir()
            return super()._say(request)

    result, _ = await _created(skills, {}, person=Slow(Approval()))
    assert error_code(result, 0) == "skill_conflict"
    assert os.listdir(skills / "weekly-status") == []


@pytest.mark.parametrize(
    ("person", "code"), [(_Person(Refusal(reason="not now")), "policy_denied"), (None, "approval_required")]
)
@pytest.mark.anyio
async def test_without_a_yes_nothing_is_written(person: _Person | None, code: str, skills: Path) -> None:
    result, _ = await _created(skills, {}, person=person)
    assert error_code(result, 0) == code
    assert sorted(os.listdir(skills)) == ["old"]


@pytest.mark.proves("governance.journey.agent-builds")
@pytest.mark.anyio
async def test_a_policy_that_forbids_it_is_asked_before_anybody_else(skills: Path, tmp_path: Path) -> None:
    rules = tmp_path / "policy.toml"
    rule = '[[rule]]\neffect = "deny"\ntool = "create_skill"\nreason = "skills come by review"\n'
    rules.write_text(f'default = "allow"\n{rule}', encoding="utf-8")
    person = _Person(Approval())
    agent = Agent(
        ScriptedModel([calls(("create_skill", STATUS)), "Done."]),
        catalog=Catalog(skills),
        skills_dir=skills,
        approver=person.approver(),
        policy=load_policy(str(rules)),
    )
    result = await agent.run("Go.")
    assert (error_code(result, 0), person.asked, sorted(os.listdir(skills))) == ("policy_denied", [], ["old"])
    assert "skills come by review" in str(tool_messages(result)[0].result.error)


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["directory", "./directory", "directory/more.md", "Directory"])
async def test_the_person_sees_the_real_target_whatever_files_are_called(
    skills: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "link").symlink_to(skills)
    person = _Person(Approval())
    text = "/somewhere/harmless"
    draft = {**STATUS, "files": [*cast("list[object]", STATUS["files"]), {"path": path, "text": text}]}
    draft["instructions"] = f"{STATUS['instructions']}\nSee [more]({path.removeprefix('./')}).\n"
    model = ScriptedModel([calls(("create_skill", draft)), "Done."])
    agent = Agent(model, catalog=Catalog(skills), skills_dir=tmp_path / "link", approver=person.approver())
    result = await agent.run("Go.")
    (request,) = person.asked
    assert next(iter(request.arguments)) == "directory"
    assert request.arguments["directory"] == str(skills / "weekly-status")
    assert list(request.arguments.values()).count(text) == 1
    assert question(request).splitlines()[2] == f"    {skills / 'weekly-status'}"
    assert (skills / "weekly-status" / path).read_text() == text
    assert tool_messages(result)[0].result.success


@pytest.mark.anyio
@pytest.mark.parametrize(
    "path",
    [
        "a\x1b[2Kdirectory.md",
        "references/a\r\n  directory:\n    /harmless",
        "references/\u202egpj.md",
        "references/a\u200bb.md",
        "references/a\U000e0041.md",
        "references/a\ufe0fb.md",
        "references/\u3164.md",
        f"{'a' * 101}.md",
        "/".join("abcdefghij" * 4 for _ in range(6)),
        "\ud800.md",
    ],
)
async def test_names_that_a_person_cannot_see_as_they_are_go_back(skills: Path, path: str) -> None:
    person = _Person(Approval())
    draft: dict[str, object] = {"files": [{"path": path, "text": "x"}]}
    result, _ = await _created(skills, draft, person=person)
    assert error_code(result, 0) in {"invalid_arguments", "unsafe_path"}
    assert person.asked == []
    assert sorted(os.listdir(skills)) == ["old"]


@pytest.mark.anyio
async def test_a_link_that_is_moved_while_a_person_reads_changes_nothing(skills: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to(skills)

    class _Slow(_Person):
        def _say(self, request: ApprovalRequest) -> Answer:
            link.unlink()
            link.symlink_to(tmp_path / "elsewhere")
            return super()._say(request)

    model = ScriptedModel([calls(("create_skill", STATUS)), "Done."])
    await Agent(model, catalog=Catalog(skills), skills_dir=link, approver=_Slow(Approval()).approver()).run("Go.")
    assert os.listdir(tmp_path / "elsewhere") == []
    assert (skills / "weekly-status" / "SKILL.md").is_file()


@pytest.mark.anyio
async def test_a_directory_that_cannot_be_written_is_said_to_be_one(skills: Path) -> None:
    blocked = skills / "old" / "SKILL.md" / "below"
    model = ScriptedModel([calls(("create_skill", STATUS)), "Done."])
    approver = _Person(Approval()).approver()
    result = await Agent(model, catalog=Catalog(skills), skills_dir=blocked, approver=approver).run("Go.")
    assert error_code(result, 0) == "invalid_arguments"
    assert "cannot be written" in str(tool_messages(result)[0].result.error)


@pytest.mark.anyio
async def test_a_skill_that_cannot_be_written_to_its_end_leaves_nothing(
    skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(path: str, data: bytes, mode: int) -> None:
        if path.startswith(str(skills)) and path.endswith("SKILL.md"):
            raise OSError(28, "No space left on device")
        write_atomically(path, data, mode)

    monkeypatch.setattr("prowess.agent.create_skill.write_atomically", failing)
    result, _ = await _created(skills, {}, person=_Person(Approval()))
    assert not tool_messages(result)[0].result.success
    assert sorted(os.listdir(skills)) == ["old"]


@pytest.mark.anyio
async def test_a_directory_outside_of_the_catalog_is_said_not_to_be_available_yet(skills: Path, tmp_path: Path) -> None:
    model = ScriptedModel([calls(("create_skill", STATUS)), "Done."])
    approver = _Person(Approval()).approver()
    agent = Agent(model, catalog=Catalog(skills), skills_dir=tmp_path / "drafts", approver=approver)
    assert value(await agent.run("Go."), 0)["available"] is False
    assert (tmp_path / "drafts" / "weekly-status" / "SKILL.md").is_file()


@pytest.mark.anyio
async def test_without_a_directory_the_tool_is_not_offered(skills: Path) -> None:
    model = ScriptedModel([calls(("create_skill", STATUS)), "Done."])
    result = await Agent(model, catalog=Catalog(skills)).run("Go.")
    assert "create_skill" not in [spec.name for spec in model.requests[0].tools]
    assert error_code(result, 0) == "tool_not_found"
