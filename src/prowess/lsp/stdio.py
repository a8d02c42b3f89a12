"""The server on standard input and output, until the client says `exit` or closes the pipe.

Standard output carries the protocol and nothing else: the real descriptor is kept here, and number 1 points at standard
error, so that not even a stray print of a library can break a message.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO

from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.io_ import StdoutWriter

from prowess.lsp.server import build_server

if TYPE_CHECKING:
    from prowess.lsp.analysis import Load
    from prowess.lsp.server import SkillServer

MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # thirty times the longest SKILL.md that is read
_MAX_HEADER_BYTES = 4096
_PIECE = 1024 * 1024
_LENGTH = re.compile(rb"content-length:[ \t]*([0-9]{1,15})[ \t]*\r?\n", re.IGNORECASE)


def serve_stdio(load: Load) -> int:
    """Serve one client; return 0 where it asked for the end before it came, else 1, as the protocol wants it."""
    logging.getLogger("pygls").addHandler(logging.NullHandler())
    logging.getLogger("pygls").propagate = False  # defects go to the editor's log
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # nothing is kept that could be lost, and a thread waits for input
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    server = build_server(load)
    server.protocol.set_writer(StdoutWriter(output))
    return asyncio.run(_serve(server, sys.stdin.buffer))


async def _serve(server: SkillServer, source: BinaryIO) -> int:
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="input") as reader:
        while (body := await loop.run_in_executor(reader, _next_message, source)) is not None:
            try:
                message = json.loads(body, object_hook=server.protocol.structure_message)
            except Exception as fault:  # noqa: BLE001 -- one message that cannot be read must not end the server
                _refuse(server, body, fault)
                continue
            try:
                server.protocol.handle_message(message)
            except SystemExit as ended:  # the client said `exit`
                return int(bool(ended.code))
            except BrokenPipeError:
                break
            except Exception as fault:  # noqa: BLE001 -- as above
                server._report_server_error(fault, JsonRpcException)  # noqa: SLF001 -- it survives a failing report
    if not server.ended:
        server.skills.end()
    return 0 if server.ended else 1


def _refuse(server: SkillServer, body: bytes, fault: Exception) -> None:
    """Answer a call whose parameters cannot be read, which would be waited for otherwise; log anything else."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict) and "method" in message and isinstance(message.get("id"), int | str):
        refusal = JsonRpcInvalidParams(message=f"{type(fault).__name__}: the parameters cannot be read")
        server.protocol._send_response(message["id"], None, refusal.to_response_error())  # noqa: SLF001 -- no other way
    else:
        server._report_server_error(fault, JsonRpcException)  # noqa: SLF001 -- as above


def _next_message(source: BinaryIO) -> bytes | None:
    """Return the body of the next message; None at the end. One that is too long is read and dropped."""
    length = None
    while header := source.readline(_MAX_HEADER_BYTES):
        if found := _LENGTH.fullmatch(header):
            length = int(found[1])
        elif not header.strip() and length is not None:
            if length <= MAX_MESSAGE_BYTES:
                body = source.read(length)
                return body if len(body) == length else None
            while length > 0 and (piece := source.read(min(length, _PIECE))):
                length -= len(piece)
            return b"null"
    return None
