"""Processes that call a skill without pause, and note when each call began and whether it passed.

    python -m tests.governance.revocation_workers SKILLS          # a session that is bound by files
    python -m tests.governance.revocation_workers SKILLS URL      # a client of a server

One line for each call: the begin in nanoseconds of the monotonic clock, which all processes share, and 1 if it passed.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import anyio

from prowess import Catalog, SyncSession

_CALL = {"names": ["deploy"]}


def _by_files(skills: str) -> None:
    os.nice(10)  # these calls take less time than those of the servers, which share the processors
    with SyncSession(Catalog(skills)) as session:
        while True:
            begun = time.monotonic_ns()
            _note(begun, passed=session.call("skills.load", _CALL).success)


async def _by_server(url: str) -> None:
    from mcp.client.client import Client

    client: Any
    async with Client(url, mode="2026-07-28") as client:
        while True:
            begun = time.monotonic_ns()
            _note(begun, passed=not (await client.call_tool("skills_load", _CALL)).is_error)


def _note(begun: int, *, passed: bool) -> None:
    sys.stdout.write(f"{begun} {passed:d}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        anyio.run(_by_server, sys.argv[2])
    else:
        _by_files(sys.argv[1])
