"""Many tasks in several processes on one store: one history, whole batches, the cap, no leak between sessions.

`PROWESS_STRESS` says how many calls are made in all; `make stress` makes 10 000.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.lowlevel
import pytest

from prowess.catalog import Catalog
from prowess.errors import StoreError
from prowess.runtime import Session
from prowess.runtime.state import from_json
from prowess.store import SqliteSessionStore, open_store
from tests.runtime.crowd import CAP, PAIRS, SHARED, TASKS, opened, require_whole
from tests.runtime.making import failure, names, result, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.postgresql import Postgresql

pytestmark = pytest.mark.anyio

_CALLS = int(os.environ.get("PROWESS_STRESS", "600"))
_SECONDS = 60 + _CALLS / 20  # a bound for a machine that does much else
_ROOT = Path(__file__).parents[2]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    root = tmp_path / "skills"
    for number in range(PAIRS):
        for letter in "ab":
            write_skill(root, f"{letter}{number}")
    return root


def start(part: str, root: Path, store: str, seed: int, calls: int) -> tuple[subprocess.Popen[str], Path]:
    log = root.with_name(f"{part}-{seed}.jsonl")
    task = {"part": part, "root": str(root), "store": store, "log": str(log), "seed": seed, "calls": calls}
    command = [sys.executable, "-m", "tests.runtime.crowd", json.dumps(task)]
    return subprocess.Popen(command, cwd=_ROOT, stderr=subprocess.PIPE, text=True), log


def finish(workers: Sequence[subprocess.Popen[str]]) -> None:
    for worker in workers:
        _, errors = worker.communicate(timeout=_SECONDS)
        assert worker.returncode == 0, errors


def lines(*logs: Path) -> Iterator[dict[str, Any]]:
    for log in logs:
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
            yield json.loads(line)


def applied(before: Sequence[str], op: Sequence[Any]) -> list[str] | None:
    """Return what a call leaves active, told without the code that is tested; None where it must be refused."""
    kind, asked = op[0], op[1]
    match kind:
        case "broken":
            return None
        case "unload":
            return [name for name in before if name not in asked]
        case "replace":
            after = list(asked)
        case _:
            after = [*before, *(name for name in asked if name not in before)]
    return after if len(after) <= CAP else None


def one_history(logs: Sequence[Path], victims: Sequence[Path]) -> list[list[str]]:
    """Return what was active in each version, having checked that each followed from the one before.

    A write that won without a line is one that a killed process wanted. Where it wanted several at that version, the
    next version tells which it was.
    """
    won: dict[int, dict[str, Any]] = {}
    for line in lines(*logs, *victims):
        if "won" in line:
            assert won.setdefault(line["won"]["version"], line["won"]) is line["won"], "two writes made one version"
    wanted = [line["wants"] for line in lines(*victims) if "wants" in line]
    ways: list[list[list[str]]] = [[[], []]]  # there is no version 0, and version 1 is empty
    unheard = 0
    for version in range(2, max(won) + 1):
        unheard += version not in won
        writes = [won[version]] if version in won else [write for write in wanted if write["version"] == version]
        after = [
            [*way, write["names"]]
            for way in ways
            for write in writes
            if applied(way[-1], write["op"]) == write["names"]
        ]
        assert after, f"version {version} does not follow from {[way[-1] for way in ways]}: {writes}"
        ways = after
    assert unheard <= len(victims)
    for names_then in ways[0]:
        require_whole(names_then)
    return ways[0]


def require_explained(call: dict[str, Any], history: Sequence[Sequence[str]]) -> None:
    """Refuse an answer that no moment between the call and its end explains."""
    if call["wrote"] is not None:
        assert call["since"] < call["wrote"] <= call["until"]
        assert call["names"] == history[call["wrote"]] == applied(history[call["wrote"] - 1], call["call"]), call
        return
    moments = history[max(1, call["since"]) : call["until"] + 1]
    if call["names"] is not None:  # it changed nothing: everything was as it asked for
        assert any(call["names"] == now == applied(now, call["call"]) for now in moments), (call, moments)
    elif call["call"][0] == "broken":
        assert call["code"] == "skill_not_found", call
    else:
        assert call["code"] == "limit_exceeded", call
        assert any(applied(now, call["call"]) is None for now in moments), (call, moments)


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"sqlite:///{tmp_path}/state.db"
    server: Postgresql = request.getfixturevalue("postgresql")
    return server.store_url()


@pytest.mark.unmeasured
@pytest.mark.proves("runtime.session.linear", "runtime.session.cap-never-exceeded", "runtime.load.atomic")
async def test_all_calls_of_two_processes_and_of_one_that_is_killed_are_one_history(pairs: Path, url: str) -> None:
    each = _CALLS // (4 if url.startswith("sqlite:") else 12)  # a server takes three times as long
    started = [start("one", pairs, url, seed, each) for seed in (1, 2)]
    victims = []
    for seed in range(3, 4 + _CALLS // 5000):
        victim, log = start("one", pairs, url, seed, 10**6)
        victims.append(log)
        until = time.monotonic() + _SECONDS
        while sum("won" in line for line in lines(log)) < 10:
            assert victim.poll() is None, victim.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)  # noqa: ASYNC251 -- nothing else runs in this loop
        victim.send_signal(signal.SIGKILL)
        victim.communicate(timeout=_SECONDS)
    finish([worker for worker, _ in started])
    logs = [log for _, log in started]

    history = one_history(logs, victims)
    calls = [line for line in lines(*logs, *victims) if "call" in line]
    for call in calls:
        require_explained(call, history)
    assert len(calls) >= each * 2
    assert {call["code"] for call in calls} == {None, "limit_exceeded", "skill_not_found"}
    assert len(history) > len(calls) / 4  # most of it was work
    assert all(max(line.get("looks", 0) for line in lines(log)) > 10 for log in logs)

    store = opened(url)
    row = await store.get(SHARED)
    assert row is not None
    assert row.version == len(history) - 1
    assert list(from_json(row.state).names) == history[-1]
    session = Session(Catalog(pairs), store=store, session_id=SHARED, cap=CAP)
    assert names(await session.load(["a0", "b0"])) == ["a0", "b0"]
    await store.close()


@pytest.mark.unmeasured
@pytest.mark.proves("runtime.session.isolated")
def test_no_session_sees_the_skills_or_the_restrictions_of_another(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    write_skill(root, "left-only", extra="allowed-tools: left\n")
    write_skill(root, "right-only", extra="allowed-tools: right\n")
    write_skill(root, "free")
    started = [
        start("many", root, f"sqlite:///{tmp_path}/state.db", seed, max(_CALLS // 4, 3 * TASKS)) for seed in (1, 2)
    ]
    finish([worker for worker, _ in started])
    for _, log in started:
        assert sum(line["calls"] for line in lines(log)) >= _CALLS // 4


# ── a store that fails ───────────────────────────────────────────────────────────────────────────────────


async def test_a_load_into_a_full_store_changes_nothing_and_works_when_there_is_room(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    write_skill(root, "small")
    write_skill(root, "large", extra="metadata:\n" + "".join(f"  key{n}: {'x' * 900}\n" for n in range(40)))
    store = SqliteSessionStore(tmp_path / "state.db")
    session = Session(Catalog(root), store=store)
    await session.load(["small"])
    before = await store.get(session.session_id)
    connection = store._connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")

    for mode in ("add", "replace"):
        refused = failure(await session.call("skills.load", {"names": ["small", "large"], "mode": mode}))
        assert (refused["code"], "full" in refused["message"]) == ("store_unavailable", True)
        after = await store.get(session.session_id)
        assert before is not None
        assert after is not None
        assert (after.version, after.state) == (before.version, before.state)
        assert [skill.name for skill in session.active_skills] == ["small"]

    connection.execute(f"PRAGMA max_page_count = {pages + 100}")
    assert names(result(await session.call("skills.load", {"names": ["large"], "mode": "add"}))) == ["small", "large"]
    await store.close()


async def test_a_load_into_a_locked_store_changes_nothing_and_works_when_it_is_free(
    pairs: Path, tmp_path: Path
) -> None:
    database = tmp_path / "state.db"
    store = SqliteSessionStore(database, busy_seconds=0.05)
    session = Session(Catalog(pairs), store=store)
    await session.load(["a0"])

    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused = failure(await session.call("skills.load", {"names": ["a1", "b1"], "mode": "add"}))
        assert refused["code"] == "store_unavailable"
        assert "try again" in refused["message"]
        assert [skill.name for skill in session.active_skills] == ["a0"]
        with pytest.raises(StoreError):
            await session.unload(all=True)
        other.execute("ROLLBACK")

    assert names(await session.load(["a1", "b1"], "add")) == ["a0", "a1", "b1"]
    await store.close()


async def test_calls_are_refused_while_the_server_of_the_store_is_away_and_work_when_it_is_back(
    pairs: Path, postgresql: Postgresql
) -> None:
    async with open_store(postgresql.store_url()) as store, Session(Catalog(pairs), store=store) as session:
        session.function(always)
        await session.load(["a0"])
        await session.load(["b0"], "add")
        postgresql.stop()
        for tool, arguments in (("skills.load", {"names": ["a1"], "mode": "add"}), ("skills.read", {"skill": "a0"})):
            refused = failure(await session.call(tool, arguments))
            assert refused["code"] == "store_unavailable"
        assert failure(await session.call("always", {}))["code"] == "store_unavailable"
        postgresql.start()
        assert result(await session.call("always", {})) == {"result": "called"}
        assert names(result(await session.call("skills.load", {"names": ["a1"], "mode": "add"}))) == ["a0", "b0", "a1"]


async def always() -> str:
    """Answer."""
    await anyio.lowlevel.checkpoint()
    return "called"
