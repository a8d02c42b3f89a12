"""Locks of an SQLite file: nothing in this process may drop those of its open connections."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from prowess.store import SharedDatabase
from prowess.store.shared.organisation import create_store
from prowess.store.tenants import is_shared

if TYPE_CHECKING:
    from pathlib import Path

# Opens and closes the store. SQLite removes the log of a file when its last connection is closed.
OTHER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("SELECT count(*) FROM blocks").fetchone()[0])
connection.close()
"""
ADD = "INSERT INTO blocks VALUES ('default', ?1, ?1, 'name', X'', X'', X'', '')"


def _seen_by_another_process(path: Path) -> int:
    done = subprocess.run([sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_looking_whether_a_file_is_a_shared_store_keeps_the_locks_of_open_connections(tmp_path: Path) -> None:
    path = tmp_path / "organisation.db"
    url = f"sqlite:///{path}"
    create_store(url, origin="acme", public_key="key")
    store = SharedDatabase(url)
    store.run(lambda db: db.exec_driver_sql(ADD, ("one",)))
    assert is_shared(url)
    store.of_tenant("*").run(lambda db: db.exec_driver_sql("SELECT 1"))  # a new view looks at the file as well
    assert _seen_by_another_process(path) == 1
    store.run(lambda db: db.exec_driver_sql(ADD, ("two",)))
    assert _seen_by_another_process(path) == 2
    store.close()


def test_a_file_that_is_no_shared_store_is_told_from_one(tmp_path: Path) -> None:
    for name, content in (("none.db", None), ("empty.db", b""), ("text.db", b"text" * 100), ("a?b#c%.db", None)):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        assert not is_shared(f"sqlite:///{path}")
        assert path.exists() == (content is not None)
    create_store(f"sqlite:///{tmp_path / 'a?b#c%.db'}", origin="acme", public_key="key")
    assert is_shared(f"sqlite:///{tmp_path / 'a?b#c%.db'}")
