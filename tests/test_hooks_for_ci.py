"""The pre-commit hooks and the GitHub Action do what the command line does; here they run without either service."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from prowess.cli.main import COMMANDS

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).parents[1]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def run(command: list[str], cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PATH": PATH} | variables
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text("\n---\nname:  a\ndescription: Use when asked.\n---\n", encoding="utf-8")
    (tmp_path / "b c").mkdir()
    (tmp_path / "b c" / "SKILL.md").write_text("---\nname: b\n---\n", encoding="utf-8")
    return tmp_path


def test_each_hook_names_a_command_and_takes_skill_files_alone() -> None:
    for hook in HOOKS:
        assert shlex.split(hook["entry"])[0] == "prowess"
        assert shlex.split(hook["entry"])[1] in COMMANDS
        files = re.compile(hook["files"])
        assert files.search("SKILL.md")
        assert files.search("skills/a/skill.md")
        assert not files.search("skills/a/MYSKILL.md")
        assert not files.search("skills/a/SKILL.mdx")
        assert bool(files.search("skills/a/skill.manifest.yaml")) == (hook["id"] == "prowess-check")


def test_the_hooks_check_fix_and_lay_out_the_files_they_are_given(skills: Path) -> None:
    entries = {hook["id"]: shlex.split(hook["entry"]) for hook in HOOKS}
    first = skills / "a" / "SKILL.md"
    assert run([*entries["prowess-check"], "a/SKILL.md"], skills).returncode == 1
    assert run([*entries["prowess-fix"], "a/SKILL.md"], skills).returncode == 0
    assert first.read_text(encoding="utf-8").startswith("---\nname:  a\n")
    assert run([*entries["prowess-fmt"], "a/SKILL.md"], skills).returncode == 0
    assert first.read_text(encoding="utf-8").startswith("---\nname: a\n")
    assert run([*entries["prowess-check"], "a/SKILL.md", "b c/SKILL.md"], skills).returncode == 1


def test_a_manifest_that_a_hook_is_given_is_checked_with_its_skill(skills: Path) -> None:
    (skills / "a" / "SKILL.md").write_text("---\nname: a\ndescription: Use when asked.\n---\n# A\n", encoding="utf-8")
    (skills / "a" / "skill.manifest.yaml").write_text("secrets: none\n", encoding="utf-8")
    ran = run(["prowess", "check", "a/skill.manifest.yaml", "a/SKILL.md"], skills)
    assert (ran.returncode, ran.stdout.count("manifest.unknownField")) == (0, 1)


def install(place: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Run the step that installs, with a program for `python3` that is given as the text of a shell script."""
    (place / "python3").write_text(f"#!/bin/sh\n{python}\n", encoding="utf-8")
    (place / "python3").chmod(0o755)
    step = ACTION["runs"]["steps"][0]["run"]
    variables = {"RUNNER_TEMP": str(place), "GITHUB_PATH": str(place / "path"), "GITHUB_ACTION_PATH": str(ROOT)}
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step], place, **variables, PATH=path)


def test_the_action_says_which_python_it_needs(tmp_path: Path) -> None:
    ran = install(tmp_path, "exit 1")
    assert ran.returncode == 1
    assert ran.stdout.startswith("::error::Prowess needs Python 3.11")


def test_the_action_puts_the_command_on_the_path_and_nothing_else(tmp_path: Path) -> None:
    # What makes the environment is a stand-in; `tools/peers.sh action` runs the step with the real one.
    made = (
        'mkdir -p "$3/bin" && for one in python pip prowess; do printf "#!/bin/sh\\n" > "$3/bin/$one"; done'
        ' && chmod +x "$3"/bin/*'
    )
    ran = install(tmp_path, f'[ "$1" != -m ] || {{ {made}; }}')
    assert (ran.returncode, ran.stderr) == (0, "")
    (added,) = (tmp_path / "path").read_text(encoding="utf-8").splitlines()
    assert os.listdir(added) == ["prowess"]


def check(skills: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step that checks as GitHub does: inputs become variables, the script goes to bash with -e."""
    step = ACTION["runs"]["steps"][1]
    given = {name: inputs.get(name, str(known["default"])) for name, known in ACTION["inputs"].items()}
    variables = {name: given[text.split("inputs.")[1].split()[0]] for name, text in step["env"].items()}
    return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], skills, **variables)


def test_the_action_annotates_and_fails_where_the_command_does(skills: Path) -> None:
    ran = check(skills)
    assert ran.returncode == 1
    assert "::error file=a/SKILL.md,line=2," in ran.stdout
    assert "::error file=b c/SKILL.md," in ran.stdout
    assert check(skills, paths="\na\n\n", profile="lenient").returncode == 0
    assert check(skills, paths="a\nb c\n", sarif="out.sarif").returncode == 1
    assert json.loads((skills / "out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_an_input_of_the_action_is_no_code(skills: Path) -> None:
    for hostile in ("$(touch planted)", "`touch planted`", "'; touch planted; '", "--fix"):
        assert check(skills, paths=hostile, baseline="").returncode != 0
        assert check(skills, profile=hostile).returncode != 0
    assert not (skills / "planted").exists()
    assert (skills / "a" / "SKILL.md").read_text(encoding="utf-8").startswith("\n---")
    assert all("${{" not in step["run"] for step in ACTION["runs"]["steps"])
