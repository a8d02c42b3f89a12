"""The page about a first skill, followed to the letter: what it leads to is a skill that an agent finds and obeys."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.agent import Agent, AgentResult, ScriptedModel, ScriptedTurn, SkillActivated, ToolMessage
from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.tools.builtin import builtin_tools
from tests.docs_src.blocks import output_matches, runnable_blocks, steps
from tests.fork_server import prowess

if TYPE_CHECKING:
    from prowess.agent import AgentStep, ModelRequest

pytestmark = pytest.mark.unmeasured

PAGE = Path(__file__).parents[2] / "docs/start/first-skill.md"
WORDS_A_MINUTE = 200  # of somebody who reads with care; commands are pasted


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and the commands of the page carried out in it, each with the output that the page shows."""
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    path = os.pathsep.join([str(Path(prowess()).parent), str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in runnable_blocks(PAGE.read_text(encoding="utf-8")):
        for step in steps(block):
            ran = subprocess.run(
                ["bash", "-c", step.command],
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=60,
                check=False,
            )
            assert output_matches(step.output, ran.stdout), f"{step.command}\n{ran.stdout}"
    return project


def _calls(result: AgentResult) -> list[ToolMessage]:
    return [message for message in result.transcript if isinstance(message, ToolMessage)]


async def _reviewed(project: Path) -> tuple[AgentResult, list[AgentStep], ScriptedModel]:
    """Run an agent whose user asks for a review and says nothing of skills; its model follows what it is shown."""

    def find(request: ModelRequest) -> ScriptedTurn:
        listed = re.findall(r"<name>(.*)</name>\n<description>(.*)</description>", request.instructions)
        names = [name for name, description in listed if "asks for a review" in description]
        return ScriptedTurn(calls=(("skills_load", {"names": names}),))

    def follow(request: ModelRequest) -> ScriptedTurn:
        body = request.instructions.partition("<active_skills>")[2]
        script = re.search(r"Run `(scripts/\S+) FILE`", body)
        rules = re.search(r"\[the rules\]\((\S+)\)", body)
        assert script
        assert rules
        return ScriptedTurn(
            calls=(
                ("skills_run_script", {"path": script[1], "args": ["app.py"]}),
                ("skills_read", {"path": rules[1]}),
                ("Grep", {"pattern": "TODO", "output_mode": "content"}),
                ("Write", {"file_path": "app.py", "content": "gone"}),
            )
        )

    def answer(request: ModelRequest) -> str:
        form = re.search(r"nothing else: `(FILE:LINE) rule - what to change`", request.instructions)
        assert form
        script, rules, _, _ = (json.loads(message.text) for message in request.messages[-4:])
        found = script["result"]["stdout"].split()
        rule = re.match(r"- (\S+): a (.*)\.", rules["result"]["text"])
        assert rule
        return f"{found[0]} {found[1]} - break the line\napp.py:1 {rule[1]} - {rule[2]}"

    told: list[AgentStep] = []
    model = ScriptedModel([find, follow, answer])
    agent = Agent(
        model,
        catalog=Catalog.discover(),
        workspace=project,
        write=True,
        extra_tools=builtin_tools(["Read", "Grep", "Write"], workspace=project, write=True),
        on_event=told.append,
    )
    return await agent.run("Review app.py"), told, model


@pytest.mark.proves("governance.journey.author")
@pytest.mark.anyio
async def test_an_agent_finds_loads_obeys_and_follows_a_skill_that_was_just_added_to_the_project(project: Path) -> None:
    result, told, model = await _reviewed(project)
    # Found and loaded, though the user said nothing of skills.
    assert result.skills_used == ("code-review",)
    assert SkillActivated(skill="code-review", allowed_tools=("Read", "Grep")) in told
    assert "# Code review" not in model.requests[0].instructions
    load, script, rules, grep, write = _calls(result)
    assert (load.result.success, rules.result.success, grep.result.success) == (True, True, True)
    # Its script ran.
    assert (script.result.result or {})["stdout"] == "app.py:2 long-line\n"
    # Its restriction holds, and the refusal names it.
    assert (write.result.error_detail or {})["code"] == "tool_not_allowed"
    assert "code-review" in str(write.result.error)
    assert (project / "app.py").read_text(encoding="utf-8").startswith("x = 1")
    # Its output format is followed.
    assert re.fullmatch(r"(app\.py:\d+ \S+ - .+\n?)+", result.text)
    assert result.text == "app.py:2 long-line - break the line\napp.py:1 no-todo - TODO names who does it"


@pytest.mark.proves("governance.persona.five-minutes")
@pytest.mark.anyio
async def test_reading_the_page_and_doing_what_it_says_takes_less_than_five_minutes(
    request: pytest.FixtureRequest,
) -> None:
    begun = time.monotonic()
    result, _, _ = await _reviewed(request.getfixturevalue("project"))
    assert result.skills_used == ("code-review",)
    working = time.monotonic() - begun
    reading = len(PAGE.read_text(encoding="utf-8").split()) / WORDS_A_MINUTE * 60
    assert reading + working < 300, f"{reading:.0f} seconds of reading, {working:.0f} of working"


@pytest.mark.proves("governance.persona.no-python")
def test_the_skill_is_complete_without_python_and_without_being_registered(project: Path) -> None:
    skill = project / ".prowess/skills/code-review"
    assert sorted(path.relative_to(skill).as_posix() for path in skill.rglob("*") if path.is_file()) == [
        *("SKILL.md", "references/RULES.md", "scripts/long-lines.sh"),
    ]
    assert "python" not in " ".join(path.read_text(encoding="utf-8") for path in skill.rglob("*.*")).lower()
    # A copy beside it, of text alone, is a skill as well: nothing was told about either.
    copy = project / ".prowess/skills/house-rules"
    (copy / "references").mkdir(parents=True)
    text = (skill / "SKILL.md").read_text(encoding="utf-8").replace("code-review", "house-rules")
    (copy / "SKILL.md").write_text(text, encoding="utf-8")
    (copy / "references/RULES.md").write_text("- no-print\n", encoding="utf-8")
    lines = [
        {"id": 1, "tool": "skills.load", "arguments": {"names": ["house-rules"]}},
        {"id": 2, "tool": "skills.read", "arguments": {"path": "references/RULES.md"}},
        {"id": 3, "tool": "Bash", "arguments": {"command": "true"}},
    ]
    ran = subprocess.run(
        [prowess(), "session", "--tools", "read,bash"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    loaded, read, bash = (json.loads(line) for line in ran.stdout.splitlines())
    assert loaded["result"]["active_skills"][0]["name"] == "house-rules", ran.stderr
    assert read["result"]["text"] == "- no-print\n"
    assert bash["error_detail"]["code"] == "tool_not_allowed"
