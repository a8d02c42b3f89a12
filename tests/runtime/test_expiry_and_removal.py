from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError, SessionNotFoundError, StoreError
from prowess.runtime import Session
from prowess.store import MemorySessionStore, SqliteSessionStore
from tests.runtime.making import codes, failure, names, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("skills.load", {"names": ["alpha"]}),
    ("skills.unload", {"all": True}),
    ("skills.read", {"path": "SKILL.md"}),
    ("skills.run_script", {"path": "scripts/run.py"}),
)


class Clock:
    """Seconds that pass when a test says so."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.proves("runtime.session.expiry")
async def test_an_idle_session_disappears_and_every_tool_says_so(catalog: Catalog, clock: Clock) -> None:
    session = Session(catalog, ttl_seconds=100, clock=clock)
    await session.load(["alpha"])
    clock.now += 101

    for name, arguments in _CALLS:
        detail = failure(await session.call(name, arguments))
        assert detail["code"] == "session_not_found"
    assert session.active_skills == ()
    with pytest.raises(SessionNotFoundError):
        await session.refresh()


@pytest.mark.proves("runtime.session.expiry")
@pytest.mark.parametrize(
    ("name", "arguments"), [*_CALLS, ("skills.read", {"path": "none"}), ("skills.load", {}), ("nonsense", {})]
)
async def test_every_tool_call_postpones_the_end_a_failing_one_too(
    catalog: Catalog, clock: Clock, name: str, arguments: dict[str, object]
) -> None:
    session = Session(catalog, ttl_seconds=100, clock=clock)
    await session.load(["alpha"])
    clock.now += 90
    await session.call(name, arguments)
    clock.now += 90

    assert (await session.call("skills.load", {"names": ["alpha"]})).success


async def test_the_default_is_a_day(catalog: Catalog, clock: Clock) -> None:
    session = Session(catalog, clock=clock)
    await session.load(["alpha"])
    clock.now += 86_400
    assert (await session.call("skills.read", {"path": "SKILL.md"})).success
    clock.now += 86_401
    assert not (await session.call("skills.read", {"path": "SKILL.md"})).success


async def test_a_closed_session_stays_closed_and_leaves_nothing(catalog: Catalog) -> None:
    store = MemorySessionStore()
    session = Session(catalog, store=store)
    await session.load(["alpha"])

    await session.close()
    await session.close()

    assert await store.count() == 0
    for name, arguments in _CALLS:
        assert failure(await session.call(name, arguments))["code"] == "session_not_found"


async def test_a_session_deleted_by_another_holder_is_gone_here_too(catalog: Catalog) -> None:
    store = MemorySessionStore()
    one = Session(catalog, store=store, session_id="same")
    two = Session(catalog, store=store, session_id="same")
    await one.load(["alpha"])
    assert result(await two.call("skills.read", {"path": "SKILL.md"}))["skill"] == "alpha"

    await two.close()

    assert failure(await one.call("skills.read", {"path": "SKILL.md"}))["code"] == "session_not_found"


async def test_whoever_opens_a_session_sweeps_expired_ones_with_their_artifacts(
    catalog: Catalog, tmp_path: Path, clock: Clock
) -> None:
    store = SqliteSessionStore(tmp_path / "state.db")
    old = Session(catalog, store=store, session_id="old", artifacts_dir=tmp_path / "artifacts", clock=clock)
    await old.load(["alpha"])
    await old.run_script("scripts/run.py")
    left = tmp_path / "artifacts" / "old" / "run"
    left.mkdir(parents=True)
    clock.now += 2 * 86_400

    fresh = Session(catalog, store=store, artifacts_dir=tmp_path / "artifacts", clock=clock)
    await fresh.load(["alpha"])

    assert await store.get("old") is None
    assert not left.exists()
    again = Session(catalog, store=store, session_id="old", clock=clock)
    assert names(result(await again.call("skills.load", {"names": ["beta"], "mode": "add"}))) == ["beta"]
    await store.close()


async def test_a_short_time_to_live_does_not_shorten_that_of_others(catalog: Catalog, clock: Clock) -> None:
    store = MemorySessionStore()
    other = Session(catalog, store=store, clock=clock)
    await other.load(["alpha"])
    clock.now += 1000

    await Session(catalog, store=store, ttl_seconds=10, clock=clock).load(["alpha"])

    assert (await other.call("skills.read", {"path": "SKILL.md"})).success


async def test_an_expired_session_opened_anew_by_its_id_is_empty(catalog: Catalog, clock: Clock) -> None:
    store = MemorySessionStore()
    first = Session(catalog, store=store, session_id="mine", ttl_seconds=100, clock=clock)
    await first.load(["alpha"])
    clock.now += 101

    second = Session(catalog, store=store, session_id="mine", ttl_seconds=100, clock=clock)
    assert names(result(await second.call("skills.load", {"names": ["beta"], "mode": "add"}))) == ["beta"]


@pytest.mark.proves("runtime.registry.removal-prunes")
async def test_removal_from_the_catalog_prunes_and_re_adding_does_not_resurrect(session: Session, skills: Path) -> None:
    await session.load(["beta", "alpha"])
    shutil.rmtree(skills / "alpha")

    assert (
        failure(await session.call("skills.read", {"path": "SKILL.md", "skill": "alpha"}))["code"] == "skill_not_found"
    )
    assert result(await session.call("skills.read", {"path": "SKILL.md"}))["skill"] == "beta"
    write_skill(skills, "alpha")
    await session.refresh()

    assert [skill.name for skill in session.active_skills] == ["beta"]
    assert (
        failure(await session.call("skills.read", {"path": "SKILL.md", "skill": "alpha"}))["code"] == "skill_not_active"
    )
    receipt = result(await session.call("skills.load", {"names": ["gamma"], "mode": "add"}))
    assert names(receipt) == ["beta", "gamma"]
    assert codes(receipt) == ["skill_removed"]
    assert codes(result(await session.call("skills.load", {"names": ["gamma"], "mode": "add"}))) == ["already_active"]


async def test_a_skill_of_the_same_name_elsewhere_does_not_take_the_place_of_a_removed_one(tmp_path: Path) -> None:
    first = write_skill(tmp_path / "one", "same", body="First.\n")
    write_skill(tmp_path / "two", "same", body="Second.\n")
    session = Session(Catalog(tmp_path / "one", tmp_path / "two"))
    await session.load(["same"])
    shutil.rmtree(first)

    await session.refresh()

    assert session.active_skills == ()
    assert "Second." not in session.instructions()


async def test_a_state_that_is_damaged_is_a_result_and_not_a_crash(catalog: Catalog) -> None:
    store = MemorySessionStore()
    session = Session(catalog, store=store, session_id="x")
    await session.load(["alpha"])
    row = await store.get("x")
    assert row is not None

    await store.replace(replace(row, version=row.version + 1, state="{"), expected_version=row.version)

    assert failure(await session.call("skills.read", {"path": "SKILL.md"}))["code"] == "store_unavailable"
    with pytest.raises(StoreError):
        await session.refresh()


async def test_a_store_that_cannot_be_written_is_a_result(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    session = Session(catalog, store=SqliteSessionStore(tmp_path / "file" / "state.db"))

    assert failure(await session.call("skills.load", {"names": ["alpha"]}))["code"] == "store_unavailable"


@pytest.mark.parametrize("session_id", ["", ".", "..", "a/b", "a\0b", "ü", "x" * 129, "-x"])
def test_an_id_that_could_name_another_place_is_refused(catalog: Catalog, session_id: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="session_id"):
        Session(catalog, session_id=session_id)


def test_a_cap_below_one_is_refused(catalog: Catalog) -> None:
    with pytest.raises(InvalidArgumentsError, match="cap"):
        Session(catalog, cap=0)


async def test_artifacts_go_to_a_temporary_place_where_the_home_cannot_be_written(
    catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    session = Session(catalog, artifacts_dir=tmp_path / "file" / "artifacts")
    await session.load(["alpha"])

    await session.run_script("scripts/run.py")
    place = session._parts.artifacts._temporary
    assert place is not None
    assert os.path.isdir(place)  # noqa: ASYNC240 -- a test may wait for the disk
    await session.close()

    assert not os.path.exists(place)  # noqa: ASYNC240 -- as above
