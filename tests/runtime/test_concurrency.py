from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import anyio
import pytest
from msgspec.structs import replace

from prowess.catalog import Catalog
from prowess.errors import UnavailableError
from prowess.runtime import Session
from prowess.runtime.session_state import StoredState
from prowess.runtime.state import SessionState, Transition, from_json
from prowess.store import MemorySessionStore, SqliteSessionStore
from tests.runtime.making import names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.store import SessionRow

pytestmark = pytest.mark.anyio

# One of several processes on one session: it loads and unloads batches, and watches what everybody sees.
_WORKER = """
import random, sys
import anyio
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.store import SqliteSessionStore

async def main(root, database, seed, rounds):
    draw = random.Random(seed)
    store = SqliteSessionStore(database)
    session = Session(Catalog(root), store=store, session_id="shared", cap=4)
    done = 0
    for _ in range(rounds):
        pair = draw.sample(range(4), 2)
        batch = [f"{letter}{n}" for n in pair[:1] for letter in "ab"]
        mode = draw.choice(["add", "replace"])
        if draw.random() < 0.3:
            outcome = await session.call("skills.unload", {"names": batch})
        else:
            outcome = await session.call("skills.load", {"names": batch, "mode": mode})
        if outcome.success:
            done += 1
            active = [skill["name"] for skill in outcome.result["active_skills"]]
        else:
            assert outcome.error_detail["code"] == "limit_exceeded", outcome.error
            active = [skill.name for skill in session.active_skills]
        assert len(active) <= 4, active
        assert len(set(active)) == len(active), active
        for n in range(4):
            assert (f"a{n}" in active) == (f"b{n}" in active), active
    assert done
    await store.close()

anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
"""


def test_processes_on_one_store_never_see_more_than_the_cap_or_half_a_batch(tmp_path: Path) -> None:
    for number in range(4):
        for letter in "ab":
            write_skill(tmp_path / "skills", f"{letter}{number}")
    database = tmp_path / "state.db"

    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(tmp_path / "skills"), str(database), str(seed), "40"],
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    for worker in workers:
        _, errors = worker.communicate(timeout=60)
        assert worker.returncode == 0, errors


async def test_parallel_loads_in_one_process_behave_as_one_after_the_other(tmp_path: Path) -> None:
    for number in range(20):
        write_skill(tmp_path, f"s{number}")
    catalog, store = Catalog(tmp_path), MemorySessionStore()
    sessions = [Session(catalog, store=store, session_id="one", cap=8) for _ in range(4)]
    outcomes = []

    async def add(number: int) -> None:
        session = sessions[number % 4]
        outcomes.append(await session.call("skills.load", {"names": [f"s{number}"], "mode": "add"}))

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(add, number)

    assert sum(outcome.success for outcome in outcomes) == 8
    assert {outcome.error_detail["code"] for outcome in outcomes if outcome.error_detail} == {"limit_exceeded"}
    row = await store.get("one")
    assert row is not None
    assert len(from_json(row.state).active) == 8
    sizes = sorted(len(names(outcome.result)) for outcome in outcomes if outcome.result)
    assert sizes == list(range(1, 9))


async def test_sessions_on_one_store_do_not_see_each_other(catalog: Catalog) -> None:
    store = MemorySessionStore()
    one, two = Session(catalog, store=store), Session(catalog, store=store)

    await one.load(["alpha"])
    await two.load(["beta"])
    await two.unload(all=True)

    assert [skill.name for skill in one.active_skills] == ["alpha"]
    await one.refresh()
    assert [skill.name for skill in one.active_skills] == ["alpha"]


class _Contested(MemorySessionStore):
    """A store on which another writer is always, or often, faster."""

    lost = 10_000

    async def replace(self, row: SessionRow, *, expected_version: int) -> bool:
        if self.lost > 0:
            self.lost -= 1
            return False
        return await super().replace(row, expected_version=expected_version)


