"""A watch tells every change of the skills in use, notified by the system or by polling."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog
from prowess.catalog import TrustStore
from prowess.catalog.watching import catalog_watch
from prowess.catalog.watching.places import WatchedPlaces
from tests.catalog.making import write_skill
from tests.catalog.watching.following import Following

if TYPE_CHECKING:
    from pathlib import Path


def _poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)  # as if it were not installed
    monkeypatch.setattr(catalog_watch, "_POLL_SECONDS", 0.2)
    monkeypatch.setattr(catalog_watch, "_POLL_REST", 0)


@pytest.fixture(params=["notified", "polling"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test runs with notifications of the system and without them."""
    if request.param == "polling":
        _poll(monkeypatch)
    else:  # a change that is found in time was notified
        monkeypatch.setattr(catalog_watch, "_CHECK_SECONDS", 3600.0)
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("alpha", "beta"):
        write_skill(tmp_path / "skills" / name)
    return tmp_path / "skills"


def _digest(skill: Path) -> str:
    return f"sha256:{hashlib.sha256((skill / 'SKILL.md').read_bytes()).hexdigest()}"


@pytest.mark.proves("catalog.watch.events")
def test_added_changed_and_removed_skills_are_told_with_location_and_digest(root: Path) -> None:
    before = _digest(root / "beta")
    with Following(Catalog(root)) as following:
        write_skill(root / "alpha", description="Does it differently.")
        shutil.rmtree(root / "beta")
        write_skill(root / "gamma")
        following.until(lambda: len(following.told) == 3)
    found = {
        change.event: (change.name, change.location, change.digest) for batch in following.batches for change in batch
    }
    assert found == {
        "changed": ("alpha", f"{root}/alpha/SKILL.md", _digest(root / "alpha")),
        "removed": ("beta", f"{root}/beta/SKILL.md", before),
        "added": ("gamma", f"{root}/gamma/SKILL.md", _digest(root / "gamma")),
    }


@pytest.mark.proves("catalog.watch.burst")
def test_a_burst_is_one_batch_sorted_by_name(root: Path, tmp_path: Path) -> None:
    made = [write_skill(tmp_path / "made" / f"new-{number:03}") for number in range(200)]
    with Following(Catalog(root)) as following:
        for skill in reversed(made):
            skill.rename(root / skill.name)
        write_skill(root / "alpha", body="# Otherwise\n")
        following.until(lambda: len(following.told) == 201)
    assert len(following.batches) == 1
    assert following.told == [("changed", "alpha"), *(("added", f"new-{number:03}") for number in range(200))]


def test_a_change_between_the_call_and_the_first_wait_is_told(root: Path) -> None:
    following = Following(Catalog(root))
    write_skill(root / "gamma")
    write_skill(root / "alpha", body="# Otherwise\n")
    with following:
        following.until_told(("changed", "alpha"), ("added", "gamma"))


def test_what_leaves_the_contents_as_they_are_is_not_told(root: Path) -> None:
    with Following(Catalog(root)) as following:
        (root / "alpha" / "notes.md").write_text("A file of the skill.")
        (root / "alpha" / "SKILL.md").touch()
        (root / "readme.txt").write_text("A file beside the skills.")
        (root / "empty").mkdir()
        write_skill(root / "beta", body="# Otherwise\n")
        following.until_told(("changed", "beta"))


def test_edits_that_keep_size_and_times_are_told(root: Path) -> None:
    write_skill(root / "alpha", body="aaaa\n")
    with Following(Catalog(root)) as following:
        for letter in "bcd":
            at = (root / "alpha" / "SKILL.md").stat()
            write_skill(root / "alpha", body=f"{letter * 4}\n")
            os.utime(root / "alpha" / "SKILL.md", ns=(at.st_atime_ns, at.st_mtime_ns))
            following.until_told(("changed", "alpha"))


