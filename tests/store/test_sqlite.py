"""The SQLite file: shared by processes, private, migrated, and clear about what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import tempfile
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.errors import StoreError
from prowess.store import SessionRow, SqliteSessionStore
from prowess.store.sqlite import CURRENT, STEPS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

ROW = SessionRow(session_id="one", version=1, state="0", touched_at=1.0)

_INCREMENT = """
import sys, anyio
from msgspec.structs import replace
from prowess.store import SqliteSessionStore

async def main():
    store = SqliteSessionStore(sys.argv[1])
    done = 0
    while done < int(sys.argv[2]):
        row = await store.get("one")
        new = replace(row, version=row.version + 1, state=str(int(row.state) + 1))
        done += await store.replace(new, expected_version=row.version)
    await store.close()

anyio.run(main)
"""


async def test_two_processes_lose_no_update(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteSessionStore(path)
    await store.create(ROW)
    command = [sys.executable, "-c", _INCREMENT, str(path), "150"]
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(anyio.run_process, command)
    row = await store.get("one")
    assert row is not None
    assert (row.state, row.version) == ("300", 301)
    await store.close()


_CREATE = """
import sys, anyio
from msgspec.structs import replace
from prowess.store import SqliteSessionStore

async def main():
    store = SqliteSessionStore(sys.argv[1])
    print(await store.count())
    await store.close()

anyio.run(main)
"""


async def test_processes_may_make_the_file_at_the_same_time(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _CREATE, str(tmp_path / "new" / "state.db")]
    counts: list[bytes] = []

    async def make() -> None:
        counts.append((await anyio.run_process(command)).stdout)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(make)
    assert counts == [b"0\n"] * 4


async def test_a_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")  # at such a lock, the switch to WAL fails at once
        other.execute("CREATE TABLE a (b)")
        release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
        release.start()
        store = SqliteSessionStore(path)
        assert await store.create(ROW)
        release.join()
    await store.close()


async def test_a_file_that_another_process_goes_on_making_is_not_waited_for_forever(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        store = SqliteSessionStore(path, busy_seconds=0.1)
        with pytest.raises(StoreError, match="locked for too long; try again"):
            await store.create(ROW)
        other.execute("ROLLBACK")
    assert await store.create(ROW)
    await store.close()


async def test_the_file_outlives_the_store(tmp_path: Path) -> None:
    first = SqliteSessionStore(tmp_path / "state.db")
    await first.create(ROW)
    await first.close()
    second = SqliteSessionStore(tmp_path / "state.db")
    assert await second.get("one") == ROW
    await second.close()


async def test_every_file_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = SqliteSessionStore(tmp_path / "deep" / "home" / "state.db")
        await store.create(ROW)
        directory = tmp_path / "deep" / "home"
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in directory.iterdir()}
        assert set(modes) == {"state.db", "state.db-wal", "state.db-shm"}
        assert set(modes.values()) == {0o600}
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700
        await store.close()
    finally:
        os.umask(before)


def _by_hand(path: Path, version: int) -> None:
    """Write a file as the program of that schema version wrote it."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        db.execute("INSERT INTO schema_version VALUES (?)", (version,))
        db.execute(
            "CREATE TABLE sessions (session_id TEXT PRIMARY KEY, version INTEGER NOT NULL,"
            " state TEXT NOT NULL, touched_at REAL NOT NULL) WITHOUT ROWID"
        )
        db.execute("INSERT INTO sessions VALUES ('one', 1, '0', 1.0)")


def _schema(path: Path) -> tuple[int, set[str]]:
    with closing(sqlite3.connect(path)) as db:
        version = db.execute("SELECT version FROM schema_version").fetchall()
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
    assert len(version) == 1
    return version[0][0], names


async def test_an_older_file_is_migrated_with_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    _by_hand(path, 1)
    store = SqliteSessionStore(path)
    assert await store.get("one") == ROW
    await store.close()
    assert _schema(path) == (CURRENT, {"events", "schema_version", "sessions", "sessions_by_age"})


async def test_a_migrated_file_has_the_schema_of_a_new_one(tmp_path: Path) -> None:
    _by_hand(tmp_path / "old.db", 1)
    for name in ("old.db", "new.db"):
        store = SqliteSessionStore(tmp_path / name)
        await store.count()
        await store.close()
    assert _schema(tmp_path / "old.db") == _schema(tmp_path / "new.db")


