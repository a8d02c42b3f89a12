"""Session store in an SQLite file that several processes share.

The file is in WAL mode, so readers never wait; a writer waits for another writer for at most `BUSY_SECONDS`. Every
write is one statement or one immediate transaction, so `replace` is an atomic compare-and-swap between processes.
Blocking calls run in a worker thread, one at a time for each store.

The schema is built by migration steps from one version to the next. A released step is never edited; a change is a new
step at the end. The version is the one row of the table `schema_version`. A step changes the version in the transaction
that changes the other tables.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Self, TypeVar

from anyio import CancelScope, to_thread

from prowess._internal.places import ensure_private_directory
from prowess.errors import StoreError
from prowess.store.protocols import KeptEvent, SessionRow

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            state TEXT NOT NULL,
            touched_at REAL NOT NULL
        ) WITHOUT ROWID""",
    ),
    # Expiry searches rows by age, and every process runs it in every call.
    ("CREATE INDEX sessions_by_age ON sessions (touched_at)",),
    (
        """CREATE TABLE events (
            session_id TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            at REAL NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (session_id, sequence)
        ) WITHOUT ROWID""",
    ),
)
CURRENT = len(STEPS)


class NewerSchemaError(Exception):
    """The file was written by a newer version; `found` is its schema version."""

    def __init__(self, found: int) -> None:
        super().__init__(found)
        self.found = found


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate the file to the version `CURRENT`; several processes may do this at the same time.

    Raises:
        NewerSchemaError: the file is newer than this program; it was not changed.
    """
    found = _version(connection)
    if found > CURRENT:
        raise NewerSchemaError(found)
    if found == CURRENT:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)  # another process may have migrated during the wait
        if found == 0:
            connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
            connection.execute("INSERT INTO schema_version VALUES (0)")
        for step in STEPS[found:]:
            for statement in step:
                connection.execute(statement)
        connection.execute("UPDATE schema_version SET version = ?", (CURRENT,))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    known = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'"
    ).fetchone()
    if known is None:
        return 0
    row = connection.execute("SELECT version FROM schema_version").fetchone()
    return 0 if row is None else int(row[0])


BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01
_LARGEST = 2**63 - 1  # largest integer in SQLite
_TRIMMED_EVERY = 16  # events between two trims, so up to this many more than `keep` remain
_T = TypeVar("_T")


def _row(db: sqlite3.Connection, session_id: str) -> SessionRow | None:
    sql = "SELECT version, state, touched_at FROM sessions WHERE session_id = ?"
    found = db.execute(sql, (session_id,)).fetchone()
    if found is None:
        return None
    return SessionRow(session_id=session_id, version=found[0], state=found[1], touched_at=found[2])


class SqliteSessionStore:
    """A `SessionStore` and `EventStore` in one file.

    The file at `path` is created on first use (mode 0600, in a directory with mode 0700). `busy_seconds` limits the
    wait for another process's write. Call `close` when done, or use the store with `with` or `async with`.
    """

    def __init__(self, path: str | os.PathLike[str], *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = os.path.abspath(path)
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0  # process that opened the connection; SQLite connections must not be used after a fork
        self._closed = False

    @property
    def url(self) -> str:
        """`sqlite:///` and the absolute path."""
        return f"sqlite:///{self._path}"

    async def create(self, row: SessionRow) -> bool:
        """Add a row; return False if the id exists."""
        sql = "INSERT INTO sessions VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        return await self._changes(sql, (row.session_id, row.version, row.state, row.touched_at))

    async def get(self, session_id: str) -> SessionRow | None:
        """Return the row, or None."""
        return await self._do(lambda db: _row(db, session_id))

    def peek(self, session_id: str) -> SessionRow | None:
        """Return the row; None if there is no row or no file."""
        return self._work(lambda db: _row(db, session_id)) if os.path.exists(self._path) else None

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        """Replace the row if it has `expected_version`; return whether it was replaced."""
        sql = "UPDATE sessions SET version = ?, state = ?, touched_at = ? WHERE session_id = ? AND version = ?"
        return await self._changes(sql, (row.version, row.state, row.touched_at, row.session_id, expected_version))

    async def touch(self, session_id: str, at: float) -> bool:
        """Set the time of the last touch to `at`, unless the stored time is later. Return False if there is no row."""
        return await self._changes(
            "UPDATE sessions SET touched_at = max(touched_at, ?) WHERE session_id = ?", (at, session_id)
        )

    async def delete(self, session_id: str) -> bool:
        """Remove the row; return False if there is none."""
        return await self._changes("DELETE FROM sessions WHERE session_id = ?", (session_id,))

    async def expire(self, before: float) -> list[str]:
        """Remove rows last touched before the time `before`, and old events of removed sessions. Return row ids."""
        sql = "DELETE FROM sessions WHERE touched_at < ? RETURNING session_id"

        def work(db: sqlite3.Connection) -> list[str]:
            gone = sorted(row[0] for row in db.execute(sql, (before,)).fetchall())
            db.execute(
                "DELETE FROM events WHERE at < ? AND session_id NOT IN (SELECT session_id FROM sessions)", (before,)
            )
            return gone

        return await self._do(work)

    async def count(self) -> int:
        """Return the number of rows."""
        return await self._do(lambda db: int(db.execute("SELECT count(*) FROM sessions").fetchone()[0]))

    async def append_event(self, session_id: str, body: str, *, at: float, keep: int) -> int:
        """Append one event and return its number."""
        sql = (
            "INSERT INTO events SELECT ?, coalesce(max(sequence), 0) + 1, ?, ? FROM events WHERE session_id = ? "
            "RETURNING sequence"
        )

        def work(db: sqlite3.Connection) -> int:
            # One statement, so no other process can take the same number.
            sequence = int(db.execute(sql, (session_id, at, body, session_id)).fetchall()[0][0])
            if sequence % _TRIMMED_EVERY == 0:
                db.execute("DELETE FROM events WHERE session_id = ? AND sequence <= ?", (session_id, sequence - keep))
            return sequence

        return await self._do(work)

    async def events_after(self, session_id: str, sequence: int, limit: int) -> list[KeptEvent]:
        """Return the first `limit` events with a number above `sequence`."""
        sql = "SELECT sequence, body FROM events WHERE session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?"
        values = (session_id, min(sequence, _LARGEST), min(limit, _LARGEST))
        rows = await self._do(lambda db: db.execute(sql, values).fetchall())
        return [KeptEvent(sequence=row[0], body=row[1]) for row in rows]

    async def last_event(self, session_id: str) -> int:
        """Return the highest event number, or 0."""
        sql = "SELECT coalesce(max(sequence), 0) FROM events WHERE session_id = ?"
        return await self._do(lambda db: int(db.execute(sql, (session_id,)).fetchone()[0]))

    async def close(self) -> None:
        """Close the connection. Later operations raise `StoreError`."""
        await to_thread.run_sync(self._close)

    def __enter__(self) -> Self:
        """Return the store; `with` and `async with` close it at the end."""
        return self

    def __exit__(self, *failure: object) -> None:
        self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        with CancelScope(shield=True):
            await self.close()

    async def _changes(self, sql: str, values: tuple[object, ...]) -> bool:
        return await self._do(lambda db: db.execute(sql, values).rowcount == 1)

    async def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return await to_thread.run_sync(self._work, work)

    def _work(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            try:
                return work(self._open())
            except NewerSchemaError as fault:
                reason = f"it has schema version {fault.found}, this Prowess knows {CURRENT}; upgrade Prowess"
                raise StoreError(self.url, reason) from None
            except (OSError, sqlite3.Error) as fault:
                raise StoreError(self.url, fault_reason(fault)) from fault

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(self.url, "the store is closed")
        if self._connection is None or self._owner != os.getpid():
            make_private_file(self._path)
            connection = sqlite3.connect(
                self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
            )
            try:
                self._use_wal(connection)
                # With WAL a power failure may lose the last commits, but cannot damage the file.
                connection.execute("PRAGMA synchronous = NORMAL")
                migrate(connection)
            except BaseException:
                connection.close()
                raise
            self._connection, self._owner = connection, os.getpid()
        return self._connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL mode, with retries: SQLite does not wait for a process that writes in the old mode."""
        until = time.monotonic() + self._busy_seconds
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as fault:
                if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                    raise
                time.sleep(_RETRY_SECONDS)
            else:
                return

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            if self._connection is not None and self._owner == os.getpid():
                with closing(self._connection):
                    self._connection = None


def make_private_file(path: str) -> None:
    """Create the file and SQLite's side files with mode 0600; SQLite itself would use the umask."""
    ensure_private_directory(os.path.dirname(path))
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def fault_reason(fault: OSError | sqlite3.Error) -> str:
    """Return the fault and the remedy."""
    match fault:
        case OSError():
            return fault.strerror or str(fault)
        case sqlite3.OperationalError() if "locked" in str(fault):
            return "another process kept it locked for too long; try again"
        case sqlite3.OperationalError():
            return f"{fault}; check the permissions of the file and its directory, and the space on the disk"
        case _:
            return f"{fault}; move the file away to begin a new one"
