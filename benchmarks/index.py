"""Listings with and without an index, lookups by name and refreshes, against floors measured in the same run.

The cost of a command is its processor time less that of the same command on an empty root. The floors are
`benchmarks.index_floors`, less `python -c pass`.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks.corpora import write_corpus
from benchmarks.figures import Command, Figure, Spent, least_printed, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_SIZES = (1000, 10_000)
_FLOORS = os.path.join(os.path.dirname(__file__), "index_floors.py")
_SETTLED_SECONDS = 2.5  # files changed within the last two seconds are read again
_COLD = 1.9
_WARM = {1000: None, 10_000: 1.5}
_REFRESH = """
import os, sys, time
from prowess import Catalog
catalog = Catalog(sys.argv[1])
paths = [entry.location for entry in catalog.entries()]
def best(call):
    times = []
    for _ in range(5):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)
print(best(catalog.refresh) / best(lambda: [os.stat(path) for path in paths]))
"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure roots of 1000 and 10 000 generated skills; `corpora` gives the place."""
    place = os.path.join(os.path.dirname(corpora[0].root), "index")
    empty, one = os.path.join(place, "empty"), os.path.join(place, "one")
    os.makedirs(empty)
    write_corpus(one, 1, files=False)
    figures: list[Figure] = []
    for size in _SIZES:
        root = os.path.join(place, str(size))
        write_corpus(root, size, files=False)
        time.sleep(_SETTLED_SECONDS)
        figures += _listings(root, empty, one, size, max(3, rounds // 4))
    return figures


def _listings(root: str, empty: str, one: str, size: int, rounds: int) -> list[Figure]:
    kept = f"{root}.results"
    subprocess.run([sys.executable, _FLOORS, "save", root, kept], check=True, stdout=subprocess.DEVNULL)
    name, only = sorted(os.listdir(root))[size // 2], os.listdir(one)[0]
    listed = [PROWESS, "list", "--root"]
    times = spent(
        {
            "pass": Command(arguments=[sys.executable, "-c", "pass"]),
            "nothing": Command(arguments=[*listed, empty]),
            "floor": Command(arguments=[sys.executable, _FLOORS, "cold", root, kept]),
            "warm floor": Command(arguments=[sys.executable, _FLOORS, "warm", root, kept]),
            "cold": Command(arguments=[*listed, root], fresh_home=True),
            "warm": Command(arguments=[*listed, root]),
            "why one": Command(arguments=[PROWESS, "why", only, "--root", one]),
            "why": Command(arguments=[PROWESS, "why", name, "--root", root]),
        },
        rounds,
    )

    def cost(command: str, base: str) -> float:
        return times[command].processor - times[base].processor

    cold, warm = cost("cold", "nothing"), cost("warm", "nothing")
    floor, warm_floor = cost("floor", "pass"), cost("warm floor", "pass")
    refresh = least_printed({"refresh": [sys.executable, "-c", _REFRESH, root]}, 3)["refresh"]
    listing, why = f"`prowess list` of {size} skills", f"`prowess why` of one of {size} skills"
    starts = cost("why", "why one") / times["pass"].processor
    return [
        _figure(f"{listing} that writes the index, against reading alone", cold / floor, _COLD, times["cold"]),
        _figure(f"{listing} with an index, against one `stat` each", warm / warm_floor, _WARM[size], times["warm"]),
        _figure(f"{listing} with an index, against its first run", warm / cold, 0.8, times["warm"]),
        _figure(f"{why}, beyond one of one, in starts of Python", starts, 1, times["why"]),
        _figure(f"`refresh()` of {size} unchanged skills, against one `stat` each", refresh, 2.5, None),
        Figure(
            name=f"index of {size} skills, per skill",
            value=_bytes_per_skill(root, size),
            unit="KB",
            at_most=0.65,
            note="size of the file below the cache directory",
        ),
    ]


def _figure(name: str, value: float, at_most: float | None, measured: Spent | None) -> Figure:
    note = "in one process" if measured is None else f"processor time {measured.processor * 1000:.0f} ms"
    wall = "" if measured is None else f", wall {measured.wall * 1000:.0f} ms"
    return Figure(name=name, corpus="generated", value=value, at_most=at_most, note=f"{note}{wall}")


def _bytes_per_skill(root: str, size: int) -> float:
    home = tempfile.mkdtemp(prefix="prowess-bench-home-")
    try:
        subprocess.run(
            [PROWESS, "list", "--root", root],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PROWESS_HOME": home},
        )
        return sum(map(os.path.getsize, glob.glob(f"{home}/cache/index/*.sqlite"))) / size / 1000
    finally:
        shutil.rmtree(home)
