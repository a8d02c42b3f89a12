"""The tables of `state.db`, as steps from one version to the next.

A step is never edited once released; a change is a new step at the end. The version stands in the table
`schema_version`, one row, changed in the same transaction as the tables it speaks of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

STEPS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            state TEXT NOT NULL,
            touched_at REAL NOT NULL
        ) WITHOUT ROWID""",
    ),
    # Expiry looks rows up by age, in every call of every process.
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
    """Bring the file to `CURRENT`; several processes may do so at once.

    Raises:
        NewerSchemaError: the file is ahead of this program; nothing was changed.
    """
    found = _version(connection)
    if found > CURRENT:
        raise NewerSchemaError(found)
    if found == CURRENT:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = _version(connection)  # again: another process may have migrated while this one waited
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
