"""What another user could change is not private: by owning it, by writing to it, from above, or through a link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from prowess._internal import places
from prowess._internal.places import OTHERS, NotPrivateError, ensure_private_directory, exposure, make_directory

if TYPE_CHECKING:
    from pathlib import Path

SOMEBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A private directory below one of this user's own."""
    directory = tmp_path / "above" / "own"
    directory.mkdir(parents=True, mode=0o700)
    return directory


def test_a_directory_that_only_its_owner_can_write_to_is_private(own: Path) -> None:
    own.chmod(0o755)
    assert exposure(str(own)) is None
    ensure_private_directory(str(own))


def test_with_others_who_may_read_it_is_open(own: Path) -> None:
    own.chmod(0o755)
    assert exposure(str(own), bits=OTHERS) == f"{own} is open to other users; run `chmod 700 {own}`"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_directory_that_others_can_write_to_is_refused_with_the_remedy(own: Path, mode: int) -> None:
    own.chmod(mode)
    with pytest.raises(NotPrivateError) as caught:
        ensure_private_directory(str(own))
    assert caught.value.strerror == f"{own} is writable by other users; run `chmod 700 {own}`"
    assert isinstance(caught.value, OSError)


def test_a_directory_made_below_one_that_others_can_write_to_is_refused(own: Path) -> None:
    own.chmod(0o777)
    with pytest.raises(NotPrivateError, match="a directory above it, is writable by other users"):
        ensure_private_directory(str(own / "made" / "now"))


@as_root
def test_above_a_directory_of_ones_own_the_owner_does_not_count_but_who_may_write_does(own: Path) -> None:
    top = own.parent.parent
    os.chown(top, SOMEBODY, SOMEBODY)
    assert exposure(str(own)) is None
    top.chmod(0o777)
    assert exposure(str(own)) == f"{top}, a directory above it, is writable by other users"


def test_below_a_sticky_directory_ones_own_is_safe(own: Path) -> None:
    own.parent.chmod(0o1777)
    assert exposure(str(own)) is None


@as_root
@pytest.mark.parametrize("which", ["own", "above"])
def test_a_directory_of_another_user_is_refused(own: Path, which: str) -> None:
    os.chown(own if which == "own" else own.parent, SOMEBODY, SOMEBODY)
    assert "belongs to another user" in str(exposure(str(own)))


@as_root
def test_a_sticky_directory_of_another_user_protects_nothing(own: Path) -> None:
    own.parent.chmod(0o1777)
    os.chown(own.parent, SOMEBODY, SOMEBODY)
    assert "writable by other users" in str(exposure(str(own)))


@as_root
def test_a_link_of_another_user_is_refused_and_ones_own_is_followed(own: Path) -> None:
    link = own.parent / "link"
    link.symlink_to(own)
    (own / "below").mkdir()
    assert exposure(str(link / "below")) is None
    os.chown(link, SOMEBODY, SOMEBODY, follow_symlinks=False)
    assert exposure(str(link / "below")) == f"{link} is a symbolic link that belongs to another user"


def test_through_ones_own_link_the_target_counts(own: Path) -> None:
    link = own.parent / "link"
    link.symlink_to(own)
    own.chmod(0o777)
    assert "writable by other users" in str(exposure(str(link)))


def test_a_group_for_one_user_alone_is_not_others(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.chmod(0o770)
    monkeypatch.setattr(places, "_shares_with_private_group", lambda found: True)
    assert exposure(str(own)) is None
    assert exposure(str(own), bits=OTHERS) is not None


def test_a_group_counts_as_one_users_own_by_its_name_and_members(own: Path) -> None:
    import grp
    import pwd

    found = own.stat()
    name = pwd.getpwuid(os.geteuid()).pw_name
    group = grp.getgrgid(found.st_gid)
    assert places._shares_with_private_group(found) == (group.gr_name == name and not set(group.gr_mem) - {name})
    strange = os.stat_result((0o040770, 0, 0, 1, os.geteuid(), 4_000_000, 0, 0, 0, 0))
    assert not places._shares_with_private_group(strange)
    own.chmod(0o777)
    assert not places._shares_with_private_group(own.stat())


def test_where_modes_say_nothing_nothing_is_refused(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.chmod(0o777)
    monkeypatch.delattr(os, "geteuid")
    assert exposure(str(own)) is None
    assert places.exposed(own.stat(), str(own)) is None


def test_a_directory_that_the_user_chose_may_be_anybodys(own: Path) -> None:
    own.chmod(0o777)
    make_directory(str(own / "a" / "b"))
    assert stat.S_IMODE((own / "a" / "b").stat().st_mode) == 0o700
