"""`prowess verify` of the signed skills of NVIDIA beside plain hashing of the same files, and beside model-signing.

PROWESS_NVIDIA_SKILLS names a checkout of github.com/NVIDIA/skills.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.figures import Command, Figure, beside, spent
from benchmarks.processes import PROWESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_NO_CHECKOUT = "PROWESS_NVIDIA_SKILLS names no checkout"
_HASH_ALL = """
import hashlib, os, sys
for place, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(place, name), "rb") as file:
            hashlib.sha256(file.read()).digest()
"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes over every skill of the checkout; the corpora are not used."""
    del corpora
    checkout = os.environ.get("PROWESS_NVIDIA_SKILLS", "")
    skills, root = os.path.join(checkout, "skills"), os.path.join(checkout, "nv-agent-root-cert.pem")
    commands: dict[str, Command] = {}
    missing = "" if checkout else _NO_CHECKOUT
    if checkout:
        commands["verify"] = Command(arguments=[PROWESS, "verify", skills, "--root", root, "--json"])
        commands["hashing"] = Command(arguments=[sys.executable, "-c", _HASH_ALL, skills])
        try:
            interpreter = peers.model_signing()
        except peers.PeerMissingError as fault:
            missing = str(fault)
        else:
            commands["model-signing"] = Command(arguments=[interpreter, "-c", peers.VERIFY_ALL, skills, root])
    times = spent(commands, max(3, rounds // 4)) if commands else {}
    figures = []
    for name, bound in (("hashing", 8.0), ("model-signing", 0.25)):
        other = times.get(name)
        what = "plain hashing of the same files" if name == "hashing" else name
        figures.append(
            Figure(
                name=f"`prowess verify` of the skills of NVIDIA: processor time against {what}",
                value=None if other is None else times["verify"].processor / other.processor,
                at_most=bound,
                note=missing or _NO_CHECKOUT if other is None else beside(times["verify"], name, other),
            )
        )
    return figures
