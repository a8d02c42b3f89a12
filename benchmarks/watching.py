"""How soon `prowess watch` tells of a change among many skills, and what it costs while nothing changes.

Two processes watch the same skills at once, one with watchfiles and one that does not find it. Each edit is timed until
a process has printed its line. The processor time of an idle process is read from `/proc`, over a time in which several
looks at the catalog fall.

    python -m benchmarks.watching [--skills N] [--idle SECONDS]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from benchmarks.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.corpora import Corpus

SKILLS = 10_000
IDLE_SECONDS = 20.0
_EDITS = 3
_WAYS = ("with watchfiles", "by polling")
_BOUNDS = {"with watchfiles": 1.0, "by polling": 10.0}  # seconds until a change is told
_SHARE = 2.0  # % of a core
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure both ways. The skills are made here, because the time depends on their number alone."""
    del corpora, rounds
    return measured(SKILLS, IDLE_SECONDS)


def measured(skills: int, idle: float) -> list[Figure]:
    """Return the figures with this number of skills, and the share of a core over this many idle seconds."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-watch-") as place, ExitStack() as running:
        root = os.path.join(place, "skills")
        for number in range(skills):
            _write(root, f"skill-{number:06}", number)
        os.mkdir(os.path.join(place, "hiding"))
        with open(os.path.join(place, "hiding", "watchfiles.py"), "w", encoding="utf-8") as hiding:
            hiding.write("raise ModuleNotFoundError(__name__)\n")
        time.sleep(2.5)  # until `stat` is certain to show every edit of these files
        hidden = {"PYTHONPATH": os.path.join(place, "hiding")}
        watches = {
            way: running.enter_context(_watch(root, place, environment))
            for way, environment in zip(_WAYS, ({}, hidden), strict=True)
        }
        for edit in range(2):  # the first lines come when the watches have begun
            _told(watches, root, edit)
        delays = [_told(watches, root, 2 + edit) for edit in range(_EDITS)]
        time.sleep(5)  # the last edit is looked at once more, two seconds later
        before = {way: _processor(process) for way, process in watches.items()}
        time.sleep(idle)
        shares = {way: (_processor(process) - before[way]) / idle * 100 for way, process in watches.items()}
    figures = []
    for way in _WAYS:
        figures += [
            Figure(
                name=f"`prowess watch` of {skills} skills {way}, until a change is told",
                value=max(one[way] for one in delays),
                unit="s",
                at_most=_BOUNDS[way],
                note=f"the longest of {_EDITS} edits, wall time",
            ),
            Figure(
                name=f"`prowess watch` of {skills} skills {way}, without a change",
                value=shares[way],
                unit="% of a core",
                at_most=_SHARE,
                note=f"processor time over {idle:g} seconds",
            ),
        ]
    return figures


def _told(watches: dict[str, subprocess.Popen[bytes]], root: str, edit: int) -> dict[str, float]:
    """Edit one skill; return the seconds until each process has told of it."""
    name = f"skill-{edit:06}"
    began = time.perf_counter()
    _write(root, name, -1 - edit)
    delays = {}
    for way, process in watches.items():  # in the order of their bounds
        assert process.stdout is not None
        line = process.stdout.readline()
        delays[way] = time.perf_counter() - began
        assert f'"changed","name":"{name}"'.encode() in line, line
    return delays


@contextmanager
def _watch(root: str, home: str, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "prowess", "watch", "--root", root, "--json"]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**known, "PROWESS_HOME": home, **environment}
    )
    try:
        assert process.stderr is not None
        process.stderr.readline()  # the skills were listed, so every later edit is told
        yield process
    finally:
        process.kill()
        process.communicate()


def _processor(process: subprocess.Popen[bytes]) -> float:
    """Return the processor time of a running process, with all its threads, in seconds."""
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _write(root: str, name: str, number: int) -> None:
    directory = os.path.join(root, name)
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "SKILL.md"), "w", encoding="utf-8") as file:
        file.write(f"---\nname: {name}\ndescription: Sorts receipt {number}. Use when one is found.\n---\n# Sort\n")


def main() -> int:
    """Print the figures; return 1 if a promise is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watching")
    parser.add_argument("--skills", type=int, default=SKILLS, help=f"number of skills ({SKILLS})")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help=f"seconds without a change ({IDLE_SECONDS:g})")
    options = parser.parse_args()
    figures = measured(options.skills, options.idle)
    for figure in figures:
        print(figure.sentence)
    return 1 if any(figure.holds is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
