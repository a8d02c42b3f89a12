"""The server on standard input and output, until the host closes the pipe or asks it to stop.

Standard output carries the protocol and nothing else: while the server runs, the SDK keeps the real descriptor to
itself and points number 1 at standard error, so that not even a stray print of a library can break a message.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from prowess.mcp_server.server import build_server

if TYPE_CHECKING:
    from prowess.mcp_server.served_session import ServedSession

_CLOSING_SECONDS = 2.0


async def serve_stdio(session: ServedSession) -> None:
    """Serve until standard input ends, then close the session.

    SIGTERM and SIGINT cancel what runs, close the session and end the process with 128 + the signal.
    """
    await session.refresh()
    server = build_server(session)
    stopped_by: list[int] = []
    async with stdio_server() as (requests, answers):
        async with anyio.create_task_group() as tasks:
            if sys.platform != "win32":
                tasks.start_soon(_stop_on_signal, tasks.cancel_scope, stopped_by)
            await server.run(requests, answers, server.create_initialization_options())
            tasks.cancel_scope.cancel()
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            await session.close()
        if stopped_by:
            # A thread is blocked on standard input and would be waited for; everything of ours is closed by now.
            os._exit(128 + stopped_by[0])


async def _stop_on_signal(scope: anyio.CancelScope, stopped_by: list[int]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            stopped_by.append(number)
            scope.cancel()
            return
