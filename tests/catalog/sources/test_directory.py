"""The walk of one directory: what is a skill, what is a finding, and that nothing stops the rest."""

from __future__ import annotations

import os
import socket
import sys
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import weakness_above
from prowess.catalog import Catalog, DirectorySource, Layer
from prowess.catalog.sources import directory as directory_module
from prowess.catalog.sources.enterprise import EnterpriseSource
from tests.catalog.making import finding, names, rules, write_skill

if TYPE_CHECKING:
    from pathlib import Path

_AS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


def _default(root: Path) -> Catalog:
    """A catalog of one root that nobody pointed at."""
    return Catalog(DirectorySource(str(root), layer=Layer.PERSONAL))


@pytest.mark.proves("client.discovery.candidates", "client.discovery.skip", "client.discovery.leaf")
def test_a_directory_with_the_file_is_a_skill_and_what_version_control_and_packages_keep_is_not(tmp_path: Path) -> None:
    write_skill(tmp_path / "a")
    write_skill(tmp_path / "a" / "examples" / "b")
    write_skill(tmp_path / ".git" / "c")
    write_skill(tmp_path / "node_modules" / "d")
    write_skill(tmp_path / "group" / "node_modules" / "e")
    write_skill(tmp_path / ".system" / "f")
    (tmp_path / "notes.md").write_text("loose")
    assert names(_default(tmp_path).entries()) == ["a", "f"]


def test_a_loose_file_in_a_root_of_skills_is_ignored_and_said(tmp_path: Path) -> None:
    write_skill(tmp_path)
    write_skill(tmp_path / "a")
    catalog = _default(tmp_path)
    assert names(catalog.entries()) == ["a"]
    assert finding(catalog, "catalog.loose").location.path == str(tmp_path / "SKILL.md")


def test_a_root_that_a_person_names_may_itself_be_a_skill(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    (entry,) = Catalog(skill).entries()
    assert (entry.name, entry.root_dir, entry.location) == ("a", str(skill), str(skill / "SKILL.md"))
    (tmp_path / "link").symlink_to("a")
    (entry,) = Catalog(tmp_path / "link").entries()
    assert (entry.root_dir, entry.aliases) == (str(skill), (str(tmp_path / "link"),))


def test_a_named_root_may_be_a_skill_with_the_lower_case_file(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    (skill / "SKILL.md").rename(skill / "skill.md")
    assert names(Catalog(skill).entries()) == ["a"]


def test_an_absent_root_is_a_finding_only_where_a_person_named_it(tmp_path: Path) -> None:
    assert _default(tmp_path / "none").diagnostics == ()
    catalog = Catalog(tmp_path / "none")
    assert catalog.entries() == ()
    assert finding(catalog, "catalog.root").message == f"{tmp_path / 'none'} does not exist; no skills are read from it"
    (tmp_path / "file").write_text("x")
    assert "is not a directory" in finding(Catalog(tmp_path / "file"), "catalog.root").message


@pytest.mark.parametrize("kind", ["link", "fifo", "directory", "socket"])
def test_a_skill_file_that_is_no_regular_file_is_not_loaded_and_blocks_nothing(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "good")
    odd = tmp_path / "odd" / "SKILL.md"
    odd.parent.mkdir()
    if kind == "link":
        write_skill(tmp_path / "outside" / "node_modules", name="odd")  # what it leads to would be a sound skill
        odd.symlink_to("../outside/node_modules/SKILL.md")
    elif kind == "fifo":
        os.mkfifo(odd)
    elif kind == "directory":
        odd.mkdir()
    else:
        monkeypatch.chdir(odd.parent)  # a socket's name is limited to about 100 bytes
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("SKILL.md")
    started = time.monotonic()
    catalog = Catalog(tmp_path)
    assert time.monotonic() - started < 10
    assert names(catalog.entries()) == ["good"]
    assert finding(catalog, "file.notRegular").location.path == str(odd)


def test_a_skill_file_with_a_second_hard_link_is_not_loaded(tmp_path: Path) -> None:
    for name in ("SKILL.md", "skill.md"):
        skill = write_skill(tmp_path / f"root-{name}" / "a")
        (skill / "SKILL.md").rename(skill / name)
        (tmp_path / f"second-{name}").hardlink_to(skill / name)
        catalog = Catalog(skill.parent)
        assert catalog.entries() == ()
        assert finding(catalog, "catalog.hardLink").location.path == str(skill / name)


@pytest.mark.parametrize("sparse", [True, False])
def test_a_skill_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, *, sparse: bool) -> None:
    skill = write_skill(tmp_path / "a", body="x" * (1 if sparse else 2 * 1024 * 1024))
    if sparse:
        with open(skill / "SKILL.md", "r+b") as file:
            file.truncate(1 << 30)  # no block of it is written
    started = time.monotonic()
    catalog = Catalog(tmp_path)
    assert time.monotonic() - started < 10
    assert catalog.entries() == ()
    assert "file.size" in rules(catalog)


def test_another_spelling_of_the_file_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "a")
    (skill / "SKILL.md").rename(skill / "Skill.MD")
    write_skill(skill / "nested")
    catalog = Catalog(tmp_path)
    assert catalog.entries() == ()
    assert "rename it" in finding(catalog, "catalog.spelling").message


