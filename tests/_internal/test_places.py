"""The places follow the environment of the moment."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import cache_home, ensure_private_directory, prowess_home, user_home

if TYPE_CHECKING:
    from pathlib import Path


def test_the_home_is_below_the_users_home_unless_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PROWESS_HOME")
    assert user_home() == str(tmp_path)
    assert prowess_home() == str(tmp_path / ".prowess")
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "moved"))
    assert prowess_home() == str(tmp_path / "moved")


def test_a_relative_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROWESS_HOME", "here")
    assert prowess_home() == str(tmp_path / "here")
    monkeypatch.chdir("/")  # the home, and with it the policy, stays where it was
    assert prowess_home() == str(tmp_path / "here")


def test_the_cache_follows_the_prowess_home_then_xdg_then_the_users_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    assert cache_home() == str(tmp_path / "home" / "cache")
    monkeypatch.delenv("PROWESS_HOME")
    assert cache_home() == str(tmp_path / "xdg" / "prowess")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_home() == str(tmp_path / ".cache" / "prowess")


def test_a_private_directory_and_its_missing_parents_are_for_this_user_alone(tmp_path: Path) -> None:
    ensure_private_directory(str(tmp_path / "a" / "b"))
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    ensure_private_directory(str(tmp_path / "a" / "b"))


def test_a_directory_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    ensure_private_directory(str(tmp_path / "a"))
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(FileExistsError):
        ensure_private_directory(str(tmp_path / "a"))
