"""The result of the runs of one request: the row of the guide, and when further runs are not needed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from prowess.evals.campaigns.report import GateResult
from prowess.evals.statistics.curtailment import HALF, settled_consistency, settled_rate
from prowess.evals.statistics.intervals import Rate, rate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.evals.triggers.split import Side
    from prowess.evals.triggers.trigger_set import TriggerQuery
    from prowess.evals.verdicts.verdict import VerdictName


class TriggerRow(Struct, frozen=True, kw_only=True, rename={"passed": "pass"}):
    """One request. The first members are those of the guide.

    - `runs` are the runs that count: the skill was chosen (`triggers`) or not. `trigger_rate` is null without one.
    - `pass` is whether the rate is at least 0.5, or below for a request that is not for the skill, and `consistency`
      is as wanted; null if runs are missing that could change it. A request without a run that counts fails.
    - `errors`, `polluted` and `not_offered` are runs that do not count. `reasons` are those of errors, one for each
      whose reason is known.
    - `consistency` is the share of the more frequent outcome among the runs that count.
    - `curtailed` runs were left out, because they could not change the result; `not_run` could not be made.
    - `low` and `high` are the 95 % Wilson interval of the rate.
    """

    query: str
    should_trigger: bool
    triggers: int
    runs: int
    trigger_rate: float | None
    passed: bool | None
    errors: int = 0
    polluted: int = 0
    not_offered: int = 0
    reasons: tuple[str, ...] = ()
    consistency: float | None = None
    low: float | None = None
    high: float | None = None
    curtailed: int = 0
    not_run: int = 0
    split: Side = "train"

    @property
    def case(self) -> str:
        """The name of the case, which is the request."""
        return self.query


class RequestRate(Rate, frozen=True, kw_only=True):
    """How many requests passed, among `runs` requests with a result. `not_run` have none, because runs are missing."""

    not_run: int = 0


class TriggerSummary(Struct, frozen=True, kw_only=True):
    """The counts of rows. Rates are of rows that passed, among those with a result.

    `positives` are the requests for the skill, `negatives` the others. If no run of them counts, there is no rate.
    """

    total: int
    passed: int
    failed: int
    undecided: int
    positives: RequestRate
    negatives: RequestRate
    train: RequestRate
    validation: RequestRate


class QueryRuns:
    """The verdicts of the runs of one request so far, of `planned` ones."""

    def __init__(self, query: TriggerQuery, planned: int, least: float | None = None) -> None:
        self.query, self.planned = query, planned
        self._least = least
        self.verdicts: Counter[VerdictName] = Counter()
        self.reasons: list[str] = []

    def add(self, verdict: VerdictName, reason: str | None = None) -> None:
        """Count one run, and note why it is an error."""
        self.verdicts[verdict] += 1
        if verdict == "error" and reason is not None:
            self.reasons.append(reason)

    def result(self) -> bool | None:
        """Return whether the request passed, or None if runs that are still to come can change that."""
        chosen, others = self.verdicts["triggered"], self.verdicts["not_triggered"]
        left = self.planned - self.verdicts.total()
        if not chosen + others:
            return None if left else False
        reached = settled_rate(chosen, others, left, HALF)
        rate = reached if reached is None or self.query.should_trigger else not reached
        if self._least is None or rate is False:
            return rate
        steady = settled_consistency(chosen, others, left, self._least)
        return False if steady is False else None if rate is None else steady

    def row(self, split: Side, *, curtailed: bool) -> TriggerRow:
        """Return the row. With `curtailed`, runs that are missing were left out on purpose."""
        chosen, others = self.verdicts["triggered"], self.verdicts["not_triggered"]
        runs, left = chosen + others, self.planned - self.verdicts.total()
        rate = rate_of(chosen, runs)
        return TriggerRow(
            query=self.query.query,
            should_trigger=self.query.should_trigger,
            triggers=chosen,
            runs=runs,
            trigger_rate=rate.rate,
            passed=self.result(),
            errors=self.verdicts["error"],
            polluted=self.verdicts["polluted"],
            not_offered=self.verdicts["not_offered"],
            reasons=tuple(self.reasons),
            consistency=max(chosen, others) / runs if runs else None,
            low=rate.low,
            high=rate.high,
            curtailed=left if curtailed else 0,
            not_run=0 if curtailed else left,
            split=split,
        )


def count_rows(rows: Sequence[TriggerRow]) -> TriggerSummary:
    """Return the counts of rows."""
    passed, failed = (sum(row.passed is result for row in rows) for result in (True, False))
    return TriggerSummary(
        total=len(rows),
        passed=passed,
        failed=failed,
        undecided=len(rows) - passed - failed,
        positives=_passing(row for row in rows if row.should_trigger),
        negatives=_passing(row for row in rows if not row.should_trigger),
        train=_passing(row for row in rows if row.split == "train"),
        validation=_passing(row for row in rows if row.split == "validation"),
    )


def trigger_gates(
    rows: Sequence[TriggerRow], *, min_pass_rate: float | None, min_consistency: float | None
) -> tuple[GateResult, ...]:
    """Return the gates that were named. Requests that a cap or a signal prevented have no consistency to fail by."""
    gates: list[GateResult] = []
    if min_pass_rate is not None:
        rate = sum(row.passed is True for row in rows) / len(rows) if rows else None
        gates.append(GateResult.of("min_pass_rate", min_pass_rate, rate))
    if min_consistency is not None:
        shares = [row.consistency for row in rows if row.runs or not row.not_run]
        known = [share for share in shares if share is not None]
        least = min(known) if known and len(known) == len(shares) else None
        gates.append(GateResult.of("min_consistency", min_consistency, least))
    return tuple(gates)


def _passing(rows: Iterable[TriggerRow]) -> RequestRate:
    listed = list(rows)
    results = [row.passed for row in listed if row.passed is not None]
    graded = results if any(row.runs for row in listed) else []
    rate = rate_of(sum(graded), len(graded), len(results) - len(graded))
    return RequestRate(**structs.asdict(rate), not_run=len(listed) - len(results))
