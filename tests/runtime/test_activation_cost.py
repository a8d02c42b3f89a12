"""The cost of an activation."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import tree_digest
from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.store import SqliteSessionStore
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


def _slowed(seconds: float) -> float:
    """The bound on computing; tracing every line, as coverage does, makes Python several times slower."""
    return seconds if sys.gettrace() is None else seconds * 4


@pytest.mark.unmeasured  # coverage makes it several times slower
@pytest.mark.anyio
@pytest.mark.proves("runtime.perf.activation")
async def test_a_first_activation_adds_less_than_50_ms(tmp_path: Path) -> None:
    files = {f"references/{number}.md": "x" * 4096 for number in range(99)}
    write_skill(tmp_path / "skills", "large", files=files)
    write_skill(tmp_path / "skills", "small")
    taken: dict[str, list[float]] = {"large": [], "small": []}
    for turn in range(7):
        for name, times in taken.items():
            tree_digest._cache.clear()
            store = SqliteSessionStore(tmp_path / f"{turn}" / "state.db")
            audit = JsonlAuditLog(tmp_path / f"{turn}" / "audit.jsonl", "second")
            session = Session(Catalog(tmp_path / "skills"), store=store, audit=audit)
            await session.refresh()
            begun = time.process_time()
            await session.load([name])
            times.append(time.process_time() - begun)
            await store.close()
    # Processor time, and the least of seven: other programs on the machine do not count.
    assert min(taken["large"]) < _slowed(0.05)  # includes the tree digest of 100 files, SQLite and audit
    assert min(taken["small"]) < _slowed(0.02)
