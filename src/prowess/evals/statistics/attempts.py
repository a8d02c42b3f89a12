"""Several attempts at one eval: the probability that one of k passes, or that all k do.

Sources: Chen et al. 2021 (pass@k), Yao et al. 2024 (pass^k): unbiased estimates from n attempts of which c passed.
"""

from __future__ import annotations

from math import prod


def pass_at(runs: int, passed: int, k: int) -> float:
    """Return the probability that at least one of `k` runs passes. `k` is at most `runs`."""
    return 1.0 - pass_hat(runs, runs - passed, k)


def pass_hat(runs: int, passed: int, k: int) -> float:
    """Return the probability that all of `k` runs pass. `k` is at most `runs`."""
    if not 1 <= k <= runs:
        raise ValueError(f"k is {k}, and there are {runs} runs")
    return prod((max(passed - place, 0) / (runs - place) for place in range(k)), start=1.0)
