"""Writes what scipy and statsmodels return for many inputs of `prowess.evals.statistics`, for the tests to compare.

    python tools/peers/statistics_reference.py FILE            write
    python tools/peers/statistics_reference.py FILE --check    compare with what is written

Runs in an environment of its own with scipy and statsmodels (`make peers`). Each row is `[function, arguments, value]`.
"""

from __future__ import annotations

import json
import sys
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

import scipy
import statsmodels
from scipy.special import betaln
from scipy.stats import binomtest, hypergeom, tstd
from scipy.stats.mstats import mquantiles
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

if TYPE_CHECKING:
    from collections.abc import Iterator

Row = tuple[str, list[float], float]
DRIFT = 1e-9  # between versions of the two libraries


def rows() -> list[Row]:
    """Return all rows."""
    return [(name, arguments, float(value)) for name, arguments, value in [*_rates(), *_pairs(), *_attempts()]]


def _rates() -> Iterator[Row]:
    for runs in (1, 2, 3, 5, 10, 20, 48, 100, 1000, 1_000_000):
        for passed in sorted({0, 1, runs // 3, runs // 2, runs - 1, runs}):
            low, high = proportion_confint(passed, runs, alpha=0.05, method="wilson")
            yield "wilson_low", [passed, runs], low
            yield "wilson_high", [passed, runs], high
    for values in ([1.0, 2.0], [0.5, 0.5, 0.75], [3.0, 1.0, 4.0, 1.0, 5.0], [10.0, 10.5, 12.0]):
        yield "stddev", values, tstd(values)
        for share in (0.025, 0.5, 0.975):
            yield "quantile", [share, *values], mquantiles(sorted(values), share, alphap=1, betap=1)[0]


def _pairs() -> Iterator[Row]:
    for better, worse in _splits():
        yield "mcnemar", [better, worse], mcnemar([[3, better], [worse, 4]], exact=True).pvalue
        yield "sign", [better, worse], binomtest(better, better + worse, 0.5).pvalue
        yield "log_wealth", [better, worse], (better + worse) * log(2) + betaln(better + 1, worse + 1)


def _attempts() -> Iterator[Row]:
    for runs in (1, 3, 5, 10, 50):
        for passed in sorted({0, 1, runs // 2, runs}):
            for k in sorted({1, 2, 3, runs} & set(range(1, runs + 1))):
                draw = hypergeom(runs, passed, k)
                yield "pass_at", [runs, passed, k], draw.sf(0)
                yield "pass_hat", [runs, passed, k], draw.pmf(k)


def _splits() -> list[tuple[int, int]]:
    small = [(better, worse) for better in (1, 2, 5, 9, 16) for worse in (0, 1, 3, 8, 20)]
    return [*small, (60, 40), (40, 60), (500, 450), (5000, 5200), (100_000, 99_000), (1_000_000, 1_001_000)]


def main(path: Path, *, check: bool) -> int:
    """Write the file, or compare it."""
    made = rows()
    if check:
        kept = json.loads(path.read_text())["rows"]
        worst = max(abs(old[2] - new[2]) for old, new in zip(kept, made, strict=True))
        print(f"{len(made)} values, largest difference {worst:.1e}")
        return int(worst > DRIFT or [row[:2] for row in kept] != [[*row[:2]] for row in made])
    lines = ",\n".join(json.dumps(row) for row in made)
    versions = json.dumps({"scipy": scipy.__version__, "statsmodels": statsmodels.__version__})
    path.write_text(f'{{"versions": {versions}, "rows": [\n{lines}\n]}}\n')
    print(f"{len(made)} values written")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), check="--check" in sys.argv))
