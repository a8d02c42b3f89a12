"""`python -m prowess.compat.skills_ref` as a program sees it: streams, bytes and exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from prowess.compat.skills_ref.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeSkill = Callable[..., Path]

FIELDS = "name: my-skill\ndescription: A test skill"


def ask(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [os.fspath(argument) for argument in arguments])


@pytest.mark.proves("tooling.skills-ref.names")
def test_the_command_runs_as_a_module_and_installs_no_name_of_the_reference(make_skill: MakeSkill) -> None:
    directory = make_skill(FIELDS)
    command = [sys.executable, "-m", "prowess.compat.skills_ref", "validate", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"Valid skill: {directory}\n", "")
    installed = entry_points(group="console_scripts")
    ours = {script.name for script in installed if script.value.startswith("prowess")}
    assert ours == {"prowess"}
    assert not any(Path(next(iter(sys.modules["prowess"].__path__))).parent.glob("skills_ref*"))


@pytest.mark.proves("tooling.skills-ref.commands", "tooling.skills-ref.validate-ok")
def test_a_valid_skill_is_one_line(make_skill: MakeSkill) -> None:
    directory = make_skill(FIELDS)
    result = ask("validate", directory)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"Valid skill: {directory}\n", "")


@pytest.mark.proves("tooling.skills-ref.validate-fail")
def test_an_invalid_skill_is_a_heading_and_a_line_a_message(make_skill: MakeSkill) -> None:
    directory = make_skill("name: My--skill\ndescription: d", directory="My--skill")
    result = ask("validate", directory)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"Validation failed for {directory}:\n"
        "  - Skill name 'My--skill' must be lowercase\n"
        "  - Skill name cannot contain consecutive hyphens\n"
    )


@pytest.mark.proves("tooling.skills-ref.commands", "tooling.skills-ref.read-properties")
def test_properties_are_indented_ascii_json_in_the_fixed_order(make_skill: MakeSkill) -> None:
    directory = make_skill(
        "metadata:\n  k: v\nallowed-tools: Read\ncompatibility: Linux\nlicense: MIT\ndescription: naïve\nname: a"
    )
    result = ask("read-properties", directory)
    assert result.exit_code == 0
    assert result.stdout == (
        '{\n  "name": "a",\n  "description": "na\\u00efve",\n  "license": "MIT",\n  "compatibility": "Linux",\n'
        '  "allowed-tools": "Read",\n  "metadata": {\n    "k": "v"\n  }\n}\n'
    )


@pytest.mark.proves("tooling.skills-ref.commands", "tooling.skills-ref.to-prompt")
def test_the_prompt_keeps_order_and_repeats_and_ends_with_a_line_break(make_skill: MakeSkill) -> None:
    b = make_skill("name: b\ndescription: d", directory="b")
    a = make_skill("name: a\ndescription: d", directory="a")
    result = ask("to-prompt", b, a, b)
    names = [line for line in result.stdout.splitlines() if line in {"a", "b"}]
    assert (result.exit_code, names) == (0, ["b", "a", "b"])
    assert result.stdout.endswith("</skill>\n</available_skills>\n")


@pytest.mark.proves("tooling.skills-ref.to-prompt", "tooling.skills-ref.errors")
def test_one_unreadable_skill_leaves_standard_output_empty(make_skill: MakeSkill, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = ask("to-prompt", make_skill(FIELDS), empty)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: SKILL.md not found in {empty.resolve()}\n"


@pytest.mark.proves("tooling.skills-ref.errors")
def test_properties_that_cannot_be_read_are_one_line(make_skill: MakeSkill) -> None:
    result = ask("read-properties", make_skill("name: a"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: Missing required field in frontmatter: description\n"


@pytest.mark.proves("tooling.skills-ref.skill-md-path")
@pytest.mark.parametrize("name", ["SKILL.md", "skill.md", "Skill.MD"])
def test_a_path_to_the_file_stands_for_its_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f"---\n{FIELDS}\n---\n")
    result = ask("validate", tmp_path / name)
    assert result.stderr.startswith(f"Validation failed for {tmp_path}:\n")


@pytest.mark.proves("tooling.skills-ref.usage")
@pytest.mark.parametrize(
    "line", ["", "no-command", "validate", "validate absent", "validate . .", "to-prompt", "read-properties"]
)
def test_a_wrong_call_exits_with_2_and_shows_the_usage(line: str) -> None:
    result = ask(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: ")


@pytest.mark.proves("tooling.skills-ref.version")
def test_the_version_is_that_of_the_reference() -> None:
    assert ask("--version").output == "skills-ref, version 0.1.1\n"


def test_a_pipe_gets_utf_8_whatever_the_locale(make_skill: MakeSkill) -> None:
    command = [sys.executable, "-m", "prowess.compat.skills_ref", "to-prompt"]
    command.append(str(make_skill("name: a\ndescription: naïve — 技能")))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert "naïve — 技能".encode() in done.stdout


def test_a_message_cannot_act_on_the_terminal(make_skill: MakeSkill) -> None:
    result = ask("validate", make_skill('name: "a\\e[2J"\ndescription: d'))
    assert "\x1b" not in result.stderr
    assert "\\x1b[2J" in result.stderr
