"""What the Go runtime of the same protocol promises of its catalog, held against this one.

Its promises on bodies, sessions, reads and runs are in tests/runtime/test_peer_behaviours.py. It adds skills one by one
through providers; here a catalog scans directories, so the same promises are about roots and names.
"""

from __future__ import annotations

import os
import shutil
import threading
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.errors import SkillNotFoundError
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


def test_the_same_directory_twice_is_one_skill(tmp_path: Path) -> None:
    """Amended: adding it again is no error; it is listed once, by its real path."""
    write_skill(tmp_path / "skills", "one")
    (tmp_path / "link").symlink_to("skills")

    catalog = Catalog(tmp_path / "skills", tmp_path / "skills", tmp_path / "link")

    assert [entry.root_dir for entry in catalog.all_entries()] == [str(tmp_path.resolve() / "skills" / "one")]


def test_white_space_around_a_name_is_no_part_of_it_and_of_a_request_neither_a_guess(tmp_path: Path) -> None:
    """Amended: white space in the file is dropped as YAML does it, and reported; a request must say the name itself."""
    write_skill(tmp_path, "spaced", extra="")
    (tmp_path / "spaced" / "SKILL.md").write_text('---\nname: "  spaced "\ndescription: D.\n---\nB.\n')
    catalog = Catalog(tmp_path)

    (entry,) = catalog.entries()
    assert entry.key == "spaced"
    assert catalog.get("spaced").location == entry.location


def test_an_unknown_root_is_reported_and_lists_nothing(tmp_path: Path) -> None:
    """Amended: there are no providers; a root that is not there is reported, and the others are listed."""
    write_skill(tmp_path / "skills", "one")

    catalog = Catalog(tmp_path / "nowhere", tmp_path / "skills")

    assert [entry.name for entry in catalog.entries()] == ["one"]
    assert [found.rule for found in catalog.diagnostics if str(tmp_path / "nowhere") in str(found)]


def test_what_a_source_says_of_a_skill_is_what_the_file_says(tmp_path: Path) -> None:
    """No source rewrites a name: a directory of another name changes nothing, it is reported."""
    write_skill(tmp_path, "real")
    (tmp_path / "real").rename(tmp_path / "other")
    catalog = Catalog(tmp_path)

    assert [entry.name for entry in catalog.entries()] == ["real"]
    with pytest.raises(SkillNotFoundError):
        catalog.get("other")


def test_the_order_of_the_list_is_that_of_the_names_however_they_were_made(tmp_path: Path) -> None:
    """The list is stable: sorted by name, whatever the order on the disk, and the same after each refresh."""
    for order in (["b", "a", "c"], ["c", "b", "a"]):
        root = tmp_path / "".join(order)
        for name in order:
            write_skill(root, name)
        catalog = Catalog(root)
        for _ in range(3):
            assert [entry.name for entry in catalog.entries()] == ["a", "b", "c"]
            catalog.refresh()


def test_a_prefix_filters_the_names_that_a_model_sees(tmp_path: Path) -> None:
    """The filter is on the name itself; there is no handle with a digest behind it."""
    for name in ("csv-report", "csv-clean", "log-triage"):
        write_skill(tmp_path, name)

    assert [entry.name for entry in Catalog(tmp_path).entries(prefix="csv-")] == ["csv-clean", "csv-report"]
    assert Catalog(tmp_path).entries(prefix="CSV") == ()


def test_parallel_changes_and_scans_leave_a_consistent_catalog(tmp_path: Path) -> None:
    """Skills come and go while others list, look up and scan: nobody fails, and at the end the list is the disk."""
    for at in range(4):
        write_skill(tmp_path, f"fixed{at}")
    catalog = Catalog(tmp_path)
    faults: list[BaseException] = []
    stop = threading.Event()

    def guarded(work: object) -> None:
        try:
            while not stop.is_set():
                assert callable(work)
                work()
        except BaseException as fault:  # noqa: BLE001 -- handed to the test
            faults.append(fault)

    def look() -> None:
        seen = [entry.name for entry in catalog.entries()]
        assert seen == sorted(seen)
        assert {f"fixed{at}" for at in range(4)} <= set(seen)
        assert catalog.get("fixed0").description == "Does fixed0."

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (look, look, catalog.refresh)]
    for thread in threads:
        thread.start()
    for at in range(40):
        write_skill(tmp_path, f"moving{at % 5}")
        if at % 2:
            shutil.rmtree(tmp_path / f"moving{at % 5}")
    stop.set()
    for thread in threads:
        thread.join(20)
    catalog.refresh()

    assert faults == []
    assert {entry.name for entry in catalog.entries()} == set(os.listdir(tmp_path))
