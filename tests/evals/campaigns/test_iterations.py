from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.feedback import read_feedback
from prowess.evals.campaigns.iterations import (
    CAMPAIGN,
    CampaignSettings,
    Iteration,
    older_snapshots,
    unfinished_iteration,
)
from prowess.evals.campaigns.report import EvalRunReport, EvalRunSummary, Unit, UnitResult
from prowess.evals.iterations.folders import new_iteration, workspace_at
from prowess.evals.ledger.caps import Spent
from tests.evals.campaigns.skills import skill_at

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = CampaignSettings(
    skill="sums",
    root="/skills/sums",
    suite="s",
    digests={"with_skill": "d"},
    model="m",
    host="prowess",
    baseline="without",
    runs=3,
    seed=0,
    judge=None,
    max_output_tokens=None,
)
UNIT = Unit(eval="1", configuration="with_skill", run=2)


def begun(place: Path, *, flat: bool) -> Iteration:
    return Iteration(path=new_iteration(str(place)), flat=flat)


def report(*, complete: bool) -> EvalRunReport:
    return EvalRunReport(
        complete=complete,
        stopped=None,
        skill="sums",
        model="m",
        host="prowess",
        seed=0,
        spent=Spent(),
        units=(),
        summary=EvalRunSummary(configurations={}),
        iteration="x",
    )


def test_the_layout_has_a_folder_for_each_run_only_if_there_are_several(tmp_path: Path) -> None:
    flat, deep = begun(tmp_path, flat=True), begun(tmp_path, flat=False)

    assert flat.path.endswith("/iteration-1")
    assert deep.path.endswith("/iteration-2")
    assert flat.directory(UNIT, "eval-1") == "eval-1/with_skill"
    assert deep.directory(UNIT, "eval-1") == "eval-1/with_skill/run-2"


def test_only_the_user_can_read_an_iteration(tmp_path: Path) -> None:
    assert stat.S_IMODE(os.stat(begun(tmp_path, flat=True).path).st_mode) == 0o700


def test_the_newest_iteration_is_resumed_if_it_is_not_finished(tmp_path: Path) -> None:
    assert unfinished_iteration(str(tmp_path), flat=False) is None
    first = begun(tmp_path, flat=False)
    CAMPAIGN.begin(first.path, SETTINGS)
    assert unfinished_iteration(str(tmp_path), flat=False) == first
    first.finish(report(complete=False))
    assert unfinished_iteration(str(tmp_path), flat=False) == first
    replayed = begun(tmp_path, flat=False)
    CAMPAIGN.begin(replayed.path, replace(SETTINGS, replay=True))
    whole = begun(tmp_path, flat=False)
    CAMPAIGN.begin(whole.path, SETTINGS)
    whole.finish(report(complete=True))
    assert unfinished_iteration(str(tmp_path), flat=False) == first
    first.finish(report(complete=True))
    assert unfinished_iteration(str(tmp_path), flat=False) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"skill": "other"}, "is of skill sums, not other; name another workspace with --out"),
        ({"model": "n"}, "--model m, not n"),
        ({"runs": 5}, "--runs 3, not 5"),
        ({"suite": "t"}, "were edited"),
        ({"digests": {"with_skill": "e"}}, "were edited"),
    ],
)
def test_a_campaign_of_other_settings_is_not_continued(changes: dict[str, object], reason: str, tmp_path: Path) -> None:
    iteration = begun(tmp_path, flat=False)
    CAMPAIGN.begin(iteration.path, SETTINGS)
    CAMPAIGN.require_same(iteration.path, SETTINGS)
    with pytest.raises(InvalidArgumentsError, match=reason):
        CAMPAIGN.require_same(iteration.path, replace(SETTINGS, **changes))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no iteration"),
        ('{"version": 2}', "newer version"),
        ("[]", "no iteration of eval run"),
        ("[" * 100_000, "no iteration"),
        (None, r"cannot be read \(No such file"),
    ],
)
def test_a_folder_of_another_kind_is_refused(text: str | None, reason: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "campaign.json").write_text(text)
    with pytest.raises(InvalidArgumentsError, match=reason):
        CAMPAIGN.read(str(tmp_path))


def test_a_finished_unit_is_kept_and_one_that_failed_to_run_is_run_again(tmp_path: Path) -> None:
    iteration = begun(tmp_path, flat=False)
    place = iteration.directory(UNIT, "eval-1")
    passed = UnitResult(id=UNIT.id, eval="1", configuration="with_skill", run=2, outcome="passed", directory=place)
    iteration.fresh(place)
    iteration.keep(place, passed)
    assert iteration.kept(UNIT, "eval-1") == passed
    iteration.keep(place, replace(passed, outcome="error"))
    assert iteration.kept(UNIT, "eval-1") is None
    iteration.keep(place, replace(passed, id="another"))
    assert iteration.kept(UNIT, "eval-1") is None
    assert iteration.kept(UNIT, "eval-2") is None


@pytest.mark.proves("evals.workspace.snapshot")
def test_the_snapshot_of_an_earlier_iteration_serves_as_old_skill(tmp_path: Path) -> None:
    for number in (1, 2):
        skill_at(tmp_path / f"iteration-{number}" / "skill" / "with_skill")
    skill_at(tmp_path, name="skill-snapshot")

    found = [path.removeprefix(str(tmp_path)) for path in older_snapshots(str(tmp_path), "sums")]
    assert found == ["/iteration-2/skill/with_skill/sums", "/iteration-1/skill/with_skill/sums", "/skill-snapshot"]


@pytest.mark.proves("evals.feedback.shape")
def test_feedback_is_a_text_for_each_eval_directory_and_empty_means_accepted(tmp_path: Path) -> None:
    assert read_feedback(str(tmp_path)) == {}
    (tmp_path / "feedback.json").write_text('{"eval-1": "The axis has no label.", "eval-1-b": ""}')
    assert read_feedback(str(tmp_path)) == {"eval-1": "The axis has no label.", "eval-1-b": ""}


def test_feedback_of_the_viewer_of_skill_creator_is_joined_by_eval(tmp_path: Path) -> None:
    for name in ("eval-1", "eval-1-b"):
        (tmp_path / name).mkdir()
    reviews = [
        {"run_id": "eval-1-b-with_skill-run-1", "feedback": "too long"},
        {"run_id": "eval-1-b-with_skill-run-2", "feedback": "wrong sum"},
        {"run_id": "eval-1-with_skill", "feedback": ""},
        {"run_id": 3},
    ]
    (tmp_path / "feedback.json").write_text(json.dumps({"reviews": reviews, "status": "complete"}))

    assert read_feedback(str(tmp_path)) == {"eval-1": "", "eval-1-b": "too long\nwrong sum"}
    (tmp_path / "feedback.json").write_text("[]")
    with pytest.raises(InvalidArgumentsError, match="one text"):
        read_feedback(str(tmp_path))


@pytest.mark.parametrize("name", ["../outside-workspace", "a/b-workspace", "..", "", "/tmp/a", "a\\b"])
def test_a_name_of_a_skill_that_leads_elsewhere_makes_no_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="cannot be the name of a folder"):
        workspace_at(None, str(tmp_path), name)
    with pytest.raises(InvalidArgumentsError, match="cannot be the name of a folder"):
        Iteration(path=str(tmp_path), flat=True).skill_directory("with_skill", name)
    assert workspace_at(None, str(tmp_path), "sums-workspace") == str(tmp_path / "sums-workspace")
