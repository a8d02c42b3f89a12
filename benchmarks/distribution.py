"""Installing from git beside `git clone`, an installation with nothing to do, and `prowess list` of locked skills.

PROWESS_NVIDIA_SKILLS names a clone of github.com/NVIDIA/skills, which is the source of the first figure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from benchmarks.figures import Command, Figure, beside, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_STATES = ("a warm index", "no index", "an empty cache")
_NO_CLONE = "PROWESS_NVIDIA_SKILLS names no clone"


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes and those that they start; the skills of the lists are the last corpus."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        return [*_listed(place, corpora[-1], rounds), _from_git(place, max(3, rounds // 4))]


def _listed(place: str, corpus: Corpus, rounds: int) -> list[Figure]:
    locked, layer, few = (_new(place, name) for name in ("locked", "layer", "few"))
    shutil.copytree(corpus.root, os.path.join(layer, ".agents", "skills"), symlinks=True)
    for directory, arguments in (
        (locked, ["install", corpus.root, "--skill", "*", "--quiet"]),
        (locked, ["trust", "."]),
        (layer, ["trust", "."]),
        (few, ["install", corpus.ten, "--skill", "*", "--quiet"]),
    ):
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        environment["PROWESS_HOME"] = _home(directory)
        subprocess.run([PROWESS, *arguments], cwd=directory, env=environment, stdout=subprocess.DEVNULL, check=True)
    commands = {
        "pass": Command(arguments=[sys.executable, "-c", "pass"]),
        "frozen": Command(arguments=[PROWESS, "install", "--frozen"], directory=few, home=_home(few)),
    }
    for state in _STATES:
        for name, directory in (("locked", locked), ("layer", layer)):
            commands[f"{name} {state}"] = Command(
                arguments=[PROWESS, "list", *(["--no-index"] if state == "no index" else [])],
                directory=directory,
                home=_home(directory),
                without=[f"{_home(directory)}/cache"] if state == "an empty cache" else [],
            )
    times = spent(commands, rounds)
    figures = [
        Figure(
            name="`prowess install --frozen` of 10 skills with nothing to do, against `python -c pass`",
            value=times["frozen"].processor / times["pass"].processor,
            at_most=8,
            note=f"processor time of whole processes: {beside(times['frozen'], 'pass', times['pass'])}",
        )
    ]
    for state in _STATES:
        ours, theirs = times[f"locked {state}"], times[f"layer {state}"]
        figures.append(
            Figure(
                name=f"`prowess list` of 1000 locked skills against the same skills without a lock, with {state}",
                corpus=corpus.name,
                value=ours.processor / theirs.processor,
                at_most=1.3,
                note=f"processor time of whole processes: {beside(ours, 'a directory of the project', theirs)}",
            )
        )
    return figures


def _from_git(place: str, rounds: int) -> Figure:
    name = "`prowess install` of the skills of NVIDIA from a local git source, against `git clone` of it"
    source = os.environ.get("PROWESS_NVIDIA_SKILLS", "")
    if not source:
        return Figure(name=name, value=None, at_most=4, note=_NO_CLONE)
    home, project, clone = f"{place}/git-home", _new(place, "git"), f"{place}/clone"
    times = spent(
        {
            "install": Command(
                arguments=[PROWESS, "install", f"git+file://{os.path.abspath(source)}", "--skill", "*", "--quiet"],
                directory=project,
                home=home,
                without=[home, f"{project}/prowess.lock"],
            ),
            "clone": Command(arguments=["git", "clone", "--quiet", source, clone], without=[clone]),
        },
        rounds,
    )
    note = f"processor time of the processes and their children: {beside(times['install'], 'clone', times['clone'])}"
    return Figure(name=name, value=times["install"].processor / times["clone"].processor, at_most=4, note=note)


def _new(place: str, name: str) -> str:
    """Make a directory that is a project of its own."""
    directory = os.path.join(place, name)
    os.makedirs(os.path.join(directory, ".git"))
    os.chmod(directory, 0o700)
    return directory


def _home(directory: str) -> str:
    """Return the PROWESS_HOME of a project; each has its own, so that no list fills the cache of another one."""
    return f"{directory}-home"
