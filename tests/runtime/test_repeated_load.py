"""A skill that lies still is known by its name; what the catalog says anew, or the disk, is looked for again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark
from prowess._internal.files.tree_stamp import TreeStamp
from prowess.catalog import Catalog
from prowess.runtime import LoadResult, Session
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every file had been left alone for long when it is first read."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)


def _locations(receipt: LoadResult) -> list[str | None]:
    return [entry.location for entry in receipt.active_skills]


async def test_a_name_that_means_another_copy_now_loads_that_copy(tmp_path: Path) -> None:
    near, far = tmp_path / "near", tmp_path / "far"
    near.mkdir()
    write_skill(far, "alpha")
    catalog = Catalog(near, far)
    session = Session(catalog)
    for _ in range(2):
        assert _locations(await session.load(["alpha"])) == [str(far.resolve() / "alpha" / "SKILL.md")]
    write_skill(near, "alpha")
    catalog.refresh()
    for _ in range(2):
        assert _locations(await session.load(["alpha"])) == [str(near.resolve() / "alpha" / "SKILL.md")]


async def test_a_skill_without_a_stamp_is_read_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_skill(tmp_path, "alpha")
    monkeypatch.setattr(TreeStamp, "holds", lambda _: False)
    session = Session(Catalog(tmp_path))
    first = await session.load(["alpha"])
    assert (await session.load(["alpha"])).active_skills == first.active_skills


async def test_however_many_names_are_loaded_few_are_remembered(tmp_path: Path) -> None:
    names = [f"skill-{number}" for number in range(70)]
    for name in names:
        write_skill(tmp_path, name)
    session = Session(Catalog(tmp_path))
    for name in (*names, *names):
        await session.load([name])
        assert session.active_skill_name == name
    assert 0 < len(session._parts.active.snapshots._taken) <= 64
