"""Curtailment: runs of a query are skipped once they can no longer change its verdict.

A run that still comes may pass, fail, or be an error without a grade. A verdict is settled if every continuation gives
the same one, so stopping there is not an approximation.
"""

from __future__ import annotations

HALF = 0.5


def settled_rate(passed: int, failed: int, left: int, threshold: float = HALF) -> bool | None:
    """Return whether the rate of passed runs reaches the threshold, or None if the `left` runs can change that.

    Without a graded run nothing is settled.
    """
    graded = passed + failed
    if not graded:
        return None
    if passed / (graded + left) >= threshold:
        return True
    return False if (passed + left) / (graded + left) < threshold else None


def settled_consistency(passed: int, failed: int, left: int, least: float) -> bool | None:
    """Return whether the share of the more frequent outcome reaches `least`, or None if the runs can change that."""
    graded, most = passed + failed, max(passed, failed)
    if not graded:
        return None
    # The most even continuation gives the smallest share; errors leave runs out, so each number of runs is possible.
    numbers = range(graded, graded + left + 1)
    if all(max(most, (number + 1) // 2) / number >= least for number in numbers):
        return True
    return False if (most + left) / (graded + left) < least else None
