"""A skill that is known and at rest is loaded by a few calls of `stat`; whatever moved is read again."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import pytest
from anyio import to_thread

from prowess._internal.files import file_mark
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.store import MemorySessionStore
from tests.runtime.making import codes, names, result, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been left alone for long when it is first read."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)


@pytest.mark.usefixtures("settled")
async def test_a_warm_load_opens_nothing_and_needs_no_thread(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    await session.load(["alpha", "beta"])
    await session.unload(all=True)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", None)
        patch.setattr(to_thread, "run_sync", None)
        first = result(await session.call("skills.load", {"names": ["alpha"]}))
        second = result(await session.call("skills.load", {"names": ["beta"], "mode": "add"}))
        third = result(await session.call("skills.load", {"names": ["beta"], "mode": "add"}))

    assert (names(first), codes(first)) == (["alpha"], [])
    assert (names(second), codes(second)) == (["alpha", "beta"], [])
    assert (names(third), codes(third)) == (["alpha", "beta"], ["already_active"])
    assert "# Alpha" in session.instructions()


_EDITS: dict[str, Callable[[Path], object]] = {
    "the instructions": lambda skill: (skill / "SKILL.md").write_text(
        (skill / "SKILL.md").read_text().replace("# Alpha", "# Omega")
    ),
    "a file beside them": lambda skill: (skill / "references" / "guide.md").write_text("other"),
    "a new file": lambda skill: (skill / "scripts" / "new.py").write_text(""),
    "a removed file": lambda skill: (skill / "references" / "deep" / "note.txt").unlink(),
    "who may execute": lambda skill: (skill / "scripts" / "run.py").chmod(0o755),
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("edit", _EDITS.values(), ids=list(_EDITS))
@pytest.mark.parametrize("active", [True, False], ids=["active", "unloaded"])
async def test_an_edit_after_a_load_is_what_the_next_load_brings(
    skills: Path, session: Session, edit: Callable[[Path], object], *, active: bool
) -> None:
    before = (await session.load(["alpha"])).as_dict()
    if not active:
        await session.unload(all=True)
    time.sleep(0.02)  # noqa: ASYNC251 -- the coarsest clock of a kernel in use ticks every 10 ms
    edit(skills / "alpha")

    after = result(await session.call("skills.load", {"names": ["alpha"]}))

    assert codes(after) == (["skill_reloaded"] if active else [])
    fresh = await Session(Catalog(skills)).load(["alpha"])
    assert after["active_skills"] == fresh.as_dict()["active_skills"] != before["active_skills"]


@pytest.mark.usefixtures("settled")
async def test_a_skill_that_is_gone_is_not_loaded_from_memory(skills: Path, session: Session) -> None:
    await session.load(["alpha"])
    await session.unload(all=True)
    (skills / "alpha").rename(skills.parent / "elsewhere")
    outcome = await session.call("skills.load", {"names": ["alpha"]})
    assert outcome.error_detail is not None
    assert outcome.error_detail["code"] == "skill_not_found"


@pytest.mark.usefixtures("settled")
async def test_warm_loads_let_other_tasks_run_and_can_be_cancelled(session: Session) -> None:
    await session.load(["alpha"])
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        for _ in range(50):
            await session.load(["alpha"])
        assert turns >= 50
        group.cancel_scope.cancel()

    loads = 0
    with anyio.move_on_after(0.05) as scope:
        while True:
            await session.load(["alpha"])
            loads += 1
    assert scope.cancelled_caught
    assert loads
    with anyio.CancelScope() as cancelled:
        cancelled.cancel()
        await session.unload(all=True)
    assert cancelled.cancelled_caught
    assert [skill.name for skill in session.active_skills] == ["alpha"]


async def test_what_a_caller_does_to_a_receipt_reaches_no_session(tmp_path: Path) -> None:
    write_skill(tmp_path, "alpha", extra="metadata:\n  team: core\nallowed-tools: [Read]\n")
    session, store = Session(Catalog(tmp_path)), MemorySessionStore()
    for entry in (await session.load(["alpha"])).active_skills:
        entry.properties["metadata"]["team"] = "other"
        entry.properties["allowed-tools"].append("Bash")
    again = Session(Catalog(tmp_path), store=store)
    expected = await again.load(["alpha"])
    assert (await session.load(["alpha"])).active_skills == expected.active_skills
    assert session.active_skills[0].allowed_tools == ["Read"]


async def test_a_session_that_others_changed_is_read_again(skills: Path) -> None:
    store, catalog = MemorySessionStore(), Catalog(skills)
    one, two = (Session(catalog, store=store, session_id="x") for _ in range(2))
    await one.load(["alpha"])
    await two.load(["beta"], "add")
    assert names(await one.load(["gamma"], "add")) == ["alpha", "beta", "gamma"]
    await two.unload(["alpha"])
    assert names(await one.load(["gamma"], "add")) == ["beta", "gamma"]
