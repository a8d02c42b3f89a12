"""`prowess eval compare` as a function: from two iterations to the report.

The calls of the judge are booked in a journal. Its folder is named by everything that decides about the answers, so the
same comparison again replays the answers and pays for no call twice, also after a kill.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from msgspec import Struct, to_builtins

from prowess.agent import ModelError, model_named
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.chosen_host import model_price
from prowess.evals.campaigns.workers import Workers
from prowess.evals.comparing.blind_judge import BlindJudge, BlindSummary, JudgedPair, blind_summary
from prowess.evals.comparing.run_pairs import RunsPlace, paired_runs
from prowess.evals.iterations.folders import workspace_at, write_json
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.journal import JOURNAL, JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.ledger_model import LedgerModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from prowess.agent import Model
    from prowess.evals.campaigns.report import StopReason
    from prowess.evals.comparing.run_pairs import PairedRuns, RunPair
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.ledger.prices import Price

_REPORT = "comparison.json"


class CompareOptions(Struct, frozen=True, kw_only=True):
    """The options of a comparison. `a` and `b` are iterations, or `ITERATION@CONFIGURATION`.

    `out` is the folder in which the folder of this comparison is made; that of the iteration `b` by default.
    """

    a: str
    b: str
    judge: str
    seed: int = 0
    jobs: int = 2
    caps: Caps = Caps()
    price: Price | None = None
    max_output_tokens: int | None = None
    out: str | None = None


class BlindComparison(Struct, frozen=True, kw_only=True):
    """The choices of a judge.

    `alone` are runs that only one side has, or that have no result on one side. `not_judged` are pairs that a cap or a
    signal prevented.
    """

    complete: bool
    stopped: StopReason | None
    a: str
    b: str
    judge: str
    seed: int
    spent: Spent
    pairs: tuple[JudgedPair, ...]
    alone: tuple[str, ...]
    not_judged: tuple[str, ...]
    summary: BlindSummary
    directory: str

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        data: dict[str, Any] = to_builtins(self)
        return data


class ComparisonEnded(Struct, frozen=True, kw_only=True):
    """A comparison that ended. `signalled` is the number of the signal that stopped it, or None."""

    report: BlindComparison
    signalled: int | None


def compare_runs(options: CompareOptions) -> ComparisonEnded:
    """Let a judge choose the better result of each pair of runs.

    Raises:
        InvalidArgumentsError: the runs, the judge or its price cannot be used.
        JournalError: the journal cannot be used.
    """
    a, b = RunsPlace.parse(options.a), RunsPlace.parse(options.b)
    paired = paired_runs(a, b)
    model = model_named(options.judge)
    price = model_price(model, options.judge, price=options.price, caps=options.caps)
    folder = _folder(options, b, paired)
    header = JournalHeader(
        skill="comparison",
        files={pair.unit: _digest(pair) for pair in paired.pairs},
        identity={"judge": options.judge, "seed": options.seed, "max_output_tokens": options.max_output_tokens},
    )
    with Ledger(os.path.join(folder, JOURNAL), header, options.caps) as calls:
        judging = _Judging(options, paired.pairs, model, price, calls)
        workers = Workers(judging.next_pair, judging.judge, jobs=options.jobs)
        anyio.run(workers.run, model)
        report = _report(
            options, paired, judged=judging.judged, stopped=workers.stopped, spent=calls.spent, folder=folder
        )
    write_json(os.path.join(folder, _REPORT), report.as_dict())
    return ComparisonEnded(report=report, signalled=workers.signalled)


class _Judging:
    """The pairs of a comparison, with those that were judged by their unit."""

    def __init__(
        self, options: CompareOptions, pairs: Iterable[RunPair], model: Model, price: Price | None, calls: Ledger
    ) -> None:
        self._options, self._model, self._price, self._calls = options, model, price, calls
        self._waiting = list(pairs)
        self.judged: dict[str, JudgedPair] = {}

    def next_pair(self) -> RunPair | None:
        return self._waiting.pop(0) if self._waiting else None

    async def judge(self, pair: RunPair) -> None:
        self._calls.begin(pair.unit)
        model = LedgerModel(self._model, self._calls, pair.unit, name=self._options.judge, price=self._price)
        judge = BlindJudge(model, seed=self._options.seed, max_output_tokens=self._options.max_output_tokens)
        try:
            self.judged[pair.unit] = await judge.compare(pair)
        except ModelError as fault:
            self.judged[pair.unit] = JudgedPair(eval=pair.eval, run=pair.run, better=None, error=str(fault))


def _report(
    options: CompareOptions,
    paired: PairedRuns,
    *,
    judged: Mapping[str, JudgedPair],
    stopped: StopReason | None,
    spent: Spent,
    folder: str,
) -> BlindComparison:
    found = tuple(judged[pair.unit] for pair in paired.pairs if pair.unit in judged)
    left = tuple(pair.unit for pair in paired.pairs if pair.unit not in judged)
    return BlindComparison(
        complete=not left,
        stopped=stopped,
        a=options.a,
        b=options.b,
        judge=options.judge,
        seed=options.seed,
        spent=spent,
        pairs=found,
        alone=paired.alone,
        not_judged=left,
        summary=blind_summary(found),
        directory=folder,
    )


def _folder(options: CompareOptions, b: RunsPlace, paired: PairedRuns) -> str:
    facts = [options.judge, options.seed, options.max_output_tokens, *(_digest(pair) for pair in paired.pairs)]
    name = hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:16]
    folder = workspace_at(options.out, os.path.dirname(os.path.realpath(b.iteration)), f"comparison-{name}")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as fault:
        problem = f"{folder} cannot be created: {fault.strerror}; name another place with --out"
        raise InvalidArgumentsError((problem,)) from None
    return folder


def _digest(pair: RunPair) -> str:
    return hashlib.sha256(msgspec.json.encode(pair)).hexdigest()
