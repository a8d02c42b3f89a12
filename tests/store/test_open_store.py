"""A URL names a store, and a wrong one is no secret's way out."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.errors import MissingExtraError, StoreError
from prowess.store import MemorySessionStore, SessionRow, SharedSessionStore, SqliteSessionStore, open_store
from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from pathlib import Path


def test_memory_is_a_store_of_its_own() -> None:
    first, second = open_store("memory:"), open_store("memory:")
    assert isinstance(first, MemorySessionStore)
    assert first is not second


@pytest.mark.anyio
async def test_three_slashes_are_a_relative_path_and_four_an_absolute_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    relative, absolute = open_store("sqlite:///state.db"), open_store(f"sqlite:///{tmp_path}/state.db")
    assert isinstance(absolute, SqliteSessionStore)
    assert absolute.url == f"sqlite:///{tmp_path}/state.db"
    await relative.create(SessionRow(session_id="one", version=1, state="", touched_at=1.0))
    assert await absolute.count() == 1
    await relative.close()
    await absolute.close()


@pytest.mark.parametrize("url", ["mysql://user:secret@host/db", "sqlite://", "sqlite:///", "", "state.db"])
def test_another_kind_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="use memory:, sqlite:///PATH or postgresql:") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["memory:", "sqlite:///state.db"])
def test_a_store_of_one_machine_has_no_tenants(url: str) -> None:
    with pytest.raises(StoreError, match="only a shared store has tenants"):
        open_store(url, tenant="acme")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://user:secret@db.example:5433/org?password=secret", "postgresql://db.example:5433/org"),
        ("postgresql://user@/org?host=%2Frun%2Fpg&password=secret", "postgresql:///run/pg/org"),
    ],
)
def test_the_url_of_a_shared_store_is_shown_without_credentials(url: str, shown: str) -> None:
    with open_store(url) as store:
        assert isinstance(store, SharedSessionStore)
        assert store.url == shown


def test_a_file_is_a_shared_store_only_if_it_was_created_as_one(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one.db"
    with open_store(url) as store:
        assert isinstance(store, SqliteSessionStore)
        assert store.peek("one") is None
    create_store(url, origin="test", public_key="test")
    assert (tmp_path / "one.db").stat().st_mode & 0o777 == 0o600
    with open_store(url, tenant="default") as shared:
        assert isinstance(shared, SharedSessionStore)
        assert shared.peek("one") is None
    with pytest.raises(StoreError, match="one tenant 'default'; more need PostgreSQL"):
        open_store(url, tenant="acme")
    with pytest.raises(StoreError, match="the file exists"):
        create_store(url, origin="test", public_key="test")


def test_local_stores_import_no_library_of_shared_ones(tmp_path: Path) -> None:
    """Importing SQLAlchemy takes twenty times as long as starting Python."""
    program = """
import sys
from prowess.store import open_store
for url in ("memory:", "sqlite:///state.db"):
    with open_store(url) as store:
        store.peek("one")
print(sorted({"sqlalchemy", "psycopg", "alembic"} & sys.modules.keys()))
open_store("postgresql://host/database").close()
print(sorted({"sqlalchemy", "psycopg", "alembic"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['sqlalchemy']"]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:secret@host:none/db",
        "postgresql://user:secret@[::1/db",
        "postgresql://user:sec@ret@host/db",
        "postgresql://user:secret@host/db\x00",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="the URL") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
    assert "ret@host" not in str(caught.value)


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with open_store("postgresql://host/db") as store, pytest.raises(MissingExtraError, match=r"prowess\[postgresql\]"):
        store.peek("one")
