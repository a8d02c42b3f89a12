"""Whole processes of Prowess against `python -c pass` of the same environment."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from benchmarks.figures import Command, Figure, beside, spent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

PROWESS = os.path.join(os.path.dirname(sys.executable), "prowess")


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure the start, the import, and the commands on each corpus, all in turns."""
    commands = {
        "pass": Command(arguments=[sys.executable, "-c", "pass"]),
        "version": Command(arguments=[PROWESS, "--version"]),
        "import": Command(arguments=[sys.executable, "-c", "from prowess import Catalog, Session"]),
    }
    for corpus in corpora:
        name, skill = os.path.basename(corpus.skill), corpus.skill
        commands |= {
            f"check {corpus.name}": Command(arguments=[PROWESS, "check", "--isolated", skill], fresh_home=True),
            f"load {corpus.name}": Command(arguments=[PROWESS, "load", name, "--root", corpus.ten]),
            f"list {corpus.name}": Command(arguments=[PROWESS, "list", "--no-index", "--root", corpus.root]),
        }
    times = spent(commands, rounds)

    def figure(title: str, key: str, at_most: float | None, corpus: Corpus | None = None) -> Figure:
        return Figure(
            name=f"{title}, against `python -c pass`",
            corpus="" if corpus is None else corpus.name,
            value=times[key].processor / times["pass"].processor,
            at_most=at_most,
            note=f"processor time of whole processes: {beside(times[key], 'pass', times['pass'])}",
        )

    figures = [
        figure("`prowess --version`", "version", 2),
        figure("`from prowess import Catalog, Session`", "import", 9.5),
    ]
    for corpus in corpora:
        listed = 10 if corpus.name == "generated" else None
        figures += [
            figure("`prowess check` of one skill of median length", f"check {corpus.name}", 8.5, corpus),
            figure("`prowess load` from a root of ten skills", f"load {corpus.name}", 16, corpus),
            figure("`prowess list` of 1000 skills", f"list {corpus.name}", listed, corpus),
        ]
    return figures
