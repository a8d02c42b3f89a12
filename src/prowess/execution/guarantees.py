"""Guarantees of one run: each limit is either enforced, or not enforced for a stated reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.execution.result import Guarantees

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.execution.request import ExecRequest

_ALWAYS = (  # Enforced in every run on every machine, by the namespaces, the mounts and the supervision.
    "network",
    "filesystem",
    "environment",
    "user",
    "capabilities",
    "user_namespaces",
    "process_tree",
    "output_size",
    "tmp_size",
    "out_size",
)


def guarantees_of(request: ExecRequest, *, backend: str, version: str, held: Iterable[str]) -> Guarantees:
    """Return the guarantees of a run. `held` has the names of the limits that the kernel accepted."""
    limits, workspace = request.limits, request.workspace is not None
    write = request.write and workspace
    enforced = [*_ALWAYS, *held]
    if write:
        enforced.append("protected_places")
    if limits.wall_seconds is not None:
        enforced.append("wall_time")
    missing = {
        "wall_time": "no limit was requested",
        "cpu_time": "no limit of its own; the wall time ends every process",
        "file_size": "no limit was requested",
        "open_files": "no limit was requested",
        "processes": _why_not(limits.processes),
        "memory": _memory(limits.memory_bytes, held_by_process="data_size" in enforced),
        "syscalls": "Prowess has no system call filter for this machine",
    }
    if workspace:
        missing["workspace_sockets"] = "unix sockets and named pipes in the workspace can be reached"
    if write:
        missing["workspace_size"] = "writes to the workspace are limited for each file, not in total"
        missing["workspace_programs"] = (
            "files that other programs run (build files, repositories further down, settings that are not listed) "
            "can be written; only listed places at the top of the workspace stay read-only"
        )
    return Guarantees(
        backend=backend,
        version=version,
        tier=1,
        network="none",
        filesystem=_filesystem(skill=request.command is None, workspace=workspace, write=write),
        enforced=tuple(enforced),
        not_enforced=tuple((name, why) for name, why in missing.items() if name not in enforced),
    )


def _memory(limit: int | None, *, held_by_process: bool) -> str:
    if limit is None or not held_by_process:
        return _why_not(limit)
    return f"{_why_not(limit)}; each process is limited to {limit} bytes of private memory"


def _why_not(limit: int | None) -> str:
    return "no limit was requested" if limit is None else "no writable control group on this machine"


def _filesystem(*, skill: bool, workspace: bool, write: bool) -> str:
    place = f"workspace {'read-write' if write else 'read-only'}" if workspace else "no workspace"
    return f"{'skill read-only, ' if skill else ''}{place}, system read-only, nothing else"
