"""Skills that answer each other's requests: the matrix, the shadows both ways, and the words that cause them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from prowess.evals.triggers.match_host import MatchHost
from prowess.evals.triggers.running import TriggerCampaign
from prowess.evals.triggers.shadows import AnsweredRequest, answer_rows, shadows_of
from prowess.evals.triggers.trigger_runs import LocalTriggers, TriggerOptions
from prowess.evals.triggers.trigger_set import read_trigger_set
from tests.evals.triggers.planted import noisy_words_host, planted_pair

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.evals.hosts.host import Host
    from prowess.evals.triggers.shadows import Shadow
    from prowess.evals.verdicts.verdict import VerdictName
    from tests.evals.triggers.planted import PlantedPair

PAIRS = 20


def shadows(pair: PlantedPair, host: Host, runs: int) -> tuple[tuple[Shadow, ...], dict[str, dict[str, int]]]:
    sets = [read_trigger_set(directory) for directory in pair.directories]
    options = TriggerOptions(runs=runs, jobs=2, workspaces=False)
    names = tuple(one.skill for one in sets)
    runner = LocalTriggers(host, options, skills=names, installed=tuple(pair.directories))
    campaign = TriggerCampaign(sets, runner, options)
    anyio.run(campaign.run)
    texts = {one.skill: f"{one.skill} {one.description}" for one in sets}
    rows = answer_rows(campaign.answered(), list(texts))
    return shadows_of(campaign.answered(), texts), {row.skill: row.answers for row in rows}


def test_a_noisy_host_shows_the_planted_words_of_twenty_pairs(tmp_path: Path) -> None:
    right = 0
    for seed in range(PAIRS):
        pair = planted_pair(tmp_path / str(seed), seed)
        found, answers = shadows(pair, noisy_words_host(pair.descriptions, seed), 3)
        first, second = pair.words
        words = {shadow.skill: set(shadow.words) for shadow in found}
        right += (
            words == pair.words
            and all(shadow.mutual and 3 <= shadow.lost <= 5 for shadow in found)  # four, and noise
            and answers[first][first] > answers[first][second] > 0
            and answers[second][second] > answers[second][first] > 0
        )
    assert right == PAIRS


def test_the_estimate_shows_the_same_words(tmp_path: Path) -> None:
    right = 0
    for seed in range(PAIRS):
        pair = planted_pair(tmp_path / str(seed), seed)
        found, _ = shadows(pair, MatchHost(), 1)
        right += {shadow.skill: set(shadow.words) for shadow in found} == pair.words
    assert right == PAIRS


def request(query: str, *runs: dict[str, VerdictName], skill: str = "a") -> AnsweredRequest:
    return AnsweredRequest(skill=skill, query=query, runs=runs)


def test_only_free_runs_count_and_half_of_them_make_a_loss() -> None:
    lost: dict[str, VerdictName] = {"a": "not_triggered", "b": "triggered"}
    own: dict[str, VerdictName] = {"a": "triggered", "b": "not_triggered"}
    both: dict[str, VerdictName] = {"a": "triggered", "b": "triggered"}
    texts = {"a": "a sums", "b": "b invoices"}
    assert shadows_of([request("invoices", own, own, lost)], texts) == ()
    assert shadows_of([request("invoices", both, both)], texts) == ()
    not_free = request("invoices", {"a": "polluted", "b": "triggered"}, {"a": "error", "b": "error"})
    assert shadows_of([not_free], texts) == ()
    (found,) = shadows_of([request("invoices", own, lost), request("sums", own)], texts)
    assert (found.shadowed_by, found.lost, found.requests, found.share) == ("b", 1, 2, 0.5)
    assert (found.words, found.mutual) == (("invoices",), False)


def test_a_row_counts_every_answer_of_a_run() -> None:
    runs: list[dict[str, VerdictName]] = [
        {"a": "triggered", "b": "triggered"},
        {"a": "not_triggered", "b": "not_triggered"},
        {"a": "error"},
    ]
    (row, other) = answer_rows([request("x", *runs)], ["a", "b"])
    assert (row.requests, row.runs, row.answers, row.nobody) == (1, 2, {"a": 1, "b": 1}, 1)
    assert (other.requests, other.runs) == (0, 0)


def test_words_that_kept_requests_or_both_skills_have_explain_less() -> None:
    texts = {"a": "Sums totals of reports", "b": "Writes invoices and reports", "c": "reports reports"}

    def words(lost: list[str], kept: list[str]) -> tuple[str, ...]:
        requests = [request(query, {"a": "not_triggered", "b": "triggered"}) for query in lost]
        requests += [request(query, {"a": "triggered", "b": "not_triggered"}) for query in kept]
        return shadows_of(requests, texts)[0].words

    assert words(["invoice report"], ["report"]) == ("invoices",)
    assert words(["report"], ["report"]) == ()
    assert words(["report"], ["total"]) == ("reports",)
    assert words(["invoice report", "report"], ["total"]) == ("invoices", "reports")
    assert words(["pay"], []) == ()
    assert words(["invoice", "write"], []) == ("invoices", "Writes")
    assert words(["invoice", "invoice", "invoice x", "invoices", "invoice", "write", "pay"], []) == ("invoices",)
