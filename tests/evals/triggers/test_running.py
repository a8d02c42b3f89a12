"""Running trigger sets: what counts, when a request is done, and what a cap leaves."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.ledger.caps import CapReachedError
from prowess.evals.triggers.rows import QueryRuns, count_rows
from prowess.evals.triggers.running import TriggerCampaign
from prowess.evals.triggers.split import split_queries
from prowess.evals.triggers.trigger_runs import LocalTriggers, TriggerOptions, TriggerRun
from prowess.evals.triggers.trigger_set import TriggerQuery, read_trigger_set
from tests.evals.triggers.planted import ChoosingHost, make_triggered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prowess.evals.campaigns.report import Unit
    from prowess.evals.hosts.host import HostRequest
    from prowess.evals.triggers.rows import TriggerRow
    from prowess.evals.verdicts.verdict import VerdictName


class Ran:
    """A campaign that was run, its rows and its host."""

    def __init__(self, campaign: TriggerCampaign, host: ChoosingHost, rows: Sequence[TriggerRow]) -> None:
        self.campaign, self.host, self.rows = campaign, host, rows


def ran(
    folder: Path,
    choose: Callable[[HostRequest], Sequence[str] | str],
    queries: Sequence[tuple[str, bool]] = (("Sum this", True),),
    *,
    kept: Callable[[Unit], TriggerRun | None] | None = None,
    **options: object,
) -> Ran:
    directory = make_triggered(folder, "sums", "Sums rows.", queries)
    one = read_trigger_set(directory)
    host = ChoosingHost(choose)
    given = TriggerOptions(**options)  # type: ignore[arg-type]  # each test names its options
    runner = LocalTriggers(host, given, skills=("sums",), installed=(directory,))
    campaign = TriggerCampaign([one], runner, given, kept=kept)
    anyio.run(campaign.run)
    (found,) = campaign.results({"sums": split_queries(one.queries)})
    return Ran(campaign, host, found.results)


def in_turn(*outcomes: Sequence[str] | str) -> Callable[[HostRequest], Sequence[str] | str]:
    waiting = cycle(outcomes)
    return lambda _: next(waiting)


@pytest.mark.proves("evals.trigger.runs")
def test_each_query_has_three_runs_and_triggers_from_half_of_them(tmp_path: Path) -> None:
    found = ran(tmp_path, in_turn(["sums"], [], ["sums"]))
    (row,) = found.rows
    assert (row.query, row.should_trigger, row.triggers, row.runs) == ("Sum this", True, 2, 3)
    assert (row.trigger_rate, row.passed, row.consistency) == (2 / 3, True, 2 / 3)
    assert [request.unit.rpartition("-")[2] for request in found.host.requests] == ["1", "2", "3"]
    assert [request.seed for request in found.host.requests] == [0, 1, 2]
    (row,) = ran(tmp_path / "two", in_turn(["sums"], []), runs=2, all_runs=True).rows
    assert (row.trigger_rate, row.passed) == (0.5, True)
    (row,) = ran(tmp_path / "no", in_turn(["sums"], []), [("Sing this", False)], runs=2, all_runs=True).rows
    assert (row.trigger_rate, row.passed) == (0.5, False)


def test_every_run_has_an_empty_workspace_of_its_own(tmp_path: Path) -> None:
    found = ran(tmp_path, in_turn(["sums"], [], []))
    places = [request.workspace for request in found.host.requests]
    assert len(set(places)) == 3
    assert all(request.skills == (str(tmp_path / "sums"),) for request in found.host.requests)


def test_a_request_stops_when_its_result_is_settled(tmp_path: Path) -> None:
    found = ran(tmp_path, in_turn(["sums"]))
    assert (len(found.host.requests), found.rows[0].curtailed, found.rows[0].runs) == (2, 1, 2)
    found = ran(tmp_path / "all", in_turn(["sums"]), all_runs=True)
    assert (len(found.host.requests), found.rows[0].curtailed) == (3, 0)
    found = ran(tmp_path / "steady", in_turn(["sums"]), runs=10, consistency=0.9)
    assert (len(found.host.requests), found.rows[0].passed) == (9, True)
    found = ran(tmp_path / "unsteady", in_turn(["sums"], [], []), runs=10, consistency=0.9)
    assert (len(found.host.requests), found.rows[0].passed) == (4, False)


@pytest.mark.proves("evals.trigger.errors")
def test_errors_leave_the_rate_and_a_query_without_a_run_fails(tmp_path: Path) -> None:
    (row,) = ran(tmp_path, in_turn("the host crashed", ["sums"], "the host crashed"), all_runs=True).rows
    assert (row.triggers, row.runs, row.errors, row.trigger_rate, row.passed) == (1, 1, 2, 1.0, True)
    (row,) = ran(tmp_path / "all", in_turn("the host crashed")).rows
    assert (row.runs, row.errors, row.trigger_rate, row.passed, row.consistency) == (0, 3, None, False, None)
    assert row.reasons == ("the host crashed",) * 3
    positives = count_rows([row]).positives
    assert (positives.runs, positives.errors, positives.rate) == (0, 1, None)
    (row,) = ran(tmp_path / "other", in_turn("the host crashed"), [("Sing this", False)]).rows
    assert row.passed is False


def test_a_request_that_names_the_skill_is_polluted_and_costs_nothing(tmp_path: Path) -> None:
    found = ran(tmp_path, in_turn(["sums"]), [("/sums this", True), ("Sum this", True)])
    assert [(row.polluted, row.runs, row.passed) for row in found.rows] == [(3, 0, False), (0, 2, True)]
    assert len(found.host.requests) == 2


def test_a_cap_leaves_what_was_found(tmp_path: Path) -> None:
    count = 0

    def choose(request: HostRequest) -> Sequence[str]:
        nonlocal count
        count += 1
        if count > 3:
            raise CapReachedError("call_cap", "0 calls", "1 call")
        return ["sums"]

    found = ran(tmp_path, choose, [("Sum a", True), ("Sum b", True), ("Sum c", True)])
    assert [(row.passed, row.runs, row.not_run) for row in found.rows] == [(True, 2, 0), (None, 1, 2), (None, 0, 3)]
    assert (found.campaign.complete, found.campaign.stopped) == (False, "call_cap")
    summary = count_rows(found.rows)
    assert (summary.total, summary.passed, summary.failed, summary.undecided) == (3, 1, 0, 2)
    assert (summary.positives.runs, summary.positives.errors, summary.positives.not_run) == (1, 0, 2)


def test_a_failure_of_the_campaign_is_raised_and_one_of_a_run_is_an_error(tmp_path: Path) -> None:
    def refuse(request: HostRequest) -> Sequence[str]:
        raise InvalidArgumentsError(("the host is not installed",))

    def crash(request: HostRequest) -> Sequence[str]:
        raise OSError("the disk")

    with pytest.raises(InvalidArgumentsError, match="not installed"):
        ran(tmp_path, refuse)
    (row,) = ran(tmp_path / "other", crash).rows
    assert (row.errors, row.runs, row.passed) == (3, 0, False)


def test_kept_runs_are_not_made_again(tmp_path: Path) -> None:
    def kept(unit: Unit) -> TriggerRun | None:
        return TriggerRun(unit=unit.id, verdicts={"sums": "triggered"}) if unit.run == 1 else None

    found = ran(tmp_path, in_turn(["sums"]), kept=kept)
    assert ([request.unit[-1] for request in found.host.requests], found.rows[0].runs) == (["2"], 2)


def test_a_kept_run_of_another_unit_does_not_count(tmp_path: Path) -> None:
    def kept(unit: Unit) -> TriggerRun:
        return TriggerRun(unit=f"{unit.id}-of-another", verdicts={"sums": "not_triggered"})

    found = ran(tmp_path, in_turn(["sums"]), kept=kept)
    assert (len(found.host.requests), found.rows[0].triggers, found.rows[0].runs) == (2, 2, 2)


def test_a_consistency_can_be_out_of_reach_while_the_rate_is_open() -> None:
    counted = QueryRuns(TriggerQuery(query="a", should_trigger=True), 5, 0.9)
    verdicts: list[VerdictName] = ["triggered", "not_triggered"]
    for verdict in verdicts:
        counted.add(verdict)
    assert counted.result() is False


def test_a_run_that_is_an_error_has_the_reason(tmp_path: Path) -> None:
    def crash(request: HostRequest) -> str:
        if "june" in request.prompt:
            raise OSError(28, "No space left on device")
        return "the provider cannot be reached"

    runs: list[TriggerRun] = []
    one = read_trigger_set(make_triggered(tmp_path, "sums", "Sums rows.", [("Sum may", True), ("Sum june", True)]))
    runner = LocalTriggers(ChoosingHost(crash), TriggerOptions(), skills=("sums",), installed=(one.directory,))
    campaign = TriggerCampaign([one], runner, TriggerOptions(runs=1), on_run=lambda _, run, __: runs.append(run))
    anyio.run(campaign.run)
    assert [run.reason for run in runs] == [
        "the provider cannot be reached",
        "OSError: [Errno 28] No space left on device",
    ]
