"""Why a run was killed, where that is known: a status of 137 alone says nothing to whoever wrote the script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.execution.request import MEBIBYTE
from prowess.execution.result import ExecNotice

if TYPE_CHECKING:
    from prowess.execution.request import ExecLimits

_TOO_MUCH_TIME = 128 + 24  # SIGXCPU
_TOO_LARGE = 128 + 25  # SIGXFSZ


def killed_by(status: int, limits: ExecLimits, *, out_of_memory: bool) -> tuple[ExecNotice, ...]:
    """Return one notice that names the bound which ended a process of the run, none where no bound did.

    `status` is the script's own; it is that of its last command, so a script may also go on after a kill.
    """
    if out_of_memory and limits.memory_bytes is not None:
        return (_notice(f"a process was killed; the memory limit is {_size(limits.memory_bytes)}"),)
    if status == _TOO_LARGE and limits.file_bytes is not None:
        return (_notice(f"a process was killed; the largest file it may write is {_size(limits.file_bytes)}"),)
    if status == _TOO_MUCH_TIME and limits.cpu_seconds is not None:
        return (_notice(f"a process was killed; its limit is {limits.cpu_seconds} s of processor time"),)
    return ()


def _notice(message: str) -> ExecNotice:
    return ExecNotice(code="killed", message=message)


def _size(count: int) -> str:
    return f"{count / MEBIBYTE:g} MiB"
