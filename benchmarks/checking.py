"""Checking 1000 skills: beside another linter, beside the reference library, a second time, and on several cores."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.figures import Command, Figure, beside, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_VALIDATE_ALL = """
import os, sys
from prowess import validate_skill
for name in sorted(os.listdir(sys.argv[1])):
    validate_skill(os.path.join(sys.argv[1], name))
"""
_SECONDS_LONG = 4  # commands that run for seconds vary less: they take a quarter of the rounds
_AGNIX_DIFFERS = "differs: each applies all of its own rules, which are not the same; both write JSON"


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure both corpora."""
    figures: list[Figure] = []
    few = max(rounds // _SECONDS_LONG, 1)
    for corpus in corpora:
        figures += [*_sets(corpus, few), *_jobs(corpus, few), _one(corpus, rounds)]
    return figures


def _sets(corpus: Corpus, rounds: int) -> list[Figure]:
    check = [PROWESS, "check", "--json", "--isolated", corpus.root]
    commands = {
        "cold": Command(arguments=check, fresh_home=True),
        "second": Command(arguments=check),
        "validate": Command(arguments=[sys.executable, "-c", _VALIDATE_ALL, corpus.root]),
    }
    missing = ""
    try:
        commands |= {
            "agnix": Command(arguments=[peers.agnix(), "--format", "json", corpus.root]),
            "reference": Command(arguments=[peers.interpreter(), "-c", peers.VALIDATE_ALL, corpus.root]),
        }
    except peers.PeerMissingError as fault:
        missing = str(fault)
    times = spent(commands, rounds)

    def faster(name: str, key: str, than: str, at_least: float | None, differs: str) -> Figure:
        return Figure(
            name=name,
            corpus=corpus.name,
            value=times[than].processor / times[key].processor if than in times else None,
            at_least=at_least,
            note=f"processor time of whole processes: {beside(times[key], than, times[than])}; {differs}"
            if than in times
            else missing,
        )

    return [
        faster(
            "`prowess check` of 1000 skills: speed against agnix", "cold", "agnix", 0.5,
            f"cold; {_AGNIX_DIFFERS}",
        ),
        faster(
            "`prowess check` of 1000 unchanged skills, a second time: speed against the first", "second", "cold", 12,
            "the same command; 'cold' finds no results of an earlier run",
        ),
        faster(
            "`validate_skill` of 1000 skills: speed against `validate` of the reference library", "validate",
            "reference", None, "both check the specification alone, each skill once",
        ),
        faster(
            "`validate_skill` of 1000 skills: speed against agnix", "validate", "agnix", 5,
            "differs: `validate_skill` checks the specification alone, agnix applies all of its rules",
        ),
    ]  # fmt: skip


def _jobs(corpus: Corpus, rounds: int) -> list[Figure]:
    options = subprocess.run([PROWESS, "check", "--help"], capture_output=True, text=True, check=True).stdout
    known = re.search(r"(?<!-)-j\b", options) is not None
    check = [PROWESS, "check", "--json", "--isolated"]
    commands = {
        name: Command(arguments=[*check, *(option if known else []), corpus.root], fresh_home=True)
        for name, option in (("one", ["-j", "1"]), ("two", ["-j", "2"]))
    }
    times = spent(commands, rounds)
    seconds = f"{times['one'].wall:.2f} s and {times['two'].wall:.2f} s of wall time, cold"
    return [
        Figure(
            name="`prowess check -j 2` of 1000 skills: speed against `-j 1`",
            corpus=corpus.name,
            value=times["one"].wall / times["two"].wall,
            at_least=1.7,
            note=f"{seconds}, {os.cpu_count()} cores" if known else f"{seconds}; `check` has no option -j yet",
        )
    ]


def _one(corpus: Corpus, rounds: int) -> Figure:
    name = "`prowess validate` of one skill: speed against the reference tool's `agentskills validate`"
    try:
        reference = os.path.join(os.path.dirname(peers.interpreter()), "agentskills")
    except peers.PeerMissingError as fault:
        return Figure(name=name, corpus=corpus.name, value=None, at_least=2, note=str(fault))
    commands = {
        "ours": Command(arguments=[PROWESS, "validate", corpus.skill]),
        "reference": Command(arguments=[reference, "validate", corpus.skill]),
    }
    times = spent(commands, rounds)
    return Figure(
        name=name,
        corpus=corpus.name,
        value=times["reference"].processor / times["ours"].processor,
        at_least=2,
        note=f"processor time of whole processes, the same checks: "
        f"{beside(times['ours'], 'reference', times['reference'])}",
    )
