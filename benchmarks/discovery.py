"""Cold discovery: 1000 skills as a whole process against the reference library, growth to 10 000, and memory."""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.corpora import write_corpus
from benchmarks.figures import Command, Figure, beside, least_printed, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_MANY = 10_000

_LIST_ALL = "import sys; from prowess import Catalog; Catalog(sys.argv[1], index=False).entries()"
_TIMED = """
import sys, time
from prowess import Catalog
began = time.process_time()
Catalog(sys.argv[1], index=False).entries()
print((time.process_time() - began) * 1000)
"""
# Everything of an entry is asked for before the count, so that nothing can be put off.
_MEMORY = """
import gc, sys, tracemalloc
from prowess import Catalog
Catalog(sys.argv[1], index=False).entries()
gc.collect()
tracemalloc.start()
catalog = Catalog(sys.argv[1], index=False)
for entry in catalog.entries():
    entry.name, entry.description, entry.location, entry.properties
gc.collect()
print(tracemalloc.get_traced_memory()[0] / len(catalog.entries()) * 1000 / 1e6)
"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure both corpora, and the growth on generated skills."""
    figures = [figure for corpus in corpora for figure in (*_against_the_reference(corpus, rounds), _memory(corpus))]
    place = os.path.dirname(corpora[0].root)
    return [*figures, *(_against_plain(corpus, place, rounds) for corpus in corpora), _growth(place, rounds)]


def _against_the_reference(corpus: Corpus, rounds: int) -> list[Figure]:
    names = {
        "library": "discovery of 1000 skills by `Catalog(ROOT).entries()`: speed against the reference library",
        "command": "discovery of 1000 skills by `prowess list --root ROOT`: speed against the reference library",
    }
    try:
        peer = peers.interpreter()
    except peers.PeerMissingError as fault:
        return [
            Figure(name=name, corpus=corpus.name, value=None, at_least=10, note=str(fault)) for name in names.values()
        ]
    commands = {
        "library": Command(arguments=[sys.executable, "-c", _LIST_ALL, corpus.root], fresh_home=True),
        "command": Command(arguments=[PROWESS, "list", "--root", corpus.root], fresh_home=True),
        "reference": Command(arguments=[peer, "-c", peers.READ_ALL, corpus.root]),
    }
    times = spent(commands, rounds)
    return [
        Figure(
            name=name,
            corpus=corpus.name,
            value=times["reference"].processor / times[key].processor,
            at_least=10,
            note=f"processor time of whole processes, cold: {beside(times[key], 'reference', times['reference'])}; "
            "both read name, description and fields of each skill"
            + (", and the command prints them" if key == "command" else ""),
        )
        for key, name in names.items()
    ]


def _against_plain(corpus: Corpus, place: str, rounds: int) -> Figure:
    """Compare the cost of a listing with that of skills whose front matter causes no warning."""
    plain, empty, count = os.path.join(place, "plain"), os.path.join(place, "empty"), len(os.listdir(corpus.root))
    if not os.path.isdir(plain):
        write_corpus(plain, count, files=False, plain=True)
        os.mkdir(empty)
    roots = {"skills": corpus.root, "plain": plain, "empty": empty}
    commands = {
        name: Command(arguments=[PROWESS, "list", "--root", root], fresh_home=True) for name, root in roots.items()
    }
    times = spent(commands, rounds)
    each = {
        name: (times[name].processor - times["empty"].processor) / len(os.listdir(roots[name]))
        for name in roots
        if name != "empty"
    }
    return Figure(
        name="cost of `prowess list` for each skill, against skills whose front matter causes no warning",
        corpus=corpus.name,
        value=each["skills"] / each["plain"],
        at_most=3,
        note="processor time of whole processes, cold, less that on an empty root: "
        f"{each['skills'] * 1e6:.0f} µs; plain {each['plain'] * 1e6:.0f} µs",
    )


def _growth(place: str, rounds: int) -> Figure:
    few, many = os.path.join(place, "few"), os.path.join(place, "many")
    write_corpus(few, _MANY // 10, files=False)
    write_corpus(many, _MANY, files=False)
    commands = {name: [sys.executable, "-c", _TIMED, root] for name, root in (("few", few), ("many", many))}
    times = least_printed(commands, rounds)
    return Figure(
        name="growth of discovery, 1000 to 10 000 skills",
        corpus="generated",
        value=math.log10(times["many"] / times["few"]),
        unit="(exponent)",
        at_most=1.1,
        note=f"processor time without the start of Python: {times['few']:.0f} ms and {times['many']:.0f} ms; "
        "each skill is a SKILL.md alone",
    )


def _memory(corpus: Corpus) -> Figure:
    return Figure(
        name="memory of 1000 entries, properties included",
        corpus=corpus.name,
        value=least_printed({"memory": [sys.executable, "-c", _MEMORY, corpus.root]}, 1)["memory"],
        unit="MB",
        at_most=1.0,
        note="counted by tracemalloc",
    )
