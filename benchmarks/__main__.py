"""Run every benchmark, write their figures down, and fail where a promise does not hold.

python -m benchmarks [--rounds N] [--only NAME]... [--no-write]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks import activation, checking, discovery, sandbox_overhead, start
from benchmarks.figures import ROUNDS, Figure
from prowess.errors import SandboxUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PAGE_HEAD = """# Benchmarks

Written by `make bench`. Times on a shared machine drift; ratios of processes that run in turns do not, so the promises
are ratios, differences and exponents. What is measured and how: `benchmarks/`.
"""

_PAGE_END = """
## What is missed

`prowess check` over many skills stays below three times agnix. Of the processor time of 1000 skills of the corpus 6 %
is the start, 5 % finding and reading the files, 6 % front matter, 75 % what rules look for, and 8 % the set as a
whole, the report and the end. A skill gives ten of about 45 rules an occasion. The largest parts of the rules' time
are the set of words that tells which rules have one (a seventh), files that nothing mentions (an eighth), secrets (an
eighth), and links in other files (a twelfth); much of the last three is opening and reading each file without leaving
the skill. Rules were added while this was made quicker, and each one costs.

What was done: one look before each rule, which takes two fifths off the time of the rules; counts of characters in
place of the count of tokens, a tenth of its time; one listing of a folder for all rules; no document for a plain
skill; no collection of garbage. What did not help: looking for each word by itself, or for all by one pattern; both
take five times as long as one set of words. Several processes would divide the wait by the number of cores and add to
the processor time, which is what is compared here; findings kept from an earlier run would not be a check.
"""


def _sandbox(rounds: int) -> list[Figure]:
    unit = "ms more than a plain process"
    try:
        overheads = sandbox_overhead.run(rounds)
    except (SandboxUnavailableError, AssertionError) as fault:
        return [Figure(name="Sandbox", value=None, unit=unit, note=str(fault))]
    return [Figure(name=over.name, value=over.milliseconds, unit=unit, at_most=over.bound) for over in overheads]


BENCHMARKS: dict[str, Callable[[int], list[Figure]]] = {
    "start": start.run,
    "discovery": discovery.run,
    "activation": activation.run,
    "checking": checking.run,
    "sandbox": _sandbox,
}


def main() -> int:
    """Run the benchmarks that were asked for; return 1 where a promise does not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure, and compare with what is promised."
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"turns of each process ({ROUNDS})")
    parser.add_argument("--only", action="append", choices=sorted(BENCHMARKS), help="run this one; repeatable")
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args()
    figures: list[Figure] = []
    for name in options.only or BENCHMARKS:
        for figure in BENCHMARKS[name](options.rounds):
            print(_sentence(figure), flush=True)
            figures.append(figure)
    if not (options.no_write or options.only):
        _write(figures, options.rounds)
    return 1 if any(figure.holds is False for figure in figures) else 0


def _sentence(figure: Figure) -> str:
    if figure.value is None:
        return f"skipped  {figure.name}: {figure.note}"
    state = "holds" if figure.holds else "FAILS"
    return f"{state:<8} {figure.name}: {figure.value:.2f} {figure.unit} ({figure.bound}) {figure.note}".rstrip()


def _write(figures: list[Figure], rounds: int) -> None:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    rows = [{**asdict(figure), "holds": figure.holds} for figure in figures]
    with open(os.path.join(_ROOT, "benchmarks", "results.json"), "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "rounds": rounds, "figures": rows}, file, ensure_ascii=False, indent=1)
        file.write("\n")
    lines = [
        _PAGE_HEAD,
        f"Medians of {rounds} turns on {machine}.\n",
        "| figure | measured | promised | |",
        "|---|---|---|---|",
    ]
    for figure in figures:
        measured = "not measured" if figure.value is None else f"{figure.value:.2f} {figure.unit}"
        lines.append(f"| {figure.name} | {measured} | {figure.bound} | {figure.note} |")
    with open(os.path.join(_ROOT, "docs", "benchmarks.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + f"\n{_PAGE_END}")


if __name__ == "__main__":
    sys.exit(main())