def test_a_directory_that_cannot_be_read_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "good")
    (tmp_path / "locked").mkdir()
    honest = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("locked"):  # the tests may run as root, whom no mode stops
            raise PermissionError(13, "Permission denied")
        return honest(path)

    monkeypatch.setattr(os, "scandir", refusing)
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["good"]
    assert finding(catalog, "catalog.unreadable").location.path == str(tmp_path / "locked")


def test_a_directory_that_cannot_be_entered_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "good")
    write_skill(tmp_path / "locked")
    honest = os.open

    def refusing(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if "locked" in str(path):  # as above
            raise PermissionError(13, "Permission denied")
        return honest(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)
    readable = Catalog(tmp_path)
    assert names(readable.entries()) == ["good"]
    assert finding(readable, "file.unreadable").location.path == str(tmp_path / "locked" / "SKILL.md")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert finding(Catalog(tmp_path), "catalog.unreadable").location.path == str(tmp_path / "locked")


def test_what_vanishes_during_the_walk_is_simply_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_skill(tmp_path / "good")
    (tmp_path / "gone").mkdir()
    honest = os.scandir

    def vanishing(path: str) -> object:
        if str(path).endswith("gone"):
            raise FileNotFoundError(2, "No such file or directory")
        return honest(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["good"]
    assert catalog.diagnostics == ()


@pytest.mark.proves("client.discovery.bounds")
def test_the_walk_is_bounded_in_depth_and_number_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_skill(tmp_path / "1" / "2" / "3" / "4" / "5" / "six")
    write_skill(tmp_path / "1" / "2" / "3" / "4" / "5" / "6" / "seven")
    catalog = _default(tmp_path)
    assert names(catalog.entries()) == ["six"]
    assert finding(catalog, "catalog.depth").location.path == str(tmp_path / "1" / "2" / "3" / "4" / "5" / "6")
    assert names(Catalog(tmp_path).entries()) == ["seven", "six"]  # a person named this root

    assert directory_module.DEFAULT_BOUNDS == (6, 2000)
    assert directory_module.NAMED_BOUNDS == (64, 200_000)
    monkeypatch.setattr(directory_module, "DEFAULT_BOUNDS", (6, 3))
    for number in range(4):
        (tmp_path / f"empty-{number}").mkdir()
    write_skill(tmp_path / "zz")
    catalog = _default(tmp_path)
    assert names(catalog.entries()) == ["zz"]  # skills themselves do not count
    assert "after 3 directories" in finding(catalog, "catalog.count").message


def test_a_deep_tree_never_overflows_the_stack(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(200):
        deep /= "d"
    deep.mkdir(parents=True)
    assert rules(Catalog(tmp_path)) == ["catalog.depth"]


def test_a_group_that_is_reached_twice_is_searched_once(tmp_path: Path) -> None:
    write_skill(tmp_path / "group" / "a")
    (tmp_path / "again").symlink_to("group")
    (tmp_path / "outside").mkdir()
    catalog = Catalog(tmp_path)
    (entry,) = catalog.entries()
    assert entry.aliases == ()
    assert catalog.diagnostics == ()


def test_a_link_to_what_is_never_entered_is_not_followed(tmp_path: Path) -> None:
    write_skill(tmp_path / "elsewhere" / "node_modules" / "p")
    root = tmp_path / "root"
    root.mkdir()
    (root / "packages").symlink_to("../elsewhere/node_modules")
    assert Catalog(root).entries() == ()


def test_a_linked_root_is_walked_by_its_real_path(tmp_path: Path) -> None:
    write_skill(tmp_path / "real" / "a")
    (tmp_path / "root").symlink_to("real")
    (entry,) = Catalog(tmp_path / "root").entries()
    assert entry.root_dir == str(tmp_path / "real" / "a")
    assert entry.aliases == (str(tmp_path / "root" / "a"),)


def test_a_linked_group_is_followed_and_each_skill_keeps_the_way_as_alias(tmp_path: Path) -> None:
    write_skill(tmp_path / "store" / "a")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "team").symlink_to("../store")
    (entry,) = Catalog(tmp_path / "root").entries()
    assert entry.root_dir == str(tmp_path / "store" / "a")
    assert entry.aliases == (str(tmp_path / "root" / "team" / "a"),)


@pytest.mark.skipif(sys.platform != "linux", reason="the order of a listing is made on purpose here")
@pytest.mark.proves("governance.override.deterministic")
def test_the_order_in_which_the_file_system_lists_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for group in ("one", "two", "three"):
        write_skill(tmp_path / group / "same", description=group)
        write_skill(tmp_path / group / f"own-{group}")
    expected = [entry.location for entry in Catalog(tmp_path).all_entries()]
    honest = os.scandir

    class Backwards:
        def __init__(self, path: str) -> None:
            with honest(path) as found:
                self._found = list(found)[::-1]

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self._found

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(os, "scandir", Backwards)
    catalog = Catalog(tmp_path)
    assert [entry.location for entry in catalog.all_entries()] == expected
    assert catalog.get("same").description == "one"


@pytest.mark.proves("governance.layers.enterprise.path")
@pytest.mark.skipif(not _AS_ROOT, reason="only an administrator can make files that belong to one")
def test_an_enterprise_skill_is_listed_while_only_its_owner_can_change_it(tmp_path: Path) -> None:
    skill = write_skill(tmp_path / "skills" / "a")
    (skill / "scripts").mkdir()
    script = skill / "scripts" / "run.sh"
    script.write_text("#!/bin/sh\n")

    def catalog() -> Catalog:
        return Catalog(EnterpriseSource(str(tmp_path / "skills"), layer=Layer.ENTERPRISE))

    assert names(catalog().entries()) == ["a"]
    for path, mode in ((script, 0o666), (skill / "scripts", 0o775), (skill, 0o777), (skill / "SKILL.md", 0o664)):
        before = path.stat().st_mode & 0o7777
        path.chmod(mode)
        assert catalog().entries() == ()
        assert str(path) in finding(catalog(), "catalog.enterprise").message
        path.chmod(before)
    os.chown(script, 12345, -1)
    assert "belongs to user 12345" in finding(catalog(), "catalog.enterprise").message
    os.chown(script, 0, -1)
    for path in (tmp_path / "skills", tmp_path):
        path.chmod(0o770)
        assert catalog().entries() == ()
        assert str(path) in finding(catalog(), "catalog.enterprise").message
        path.chmod(0o700)
    assert names(catalog().entries()) == ["a"]


@pytest.mark.skipif(not _AS_ROOT, reason="as above")
def test_an_enterprise_link_counts_only_if_its_whole_way_is_protected(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    write_skill(tmp_path / "store" / "a")
    (tmp_path / "skills" / "a").symlink_to("../store/a")
    (tmp_path / "skills" / "abs").symlink_to(tmp_path / "store")
    source = EnterpriseSource(str(tmp_path / "skills"), layer=Layer.ENTERPRISE)
    assert names(Catalog(source).entries()) == ["a"]
    (tmp_path / "store").chmod(0o777)
    catalog = Catalog(source)
    assert catalog.entries() == ()
    assert set(rules(catalog)) == {"catalog.enterprise"}


def test_an_enterprise_directory_of_somebody_else_is_a_finding(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "a")
    source = EnterpriseSource(str(tmp_path / "skills"), layer=Layer.ENTERPRISE, owner=54321)
    catalog = Catalog(source)
    assert catalog.entries() == ()
    assert "no enterprise skill is loaded" in finding(catalog, "catalog.enterprise").message
    absent = EnterpriseSource(str(tmp_path / "none"), layer=Layer.ENTERPRISE)
    assert Catalog(absent).diagnostics == ()


def test_a_way_with_too_many_links_or_none_at_all_is_not_protected(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("x")
    owner = os.getuid()
    assert "too many links" in str(weakness_above(str(tmp_path / "x"), owner)) or owner != 0
    assert "cannot be examined" in str(weakness_above(str(tmp_path / "none"), owner)) or owner != 0


def test_where_case_is_ignored_the_name_of_the_real_entry_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = write_skill(tmp_path / "a")
    (skill / "SKILL.md").rename(skill / "skill.md")
    honest = os.open

    def ignoring_case(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        return honest(str(path).replace("SKILL.md", "skill.md"), flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", ignoring_case)
    monkeypatch.setattr(directory_module, "_IGNORES_CASE", True)
    catalog = Catalog(tmp_path)
    (entry,) = catalog.entries()
    assert entry.location == str(skill / "skill.md")
    assert rules(catalog) == ["file.name"]


def test_a_name_that_is_not_utf8_is_left_out_and_shown_escaped(tmp_path: Path) -> None:
    write_skill(tmp_path / "ü")
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")
    os.symlink(b"\xc3\xbc", os.fsencode(tmp_path) + b"/\xfe")
    catalog = Catalog(tmp_path)
    assert names(catalog.entries()) == ["ü"]
    assert [found.location.path for found in catalog.diagnostics if found.rule == "catalog.encoding"] == [
        f"{tmp_path}/\\xff",
        f"{tmp_path}/\\xfe",
    ]


def test_without_owners_nothing_counts_as_enterprise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getuid")
    assert "no owners" in str(weakness_above(str(tmp_path), 0))