def test_a_root_that_does_not_exist_yet_is_noticed(tmp_path: Path) -> None:
    with Following(Catalog(tmp_path / "not" / "yet" / "skills")) as following:
        write_skill(tmp_path / "not" / "yet" / "skills" / "alpha")
        following.until_told(("added", "alpha"))
        write_skill(tmp_path / "not" / "yet" / "skills" / "alpha", body="# Otherwise\n")
        following.until_told(("changed", "alpha"))


def test_a_root_that_is_removed_and_made_again_is_noticed(root: Path) -> None:
    with Following(Catalog(root)) as following:
        shutil.rmtree(root)
        following.until_told(("removed", "alpha"), ("removed", "beta"))
        write_skill(root / "alpha")
        following.until_told(("added", "alpha"))
        write_skill(root / "alpha", body="# Otherwise\n")
        following.until_told(("changed", "alpha"))


def test_a_root_that_is_replaced_by_a_link_is_noticed(root: Path, tmp_path: Path) -> None:
    other = write_skill(tmp_path / "other" / "gamma").parent
    with Following(Catalog(root)) as following:
        root.rename(tmp_path / "former")
        root.symlink_to(other)
        following.until(lambda: len(following.told) == 3)
        assert sorted(following.told) == [("added", "gamma"), ("removed", "alpha"), ("removed", "beta")]
        following.batches.clear()
        write_skill(other / "gamma", body="# Otherwise\n")
        following.until_told(("changed", "gamma"))
        (tmp_path / "link").symlink_to(tmp_path / "former")
        (tmp_path / "link").rename(root)
        following.until(lambda: len(following.told) == 3)


def test_a_link_on_the_way_to_the_root_is_noticed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_skill(tmp_path / name / "skills" / name)
    (tmp_path / "now").symlink_to("one")
    with Following(Catalog(tmp_path / "now" / "skills")) as following:
        (tmp_path / "next").symlink_to("two")
        (tmp_path / "next").rename(tmp_path / "now")
        following.until_told(("removed", "one"), ("added", "two"))


def test_linked_skills_and_links_without_a_target_are_noticed(root: Path, tmp_path: Path) -> None:
    outside = write_skill(tmp_path / "outside" / "gamma")
    (root / "gamma").symlink_to(outside)
    (root / "delta").symlink_to(tmp_path / "later" / "delta")
    with Following(Catalog(root)) as following:
        write_skill(outside, body="# Otherwise\n")
        following.until_told(("changed", "gamma"))
        write_skill(tmp_path / "later" / "delta")
        following.until_told(("added", "delta"))
        outside.rename(tmp_path / "gone")
        following.until_told(("removed", "gamma"))


def test_a_skill_below_directories_without_skills_is_noticed(root: Path) -> None:
    (root / "group").mkdir()
    with Following(Catalog(root)) as following:
        write_skill(root / "group" / "sub" / "gamma")
        following.until_told(("added", "gamma"))
        (root / "group").rename(root / "renamed")
        following.until(lambda: len(following.told) == 2)
        assert following.told == [("removed", "gamma"), ("added", "gamma")]
        following.batches.clear()
        write_skill(root / "renamed" / "sub" / "gamma", body="# Otherwise\n")
        following.until_told(("changed", "gamma"))


def test_a_broken_skill_is_removed_and_a_mended_one_is_added(root: Path) -> None:
    with Following(Catalog(root)) as following:
        (root / "alpha" / "SKILL.md").write_text("---\nname: [\n---\n")
        following.until_told(("removed", "alpha"))
        write_skill(root / "alpha")
        following.until_told(("added", "alpha"))


def test_a_copy_that_takes_over_a_name_is_told(tmp_path: Path) -> None:
    first, second = (write_skill(tmp_path / folder / "alpha") for folder in ("first", "second"))
    with Following(Catalog(first.parent, second.parent)) as following:
        shutil.rmtree(first)
        following.until_told(("removed", "alpha"), ("added", "alpha"))
        assert write_skill(first) == first
        following.until(lambda: len(following.batches) == 1)
        assert [(one.event, one.location) for one in following.batches[0]] == [
            ("removed", f"{second}/SKILL.md"),
            ("added", f"{first}/SKILL.md"),
        ]


