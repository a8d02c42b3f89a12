"""Cold discovery: 1000 skills as a whole process against the reference library, growth to 10 000, and memory."""

from __future__ import annotations

import math
import os
import sys
import tempfile

from benchmarks.corpus import write_corpus
from benchmarks.figures import ROUNDS, Figure, printed_numbers, whole_processes
from benchmarks.reference_peer import READ_ALL, PeerMissingError, interpreter

_FEW, _MANY = 1000, 10_000

_LIST_ALL = "import sys; from prowess import Catalog; Catalog(sys.argv[1]).entries()"
_TIMED = """
import sys, time
from prowess import Catalog
began = time.perf_counter()
Catalog(sys.argv[1]).entries()
print((time.perf_counter() - began) * 1000)
"""
# Everything of an entry is asked for before the count, so that nothing can be put off.
_MEMORY = """
import gc, sys, tracemalloc
from prowess import Catalog
Catalog(sys.argv[1])
gc.collect()
tracemalloc.start()
catalog = Catalog(sys.argv[1])
for entry in catalog.entries():
    entry.name, entry.description, entry.location, entry.properties
gc.collect()
print(tracemalloc.get_traced_memory()[0] / len(catalog.entries()) * 1000 / 1e6)
"""


def run(rounds: int = ROUNDS) -> list[Figure]:
    """Measure all figures of discovery on a corpus that is written for it."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        few, many = os.path.join(place, "few"), os.path.join(place, "many")
        write_corpus(few, _FEW)
        write_corpus(many, _MANY)
        return [*_against_the_reference(few, rounds), _growth(few, many, rounds), _memory(few)]


def _against_the_reference(corpus: str, rounds: int) -> list[Figure]:
    names = {
        "library": f"cold discovery of {_FEW} skills: reference library / `Catalog(ROOT).entries()`",
        "command": f"cold discovery of {_FEW} skills: reference library / `prowess list --root ROOT`",
    }
    unit = "times faster, whole processes"
    try:
        peer = interpreter()
    except PeerMissingError as fault:
        return [Figure(name=name, value=None, unit=unit, at_least=10, note=str(fault)) for name in names.values()]
    commands = {
        "library": [sys.executable, "-c", _LIST_ALL, corpus],
        "command": [os.path.join(os.path.dirname(sys.executable), "prowess"), "list", "--root", corpus],
        "reference": [peer, "-c", READ_ALL, corpus],
    }
    times = whole_processes(commands, rounds)
    return [
        Figure(
            name=name,
            value=times["reference"] / times[key],
            unit=unit,
            at_least=10,
            note=f"medians {times['reference']:.0f} ms and {times[key]:.0f} ms",
        )
        for key, name in names.items()
    ]


def _growth(few: str, many: str, rounds: int) -> Figure:
    times = printed_numbers(
        {"few": [sys.executable, "-c", _TIMED, few], "many": [sys.executable, "-c", _TIMED, many]}, rounds
    )
    exponent = math.log(times["many"] / times["few"]) / math.log(_MANY / _FEW)
    note = f"medians {times['few']:.0f} ms and {times['many']:.0f} ms, without the start of Python"
    return Figure(
        name=f"growth of discovery, {_FEW} to {_MANY} skills", value=exponent, unit="exponent", at_most=1.1, note=note
    )


def _memory(corpus: str) -> Figure:
    megabytes = printed_numbers({"memory": [sys.executable, "-c", _MEMORY, corpus]}, 1)["memory"]
    return Figure(
        name=f"memory of {_FEW} entries, properties included",
        value=megabytes,
        unit="MB",
        at_most=1.0,
        note="tracemalloc",
    )