async def test_a_lost_race_is_tried_again_and_then_reported(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.runtime.session_state._LONGEST_PAUSE", 0.0)
    store = _Contested()
    session = Session(catalog, store=store)
    store.lost = 5
    assert (await session.call("skills.load", {"names": ["alpha"]})).success

    store.lost = 10_000
    with pytest.raises(UnavailableError, match="other calls keep changing it"):
        await session.load(["beta"])
    store.lost = 0
    await session.refresh()
    assert [skill.name for skill in session.active_skills] == ["alpha"]


class _Overtaken(MemorySessionStore):
    """A store in which somebody else adds a skill after every second look at the session."""

    def __init__(self) -> None:
        super().__init__()
        self.rivals: list[str] = []
        self.rival: Session | None = None
        self.looks = 0

    async def get(self, session_id: str) -> SessionRow | None:
        row = await super().get(session_id)
        if not self.rivals or self.rival is None:
            return row
        self.looks += 1
        if self.looks % 2:
            name, rival = self.rivals.pop(), self.rival
            self.rival = None  # its own looks are not overtaken
            await rival.load([name], "add")
            self.rival = rival
        return row


async def test_nothing_that_another_writer_added_in_between_is_lost(tmp_path: Path) -> None:
    for number in range(8):
        write_skill(tmp_path, f"s{number}")
    catalog, store = Catalog(tmp_path), _Overtaken()
    session = Session(catalog, store=store, session_id="x")
    await session.load(["s0"])
    store.rival, store.rivals = Session(catalog, store=store, session_id="x"), [f"s{n}" for n in range(2, 8)]

    receipt = result(await session.call("skills.load", {"names": ["s1"], "mode": "add"}))

    assert sorted(names(receipt)) == [f"s{n}" for n in range(8) if n not in [int(name[1]) for name in store.rivals]]
    assert len(store.rivals) < 5


async def test_two_openers_of_one_new_session_share_it(catalog: Catalog) -> None:
    class Late(MemorySessionStore):
        hidden = 1

        async def get(self, session_id: str) -> SessionRow | None:
            self.hidden -= 1
            return None if self.hidden >= 0 else await super().get(session_id)

    store = Late()
    first = Session(catalog, store=store, session_id="x")
    store.hidden = 0
    await first.load(["alpha"])
    store.hidden = 1  # the second one looks before the first has written

    second = Session(catalog, store=store, session_id="x")
    receipt = result(await second.call("skills.load", {"names": ["beta"], "mode": "add"}))

    assert names(receipt) == ["alpha", "beta"]


async def test_a_transition_that_changes_nothing_writes_nothing(catalog: Catalog) -> None:
    store = MemorySessionStore()

    async def ended(session_ids: list[str]) -> None:
        raise AssertionError(session_ids)

    keeper = StoredState(store, "x", ttl_seconds=10, listed=lambda skill: True, ended=ended)
    await keeper.change(lambda state: Transition(state=state))

    row = await store.get("x")
    assert row is not None
    assert row.version == 1


async def _unused(session_ids: list[str]) -> None:
    raise AssertionError(session_ids)


async def test_a_change_builds_on_what_another_process_has_written() -> None:
    store = MemorySessionStore()
    one, two = (StoredState(store, "x", ttl_seconds=10, listed=lambda skill: True, ended=_unused) for _ in range(2))

    def marked(mark: str, state: SessionState) -> SessionState:
        return replace(state, finished=(*state.finished, mark))

    await one.current()
    await two.change(lambda state: Transition(state=marked("first", state)))
    seen: list[tuple[str, ...]] = []

    def second(state: SessionState) -> Transition:
        seen.append(state.finished)
        return Transition(state=marked("second", state))

    await one.change(second)
    assert seen == [("first",)]
    assert (await two.current()).finished == ("first", "second")


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("ttl_seconds", [86_400.0, 64.0, 16.0])
async def test_a_touch_right_after_another_is_not_written_and_a_later_one_is(
    kind: str, ttl_seconds: float, tmp_path: Path
) -> None:
    store = MemorySessionStore() if kind == "memory" else SqliteSessionStore(tmp_path / "state.db")
    now, grain = [1024.0], min(0.125, ttl_seconds / 1000)
    keeper = StoredState(
        store, "x", ttl_seconds=ttl_seconds, listed=lambda skill: True, ended=_unused, clock=lambda: now[0]
    )
    await keeper.touch()
    written = now[0]
    for part in (0.5, 0.4, 0.2, 0.9, 5.0):
        now[0] += part * grain
        await keeper.touch()
        written = now[0] if now[0] - written >= grain else written
        row = await store.get("x")
        assert row is not None
        assert row.touched_at == written
    assert written == now[0] > 1024.0 + 2 * grain
    await store.close()


@pytest.mark.proves("runtime.session.persistent")
async def test_another_process_finds_the_session_its_bodies_and_its_hashes(skills: Path, tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    first_store = SqliteSessionStore(database)
    first = Session(Catalog(skills), store=first_store, session_id="kept")
    await first.load(["beta", "alpha"])
    await first_store.close()

    # A second Session knows no more than a second process would.
    second_store = SqliteSessionStore(database)
    second = Session(Catalog(skills), store=second_store, session_id="kept")
    await second.refresh()
    assert "# Alpha" in second.instructions()
    assert result(await second.call("skills.read", {"path": "references/guide.md"}))["skill"] == "alpha"

    (skills / "alpha" / "references" / "guide.md").write_text("edited")
    third = Session(Catalog(skills), store=second_store, session_id="kept")
    outcome = await third.call("skills.read", {"path": "references/deep/note.txt"})
    assert outcome.error_detail is not None
    assert outcome.error_detail["code"] == "digest_changed"
    assert "# Alpha" in third.instructions()
    write_skill(skills, "alpha", body="Edited.\n")
    fourth = Session(Catalog(skills), store=second_store, session_id="kept")
    await fourth.refresh()
    assert "Edited." not in fourth.instructions()
    assert "edited after it was loaded. Load alpha again" in fourth.instructions()
    await fourth.load(["alpha"])
    assert "Edited." in fourth.instructions()
    await second_store.close()
