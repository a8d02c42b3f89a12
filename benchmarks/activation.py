"""Activation inside a process: unchanged and first loads, records, instructions. On small skills written for it.

What is compared is run in turns. "Plain" is `with open(path, "rb") as file: file.read()`.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from typing import TYPE_CHECKING

import anyio

from benchmarks.figures import Figure
from prowess._internal.files import tree_digest
from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.store import SqliteSessionStore
from prowess.tools import ToolCall, ToolExecutor, ToolSpec, require_executor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from benchmarks.corpora import Corpus

_TURNS = 25  # warm calls in each round
_UNCHANGED = 2.1  # seconds until a file that was written counts as unchanged
_FILES = 100
_CANDIDATES = (1, 10, 100)
_SKILL = "---\nname: {name}\ndescription: Does nothing in particular, for measuring number {name}.\n---\nDo it.\n"


def run(_: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure everything on skills that are written for it."""
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        for number in range(max(_CANDIDATES)):
            _write(place, f"s{number}")
        _write(place, "large", {f"references/{number}.md": "x" * 4096 for number in range(_FILES - 1)})
        time.sleep(_UNCHANGED)
        return anyio.run(_measure, place, rounds)


def _write(place: str, name: str, files: dict[str, str] | None = None) -> None:
    for path, text in {"SKILL.md": _SKILL.format(name=name), **(files or {})}.items():
        file = os.path.join(place, "skills", name, path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(text)


async def _measure(place: str, rounds: int) -> list[Figure]:
    return [
        *await _warm(place, rounds),
        await _first(place, rounds),
        await _record(place, rounds),
        *[await _to_instructions(place, rounds, count) for count in _CANDIDATES],
    ]


async def _warm(place: str, rounds: int) -> list[Figure]:
    catalog = Catalog(os.path.join(place, "skills"))
    session, path = Session(catalog, scripts=False), catalog.get("s0").location
    await session.load(["s0"])
    await session.load(["s1"])

    async def plain() -> None:
        with open(path, "rb") as file:  # noqa: ASYNC230 -- it is what is measured
            file.read()

    async def bare() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        os.read(descriptor, 65536)
        os.close(descriptor)

    async def load() -> None:
        await session.load(["s0"])

    async def add() -> None:
        await session.load(["s1"], "add")

    async def unload() -> None:
        await session.unload(all=True)

    # In this order a load is an activation, its repetition, and one beside another skill. Each is measured behind one
    # of its kind, so that none finds the caches of the processor colder than another: not the first read, but the
    # second; not the first call of a tool, but those behind it.
    actions = [plain, plain, bare, unload, load, load, add, unload]
    _, plain_us, bare_us, _, activated, repeated, added, _ = await _in_turns(actions, rounds * _TURNS)
    return [
        Figure(
            name=f"`Session.load` of an unchanged skill, {what}",
            value=taken / 1000,
            unit="ms",
            at_most=0.25,
            note=f"median; a plain read of its file takes {plain_us / 1000:.4f} ms, "
            f"the bare system calls {bare_us / 1000:.4f} ms",
        )
        for what, taken in (("activation", activated), ("added to another", added), ("repeated", repeated))
    ]


async def _first(place: str, rounds: int) -> Figure:
    """Time a first load with every file hashed, state in SQLite, and the audit log synced once a second."""
    taken = []
    for number in range(rounds):
        tree_digest._cache.clear()  # noqa: SLF001 -- as in a process that has read nothing yet
        home = os.path.join(place, f"home{number}")
        os.makedirs(home, mode=0o700)
        store = SqliteSessionStore(os.path.join(home, "state.db"))
        session = Session(
            Catalog(os.path.join(place, "skills")),
            store=store,
            audit=JsonlAuditLog(os.path.join(home, "audit.jsonl"), "second"),
            scripts=False,
        )
        began = time.perf_counter()
        await session.load(["large"])
        taken.append((time.perf_counter() - began) * 1000)
        await store.close()
    return Figure(
        name=f"first load of a skill of {_FILES} files: tree digest, SQLite, audit",
        value=statistics.median(taken),
        unit="ms",
        at_most=50,
        note=f"median; shortest {min(taken):.1f} ms",
    )


async def _record(place: str, rounds: int) -> Figure:
    """Time a call that does nothing with its two records, synced once a second: the quickest, as its own cost."""
    log = JsonlAuditLog(os.path.join(place, "records", "audit.jsonl"), "second")
    executor = ToolExecutor([_Nothing()], audit=log)
    call = ToolCall(id="1", name="nothing", arguments={"path": "scripts/report.py", "env": {"LANG": "C"}})
    taken = []
    for _ in range(rounds * _TURNS):
        began = time.process_time()
        (await executor.call(call)).unwrap()
        taken.append((time.process_time() - began) * 1000)
    return Figure(
        name="a call that does nothing, with its two records in the audit log",
        value=min(taken),
        unit="ms",
        at_most=1.5,
        note=f"least processor time; median {statistics.median(taken):.2f} ms",
    )


class _Nothing:
    """A tool that does nothing."""

    spec = ToolSpec(name="nothing", description="Do nothing.", input_schema={"type": "object"})

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        return arguments


async def _to_instructions(place: str, rounds: int, count: int) -> Figure:
    """Time `skills.load` and the instructions of the next model call, where `count` skills are offered."""
    root = os.path.join(place, f"candidates{count}")
    os.makedirs(root)
    for number in range(count):
        os.symlink(os.path.join(place, "skills", f"s{number}"), os.path.join(root, f"s{number}"))
    session = Session(Catalog(root), scripts=False)
    await session.load(["s0"])

    async def step() -> None:
        await session.unload(all=True)
        began = time.perf_counter()
        await session.load(["s0"])
        session.instructions()
        taken.append((time.perf_counter() - began) * 1000)

    taken: list[float] = []
    for _ in range(rounds):
        await step()
    return Figure(
        name=f"`skills.load` to the next instructions, {count} skills offered",
        value=statistics.median(taken),
        unit="ms",
        at_most=50,
        note=f"median; shortest {min(taken):.2f} ms",
    )


async def _in_turns(actions: Sequence[Callable[[], Awaitable[None]]], turns: int) -> list[float]:
    """Return the median of each action, in microseconds."""
    times: list[list[float]] = [[] for _ in actions]
    for number in range(turns + 1):
        for action, taken in zip(actions, times, strict=True):
            began = time.perf_counter()
            await action()
            if number:
                taken.append((time.perf_counter() - began) * 1e6)
    return [statistics.median(taken) for taken in times]
