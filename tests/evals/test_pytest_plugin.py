"""The pytest plugin: `--prowess`, its fixtures, and what an unused plugin imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import tomllib
import zipfile
from pathlib import Path

import pytest

from prowess.evals.found_tests import FoundTests
from tests.evals.scenario_skills import case, make_skill, with_cases

PLUGIN = "prowess.evals.pytest_plugin"
REPOSITORY = Path(__file__).parents[2]
_NEW_MODULES = f"""
import sys, pytest, _pytest.terminal
before = set(sys.modules)
import {PLUGIN}
print(*sorted(set(sys.modules) - before))
"""


def test_setup_installs_again_if_the_package_with_the_plugin_changed() -> None:
    setup = (REPOSITORY / "tools" / "setup.sh").read_text(encoding="utf-8")
    stamp = next(line for line in setup.splitlines() if line.startswith("stamp_text()"))
    command = ["bash", "-c", f"{stamp}\nstamp_text"]
    shown = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    for place in ("", "packages/pytest-prowess"):
        assert (REPOSITORY / place / "pyproject.toml").read_text(encoding="utf-8") in shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a project with a test of its own."""
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n", encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str]:
    """Run pytest with the plugin and no other one, in a process: tests in this one would import modules twice."""
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", *words]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def test_the_option_adds_the_scenarios_of_a_folder_of_skills(folder: Path) -> None:
    tests = [{"name": "sums", "description": "d", "cases": [{"name": "one", "input": "i", "assertions": []}]}]
    with_cases(make_skill(folder / "skills"), case(case="alone"), {**case(), "scenario": "sums"}, tests=tests)
    with_cases(make_skill(folder / "skills", "mail"), case(assertions=[{"type": "contains", "value": "13"}]))
    code, text = run(folder, "-v", "--prowess", "skills", "--prowess", "skills/mail")
    assert code == 1
    lines = [line.split(" [")[0].rstrip() for line in text.splitlines() if "::" in line and "%]" in line]
    assert lines == [
        "test_own.py::test_own PASSED",
        "skills/ledger/evals/tests.yaml::sums::one PASSED",
        "skills/ledger/evals/tests.yaml::alone PASSED",
        "skills/mail/evals/tests.yaml::one FAILED",
    ]
    assert "contains '13' does not hold: the answer is: You owe 12.50." in text
    assert "Traceback" not in text


def test_paths_have_nothing_to_run_only_if_none_of_their_skills_has(tmp_path: Path) -> None:
    make_skill(tmp_path)
    with_cases(make_skill(tmp_path, "mail"), case())
    for path, is_told in (("ledger", True), (".", False), ("mail", False)):
        with FoundTests([path], started=tmp_path, shown_from=tmp_path) as found:
            assert (found.nothing() is not None) == is_told, path


def test_scenarios_can_be_chosen_by_mark_and_by_name(folder: Path) -> None:
    with_cases(make_skill(folder), case(case="first"), case(case="second"))
    code, text = run(folder, "--prowess", ".", "-m", "prowess")
    assert (code, "2 passed, 1 deselected" in text) == (0, True)
    code, text = run(folder, "--prowess", ".", "-k", "second")
    assert (code, "1 passed, 2 deselected" in text) == (0, True)
    assert run(folder)[1].count("passed") == 1


def test_a_case_without_turns_is_skipped(folder: Path) -> None:
    idle = case()
    del idle["turns"]
    with_cases(make_skill(folder), idle)
    code, text = run(folder, "--prowess", "ledger", "-rs")
    assert (code, "it has no turns; add them to evals/tests.yaml" in text) == (0, True)


def test_faults_of_files_fail_with_their_place(folder: Path) -> None:
    with_cases(make_skill(folder), case(turn=[]))
    (folder / "broken").mkdir()
    (folder / "broken" / "SKILL.md").write_text("no front matter\x1b]0;x\x07", encoding="utf-8")
    code, text = run(folder, "--prowess", ".", "-m", "prowess")
    assert code == 1
    assert "ledger/evals/tests.yaml:1:" in text
    assert "broken/SKILL.md::skill" in text
    assert "\x1b]" not in text


@pytest.mark.parametrize("path", ["nowhere", "empty"])
def test_a_path_without_skills_is_a_usage_error(folder: Path, path: str) -> None:
    (folder / "empty").mkdir()
    code, text = run(folder, "--prowess", path)
    assert (code, f"--prowess {path}: there is no" in text) == (4, True)


def test_no_python_of_a_skill_is_run(folder: Path) -> None:
    skill = with_cases(make_skill(folder / "skills"), case())
    for name in ("conftest.py", "test_it.py"):
        (skill / name).write_text("import pathlib; pathlib.Path('ran').touch()\n", encoding="utf-8")
    code, _ = run(folder, "--prowess", "skills", "test_own.py")
    assert (code, (folder / "ran").exists()) == (0, False)


def test_the_fixtures_open_sessions_and_play_models(folder: Path) -> None:
    make_skill(folder / "skills")
    text = """
        from prowess.agent import Agent, ScriptedTurn

        kept = []

        def test_session(skill_session):
            kept.append(skill_session("skills"))
            kept[0].load("ledger")
            assert kept[0].active_skill_name == "ledger"

        def test_closed():
            assert kept[0]._portal is None

        def test_agent(scripted):
            model = scripted(ScriptedTurn(calls=(("skills_load", {"name": "ledger"}),)), "Done.")
            assert Agent(model, catalog="skills").run_sync("Sum up.").text == "Done."
            assert len(model.requests) == 2

        def test_transcript(transcript):
            assert transcript("run.jsonl").answer == "You owe 12.50."
    """
    lines = [{"role": "user", "text": "Sum"}, {"role": "assistant", "text": "You owe 12.50.", "calls": []}]
    (folder / "run.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "test_own.py").write_text(textwrap.dedent(text), encoding="utf-8")
    code, text = run(folder)
    assert (code, "4 passed" in text) == (0, True), text


def test_the_plugin_imports_nothing_but_itself() -> None:
    done = subprocess.run([sys.executable, "-c", _NEW_MODULES], capture_output=True, text=True, check=True, timeout=60)
    assert {name for name in done.stdout.split() if "coverage" not in name} <= {
        "prowess",
        "prowess._internal",
        "prowess._internal.lazy_names",
        "prowess.evals",
        PLUGIN,
    }


@pytest.mark.unmeasured
def test_only_a_package_without_files_registers_the_plugin(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=REPOSITORY / "packages/pytest-prowess", check=True, capture_output=True, timeout=60)
    (wheel,) = tmp_path.iterdir()
    with zipfile.ZipFile(wheel) as opened:
        assert {Path(name).parent.suffix for name in opened.namelist()} == {".dist-info"}
        (points,) = (name for name in opened.namelist() if name.endswith("/entry_points.txt"))
        assert opened.read(points).decode() == f"[pytest11]\nprowess = {PLUGIN}\n"
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    assert "pytest11" not in project["project"].get("entry-points", {})
