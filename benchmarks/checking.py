"""Checking 1000 skills beside another linter, by what each costs in processor time, and one skill beside a bare Python.

Two promises name a rate or a ratio, whichever is reached. A value of 1 is the promise; the note has the rates. Rates
of whole processes contain their start.
"""

from __future__ import annotations

import os
import sys
import tempfile

from benchmarks.corpus import write_corpus
from benchmarks.figures import ROUNDS, Figure, printed_numbers, whole_processes
from benchmarks.reference_peer import PeerMissingError, agnix, interpreter

_COUNT = 1000
_VALIDATED, _VALIDATED_TIMES = 15_000, 5  # skills a second of processor time, or times as many as agnix
_LINTED, _LINTED_TIMES = 5000, 3

_VALIDATE_ALL = """
import os, sys, time
from prowess import validate_skill
paths = [os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1])]
validate_skill(paths[0])
began = time.process_time()
for path in paths:
    validate_skill(path)
print(time.process_time() - began)
"""
# Processor time of a command and of all its threads, user and system.
_COST = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
"""


def run(rounds: int = ROUNDS) -> list[Figure]:
    """Measure everything on skills that are written for it."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        corpus = os.path.join(place, "skills")
        write_corpus(corpus, _COUNT)
        return [*_throughput(corpus, rounds), *_one_skill(os.path.join(corpus, min(os.listdir(corpus))), rounds)]


def _throughput(corpus: str, rounds: int) -> list[Figure]:
    commands = {
        "validate": [sys.executable, "-c", _VALIDATE_ALL, corpus],
        "check": [sys.executable, "-c", _COST, _prowess(), "check", "--json", "--isolated", corpus],
    }
    missing = ""
    try:
        commands["agnix"] = [sys.executable, "-c", _COST, agnix(), "--format", "json", corpus]
    except PeerMissingError as fault:
        missing = str(fault)
    seconds = printed_numbers(commands, rounds)
    rates = {name: _COUNT / taken for name, taken in seconds.items()}
    peer = rates.get("agnix")
    return [
        _promised(
            f"`validate_skill` over {_COUNT} skills",
            rates["validate"],
            peer,
            wanted=_VALIDATED,
            times=_VALIDATED_TIMES,
            missing=missing,
        ),
        _promised(
            f"`prowess check` over {_COUNT} skills",
            rates["check"],
            peer,
            wanted=_LINTED,
            times=_LINTED_TIMES,
            missing=missing,
        ),
    ]


def _promised(name: str, rate: float, peer: float | None, *, wanted: int, times: int, missing: str) -> Figure:
    beside = missing if peer is None else f"{rate / peer:.1f} times agnix's {peer:.0f}"
    return Figure(
        name=name,
        value=max(rate / wanted, 0 if peer is None else rate / peer / times),
        unit=f"of {wanted} skills a second of processor time, or of {times} times agnix",
        at_least=1,
        note=f"{rate:.0f} a second; {beside}",
    )


def _one_skill(skill: str, rounds: int) -> list[Figure]:
    commands = {"check": [_prowess(), "check", skill], "pass": [sys.executable, "-c", "pass"]}
    missing = ""
    try:
        commands["reference"] = [os.path.join(os.path.dirname(interpreter()), "agentskills"), "validate", skill]
    except PeerMissingError as fault:
        missing = str(fault)
    times = whole_processes(commands, rounds)
    ours, reference = times["check"], times.get("reference")
    return [
        Figure(
            name="`prowess check SKILL` / `python -c pass`",
            value=ours / times["pass"],
            unit="times as long, whole processes",
            at_most=5,
            note=f"medians {ours:.0f} ms and {times['pass']:.0f} ms",
        ),
        Figure(
            name="`agentskills validate SKILL` / `prowess check SKILL`",
            value=None if reference is None else reference / ours,
            unit="times faster, whole processes",
            at_least=2,
            note=missing if reference is None else f"medians {reference:.0f} ms and {ours:.0f} ms",
        ),
    ]


def _prowess() -> str:
    return os.path.join(os.path.dirname(sys.executable), "prowess")
