"""One of several processes that work on one store at once, with many tasks each; what it did goes to a log.

    python -m tests.runtime.crowd '{"part": "one", "root": …, "store": URL, "log": …, "seed": 1, "calls": 200}'

In the part `one` all tasks of all processes share a session. Before each write of the state its intent is logged, and
after it that it won, so that the log of a process that was killed lacks at most one answer. In the part `many` each
task has a session of its own and tries after each change what it may call.
"""

from __future__ import annotations

import json
import os
import random
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.runtime.state import from_json
from prowess.store import MemorySessionStore, open_store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from prowess.store import SessionRow, SharedSessionStore, SqliteSessionStore
    from prowess.tools import ToolResult

CAP = 6
PAIRS = 5  # a0 and b0 and so on, always loaded and unloaded together
TASKS = 64
SHARED = "shared"
_OBJECTS = 8  # sessions of one process under the shared id: nothing in the process puts their calls in order

Op = list[Any]  # kind, names
_op: ContextVar[Op | None] = ContextVar("op", default=None)


class Log:
    """Lines of JSON, each written by one call, so that a killed process leaves no half of one."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def note(self, **facts: object) -> None:
        os.write(self._fd, json.dumps(facts).encode() + b"\n")


class Recorder:
    """Logs each write of the state to `store`, and knows the newest version that this process has seen."""

    def __init__(self, store: SqliteSessionStore | SharedSessionStore, log: Log) -> None:
        self._get, self._replace, self._log, self.newest = store.get, store.replace, log, 0
        store.get, store.replace = self.get, self.replace  # type: ignore[method-assign]  # the store stays of its class

    async def get(self, session_id: str) -> SessionRow | None:
        row = await self._get(session_id)
        self.newest = max(self.newest, 0 if row is None else row.version)
        return row

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        op = _op.get()
        assert op is not None
        write = {"version": row.version, "op": op[:2], "names": from_json(row.state).names}
        self._log.note(wants=write)
        won = await self._replace(row, expected_version=expected_version)
        if won:
            op.append(row.version)
            self._log.note(won=write)
            self.newest = max(self.newest, row.version)
        return won


def opened(url: str) -> SqliteSessionStore | SharedSessionStore:
    """Open a store that processes share."""
    store = open_store(url)
    assert not isinstance(store, MemorySessionStore)
    return store


def drawn(draw: random.Random) -> Op:
    """Draw what a task does next: whole pairs come and go, and some loads must fail as a whole."""
    pairs = [[f"a{n}", f"b{n}"] for n in draw.sample(range(PAIRS), draw.choice([1, 1, 2]))]
    names = [name for pair in pairs for name in pair]
    return [draw.choices(["add", "replace", "unload", "broken"], [5, 2, 2, 1])[0], names]


async def act(session: Session, op: Op) -> ToolResult:
    """Do what was drawn."""
    kind, names = op[0], op[1]
    match kind:
        case "unload":
            return await session.call("skills.unload", {"names": names})
        case "broken":
            return await session.call("skills.load", {"names": [*names, "no-such-skill"], "mode": "add"})
        case _:
            return await session.call("skills.load", {"names": names, "mode": kind})


async def one(given: dict[str, Any]) -> None:
    """Share a session with everybody; watch it all the while."""
    log = Log(given["log"])
    store, catalog = opened(given["store"]), Catalog(given["root"])
    recorder = Recorder(store, log)
    sessions = [Session(catalog, store=store, session_id=SHARED, cap=CAP, scripts=False) for _ in range(_OBJECTS)]
    left = given["calls"]

    async def work(number: int) -> None:
        nonlocal left
        draw = random.Random(given["seed"] * 1000 + number)
        session = sessions[number % _OBJECTS]
        while left > 0:
            left -= 1
            op = drawn(draw)
            _op.set(op)
            since = recorder.newest
            result = await act(session, op)
            wrote = op[2] if len(op) > 2 else None
            receipt: Any = result.result
            names = [skill["name"] for skill in receipt["active_skills"]] if result.success else None
            code = None if result.error_detail is None else result.error_detail["code"]
            log.note(call=op[:2], since=since, until=recorder.newest, wrote=wrote, names=names, code=code)

    async def watch() -> None:
        looks, version = 0, 0
        other = opened(given["store"])
        while True:
            row = await other.get(SHARED)
            if row is not None:
                assert row.version >= version, (row.version, version)
                version = row.version
                require_whole(list(from_json(row.state).names))
            for session in sessions:
                require_whole([skill.name for skill in session.active_skills])
            looks += 1
            log.note(looks=looks)
            await anyio.sleep(0.002)

    async with anyio.create_task_group() as watching:
        watching.start_soon(watch)
        async with anyio.create_task_group() as group:
            for number in range(TASKS):
                group.start_soon(work, number)
        watching.cancel_scope.cancel()


def require_whole(names: list[str]) -> None:
    """Refuse what nobody may ever see: more than the cap, a name twice, half of a batch."""
    assert len(names) <= CAP, names
    assert len(set(names)) == len(names), names
    assert all((f"a{n}" in names) == (f"b{n}" in names) for n in range(PAIRS)), names


async def many(given: dict[str, Any]) -> None:
    """Give each task a session of its own, and try after each change what it may call."""
    log = Log(given["log"])
    store, catalog = opened(given["store"]), Catalog(given["root"])
    left = given["calls"]
    permitted = {"left-only": {"left"}, "right-only": {"right"}, "free": {"left", "right"}}

    async def work(number: int) -> None:
        nonlocal left
        draw = random.Random(given["seed"] * 1000 + number)
        tag = f"{given['seed']}-{number}"
        session = Session(catalog, store=store, session_id=tag, scripts=False)
        for side in ("left", "right"):
            session.function(_tool(side, tag))
        active: list[str] = []
        while left > 0:
            left -= 3
            if active and draw.random() < 0.3:
                active = []
                await session.unload(all=True)
            else:
                active = [draw.choice(list(permitted))]
                await session.load(active)
            assert [skill.name for skill in session.active_skills] == active, (tag, active)
            for side in ("left", "right"):
                result = await session.call(side, {})
                if all(side in permitted[name] for name in active):
                    assert result.success, (tag, active, side, result.error)
                    assert result.result == {"result": tag}, (tag, result.result)
                else:
                    assert result.error_detail is not None, (tag, active, side, result)
                    assert result.error_detail["code"] == "tool_not_allowed", result.error_detail
            log.note(calls=3)

    async with anyio.create_task_group() as group:
        for number in range(TASKS):
            group.start_soon(work, number)


def _tool(side: str, tag: str) -> Callable[[], Awaitable[str]]:
    async def tool() -> str:
        await anyio.lowlevel.checkpoint()
        return tag

    tool.__name__, tool.__doc__ = side, f"Say whose {side} this is."
    return tool


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    anyio.run({"one": one, "many": many}[task["part"]], task)
