"""`prowess load` on an enrolled machine beside one without enrolment, each in a mount namespace of its own, as root."""

from __future__ import annotations

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.figures import Command, Figure, beside, spent
from benchmarks.processes import PROWESS
from tests.governance.machine.machines import Machine, machine_in
from tests.governance.machine.served import ServedStore
from tests.http_server.samples import skill_archive
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_NAME = "`prowess load` on an enrolled machine, against the same without enrolment"
_SECONDS = 60
_POLICY = """
default = "allow"
[[rule]]
effect = "deny"
tool = "skills.*"
match = { skill.name = "leaky-*" }
[[rule]]
effect = "ask"
tool = "Bash"
match = { command = "git push:*" }
"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure whole processes; the corpora are not used."""
    del corpora
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as name, ExitStack() as stack:
        place = Path(name)
        for side in ("plain", "enrolled"):
            (place / side).mkdir()
        try:
            plain, enrolled = (stack.enter_context(machine_in(place / side)) for side in ("plain", "enrolled"))
        except pytest.skip.Exception as fault:
            return [Figure(name=_NAME, value=None, note=str(fault))]
        served = stack.enter_context(ServedStore(f"sqlite:///{place / 'organisation.db'}", place / "home"))
        _enrol(enrolled, served)
        stack.enter_context(enrolled.service())
        until = time.monotonic() + _SECONDS
        while "kept" not in enrolled.run("list").stdout:
            if time.monotonic() > until:
                raise RuntimeError("the deployed skill does not reach the machine")
        write_skill(place / "skills", "deploy", files={"references/a.md": "text\n"})
        load = [PROWESS, "load", "deploy", "--root", str(place / "skills")]
        commands = {
            side: Command(arguments=machine.command(load))
            for side, machine in (("enrolled", enrolled), ("plain", plain))
        }
        times = spent(commands, rounds)
    note = "processor time of whole processes; policy, a block and a deployed skill in the bundle"
    return [
        Figure(
            name=_NAME,
            value=times["enrolled"].processor / times["plain"].processor,
            at_most=1.25,
            note=f"{note}: {beside(times['enrolled'], 'without', times['plain'])}",
        )
    ]


def _enrol(machine: Machine, served: ServedStore) -> None:
    served.call("PUT", "/policies/base?tenant=default", {"toml": _POLICY})
    served.call("POST", "/blocks?tenant=default", {"match": {"name": "stolen"}, "reason": "stolen"})
    served.deploy(skill_archive("kept"))
    machine.write("/run/token", served.machine_token, 0o600)
    key = served.made["public_key"]
    machine.run("machine", "enroll", served.url, "--token-file", "/run/token", "--key", key)
