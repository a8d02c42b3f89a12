"""`IndexFile`: rows made from older skills are not written into a newer file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.store.index_faults import BusyIndexError
from prowess.store.index_file import IndexFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prowess.store.index_file import DirectoryRow, SkillRow


def _everything(directories: list[DirectoryRow], skills: Iterator[SkillRow]) -> list[str]:
    assert directories
    return [row[0] for row in skills]


def test_rows_made_from_older_skills_are_refused_after_another_process_wrote(tmp_path: Path) -> None:
    path, parent = str(tmp_path / "index"), b"/skills"
    mine, other = IndexFile(path, b"same"), IndexFile(path, b"same")
    mine.build(directories=[(parent, 1, b"")], skills=[("old", parent, "", 1, 1, b"facts", b"data")])
    assert mine.read(None, _everything) == ["old"]
    assert other.read(None, _everything) == ["old"]
    other.change(skills=[("new", parent, "", 1, 1, b"facts", b"data")])

    assert mine.extra_rows("word") == {}  # an access sees the newer file, but reads no skills
    assert mine.state == other.state
    assert mine.read(["new"], _everything) == ["new"]  # and here not all skills
    with pytest.raises(BusyIndexError):
        mine.replace_extra({"word": {"k": b"made from the old skills"}})
    with pytest.raises(BusyIndexError):
        mine.change(gone_skills=[("new", parent, "")])
    assert sorted(mine.read(None, _everything)) == ["new", "old"]
    mine.replace_extra({"word": {"k": b"made from both"}})
    assert other.extra_rows("word") == {"k": b"made from both"}
