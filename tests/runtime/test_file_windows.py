"""Paging through a large file: each slice is what it would be of the whole, and costs little."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess._internal.files import file_mark
from prowess.catalog import Catalog
from prowess.runtime import Session
from prowess.runtime.files import skill_files
from prowess.runtime.files.skill_files import moved, slice_bytes, slice_text, window
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

LARGE = "aü€😀\n" * 40_000


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take files that were written just now for old ones: a test cannot wait for seconds."""
    monkeypatch.setattr(file_mark, "SETTLED_NS", -1)
    monkeypatch.setattr(skill_files, "_known", {})


@pytest.fixture
async def session(tmp_path: Path) -> Session:
    write_skill(tmp_path, "big", files={"references/large.md": LARGE, "assets/large.bin": b"\xff" * 300_000})
    session = Session(Catalog(tmp_path))
    await session.load(["big"])
    return session


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with each file that is read whole."""
    whole: list[str] = []
    before = skill_files.read_whole

    def counting(file: Any) -> bytes:  # noqa: ANN401 -- an open file
        whole.append(file.path)
        return before(file)

    monkeypatch.setattr(skill_files, "read_whole", counting)
    return whole


async def _paged(session: Session, **arguments: object) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = []
    offset: object = 0
    while offset is not None:
        pages.append(result(await session.call("skills.read", {**arguments, "offset": offset})))
        offset = pages[-1]["next_offset"]
    return pages


async def test_a_large_file_is_read_whole_once_and_its_pages_add_up(
    session: Session, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _counted(monkeypatch)
    pages = await _paged(session, path="references/large.md", limit=9_999)
    binary = await _paged(session, path="references/large.md", limit=100_000, encoding="binary")

    assert "".join(page["text"] for page in pages) == LARGE
    assert {page["size"] for page in [*pages, *binary]} == {len(LARGE.encode())}
    assert len({page["digest"] for page in [*pages, *binary]}) == 1
    assert sum(len(page["data_base64"]) for page in binary) >= len(LARGE.encode()) * 4 // 3
    assert whole == ["references/large.md"]


async def test_an_edit_between_two_pages_is_refused_even_with_the_old_time_stamp(
    session: Session, settled: None, tmp_path: Path
) -> None:
    path = tmp_path / "big" / "references" / "large.md"
    found = path.stat()
    result(await session.call("skills.read", {"path": "references/large.md"}))
    path.write_bytes(LARGE.replace("a", "b").encode())
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    outcome = await session.call("skills.read", {"path": "references/large.md", "offset": 100_000})
    assert failure(outcome)["code"] == "digest_changed"


async def test_a_link_in_the_place_of_a_known_file_is_refused(session: Session, settled: None, tmp_path: Path) -> None:
    result(await session.call("skills.read", {"path": "references/large.md"}))
    path = tmp_path / "big" / "references" / "large.md"
    path.rename(tmp_path / "elsewhere.md")
    path.symlink_to(tmp_path / "elsewhere.md")

    outcome = await session.call("skills.read", {"path": "references/large.md", "offset": 100_000})
    assert failure(outcome)["code"] == "unsafe_path"


async def test_what_is_no_text_stays_no_text_in_a_later_slice(session: Session, settled: None) -> None:
    result(await session.call("skills.read", {"path": "assets/large.bin", "encoding": "binary"}))
    outcome = await session.call("skills.read", {"path": "assets/large.bin", "offset": 5})
    assert failure(outcome)["code"] == "not_text"


async def test_a_file_that_was_written_just_now_is_read_whole_each_time(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _counted(monkeypatch)
    for offset in (0, 70_000):
        result(await session.call("skills.read", {"path": "references/large.md", "offset": offset}))
    assert len(whole) == 2


@given(st.text(alphabet="aü€😀", max_size=40), st.integers(0, 200), st.integers(1, 60))
def test_a_window_gives_the_slice_of_the_whole(text: str, offset: int, limit: int) -> None:
    data = text.encode()
    start, end = window(offset, limit, len(data))
    for cut in (slice_text, slice_bytes):
        part = cut(data[start:end], max(min(offset, len(data)) - start, 0), limit)
        assert moved(part, start, len(data)) == cut(data, offset, limit)


async def test_a_large_file_leaves_the_loop_free(tmp_path: Path) -> None:
    write_skill(tmp_path, "slow", files={"references/many.md": "# a\n" * 60_000})
    session = Session(Catalog(tmp_path))
    await session.load(["slow"])
    waits: list[float] = []

    async def tick() -> None:
        while True:
            begun = time.monotonic()
            await anyio.sleep(0.001)
            waits.append(time.monotonic() - begun)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        result(await session.call("skills.read", {"path": "references/many.md", "section": "a"}))
        tasks.cancel_scope.cancel()
    assert len(waits) > 5  # on the loop the whole file would be one wait
