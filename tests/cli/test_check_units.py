from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from prowess.cli import check_units
from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.cli.skill_result import StampedResult

SKILLS = 20
_judge_unit = check_units.judge_unit


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    for at in range(SKILLS):
        (tmp_path / f"s{at:02}").mkdir()
        body = "<!-- prowess: ignore reference -->\n" * (at % 5 == 0)
        text = f"---\nname: s{at:02}\ndescription: Sorts {at}.\n---\n{body}[a](missing-{at}.md)\n"
        (tmp_path / f"s{at:02}" / "SKILL.md").write_text(text)
    return tmp_path


@pytest.mark.measured_once
@pytest.mark.parametrize("jobs", ["2", "3", "0", "auto", "64"])
def test_several_processes_find_the_same_in_the_same_order(
    skills: Path, capfd: pytest.CaptureFixture[str], jobs: str
) -> None:
    options = ["check", str(skills), "--no-cache", "--severity", "reference.missing=warning"]
    code = run(options)
    alone = capfd.readouterr()
    assert run([*options, "-j", jobs]) == code
    assert capfd.readouterr() == alone
    assert "are ignored" in alone.err


def test_the_settings_of_the_command_line_hold_in_each_process(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (skills / "prowess.toml").write_text('[[paths]]\nmatch = "s03"\nignore = ["reference"]\n')
    options = ["check", str(skills), "--no-cache", "--select", "reference", "--config", str(skills / "prowess.toml")]
    run(options)
    alone = capfd.readouterr()
    run([*options, "-j", "2"])
    assert capfd.readouterr() == alone


def test_what_a_broken_process_does_not_answer_is_judged_without_it(
    skills: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["check", str(skills), "--no-cache"])
    alone = capfd.readouterr()
    monkeypatch.setattr(check_units, "judge_unit", _end_a_worker)
    run(["check", str(skills), "--no-cache", "-j", "2"])
    assert capfd.readouterr() == alone


def _end_a_worker(unit: check_units.SkillsToCheck) -> list[StampedResult]:
    if multiprocessing.parent_process() is not None:
        os._exit(9)
    return _judge_unit(unit)


def test_a_number_of_processes_that_is_none_is_a_usage_error(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for wrong in ("-1", "many", "1.5", ""):
        assert run(["check", str(skills), f"--jobs={wrong}"]) == 2
        assert "--jobs must be a number or auto" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="no signal of a terminal can be sent here")
def test_an_interrupt_ends_all_processes(tmp_path: Path) -> None:
    for at in range(400):
        (tmp_path / f"s{at}").mkdir()
        text = f"---\nname: s{at}\ndescription: d\n---\n" + "[a](a.md) `x` **b** text\n" * 4000
        (tmp_path / f"s{at}" / "SKILL.md").write_text(text)
    command = [sys.executable, "-m", "prowess", "check", str(tmp_path), "--no-cache", "-j", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        time.sleep(2)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
