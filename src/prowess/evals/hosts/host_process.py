"""Runs a host's program in a directory, within a time, and leaves no process of it behind."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from prowess.evals.hosts import process_supervisor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_END_SECONDS = 10.0  # the supervisor kills within five


class HostProcess:
    """One run of a program. Its output goes to `output`, its messages to `errors`, its input is `source`."""

    def __init__(self, *, source: Path, output: Path, errors: Path) -> None:
        self._source, self._output, self._errors = source, output, errors

    async def run(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: str,
        seconds: float,
        stopped: anyio.Event,
    ) -> int | None:
        """Return the exit code; None if the program was killed, because the time is up or `stopped` is set.

        Raises:
            OSError: the files cannot be written.
        """
        with ExitStack() as stack:
            output = stack.enter_context(self._output.open("wb"))
            errors = stack.enter_context(self._errors.open("wb"))
            supervisor = str(Path(process_supervisor.__file__))
            process = await anyio.open_process(
                [sys.executable, "-I", "-S", supervisor, str(self._source), *arguments],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=errors,
                env=dict(environment),
                cwd=directory,
                start_new_session=True,  # an interrupt of the terminal is for us: we end the host in order
            )
        try:
            with anyio.move_on_after(seconds):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_cancel_when, stopped, tasks.cancel_scope)
                    code = await process.wait()
                    tasks.cancel_scope.cancel()
                    return code
            return None
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)


async def _cancel_when(stopped: anyio.Event, scope: anyio.CancelScope) -> None:
    await stopped.wait()
    scope.cancel()


async def _end(process: anyio.abc.Process) -> None:
    """Close the pipe that the supervisor watches, and wait until it has killed everything."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(_END_SECONDS):
        await process.wait()
        return
    process.kill()
    await process.wait()


def passed_on() -> dict[str, str]:
    """Return the variables of the user's environment that every host gets: no credentials, no configuration."""
    return {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