async def test_a_failing_migration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.db"
    _by_hand(path, 1)
    monkeypatch.setattr("prowess.store.sqlite.STEPS", (*STEPS, ("CREATE TABLE late (x)", "no SQL at all")))
    store = SqliteSessionStore(path)
    with pytest.raises(StoreError, match="syntax error"):
        await store.count()
    await store.close()
    assert _schema(path) == (1, {"schema_version", "sessions"})


async def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    _by_hand(path, CURRENT + 1)
    store = SqliteSessionStore(path)
    with pytest.raises(StoreError, match=f"schema version {CURRENT + 1}.*upgrade Prowess"):
        await store.get("one")
    await store.close()
    assert _schema(path) == (CURRENT + 1, {"schema_version", "sessions"})


async def test_a_corrupt_file_is_a_store_error(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"this is no database, and long enough to be looked at" * 100)
    store = SqliteSessionStore(path)
    with pytest.raises(StoreError, match="not a database; move the file away"):
        await store.get("one")
    await store.close()


async def test_a_damaged_page_is_a_store_error(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteSessionStore(path)
    for number in range(200):
        await store.create(SessionRow(session_id=f"{number:04}", version=1, state="x" * 400, touched_at=1.0))
    await store.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    damaged = SqliteSessionStore(path)
    with pytest.raises(StoreError, match="move the file away"):
        await damaged.expire(5.0)
    await damaged.close()


_AS_NOBODY = """
import sys, os, anyio
import anyio._backends._asyncio  # before the interpreter's own files are out of reach
from prowess.store import SqliteSessionStore, SessionRow
from prowess.errors import StoreError
me = os.geteuid()
if me == 0:
    os.seteuid(65534)

async def main():
    store = SqliteSessionStore(sys.argv[1])
    try:
        await store.create(SessionRow(session_id="one", version=1, state="", touched_at=1.0))
    except StoreError as fault:
        print(fault)
    await store.close()

anyio.run(main)
os.seteuid(me)
"""


@pytest.mark.parametrize("present", [False, True])
async def test_a_read_only_directory_is_a_store_error(*, present: bool) -> None:
    # Not below tmp_path, which another user (root writes everywhere) could not enter.
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "state.db")
        if present:
            store = SqliteSessionStore(path)
            await store.create(ROW)
            await store.close()
            os.chmod(path, 0o444)
        os.chmod(home, 0o555)
        command = [sys.executable, "-c", _AS_NOBODY, path]
        done = await anyio.run_process(command, check=False)
        os.chmod(home, 0o755)
    assert (done.returncode, done.stderr) == (0, b"")
    assert path in done.stdout.decode()


async def test_a_directory_in_the_place_of_the_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "state.db").mkdir()
    store = SqliteSessionStore(tmp_path / "state.db")
    with pytest.raises(StoreError, match="permissions"):
        await store.get("one")
    await store.close()


async def test_a_file_in_the_place_of_the_directory_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    store = SqliteSessionStore(tmp_path / "home" / "state.db")
    with pytest.raises(StoreError):
        await store.get("one")
    await store.close()


async def test_the_wait_for_a_busy_file_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteSessionStore(path, busy_seconds=0.1)
    await store.create(ROW)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with pytest.raises(StoreError, match="locked for too long; try again"):
            await store.touch("one", 5.0)
        assert time.monotonic() - begun < 20
        assert await store.get("one") == ROW  # a reader does not wait
        other.execute("ROLLBACK")
    assert await store.touch("one", 5.0)
    await store.close()


async def test_a_cancelled_write_has_happened_or_not_and_the_store_goes_on(tmp_path: Path) -> None:
    store = SqliteSessionStore(tmp_path / "state.db")
    await store.create(ROW)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.touch("one", 5.0)
    row = await store.get("one")
    assert row is not None
    assert row.touched_at in (1.0, 5.0)
    await store.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
async def test_a_forked_process_opens_the_file_for_itself(tmp_path: Path) -> None:
    store = SqliteSessionStore(tmp_path / "state.db")
    await store.create(ROW)
    mine = store._connection
    store._owner += 1  # as in a child: the connection belongs to another process
    assert await store.get("one") == ROW
    assert store._connection is not mine
    assert mine is not None
    mine.close()
    await store.close()
