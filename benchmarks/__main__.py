"""Run every benchmark, record the figures, and fail if a promise is missed.

    python -m benchmarks [--rounds N] [--only NAME]... [--skills N]
    python -m benchmarks --pages        write the pages from the record, without measuring

The record is benchmarks/results.json, which only a run of everything replaces. docs/reference/benchmarks.md and the
table in README.md are generated from it (`benchmarks.pages`); a test compares them with the record.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import prowess
from benchmarks import (
    activation,
    audit_proofs,
    central_log,
    checking,
    corpora,
    decisions,
    discovery,
    distribution,
    enrolled_load,
    index,
    judging,
    listing_peers,
    live_rows,
    machine_log,
    matching,
    pages,
    processes,
    pytest_plugin,
    replaying,
    sandbox,
    scenarios,
    serving,
    sessions,
    verifying,
    watching,
)
from benchmarks.figures import ROUNDS, Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BENCHMARKS: dict[str, Callable[[Sequence[corpora.Corpus], int], list[Figure]]] = {
    "processes": processes.run,
    "checking": checking.run,
    "discovery": discovery.run,
    "index": index.run,
    "listing_peers": listing_peers.run,
    "activation": activation.run,
    "sandbox": sandbox.run,
    "serving": serving.run,
    "watching": watching.run,
    "sessions": sessions.run,
    "matching": matching.run,
    "machine_log": machine_log.run,
    "enrolled_load": enrolled_load.run,
    "verifying": verifying.run,
    "audit_proofs": audit_proofs.run,
    "central_log": central_log.run,
    "decisions": decisions.run,
    "distribution": distribution.run,
    "replaying": replaying.run,
    "judging": judging.run,
    "scenarios": scenarios.run,
    "pytest_plugin": pytest_plugin.run,
    "live_rows": live_rows.run,
}


def main() -> int:
    """Run the benchmarks that were asked for; return 1 if a promise is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure, and compare with what is promised."
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of each process ({ROUNDS})")
    parser.add_argument("--only", action="append", choices=sorted(BENCHMARKS), help="run this one; repeatable")
    parser.add_argument("--skills", type=int, default=pages.SKILLS, help=f"of each corpus ({pages.SKILLS})")
    parser.add_argument("--pages", action="store_true", help="write the pages from the record, without measuring")
    options = parser.parse_args()
    if options.pages:
        pages.write(pages.recorded())
        return 0
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        built = corpora.built(place, options.skills)
        for name in options.only or BENCHMARKS:
            for figure in BENCHMARKS[name](built, options.rounds):
                print(figure.sentence, flush=True)
                figures.append(figure)
    if not options.only and options.skills == pages.SKILLS:
        pages.write(
            pages.Results(
                date=datetime.now(tz=UTC).date().isoformat(),
                version=prowess.__version__,
                machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
                f"Python {platform.python_version()}",
                rounds=options.rounds,
                figures=figures,
            )
        )
    return 1 if any(figure.holds is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
