"""The start of `prowess serve` up to its first answer, against a server of the MCP SDK that offers nothing.

Both processes get an `initialize` request on standard input, and end when it is closed after their answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, Spent, beside, started, waited

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_EMPTY_SERVER = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def main():
    server = Server("empty")
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

anyio.run(main)
"""
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure both servers in turns."""
    (corpus,) = [one for one in corpora if one.name == "generated"]
    commands = {
        "prowess": [sys.executable, "-m", "prowess", "serve", "--root", corpus.ten],
        "sdk": [sys.executable, "-c", _EMPTY_SERVER],
    }
    taken: dict[str, list[Spent]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="prowess-bench-home-") as home:
        for turn in range(rounds + 1):
            for name, command in commands.items():
                one = _first_answer(command, home)
                if turn:  # the first turn compiles the modules
                    taken[name].append(one)
    ours, theirs = (
        Spent(processor=min(one.processor for one in runs), wall=min(one.wall for one in runs))
        for runs in (taken["prowess"], taken["sdk"])
    )
    return [
        Figure(
            name="`prowess serve` up to its first answer, against an empty server of the MCP SDK",
            corpus="generated",
            value=ours.processor / theirs.processor,
            at_most=1,
            note=f"processor time of whole processes: {beside(ours, 'the empty server', theirs)}; "
            f"first answer after {ours.wall:.2f} s and {theirs.wall:.2f} s",
        )
    ]


def _first_answer(command: Sequence[str], home: str) -> Spent:
    """Return the processor time of the whole process, and the seconds until its first answer."""
    began = time.perf_counter()
    process = started(command, home, subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        wall = time.perf_counter() - began
        process.stdin.close()
        process.stdout.read()
    processor = waited(process)
    if b'"result"' not in answer:
        message = f"{' '.join(command)} did not answer: {answer.decode(errors='replace')}"
        raise RuntimeError(message)
    return Spent(processor=processor, wall=wall)
