"""`prowess list` of 1000 skills beside other tools that list skills, whole processes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.corpora import write_corpus
from benchmarks.figures import Command, Figure, beside, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpora import Corpus

_SIZE = 1000
_SETTLED_SECONDS = 2.5  # files changed within the last two seconds are read again
_PROMISED = {"openskills": (3.0, 3.5)}  # cold, warm


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure 1000 generated skills; `corpora` gives the place. openskills lists the project that contains them."""
    project = os.path.join(os.path.dirname(corpora[0].root), "listed")
    root = os.path.join(project, ".claude", "skills")
    write_corpus(root, _SIZE, files=False)
    time.sleep(_SETTLED_SECONDS)
    listing = [PROWESS, "list", "--root", root]
    commands = {"cold": Command(arguments=listing, fresh_home=True), "warm": Command(arguments=listing)}
    missing: dict[str, str] = {}
    for name, arguments in _others(project, root).items():
        try:
            commands[name] = Command(arguments=arguments())
        except peers.PeerMissingError as fault:
            missing[name] = str(fault)
    times = spent(commands, max(3, rounds // 4))
    figures = []
    for name in _others(project, root):
        for way, bound in zip(("cold", "warm"), _PROMISED.get(name, (None, None)), strict=True):
            figures.append(
                Figure(
                    name=f"`prowess list` of {_SIZE} skills, {way}: speed against {name}",
                    corpus="generated",
                    value=None if name in missing else times[name].processor / times[way].processor,
                    at_least=bound,
                    note=missing.get(name) or f"processor time: {beside(times[way], name, times[name])}",
                )
            )
    return figures


def _others(project: str, root: str) -> dict[str, Callable[[], list[str]]]:
    """Return how each other tool is started. openskills finds the skills below its working directory."""
    return {
        "openskills": lambda: ["env", "-C", project, peers.openskills(), "list"],
        "skillkit": lambda: [peers.skillkit(), "-c", peers.DISCOVER_SKILLKIT, root],
        "agentskills-fs": lambda: [peers.sdk(), "-c", peers.REGISTER_SDK, root],
    }
