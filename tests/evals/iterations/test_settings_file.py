"""The settings of the iterations of `eval triggers` and `eval improve`; those of `eval run` are tested with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError
from prowess.evals.iterations.snapshots import installed_files
from prowess.evals.optimising.improve_folder import IMPROVE, ImproveSettings, new_search, unfinished_search
from prowess.evals.triggers.trigger_folder import TRIGGERS, TriggerSettings, new_folder, unfinished_folder
from tests.evals.campaigns.skills import skill_at

if TYPE_CHECKING:
    from pathlib import Path

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
    digest="",
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
    folder = new_folder(workspace)
    settings = folder.begin(TRIGGER_SETTINGS, {"sums": skill}, {})
    assert settings.skills == {"sums": installed_files(folder.installed(settings)[0]).content_digest}
    assert TRIGGERS.read(folder.path) == settings
    assert unfinished_folder(workspace) == folder
    assert folder.resume(TRIGGER_SETTINGS, {"sums": skill}, {}) == settings

    with pytest.raises(InvalidArgumentsError, match="started with --seed 0, not 1; give the same"):
        folder.resume(replace(TRIGGER_SETTINGS, seed=1), {"sums": skill}, {})
    with pytest.raises(InvalidArgumentsError, match=r"edited .* \(other sets\)"):
        folder.resume(replace(TRIGGER_SETTINGS, sets={}), {"sums": skill}, {})
    with open(f"{skill}/SKILL.md", "a", encoding="utf-8") as file:
        file.write("More.\n")
    with pytest.raises(InvalidArgumentsError, match=r"edited .* \(other skills\); leave --resume out"):
        folder.resume(TRIGGER_SETTINGS, {"sums": skill}, {})


def test_a_search_is_resumed_with_the_digest_of_its_snapshot(skill: str, tmp_path: Path) -> None:
    workspace = str(tmp_path / "sums-workspace")
    other = str(skill_at(tmp_path / "others", name="other"))
    folder = new_search(workspace, "sums")
    settings = folder.begin(IMPROVE_SETTINGS, skill, {"other": other})
    assert settings.digest == installed_files(folder.first).content_digest
    found = unfinished_search(workspace, "sums")
    assert found is not None
    assert found.resume(IMPROVE_SETTINGS, skill, {"other": other}) == settings
    assert found.header(settings) == folder.header(settings)

    with pytest.raises(InvalidArgumentsError, match="is of skill sums, not other"):
        folder.resume(replace(IMPROVE_SETTINGS, skill="other"), skill, {"other": other})
    with pytest.raises(InvalidArgumentsError, match=r"\(other neighbours\)"):
        folder.resume(IMPROVE_SETTINGS, skill, {})


@pytest.mark.parametrize("file", [TRIGGERS, IMPROVE])
@pytest.mark.parametrize(
    ("text", "reason"),
    [('{"version": 2}', "newer version"), ("{}", "no iteration of eval"), (None, r"cannot be read \(No such file")],
)
def test_settings_of_another_form_are_refused(file: object, text: str | None, reason: str, tmp_path: Path) -> None:
    assert file in (TRIGGERS, IMPROVE)
    settings = TRIGGERS if file is TRIGGERS else IMPROVE
    if text is not None:
        (tmp_path / settings.name).write_text(text)
    with pytest.raises(InvalidArgumentsError, match=reason):
        settings.read(str(tmp_path))


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
