"""`pytest --prowess` replays recorded evals: one test for each run, without a model and without a network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins

from prowess._internal.files.tree_digest import read_tree
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.running import run_evals
from prowess.evals.found_tests import FoundTests
from prowess.evals.recordings.drift import StaleRecordingError
from prowess.evals.replays.finding import RecordedIteration, SkillsAndRecordings
from tests.evals.campaigns.provider import MODEL, ScriptedProvider, obedient
from tests.evals.campaigns.skills import an_eval, skill_at
from tests.evals.iterations.test_settings_file import TRIGGER_SETTINGS
from tests.evals.test_pytest_plugin import PLUGIN
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path

TWO_DECIMALS = {"text": "two decimals", "type": "contains_phrase", "phrase": "12.50"}
WRITES_FILE = {"text": "writes a file", "type": "file_exists", "path": "out.txt"}
UNIT, BASELINE = "1/with_skill/run-1", "1/without_skill/run-1"
RECORDING = "sums-workspace/iteration-1"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a skill of one eval that passes, and its recording."""
    place = tmp_path_factory.mktemp("recorded")
    skill = skill_at(place, an_eval(1, TWO_DECIMALS))
    with ScriptedProvider(obedient) as provider:
        environment = {**os.environ, **provider.environment}
        command = [prowess(), "eval", "run", str(skill), "--model", MODEL, "--runs", "1", "--quiet"]
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=120)
    return place


@pytest.fixture
def folder(recorded: Path, tmp_path: Path) -> Path:
    """Return a copy of the recorded folder, whose place is another."""
    return shutil.copytree(recorded, tmp_path / "project")


