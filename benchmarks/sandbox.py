"""What the sandbox adds to a process that does nothing, and what a whole tool call with its audit record adds.

The three are run in turns, so that a busy machine slows all of them alike; the difference of medians is what counts.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

import anyio

from benchmarks.figures import Figure
from prowess.audit.log import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.errors import SandboxUnavailableError
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from prowess.execution.request import ExecRequest
from prowess.runtime import Session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from benchmarks.corpora import Corpus

_WARM_UP = 3

_SKILL = "---\nname: nothing\ndescription: Does nothing, for measuring.\n---\nRun scripts/nothing.sh.\n"


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure `rounds` turns."""
    before = os.environ.get("PROWESS_HOME")
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        os.environ["PROWESS_HOME"] = os.path.join(place, "home")
        try:
            return anyio.run(_measure, place, _skill(place), rounds)
        except (SandboxUnavailableError, AssertionError) as fault:
            return [Figure(name="`Sandbox.run` and `skills.run_script`", value=None, note=str(fault))]
        finally:
            os.environ.pop("PROWESS_HOME")
            if before is not None:
                os.environ["PROWESS_HOME"] = before


def _skill(place: str) -> str:
    """Write a skill whose one script does nothing; return the script's path."""
    script = os.path.join(place, "skills", "nothing", "scripts", "nothing.sh")
    os.makedirs(os.path.dirname(script))
    for path, text in ((script, "exit 0\n"), (os.path.join(place, "skills", "nothing", "SKILL.md"), _SKILL)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return script


async def _measure(place: str, script: str, rounds: int) -> list[Figure]:
    sandbox = BubblewrapSandbox()
    request = ExecRequest(skill_dir=os.path.dirname(script), script="nothing.sh", interpreter=("/usr/bin/true",))
    audit = JsonlAuditLog(os.path.join(place, "audit.jsonl"), fsync="second")
    session = await Session.create(
        Catalog(os.path.join(place, "skills")), initial=["nothing"], sandbox=sandbox, audit=audit
    )

    async def plain_true() -> None:
        _plain("/usr/bin/true")

    async def plain_shell() -> None:
        _plain("/usr/bin/sh", script)

    async def sandboxed_true() -> None:
        assert (await sandbox.run(request)).exit_code == 0

    async def whole_call() -> None:
        result = await session.call("skills.run_script", {"path": "scripts/nothing.sh"})
        assert result.success, result.error

    plain, sandboxed, shell, call = await _in_turns(rounds, [plain_true, sandboxed_true, plain_shell, whole_call])
    await session.close()
    return [
        Figure(
            name=name, value=more, unit="ms", at_most=bound, note=f"wall time above that of {what}, medians of turns"
        )
        for name, more, bound, what in (
            ("`Sandbox.run` of `true`, over a plain process", sandboxed - plain, 7, "`true`"),
            ("a whole audited `skills.run_script`, over a plain process", call - shell, 15, "`sh` with the script"),
        )
    ]


async def _in_turns(rounds: int, actions: list[Callable[[], Awaitable[None]]]) -> list[float]:
    times: list[list[float]] = [[] for _ in actions]
    for number in range(rounds + _WARM_UP):
        for action, taken in zip(actions, times, strict=True):
            began = time.perf_counter()
            await action()
            if number >= _WARM_UP:
                taken.append((time.perf_counter() - began) * 1000)
    return [statistics.median(taken) for taken in times]


def _plain(*command: str) -> None:
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
