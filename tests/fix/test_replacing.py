from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from prowess.fix import applying
from prowess.fix.applying import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")
    file.chmod(0o640)
    assert replace_file(str(file), b"old", b"new", within=str(tmp_path)) is None
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o7777 == 0o640
    assert os.listdir(tmp_path) == ["SKILL.md"]
    assert replace_file(str(file), b"new", b"newer", within=str(file)) is None


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old, and more")
    assert "changed" in str(replace_file(str(file), b"old", b"new", within=str(tmp_path)))
    assert file.read_bytes() == b"old, and more"


def test_read_only_is_respected_also_for_root(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")
    file.chmod(0o444)
    assert replace_file(str(file), b"old", b"new", within=str(tmp_path)) == "it is read-only"
    assert file.read_bytes() == b"old"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    named, other = tmp_path / "named", tmp_path / "other"
    named.mkdir()
    other.mkdir()
    file = other / "SKILL.md"
    file.write_bytes(b"old")
    (named / "skill").symlink_to(other)
    (other / "link.md").symlink_to(file)
    through = str(named / "skill" / "SKILL.md")
    assert "outside of the named path" in str(replace_file(through, b"old", b"new", within=str(named)))
    link = str(other / "link.md")
    assert replace_file(link, b"old", b"new", within=str(other)) == "it is not a regular file"
    assert file.read_bytes() == b"old"
    assert replace_file(through, b"old", b"new", within=str(named / "skill")) is None
    assert replace_file(str(file), b"new", b"newer", within="/") is None


def test_a_directory_whose_name_only_begins_alike_is_outside(tmp_path: Path) -> None:
    named, sibling = tmp_path / "skills", tmp_path / "skills-old"
    named.mkdir()
    sibling.mkdir()
    file = sibling / "SKILL.md"
    file.write_bytes(b"old")
    (named / "a").symlink_to(sibling)
    through = str(named / "a" / "SKILL.md")
    assert "outside of the named path" in str(replace_file(through, b"old", b"new", within=str(named)))
    assert "outside of the named path" in str(replace_file(f"{file}", b"old", b"new", within=f"{tmp_path}/skills-ol"))
    assert file.read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(applying, "write_atomically", full)
    assert "No space left" in str(replace_file(str(file), b"old", b"new", within=str(tmp_path)))
    assert file.read_bytes() == b"old"
    assert "cannot be written" in str(replace_file(str(tmp_path / "no"), b"", b"", within=str(tmp_path)))