def run(folder: Path, *words: str, plugins: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run pytest with the plugin, without a provider, and require that nothing is written into the folder."""
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", *words]
    variables = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    before, temporary = read_tree(str(folder)).content_digest, folder.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    ran = subprocess.run(
        [*command, *(word for name in plugins for word in ("-p", name))],
        cwd=folder,
        env={**os.environ, **variables, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert read_tree(str(folder)).content_digest == before
    assert list(temporary.glob("prowess-replay-*")) == []
    return ran.returncode, ran.stdout + ran.stderr


def chosen(folder: Path, *paths: str) -> dict[str, str | None]:
    """Return the faults of the iterations that would be replayed, by their names."""
    with FoundTests(paths, started=folder, shown_from=folder) as found:
        return {os.path.basename(one.iteration): one.fault for one in found.recordings}


def outcome(folder: Path, path: str) -> str:
    """Replay the run with the skill in this process."""
    with FoundTests([path], started=folder, shown_from=folder) as found:
        (recorded,) = found.recordings
        assert recorded.replay is not None, recorded.fault
        return recorded.replay.result(recorded.units[0].unit).outcome


def listed(text: str) -> list[str]:
    return [line.split(" [")[0].rstrip() for line in text.splitlines() if "::" in line and "%]" in line]


@pytest.mark.parametrize("path", [".", "sums", RECORDING])
def test_each_recorded_run_is_a_test_from_wherever_it_is_named(folder: Path, path: str) -> None:
    code, text = run(folder, "-v", "--prowess", path)
    assert (code, listed(text)) == (0, [f"{RECORDING}::{UNIT} PASSED", f"{RECORDING}::{BASELINE} PASSED"]), text


def test_workers_of_xdist_share_the_runs_and_names_choose(folder: Path) -> None:
    code, text = run(folder, "-n", "2", "--prowess", "sums", plugins=("xdist",))
    assert (code, "2 passed" in text) == (0, True), text
    code, text = run(folder, "--prowess", "sums", "-k", "without_skill")
    assert (code, "1 passed, 1 deselected" in text) == (0, True), text
    code, text = run(folder, "-n", "2", "--prowess", "nowhere", plugins=("xdist",))
    assert (code, "--prowess nowhere: there is no such directory" in text, "INTERNAL" in text) == (4, True, False)


def test_a_run_that_fails_is_told_with_its_assertions_and_a_baseline_may_fail(folder: Path) -> None:
    skill_at(folder, an_eval(1, TWO_DECIMALS, WRITES_FILE))
    code, text = run(folder, "-v", "--prowess", "sums")
    assert code == 1
    assert listed(text) == [f"{RECORDING}::{UNIT} FAILED", f"{RECORDING}::{BASELINE} PASSED"]
    assert "contains 'two decimals' holds" in text
    assert "file_exists 'writes a file' does not hold" in text
    assert "Traceback" not in text
    skill_at(folder, an_eval(1, TWO_DECIMALS, {"text": "checked", "type": "program", "path": "evals/gone.py"}))
    code, text = run(folder, "-v", "--prowess", "sums", "-k", "without_skill")
    assert (code, listed(text)) == (1, [f"{RECORDING}::{BASELINE} FAILED"]), text  # it was not replayed
    assert "evals/gone.py" in text


def test_a_run_that_a_decision_made_needless_is_no_test(folder: Path) -> None:
    report = folder / RECORDING / "report.json"
    data = json.loads(report.read_text())
    data["units"] = [{**one, "outcome": "not_run"} if one["id"] == BASELINE else one for one in data["units"]]
    report.write_text(json.dumps(data))
    with FoundTests(["sums"], started=folder, shown_from=folder) as found:
        assert [(one.unit.id, one.is_recorded) for one in found.recordings[0].units] == [(UNIT, True)]


def test_drift_is_told_with_the_difference_and_a_new_eval_is_not_recorded(folder: Path) -> None:
    skill_at(folder, an_eval(1, TWO_DECIMALS, prompt="Add it up"), an_eval("new\x1b[31m", TWO_DECIMALS))
    code, text = run(folder, "-v", "--prowess", "sums", "-k", "with_skill")
    assert code == 1
    assert listed(text) == [f"{RECORDING}::{UNIT} FAILED", rf"{RECORDING}::new\x1b[31m/with_skill/run-1 FAILED"]
    lines = [line.strip() for line in text.splitlines()]
    assert any(line.startswith("-") and "Sum it up" in line for line in lines), text
    assert any(line.startswith("+") and "Add it up" in line for line in lines)
    assert r"eval new\x1b[31m was added after the recording" in text
    assert "\x1b" not in text


def test_a_changed_skill_makes_each_of_its_recorded_runs_stale(folder: Path) -> None:
    skill_at(folder, body="Another body.")
    code, text = run(folder, "--prowess", "sums")
    assert (code, "2 failed" in text) == (1, True)
    told = "is stale: with_skill/sums/SKILL.md changed since; run prowess eval again without --replay to record it"
    assert text.count(told) >= 2


def test_the_newest_complete_recording_is_taken_unless_another_one_is_named(folder: Path) -> None:
    workspace = folder / "sums-workspace"
    for number in (2, 3, 4):
        shutil.copytree(workspace / "iteration-1", workspace / f"iteration-{number}")
    report = workspace / "iteration-3" / "report.json"
    report.write_text(json.dumps({**json.loads(report.read_text()), "complete": False}))
    (workspace / "iteration-4" / "journal.jsonl").unlink()
    assert chosen(folder, "sums") == {"iteration-2": None}
    assert chosen(folder, "sums", RECORDING) == {"iteration-1": None}
    named = [f"sums-workspace/iteration-{number}" for number in (3, 4)]
    refused = chosen(folder, *named)
    assert "it is not complete; continue it with prowess eval run --resume" in str(refused["iteration-3"])
    assert "it has no journal.jsonl" in str(refused["iteration-4"])
    settings = workspace / "iteration-2" / "campaign.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "replay": True}))
    assert chosen(folder, "sums") == {"iteration-1": None}
    assert "it is itself a replay" in str(chosen(folder, "sums-workspace/iteration-2")["iteration-2"])


def test_the_skill_of_a_recording_elsewhere_has_to_be_named(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    shutil.move(folder / "sums-workspace", folder / "elsewhere" / "sums-workspace")
    assert chosen(folder, ".") == {"iteration-1": None}
    assert "name the skill with --prowess as well" in str(chosen(folder, "elsewhere")["iteration-1"])
    assert chosen(folder, "elsewhere", "sums") == {"iteration-1": None}


def test_of_two_skills_of_one_name_the_one_beside_the_workspace_is_replayed(folder: Path) -> None:
    shutil.copytree(folder / "sums", folder / "another" / "sums")
    paths = [str(folder / "another"), str(folder)]
    for named in (paths, paths[::-1]):
        (found,) = (one for listed in SkillsAndRecordings(named).recordings().values() for one in listed)
        assert isinstance(found, RecordedIteration)
        assert found.root == str(folder / "sums")


def test_a_name_of_a_skill_leads_to_no_workspace_elsewhere(folder: Path) -> None:
    skill = skill_at(folder / "inner")
    skill.joinpath("SKILL.md").write_text("---\nname: ../sums\ndescription: Sums.\n---\nBody\n")
    assert SkillsAndRecordings([str(folder / "inner")]).recordings() == {}


def test_a_skill_that_was_installed_beside_is_compared_as_it_is_now(folder: Path) -> None:
    with ScriptedProvider(obedient) as provider, pytest.MonkeyPatch.context() as patched:
        for name, value in provider.environment.items():
            patched.setenv(name, value)
        other = skill_at(folder, name="other")
        options = EvalRunOptions(path=str(folder / "sums"), model=MODEL, runs=1, neighbours=(str(other),))
        assert run_evals(options).report.complete
    assert outcome(folder, ".") == "passed"
    skill_at(folder, name="other", body="Another body.")
    with pytest.raises(StaleRecordingError, match="is stale: with_skill/other/SKILL"):
        outcome(folder, ".")
    assert outcome(folder, "sums") == "passed"  # its snapshot


def test_a_recording_of_another_host_does_not_choose_the_program_that_pytest_starts(folder: Path) -> None:
    program = folder.parent / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {folder.parent}/started\n")
    program.chmod(0o755)
    campaign = folder / RECORDING / "campaign.json"
    campaign.write_text(json.dumps({**json.loads(campaign.read_text()), "host": "claude"}))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        code, text = run(folder, "-v", "-rs", "--prowess", "sums", "--prowess", RECORDING)
    assert not (folder.parent / "started").exists()
    assert (code, "1 skipped" in text, "failed" in text, "passed" in text) == (0, True, False, False), text
    assert f"prowess eval run {folder}/sums --replay {folder}/{RECORDING} --host claude" in text
    shutil.copytree(folder / RECORDING, folder / "sums-workspace/iteration-2")
    campaign.write_text(json.dumps({**json.loads(campaign.read_text()), "host": "prowess"}))
    assert chosen(folder, "sums") == {"iteration-1": None}


@pytest.mark.parametrize("command", ["run", "triggers"])
def test_a_replay_starts_another_host_only_if_the_command_line_names_it(folder: Path, command: str) -> None:
    campaign = json.loads((folder / RECORDING / "campaign.json").read_text())
    for name, settings in (("campaign.json", campaign), ("triggers.json", to_builtins(TRIGGER_SETTINGS))):
        (folder / name).write_text(json.dumps({**settings, "host": "cl;aude"}))
    words = ["eval", command, str(folder / "sums"), "--replay", str(folder)]
    done = subprocess.run([prowess(), *words], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "add --host 'cl;aude'; a recording does not choose it" in done.stderr


@pytest.mark.parametrize(("field", "value", "told"), [
    ("runs", 10**9, "campaign.json cannot be read"),
    ("runs", 9999, "its settings have 9999 runs of each eval, and its report only 2 results"),
    ("outcome", "not_run", "no run of the evals as they are now is recorded in it"),
])  # fmt: skip
def test_a_recording_without_units_or_with_too_many_is_a_fault(
    folder: Path, field: str, value: object, told: str
) -> None:
    campaign, report = folder / RECORDING / "campaign.json", folder / RECORDING / "report.json"
    data = json.loads(report.read_text())
    if field == "runs":
        campaign.write_text(json.dumps({**json.loads(campaign.read_text()), "runs": value}))
    else:
        report.write_text(json.dumps({**data, "units": [{**one, "outcome": value} for one in data["units"]]}))
    (fault,) = chosen(folder, RECORDING).values()
    assert told in str(fault)


def test_the_name_of_a_workspace_is_shown_without_its_control_characters(folder: Path) -> None:
    name = "sums\x1b[31m-workspace"
    os.rename(folder / "sums-workspace", folder / name)
    code, text = run(folder, "-v", "-rs", "--prowess", ".", "-k", "without_skill")
    assert (code, "\x1b" in text, "x1b[31m-workspace/iteration-1::" in text) == (0, False, True), text


def test_a_skill_without_scenarios_and_recordings_is_named_in_a_sentence(folder: Path) -> None:
    shutil.rmtree(folder / "sums-workspace")
    code, text = run(folder, "-q", "--prowess", ".", "--prowess", "sums")
    assert (code, text.count("--prowess ., sums: nothing to run in 1 skill; write evals/tests.yaml")) == (5, 1)
