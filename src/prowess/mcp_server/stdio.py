"""The server over standard input and output.

A line that is no message is answered by an error, and the next one is read: the SDK would drop it without an answer,
and reads lines of any length.

Source: JSON-RPC 2.0, section 5.1.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio
from anyio import to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from prowess._internal.text.terminal_text import is_unicode
from prowess.mcp_server.server import build_server, stop_on_signal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from mcp.shared._stream_protocols import WriteStream

    from prowess.mcp_server.served_session import ServedSession

MAX_LINE_BYTES = 4 * 1024 * 1024
_CLOSING_SECONDS = 2.0


async def serve_stdio(session: ServedSession) -> None:
    """Serve on standard input and output until the host closes the pipe, then close the session.

    Standard output carries the protocol and nothing else: while the server runs, the SDK keeps the real descriptor to
    itself and points number 1 at standard error, so that not even a stray print of a library can break a message.

    SIGTERM and SIGINT cancel what runs, close the session and end the process with 128 + the signal.
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
                # A thread is blocked on standard input and would be waited for; everything of ours is closed by now.
                os._exit(128 + stopped_by[0])


class MessageLines:
    """The lines that are messages, for `stdio_server(stdin=…)`; errors go where `answer_on` names."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._answers: WriteStream[SessionMessage] | None = None
        self._ready = anyio.Event()

    def answer_on(self, answers: WriteStream[SessionMessage]) -> None:
        """Send errors here; nothing is read before this is known."""
        self._answers = answers
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each message, and answer everything else but blank lines."""
        await self._ready.wait()
        while line := await to_thread.run_sync(self._file.readline, MAX_LINE_BYTES + 1):
            if len(line) <= MAX_LINE_BYTES:
                read = read_line(line)
            else:
                await self._pass_over(line)
                read = _error(None, INVALID_REQUEST, f"the line has more than {MAX_LINE_BYTES} bytes")
            if isinstance(read, str):
                yield read
            elif read is not None and self._answers is not None:
                await self._answers.send(SessionMessage(read))

    async def _pass_over(self, line: bytes) -> None:
        while line and not line.endswith(b"\n"):
            line = await to_thread.run_sync(self._file.readline, MAX_LINE_BYTES)


def read_line(line: bytes) -> str | JSONRPCError | None:
    """Return the text of a message, or the answer to what is none.

    None for what is not answered: a blank line, and a notification in a wrong form.
    """
    if line.isspace():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _fault(line)
    # A request whose id has a wrong type is a notification to the SDK, and would wait for an answer in vain.
    suspect = isinstance(message, JSONRPCNotification) and b'"id"' in line
    return (_fault(line) if suspect else None) or line.decode()


def _fault(line: bytes) -> JSONRPCError | None:
    try:
        value: Any = json.loads(line.decode())
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "the line is no JSON in UTF-8")
    if isinstance(value, list):
        return _error(None, INVALID_REQUEST, "batches are not served: send one message on a line")
    if not isinstance(value, dict):
        return _error(None, INVALID_REQUEST, "a message is a JSON object")
    number = value.get("id")
    known = number if type(number) in {str, int} and is_unicode(str(number)) else None
    if value.get("jsonrpc") == "2.0" and isinstance(value.get("method"), str):
        if "id" not in value:
            return None
        if known is not None and not isinstance(value.get("params", {}), dict):
            return _error(known, INVALID_PARAMS, "params must be an object")
    return _error(known, INVALID_REQUEST, "a message has jsonrpc 2.0, a method, and a text or an integer as id")


def _error(number: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))


@contextmanager
def standard_input() -> Iterator[BinaryIO]:
    """Give standard input to this server alone: until it is left, whoever else reads it finds its end.

    The descriptor is never closed: a thread may still read it when everything else has ended.
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
