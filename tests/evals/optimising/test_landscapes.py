"""The search on planted landscapes with noise.

`PROWESS_LANDSCAPES=20` searches that many, from the seed `PROWESS_LANDSCAPES_FROM` on, and writes the figures.
"""

from __future__ import annotations

import os
from statistics import fmean
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.evals.iterations.snapshots import take_snapshot
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.optimising.descriptions import description_revision
from prowess.evals.optimising.gepa_engine import by_gepa
from prowess.evals.optimising.improve_folder import ImproveFolder
from prowess.evals.optimising.measuring import Measurements
from prowess.evals.optimising.proposer import Proposer
from prowess.evals.optimising.search import ROUNDS, TextSearch, by_rounds
from prowess.evals.triggers.split import split_queries
from prowess.evals.triggers.trigger_runs import TriggerOptions
from prowess.evals.triggers.trigger_set import read_trigger_set
from tests.evals.optimising.landscapes import PHRASE, Landscape, PlantedProposer, planted_landscape

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.triggers.rows import TriggerRow
    from prowess.evals.triggers.trigger_set import TriggerQuery

COUNT = int(os.environ.get("PROWESS_LANDSCAPES", "2"))
FIRST = int(os.environ.get("PROWESS_LANDSCAPES_FROM", "1"))
NOISE = 0.1
SIDES = ("train", "validation")


def searched(
    landscape: Landscape, place: Path, engine: str
) -> tuple[TextSearch[TriggerQuery, TriggerRow], PlantedProposer, int]:
    one = read_trigger_set(landscape.directory)
    split = split_queries(one.queries, seed=landscape.seed)
    folder = ImproveFolder(str(place), one.skill)
    take_snapshot(landscape.directory, folder.first)
    host, model = landscape.host(NOISE), PlantedProposer(landscape)
    with Ledger(place / "journal.jsonl", JournalHeader(skill=one.skill), Caps()) as calls:
        measure = Measurements(one, split, host, folder, TriggerOptions(workspaces=False)).rows
        train, validation = ([q for q in one.queries if split.side_of(q.query) == side] for side in SIDES)
        revision = description_revision(one.skill, "Do it.", [query.query for query in train])
        proposer = Proposer(revision, model, calls, name=model.name, seed=landscape.seed)
        search = TextSearch(one.description, measure, proposer, train=train, validation=validation, runs=3)
        if engine == "gepa":
            anyio.run(by_gepa, search, ROUNDS)
        else:
            anyio.run(by_rounds, search)
    return search, model, len(host.requests)


@pytest.mark.proves("evals.trigger.selection")
@pytest.mark.parametrize("engine", ["rounds", "gepa"])
def test_the_best_description_is_found_and_what_was_learnt_by_heart_is_not_chosen(
    memory_path: Path, engine: str
) -> None:
    reached = runs = phrased = 0
    starts: list[float] = []
    ends: list[float] = []
    for seed in range(FIRST, FIRST + COUNT):
        landscape = planted_landscape(memory_path / f"{seed}", seed)
        search, model, count = searched(landscape, memory_path / f"search-{seed}", engine)
        start, best = search.start, search.best
        assert start is not None
        assert best is not None
        rate, first = landscape.rate(best.text), landscape.rate(start.text)
        low = start.measured().validation.low
        measured = best.measured().validation.rate
        assert low is not None
        assert measured is not None
        assert measured >= low
        assert rate >= low, (seed, first, rate)
        phrased += PHRASE in best.text
        assert any(PHRASE in text for text in model.proposed)
        assert not any(query in best.text for query in landscape.train)
        shown = [one["request"] for question in model.questions for one in question["wrong_decisions"]]
        assert set(shown) <= landscape.train
        reached += rate >= 0.9 * landscape.best
        runs += count
        starts.append(first)
        ends.append(rate)
    figures = f"{reached} of {COUNT} reach 90 %, from {fmean(starts):.3f} to {fmean(ends):.3f}, worst {min(ends):.3f}"
    below = sum(end < start for start, end in zip(starts, ends, strict=True))
    print(f"{engine}: {figures}; {below} below the start; {runs / COUNT:.0f} runs each")  # noqa: T201 -- figures, with -s
    assert not phrased
    assert reached >= 0.9 * COUNT
