"""The settings of the iterations of `eval triggers` and `eval improve`; those of `eval run` are tested with it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.report import Unit
from prowess.evals.iterations.folders import write_json
from prowess.evals.iterations.snapshots import installed_files
from prowess.evals.optimising.improve_folder import IMPROVE, ImproveSettings
from prowess.evals.triggers.trigger_folder import TRIGGERS, TriggerFolder, TriggerSettings
from tests.evals.campaigns.skills import skill_at

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.iterations.settings_file import OpenedIteration

TRIGGER_SETTINGS = TriggerSettings(
    skills={},
    neighbours={},
    sets={"sums": "s"},
    model="m",
    host="prowess",
    runs=3,
    seed=0,
    consistency=None,
    all_runs=False,
    max_output_tokens=None,
)
IMPROVE_SETTINGS = ImproveSettings(
    skill="sums",
    skills={},
    set="s",
    neighbours={},
    model="m",
    proposer="m",
    host="prowess",
    engine="rounds",
    rounds=5,
    runs=3,
    seed=0,
    max_output_tokens=None,
)


@pytest.fixture
def skill(tmp_path: Path) -> str:
    return str(skill_at(tmp_path))


def test_trigger_runs_are_resumed_with_the_digests_of_their_snapshots(skill: str, tmp_path: Path) -> None:
    workspace = str(tmp_path / "sums-workspace")

    def opened(settings: TriggerSettings, *, resume: bool = True) -> OpenedIteration[TriggerSettings]:
        return TRIGGERS.opened(workspace, settings, skills={"sums": skill}, neighbours={}, resume=resume)

    first = opened(TRIGGER_SETTINGS, resume=False)
    (place,) = TriggerFolder(path=first.path).installed(first.settings)
    assert first.settings.skills == {"sums": installed_files(place).content_digest}
    assert TRIGGERS.read(first.path) == first.settings
    again = opened(TRIGGER_SETTINGS)
    assert (again.path, again.settings, again.is_new) == (first.path, first.settings, False)

    with pytest.raises(InvalidArgumentsError, match="started with --seed 0, not 1; give the same"):
        opened(replace(TRIGGER_SETTINGS, seed=1))
    with pytest.raises(InvalidArgumentsError, match=r"edited .* \(other sets\)"):
        opened(replace(TRIGGER_SETTINGS, sets={}))
    with open(f"{skill}/SKILL.md", "a", encoding="utf-8") as file:
        file.write("More.\n")
    with pytest.raises(InvalidArgumentsError, match=r"edited .* \(other skills\); leave --resume out"):
        opened(TRIGGER_SETTINGS)
    again.discard()
    first.discard()
    assert not (tmp_path / "sums-workspace" / "iteration-1").exists()


def test_a_search_is_resumed_with_the_same_neighbours_alone(skill: str, tmp_path: Path) -> None:
    workspace = str(tmp_path / "sums-workspace")
    other = {"other": str(skill_at(tmp_path / "others", name="other"))}

    def opened(
        settings: ImproveSettings, neighbours: dict[str, str], *, resume: bool = True
    ) -> OpenedIteration[ImproveSettings]:
        return IMPROVE.opened(workspace, settings, skills={"sums": skill}, neighbours=neighbours, resume=resume)

    first = opened(IMPROVE_SETTINGS, other, resume=False)
    assert opened(IMPROVE_SETTINGS, other).settings == first.settings
    with pytest.raises(InvalidArgumentsError, match="is of skill sums, not other"):
        opened(replace(IMPROVE_SETTINGS, skill="other"), other)
    with pytest.raises(InvalidArgumentsError, match=r"\(other neighbours\)"):
        opened(IMPROVE_SETTINGS, {})
    with pytest.raises(InvalidArgumentsError, match="cannot be read"):
        opened(IMPROVE_SETTINGS, {"gone": str(tmp_path / "gone")}, resume=False)
    assert [path.name for path in (tmp_path / "sums-workspace").iterdir()] == ["iteration-1"]


@pytest.mark.parametrize("file", [TRIGGERS, IMPROVE])
@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"version": 9}', "newer version"), ("{}", "no iteration of eval"), (None, r"cannot be read \(No such file")],
)
def test_settings_of_another_form_are_refused(file: object, text: str | None, reason: str, tmp_path: Path) -> None:
    assert file in (TRIGGERS, IMPROVE)
    settings = TRIGGERS if file is TRIGGERS else IMPROVE
    if text is not None:
        (tmp_path / settings.name).write_text(text)
    with pytest.raises(InvalidArgumentsError, match=reason):
        settings.read(str(tmp_path))


@pytest.mark.parametrize("runs", [-5, 0, 10**9])
def test_settings_with_a_number_of_runs_that_no_command_writes_are_refused(runs: int, tmp_path: Path) -> None:
    for file, settings in ((TRIGGERS, TRIGGER_SETTINGS), (IMPROVE, IMPROVE_SETTINGS)):
        write_json(str(tmp_path / file.name), {**to_builtins(settings), "runs": runs})
        with pytest.raises(InvalidArgumentsError, match=r"cannot be read \(.*runs"):
            file.read(str(tmp_path))


def test_a_pipe_or_a_file_without_end_as_settings_is_refused_at_once(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"iteration-{number}").mkdir()
    os.mkfifo(tmp_path / "iteration-1" / TRIGGERS.name)
    os.mkfifo(tmp_path / "iteration-1" / TRIGGERS.report)
    with open(tmp_path / "iteration-2" / TRIGGERS.name, "wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(InvalidArgumentsError, match="is not a regular file but a pipe"):
        TRIGGERS.read(str(tmp_path / "iteration-1"))
    with pytest.raises(InvalidArgumentsError, match="it has more than 1 MiB"):
        TRIGGERS.read(str(tmp_path / "iteration-2"))
    assert TRIGGERS.resumable(str(tmp_path)) == str(tmp_path / "iteration-2")
    unit = Unit(eval="1", configuration="with_skill", run=1)
    folder = TriggerFolder(path=str(tmp_path))
    os.mkfifo(os.path.join(folder.directory(unit), "verdicts.json"))
    assert folder.kept(unit) is None


def test_a_replay_and_a_complete_iteration_are_not_resumed(tmp_path: Path) -> None:
    for number, (replay, complete) in enumerate([(False, False), (True, False), (False, True)], 1):
        folder = tmp_path / f"iteration-{number}"
        folder.mkdir()
        TRIGGERS.begin(str(folder), replace(TRIGGER_SETTINGS, replay=replay))
        TRIGGERS.finish(str(folder), {"complete": complete})
    assert TRIGGERS.resumable(str(tmp_path)) == str(tmp_path / "iteration-1")
    (tmp_path / "iteration-3" / "trigger-report.json").write_text(json.dumps([]))
    assert TRIGGERS.resumable(str(tmp_path)) == str(tmp_path / "iteration-3")
    assert IMPROVE.resumable(str(tmp_path)) is None