def test_trust_in_a_project_is_noticed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / ".prowess" / "skills" / "alpha")
    with Following(Catalog.discover(cwd=tmp_path)) as following:
        TrustStore().trust(str(tmp_path))
        following.until_told(("added", "alpha"))


@pytest.mark.proves("catalog.watch.burst")
def test_random_edits_are_told_without_loss(root: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    catalog = Catalog(root)
    seen = {(entry.name, entry.location): _digest(root / entry.name) for entry in catalog.entries()}
    with Following(catalog) as following:
        for number in range(150):
            path = root / f"s{chance.randrange(20)}"
            match chance.randrange(4):
                case 0 | 1:
                    write_skill(path, body=f"{number}\n")
                case 2:
                    shutil.rmtree(path, ignore_errors=True)
                case _:
                    shutil.rmtree(tmp_path / "aside", ignore_errors=True)
                    if path.exists():
                        path.rename(tmp_path / "aside")
                    write_skill(path, body=f"again {number}\n")
        write_skill(root / "z-last")
        following.until(lambda: ("added", "z-last") in following.told)
        following.until(lambda: _replayed(seen, following) == _on_disk(root))


def _replayed(seen: dict[tuple[str, str], str], following: Following) -> dict[tuple[str, str], str | None]:
    state: dict[tuple[str, str], str | None] = dict(seen)
    for batch in tuple(following.batches):
        for change in batch:
            place = (change.name, change.location)
            assert (place in state) == (change.event != "added"), change
            if change.event == "removed":
                assert state.pop(place) == change.digest
            else:
                assert state.get(place) != change.digest
                state[place] = change.digest
    return state


def _on_disk(root: Path) -> dict[tuple[str, str], str | None]:
    return {(path.name, f"{path}/SKILL.md"): _digest(path) for path in root.iterdir()}


def test_no_thread_is_left(root: Path) -> None:
    before = set(threading.enumerate())
    Catalog(root).watch().close()
    with Following(Catalog(root)) as following:
        write_skill(root / "gamma")
        following.until_told(("added", "gamma"))
    assert set(threading.enumerate()) <= before


@pytest.mark.proves("catalog.watch.polling")
def test_a_notice_gives_the_reason_for_polling(root: Path, way: str) -> None:
    with Following(Catalog(root)) as following:
        pass
    if way == "notified":
        assert following.notices == []
    else:
        (notice,) = following.notices
        assert notice.code == "watch_polls"
        assert "watchfiles is not installed (pip install 'prowess[watch]')" in notice.message


def test_more_directories_than_may_be_watched_are_polled(root: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "polling":
        pytest.skip("nothing is watched")
    catalog = Catalog(root)
    watched = WatchedPlaces(catalog)
    monkeypatch.setattr(catalog_watch, "MOST_WATCHES", len(list(watched.in_order())) - 2)  # all but the skills
    with Following(catalog) as following:
        write_skill(root / "gamma")
        following.until_told(("added", "gamma"))
    (notice,) = following.notices
    assert "directories to watch" in notice.message
    monkeypatch.setattr(catalog_watch, "_POLL_SECONDS", 0.2)
    with Following(Catalog(root)) as following:
        write_skill(root / "gamma", body="# Otherwise\n")
        following.until_told(("changed", "gamma"))


def test_without_tell_notices_go_to_the_log(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _poll(monkeypatch)
    looks = iter([False, True])
    list(Catalog(root).watch(stopped=lambda: next(looks, True)))
    assert [(record.name, record.levelname) for record in caplog.records] == [("prowess.catalog", "WARNING")]
