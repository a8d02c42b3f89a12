"""The MCP server over standard input and output."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio
from mcp.server.stdio import stdio_server

from prowess.http_listener.stop_signals import stop_on_signal
from prowess.mcp_server.message_lines import MessageLines
from prowess.mcp_server.server import build_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.mcp_server.served_session import ServedSession

_CLOSING_SECONDS = 2.0


async def serve_stdio(session: ServedSession) -> None:
    """Serve on standard input and output until the host closes the pipe, then close the session.

    Standard output carries only protocol messages. While the server runs, the SDK uses a private copy of the descriptor
    and redirects descriptor 1 to standard error, so that a stray print of a library cannot break a message.

    SIGTERM and SIGINT cancel running calls, close the session and end the process with status 128 + the signal.
    """
    await session.refresh()
    server = build_server(session)
    stopped_by: list[int] = []
    with standard_input() as file:
        lines = MessageLines(file)
        async with stdio_server(stdin=cast("Any", lines)) as (requests, answers):
            lines.answer_on(answers)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stop_on_signal, tasks.cancel_scope.cancel, stopped_by)
                await server.run(requests, answers, server.create_initialization_options())
                tasks.cancel_scope.cancel()
            with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
                await session.close()
            if stopped_by:
                # A normal exit would wait for a thread that is blocked on standard input. The session is closed by now.
                os._exit(128 + stopped_by[0])


@contextmanager
def standard_input() -> Iterator[BinaryIO]:
    """Context manager: give this server exclusive use of standard input. Meanwhile descriptor 0 reads as empty.

    The copied descriptor is never closed, because a thread may still be reading it when the block ends.
    """
    if os.name != "posix":
        yield sys.stdin.buffer
        return
    own = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        yield os.fdopen(own, "rb", closefd=False)
    finally:
        os.dup2(own, 0)
