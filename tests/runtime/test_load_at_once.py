"""A load that waits for nothing does what one does that waits: the same steps, over a store that is waited for."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess._internal import tree_digest
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.runtime.activation import Activator
from prowess.store import MemorySessionStore
from tests.runtime.making import codes, names, write_skill

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from prowess.runtime.state import LoadMode


class _Awaited(MemorySessionStore):
    """The same store as a class of its own, so that it is never asked at once."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("skills")
    for name in ("a", "b", "c"):
        write_skill(root, name)
    write_skill(root, "commands", body="Now: !`date`.\n")
    write_skill(root, "restricted", extra="allowed-tools: Read\n")
    write_skill(root, "alone")
    (root / "alone" / "skill.manifest.yaml").write_text("composition: {conflicts: [a]}\n")
    write_skill(root, "linked")
    (root / "linked" / "link").symlink_to(root / "a")
    write_skill(root, "other", extra="context: fork\n")
    return root


_NAMES = st.sampled_from(["a", "b", "c", "commands", "restricted", "alone", "linked", "other", "A", "none"])
_LOADS = st.tuples(st.just("load"), st.lists(_NAMES, min_size=1, max_size=4), st.sampled_from(["replace", "add"]))
_UNLOADS = st.tuples(st.just("unload"), st.lists(_NAMES, min_size=1, max_size=2), st.just("replace"))


@given(steps=st.lists(_LOADS | _LOADS | _UNLOADS, max_size=8))
@settings(max_examples=60)
def test_every_step_answers_alike_and_leaves_the_same(root: Path, steps: list[tuple[str, list[str], LoadMode]]) -> None:
    async def answers(store: MemorySessionStore) -> list[object]:
        session = Session(Catalog(root), store=store, session_id="s", scripts=False, cap=3)
        given: list[object] = []
        for kind, which, mode in steps:
            arguments = {"names": which, **({"mode": mode} if kind == "load" else {})}
            outcome = await session.call(f"skills.{kind}", arguments)
            row = await store.get("s")
            assert row is not None
            given.append((outcome.result, outcome.error_detail, row.version, row.state, session.instructions()))
        return given

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_digest, "_SETTLED_NS", -1)
        assert anyio.run(answers, MemorySessionStore()) == anyio.run(answers, _Awaited())


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each load, whether it was done at once; every file counts as left alone for long."""
    seen: list[bool] = []
    tried = Activator._load_now

    def tell(self: Activator, names: Sequence[str], mode: LoadMode, location: str | None) -> object:
        done = tried(self, names, mode, location)
        seen.append(done is not None)
        return done

    monkeypatch.setattr(tree_digest, "_SETTLED_NS", -1)
    monkeypatch.setattr(Activator, "_load_now", tell)
    return seen


@pytest.mark.anyio
async def test_a_load_is_done_at_once_where_nothing_can_be_in_its_way(tmp_path: Path, at_once: list[bool]) -> None:
    for name in ("a", "b"):
        write_skill(tmp_path, name)
    session = Session(Catalog(tmp_path))
    await session.load(["a"])
    await session.load(["b"], "add")
    for mode in ("add", "replace"):
        await session.load(["a", "b"], mode)
    await session.load(["b"])  # a leaves, and has nothing to do then
    assert at_once == [False, False, True, True, True]
    shutil.rmtree(tmp_path / "b")
    assert codes(await session.load(["a"])) == ["skill_removed"]
    assert names(await session.load(["a"])) == ["a"]
    assert at_once[5:] == [True, True]


@pytest.mark.anyio
async def test_what_another_writer_stored_in_the_same_moment_is_built_upon(tmp_path: Path, at_once: list[bool]) -> None:
    class Overtaken(MemorySessionStore):
        """One in which another process is faster, once: it has all operations itself, so it is asked at once."""

        rival: Session | None = None
        get, touch, replace = MemorySessionStore.get, MemorySessionStore.touch, MemorySessionStore.replace
        get_now, touch_now = MemorySessionStore.get_now, MemorySessionStore.touch_now

        def replace_now(self, row: object, *, expected_version: int) -> bool:
            if self.rival is not None:
                rival, self.rival = self.rival, None
                for _ in rival.load(["b"], "add").__await__():
                    pass  # it waits for nothing but its turn of the loop
            return super().replace_now(row, expected_version=expected_version)  # type: ignore[arg-type]  # handed on

    for name in ("a", "b"):
        write_skill(tmp_path, name)
    store, catalog = Overtaken(), Catalog(tmp_path)
    one, two = (Session(catalog, store=store, session_id="s") for _ in range(2))
    await one.load(["a", "b"])
    await two.load(["a", "b"])
    await one.unload(all=True)
    del at_once[:]
    store.rival = two
    assert names(await one.load(["a"], "add")) == ["b", "a"]
    assert at_once == [True, False]
