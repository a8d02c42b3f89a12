"""Reads lines as JSON-RPC messages. An invalid line is answered with an error, and the next line is read.

The SDK alone would drop an invalid line without an answer, and would read lines of any length.

Source: JSON-RPC 2.0, section 5.1.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio
from anyio import to_thread
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCNotification
from mcp.types import jsonrpc_message_adapter as messages
from pydantic import ValidationError

from prowess._internal.text.terminal_text import is_unicode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.shared._stream_protocols import WriteStream

MAX_LINE_BYTES = 4 * 1024 * 1024


class MessageLines:
    """Yields the valid messages, for `stdio_server(stdin=…)`. Errors are sent to the stream given to `answer_on`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._answers: WriteStream[SessionMessage] | None = None
        self._ready = anyio.Event()

    def answer_on(self, answers: WriteStream[SessionMessage]) -> None:
        """Set the stream for errors. No line is read before this call."""
        self._answers = answers
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each valid message; answer invalid lines with an error and skip blank lines."""
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
    """Return the text of a valid message, an error to send, or None for a blank line or a malformed notification."""
    if line.isspace():
        return None
    try:
        message = messages.validate_json(line, by_name=False)
    except ValidationError:
        return _fault(line)
    # If the id of a request has a wrong type, the SDK takes the request for a notification and never answers it.
    suspect = isinstance(message, JSONRPCNotification) and b'"id"' in line
    return (_fault(line) if suspect else None) or line.decode()


def _fault(line: bytes) -> JSONRPCError | None:
    try:
        value: Any = json.loads(line.decode())
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "the line is not JSON in UTF-8")
    if isinstance(value, list):
        return _error(None, INVALID_REQUEST, "batches are not supported: send one message per line")
    if not isinstance(value, dict):
        return _error(None, INVALID_REQUEST, "a message must be a JSON object")
    number = value.get("id")
    known = number if type(number) in {str, int} and is_unicode(str(number)) else None
    if value.get("jsonrpc") == "2.0" and isinstance(value.get("method"), str):
        if "id" not in value:
            return None
        if known is not None and not isinstance(value.get("params", {}), dict):
            return _error(known, INVALID_PARAMS, "params must be an object")
    return _error(
        known, INVALID_REQUEST, 'a message needs "jsonrpc": "2.0", a method, and a string or an integer as id'
    )


def _error(number: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))
