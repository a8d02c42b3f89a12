"""The search for a body on planted landscapes with noise.

`PROWESS_LANDSCAPES=20` searches that many, from the seed `PROWESS_LANDSCAPES_FROM` on, and writes the figures.
"""

from __future__ import annotations

import os
from statistics import fmean
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.preparation import prepared_campaign
from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.campaigns.unit_run import UnitSetting
from prowess.evals.hosts.host import HostLimits
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JOURNAL
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.optimising.bodies import body_of
from prowess.evals.optimising.body_revision import body_revision
from prowess.evals.optimising.eval_measuring import EvalMeasurements
from prowess.evals.optimising.gepa_engine import by_gepa
from prowess.evals.optimising.proposer import Proposer
from prowess.evals.optimising.search import ROUNDS, TextSearch, by_rounds
from prowess.evals.optimising.search_run import document_bytes
from prowess.evals.triggers.split import split_cases
from tests.evals.optimising.body_landscapes import (
    OVERFITTED,
    BodyHost,
    BodyLandscape,
    PlantedBodyWriter,
    planted_body,
)

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.optimising.eval_rows import EvalRow

COUNT = int(os.environ.get("PROWESS_LANDSCAPES", "1"))
FIRST = int(os.environ.get("PROWESS_LANDSCAPES_FROM", "1"))
NOISE = 0.1


def searched(
    landscape: BodyLandscape, place: Path, engine: str
) -> tuple[TextSearch[PlannedEval, EvalRow], PlantedBodyWriter, int]:
    options = EvalRunOptions(path=landscape.directory, model="planted", baseline="none", runs=3, out=str(place))
    prepared = prepared_campaign(options)
    plans = {plan.id: plan for plan in prepared.evals}
    split = split_cases([list(plans)], seed=landscape.seed)
    train, validation = ([plans[ident] for ident in side] for side in (split.train, split.validation))
    host, model = BodyHost(landscape, NOISE), PlantedBodyWriter(landscape)
    directory = prepared.skills[WITH_SKILL][0]
    data = document_bytes(directory)
    with Ledger(os.path.join(prepared.iteration.path, JOURNAL), prepared.header, Caps()) as calls:
        setting = UnitSetting(
            iteration=prepared.iteration,
            host=host,
            skill=prepared.settings.skill,
            root=landscape.directory,
            skills=prepared.skills,
            traces={},
            judge=None,
            spent=calls.unit_spent,
            limits=HostLimits(),
            seed=0,
        )
        training = {plan.id: plan for plan in train}
        revision = body_revision(directory, data, training)
        proposer = Proposer(revision, model, calls, name=model.name, seed=landscape.seed)
        measure = EvalMeasurements(setting, split, jobs=8).rows
        search = TextSearch(body_of(data), measure, proposer, train=train, validation=validation, runs=3)
        if engine == "gepa":
            anyio.run(by_gepa, search, ROUNDS)
        else:
            anyio.run(by_rounds, search)
    return search, model, host.runs


@pytest.mark.parametrize("engine", ["rounds", "gepa"] if COUNT > 1 else ["rounds"])
def test_the_best_body_is_found_and_a_sentence_that_was_learnt_by_heart_is_not_chosen(
    memory_path: Path, engine: str
) -> None:
    reached = runs = learnt = 0
    starts: list[float] = []
    ends: list[float] = []
    for seed in range(FIRST, FIRST + COUNT):
        landscape = planted_body(memory_path / f"{seed}", seed)
        search, model, count = searched(landscape, memory_path / f"search-{seed}", engine)
        start, best = search.start, search.best
        assert start is not None
        assert best is not None
        low, measured = start.measured().validation.low, best.measured().validation.rate
        assert low is not None
        assert measured is not None
        assert measured >= low
        rate, first = landscape.rate(best.text), landscape.rate(start.text)
        assert rate >= low, (seed, first, rate)
        whole = [sum(row.passed is True for row in (*one.train, *one.validation)) for one in (start, best)]
        assert whole[1] > whole[0] or search.chosen is None  # a change beats the old version in its suite
        learnt += OVERFITTED in best.text
        assert any(OVERFITTED in text for text in model.proposed)
        assert not any(prompt in best.text for prompt in landscape.train)
        shown = {one["task"] for question in model.questions for one in question["failed_tasks"]}
        assert shown <= landscape.train
        reached += rate >= 0.9
        runs += count
        starts.append(first)
        ends.append(rate)
    figures = f"{reached} of {COUNT} reach 90 %, from {fmean(starts):.3f} to {fmean(ends):.3f}, worst {min(ends):.3f}"
    print(f"{engine}: {figures}; {runs / COUNT:.0f} runs each")  # noqa: T201 -- figures, with -s
    assert not learnt
    assert reached >= 0.9 * COUNT
