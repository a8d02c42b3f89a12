"""What a well-tested runtime in another language promises of its catalog, as far as it makes sense here.

There, a host adds definitions one by one; here, directories are read. Where the requirement manifest wants another
outcome, a comment says which.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.errors import SkillNotFoundError
from tests.catalog.making import names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path


def test_adding_the_same_skill_twice_gives_one_record(tmp_path: Path) -> None:
    # There it is an error. Here `client.discovery.same-directory`: one directory by two ways is one skill.
    write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path, tmp_path)
    assert len(catalog.all_entries()) == 1
    assert catalog.diagnostics == ()


def test_a_second_skill_of_the_same_name_is_no_error_but_shadowed(tmp_path: Path) -> None:
    # There it is an error. Here `client.discovery.precedence` and `client.discovery.shadowing`.
    write_skill(tmp_path / "1" / "a")
    write_skill(tmp_path / "2" / "a")
    catalog = Catalog(tmp_path / "1", tmp_path / "2")
    assert catalog.get("a").root_dir == str(tmp_path / "1" / "a")
    assert rules(catalog) == ["catalog.shadowed"]


def test_blanks_around_a_name_are_trimmed_and_never_part_of_it(tmp_path: Path) -> None:
    # There they are refused. Here format, reading: name and description are trimmed.
    write_skill(tmp_path / "a", name="'  a  '")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["a"]
    assert catalog.get("a").properties["name"] == "a"


def test_a_source_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(AttributeError):
        Catalog(object())  # type: ignore[arg-type]  # what a caller without a type checker might pass


def test_the_reader_never_changes_the_name_or_the_kind_of_a_record(tmp_path: Path) -> None:
    write_skill(tmp_path / "directory", name="another")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["another"]
    assert catalog.skill("another").name == "another"


def test_the_order_of_the_list_is_stable(tmp_path: Path) -> None:
    for name in ("c", "a", "b", "a-b", "a1"):
        write_skill(tmp_path / name)
    catalog = Catalog(tmp_path)
    listed = names(catalog.entries())
    assert listed == sorted(listed)
    for _ in range(3):
        catalog.refresh()
        assert names(catalog.entries()) == listed


def test_a_prefix_filters_by_the_name_that_a_model_sees(tmp_path: Path) -> None:
    write_skill(tmp_path / "zz-directory", name="csv-report")
    write_skill(tmp_path / "csv-other")
    write_skill(tmp_path / "log-triage")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries(prefix="csv-")) == ["csv-other", "csv-report"]
    assert names(catalog.entries(prefix="zz")) == []


def test_adding_removing_and_listing_in_parallel_leaves_a_consistent_catalog(tmp_path: Path) -> None:
    for number in range(5):
        write_skill(tmp_path / f"s{number}")
    catalog = Catalog(tmp_path)
    faults: list[object] = []

    def change(number: int) -> None:
        for turn in range(15):
            hidden = tmp_path / f"s{number}" / "SKILL.off"
            shown = tmp_path / f"s{number}" / "SKILL.md"
            hidden.rename(shown) if turn % 2 else shown.rename(hidden)
            catalog.refresh()

    def read() -> None:
        for _ in range(60):
            for entry in catalog.entries():
                try:
                    catalog.get(entry.name)
                except SkillNotFoundError:
                    continue  # gone since: an answer, not a fault
                except Exception as fault:  # noqa: BLE001 -- whatever it is, it is the finding
                    faults.append(fault)

    threads = [threading.Thread(target=change, args=(number,)) for number in (0, 1)] + [
        threading.Thread(target=read) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert faults == []
    catalog.refresh()
    assert names(catalog.entries()) == ["s2", "s3", "s4"]


def test_a_document_that_is_too_large_or_a_link_is_refused_and_another_name_is_only_a_warning(tmp_path: Path) -> None:
    # There a name that differs from the directory is refused. Here format, reading: lenient loads it with a warning.
    write_skill(tmp_path / "large", body="x" * (2 * 1024 * 1024))
    write_skill(tmp_path / "other", name="named")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "SKILL.md").symlink_to("../other/SKILL.md")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["named"]
    assert set(rules(catalog)) == {"file.size", "file.notRegular", "name.matchesDirectory"}


def test_a_document_that_changed_since_it_was_listed_is_judged_again_at_load(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    catalog = Catalog(tmp_path)
    (skill / "SKILL.md").write_text("---\nname: a\n---\n")
    with pytest.raises(SkillNotFoundError) as absent:
        catalog.skill("a")
    assert "description" in str(absent.value)
