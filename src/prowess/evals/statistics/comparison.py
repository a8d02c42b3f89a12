"""Two configurations compared over the same evals: everything that `prowess eval stats` prints."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.evals.statistics.attempts import pass_at
from prowess.evals.statistics.intervals import MeanInterval, Rate, bootstrap_mean, rate_of
from prowess.evals.statistics.paired_tests import McNemar, SignTest, mcnemar, sign_test

if TYPE_CHECKING:
    from collections.abc import Sequence

RunGrade = int | None  # 1 passed, 0 failed, None an error without a grade
MOST_ATTEMPTS = 100  # the largest k of `pass_at`
_HALF = Fraction(1, 2)


class OutcomeRow(Struct, frozen=True, kw_only=True):
    """The outcomes of one eval: `a` of the baseline, `b` of the configuration compared with it."""

    id: str | int
    a: tuple[RunGrade, ...]
    b: tuple[RunGrade, ...]


class Comparison(Struct, frozen=True, kw_only=True):
    """`b` compared with `a`.

    `units` is the number of evals with a grade on both sides; `delta`, `mcnemar` and `sign` are about these. `delta` is
    the mean over evals of the rate of b minus that of a. `pass_at` (by k), `pass_all` and `flaky` are about b: the
    probability that one of k runs passes, over the evals with k graded runs, k up to `MOST_ATTEMPTS`; the share of
    evals whose runs all passed; the ids of evals that passed in some runs and failed in others.
    """

    units: int
    a: Rate
    b: Rate
    delta: MeanInterval
    mcnemar: McNemar
    sign: SignTest
    pass_at: dict[str, float]
    pass_all: float | None
    flaky: tuple[str | int, ...]


def compare_outcomes(rows: Sequence[OutcomeRow], *, seed: int = 0) -> Comparison:
    """Compare two configurations. The same rows and seed give the same result, whatever the order of the rows."""
    counted = [(_counts(row.a), _counts(row.b)) for row in rows]
    pairs = [(Fraction(*a), Fraction(*b)) for a, b in counted if a[1] and b[1]]
    majorities = [(a >= _HALF, b >= _HALF) for a, b in pairs]
    attempts = [b for _, b in counted if b[1]]
    better, worse = sum(b > a for a, b in pairs), sum(b < a for a, b in pairs)
    return Comparison(
        units=len(pairs),
        a=_total([row.a for row in rows]),
        b=_total([row.b for row in rows]),
        delta=bootstrap_mean([float(b - a) for a, b in pairs], seed=seed),
        mcnemar=mcnemar(sum(b > a for a, b in majorities), sum(b < a for a, b in majorities)),
        sign=sign_test(better, worse, len(pairs) - better - worse),
        pass_at=_pass_at(attempts),
        pass_all=sum(passed == runs for passed, runs in attempts) / len(attempts) if attempts else None,
        flaky=tuple(row.id for row, (_, (passed, runs)) in zip(rows, counted, strict=True) if 0 < passed < runs),
    )


def _counts(outcomes: Sequence[RunGrade]) -> tuple[int, int]:
    """Return the passed and the graded runs."""
    graded = [outcome for outcome in outcomes if outcome is not None]
    return sum(graded), len(graded)


def _total(each: Sequence[Sequence[RunGrade]]) -> Rate:
    counts = [_counts(outcomes) for outcomes in each]
    runs = sum(graded for _, graded in counts)
    return rate_of(sum(passed for passed, _ in counts), runs, sum(map(len, each)) - runs)


def _pass_at(attempts: Sequence[tuple[int, int]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for k in range(1, min(MOST_ATTEMPTS, max((runs for _, runs in attempts), default=0)) + 1):
        enough = [pass_at(runs, passed, k) for passed, runs in attempts if runs >= k]
        found[str(k)] = sum(enough) / len(enough)
    return found
