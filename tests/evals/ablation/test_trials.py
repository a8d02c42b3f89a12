"""The trials of passages, by simulation with a noisy model, and their bounds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from prowess.evals.ablation.report import EvalNotice
from prowess.evals.ablation.trials import AssertionKey, Loss, PassageTrial, PassedRuns, informative

if TYPE_CHECKING:
    from prowess.evals.ablation.report import NoticeVerdict
    from prowess.evals.ablation.trials import TrialDecision

NOISE = 0.1


def _trial(draw: random.Random, evals: int, runs: int, notices: int | None) -> tuple[PassageTrial, int]:
    """Return the finished trial of one passage, which only the eval `notices` tests, and the runs that it took."""
    keys = [AssertionKey(eval=f"e{number}", text="t") for number in range(evals)]
    whole = {key: PassedRuns(passed=sum(draw.random() > NOISE for _ in range(runs)), runs=runs) for key in keys}
    telling = informative(whole, detect=0.6)
    trial = PassageTrial(telling, [key.eval for key in telling], most_runs=runs)
    while names := trial.next_evals:
        for name in names:
            passes = (draw.random() > NOISE) != (name == f"e{notices}")
            trial.add(name, {"t": passes})
    return trial, trial.runs


@pytest.mark.parametrize("evals", [3, 6, 12])
def test_noise_is_told_from_a_loss_with_few_runs(evals: int) -> None:
    draw = random.Random(evals)
    needed = [_trial(draw, evals, 5, draw.randrange(evals)) for _ in range(400)]
    others = [_trial(draw, evals, 5, None) for _ in range(400)]
    assert sum(trial.decision == "needed" for trial, _ in needed) >= 0.9 * 400
    assert sum(trial.decision == "needed" for trial, _ in others) <= 0.05 * 400
    used = sum(runs for _, runs in (*needed, *others))
    assert used <= 0.6 * 800 * evals * 5


def test_a_passage_that_no_eval_holds_has_no_effect_and_costs_nothing() -> None:
    trial = PassageTrial({AssertionKey(eval="e", text="t"): PassedRuns(passed=5, runs=5)}, [], most_runs=5)
    assert (trial.next_evals, trial.decision, trial.runs, trial.loss) == ((), "no_effect", 0, None)


def test_runs_without_grades_end_unsure() -> None:
    trial = PassageTrial({AssertionKey(eval="e", text="t"): PassedRuns(passed=5, runs=5)}, ["e"], most_runs=2)
    trial.add("e", None)
    trial.add("e", None)
    assert (trial.decision, trial.next_evals, trial.loss) == ("open", (), None)


def test_an_assertion_that_often_fails_with_the_whole_skill_is_left_out() -> None:
    often, rarely = AssertionKey(eval="e", text="often"), AssertionKey(eval="e", text="rarely")
    whole = {often: PassedRuns(passed=5, runs=5), rarely: PassedRuns(passed=2, runs=5)}
    assert set(informative(whole, detect=0.6)) == {often}


def test_the_interval_of_a_loss_contains_it_and_stays_within_bounds() -> None:
    loss = Loss.between(PassedRuns(passed=0, runs=3), PassedRuns(passed=5, runs=5))
    assert loss is not None
    assert loss.delta == -1.0
    assert -1.0 <= loss.low <= loss.delta < loss.high < 0
    # Newcombe (1998), example of 56/70 against 48/80: 0.2 (0.0524 to 0.3339).
    known = Loss.between(PassedRuns(passed=56, runs=70), PassedRuns(passed=48, runs=80))
    assert known is not None
    assert [known.low, known.high] == pytest.approx([0.0524, 0.3339], abs=1e-4)


def test_each_eval_is_decided_for_itself_if_that_is_asked_for() -> None:
    keys = [AssertionKey(eval=name, text="t") for name in ("notices", "silent")]
    telling = {key: PassedRuns(passed=5, runs=5) for key in keys}
    for every in (False, True):
        trial = PassageTrial(telling, ["notices", "silent"], most_runs=5, every_eval=every)
        while names := trial.next_evals:
            for name in names:
                trial.add(name, {"t": name == "silent"})
        assert (trial.decision, trial.decision_of("notices")) == ("needed", "needed")
        assert trial.decision_of("silent") == ("no_effect" if every else "open")
        assert trial.decision_of("never reached") == "no_effect"


@pytest.mark.parametrize(
    ("decisions", "verdict", "removals"),
    [
        (["needed", "open", "no_effect"], "notices", 1),
        (["no_effect", "no_effect"], "silent", 0),
        (["no_effect", "open"], "unsure", 0),
        ([], "unsure", 0),  # a cap ended all before the first passage
    ],
)
def test_an_eval_is_silent_only_if_every_removal_is_decided(
    decisions: list[TrialDecision], verdict: NoticeVerdict, removals: int
) -> None:
    assert EvalNotice.of("1", decisions) == EvalNotice(eval="1", verdict=verdict, removals=removals)
