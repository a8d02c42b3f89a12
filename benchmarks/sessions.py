"""Sessions over 10 000 skills: lists within their budget, and what a call costs against one over 100 skills.

Each figure is the least processor time of several processes, run in turns. The scan is one without an index on disk,
in the same process. The MCP call goes through the SDK's client in the same process, so the client's time is included.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from benchmarks.corpora import write_corpus
from benchmarks.figures import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_MANY, _FEW = 10_000, 100
_UNCHANGED = 2.1  # seconds until a file that was written counts as unchanged
_MOST_ROUNDS = 5
_PHRASE, _QUERY = "sort the receipts and check them", "archives of photos and contracts"

_MEASURED = """
import json, sys, time
import anyio
from mcp import Client
from prowess.catalog import Catalog
from prowess.mcp_server.server import build_server, open_session
from prowess.runtime import Session

async def main(root, phrase, query):
    taken, texts = {}, {}

    def note(name, begun):
        taken[name] = min(taken.get(name, 1e9), (time.process_time() - begun) * 1000)

    for name, index in (("scan", False), ("from_index", True)):
        begun = time.process_time()
        catalog = Catalog(root, index=index)
        catalog.entries()
        note(name, begun)
    session = Session(catalog)
    begun = time.process_time()
    texts["tokens"] = session.disclose().tokens["available"]
    note("first", begun)
    begun = time.process_time()
    session.tools(exposure="skill")
    note("tool", begun)
    for _ in range(20):
        begun = time.process_time()
        session.instructions()
        session.tools()
        note("later", begun)
    await session.call("skills.load", {"names": ["words to build the postings"]})
    for _ in range(3):
        begun = time.process_time()
        await session.call("skills.load", {"names": [phrase]})
        note("phrase", begun)
    served = open_session(catalog)
    async with Client(build_server(served)) as client:
        for _ in range(4):
            begun = time.process_time()
            found = await client.call_tool("skills_list", {"query": query})
            note("query", begun)
    texts["found"] = len(found.structured_content["skills"])
    print(json.dumps(taken | texts))

anyio.run(main, *sys.argv[1:])
"""


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure sessions over two corpora that are written for it."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        roots = {count: os.path.join(place, str(count)) for count in (_FEW, _MANY)}
        for count, root in roots.items():
            write_corpus(root, count, files=False)
        time.sleep(_UNCHANGED)
        few, many = _least(roots, place, min(rounds, _MOST_ROUNDS))
    scan = f"the scan takes {many['scan']:.0f} ms, with an index on disk {many['from_index']:.0f} ms"
    return [
        _figure("list in `Session.instructions()`", many["tokens"], "tokens", 4000, "estimated as characters / 4"),
        _figure("first `Session.instructions()`, against the scan", many["first"] / many["scan"], "×", 1, scan),  # noqa: RUF001 -- the sign of multiplication
        _figure("first `Session.tools(exposure='skill')`, against the scan", many["tool"] / many["scan"], "×", 1, scan),  # noqa: RUF001 -- as above
        _figure(
            "later `instructions()` and `tools()`, against those over 100 skills",
            many["later"] / few["later"],
            "×",  # noqa: RUF001 -- as above
            4,
            f"{many['later']:.2f} ms; over 100 skills {few['later']:.2f} ms",
        ),
        _figure("`skills.load` of a phrase instead of a name", many["phrase"], "ms", 40, "with suggestions"),
        _figure(
            "MCP `skills_list` with a query", many["query"], "ms", 50, f"{many['found']:.0f} skills, client included"
        ),
    ]


def _figure(name: str, value: float, unit: str, at_most: float, note: str) -> Figure:
    return Figure(name=f"{name}, session over 10 000 skills", value=value, unit=unit, at_most=at_most, note=note)


def _least(roots: dict[int, str], place: str, rounds: int) -> list[dict[str, float]]:
    """Return the least of each number that a process prints, for each corpus."""
    printed: dict[int, list[dict[str, float]]] = {count: [] for count in roots}
    environment = {**os.environ, "PROWESS_HOME": os.path.join(place, "home")}
    for _ in range(rounds):
        for count, root in roots.items():
            command = [sys.executable, "-c", _MEASURED, root, _PHRASE, _QUERY]
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, env=environment
            )
            printed[count].append(json.loads(done.stdout))
    return [{name: min(one[name] for one in runs) for name in runs[0]} for runs in printed.values()]
