"""What the command costs before it does anything."""

from __future__ import annotations

import os
import sys

from benchmarks.figures import ROUNDS, Figure, whole_processes


def run(rounds: int = ROUNDS) -> list[Figure]:
    """Compare `prowess --version` with a Python that does nothing, in the same environment."""
    times = whole_processes(
        {
            "version": [os.path.join(os.path.dirname(sys.executable), "prowess"), "--version"],
            "pass": [sys.executable, "-c", "pass"],
        },
        rounds,
    )
    return [
        Figure(
            name="`prowess --version` / `python -c pass`",
            value=times["version"] / times["pass"],
            unit="times as long, whole processes",
            at_most=2,
            note=f"medians {times['version']:.0f} ms and {times['pass']:.0f} ms",
        )
    ]
