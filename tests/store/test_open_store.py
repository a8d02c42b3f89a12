"""A URL names a store, and a wrong one is no secret's way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.errors import StoreError
from prowess.store import MemorySessionStore, SessionRow, SqliteSessionStore, open_store

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


@pytest.mark.parametrize("url", ["postgresql://user:secret@host/db", "sqlite://", "sqlite:///", "", "state.db"])
def test_another_kind_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="use memory: or sqlite:///PATH") as caught:
        open_store(url)
    assert "secret" not in str(caught.value)
