"""A tree of directories with cycles, dangling links, pipes and names that are not UTF-8: everything is reported.

`PROWESS_ODD_DIRECTORIES` is the number of directories; `make stress` searches 50 000.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from prowess._internal.files import file_mark
from prowess.catalog import Catalog
from tests.catalog.making import names, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

DIRECTORIES = int(os.environ.get("PROWESS_ODD_DIRECTORIES", "1000"))


def test_everything_in_an_odd_tree_is_reported_with_and_without_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_mark, "SETTLED_NS", 0)
    root = tmp_path / "root"
    count = DIRECTORIES // 10
    for number in range(count):
        group = root / f"group-{number // 100:03}" / f"part-{number:05}"
        for inner in range(3):
            (group / f"empty-{inner}" / "deeper").mkdir(parents=True)
        write_skill(group / f"skill-{number:05}")
        (group / "cycle").symlink_to("..")
        (group / "dangling").symlink_to("absent")
        (group / "self").symlink_to("self")
        (group / "piped").mkdir()
        os.mkfifo(group / "piped" / "SKILL.md")
        os.mkdir(os.fsencode(group) + b"/not-\xff-text")
    fresh = Catalog(root, index=False)
    found = Counter(one.rule for one in fresh.diagnostics)
    assert len(fresh.entries()) == count
    assert found["catalog.encoding"] == count
    assert found["catalog.link"] == count
    assert found["catalog.cycle"] == 2 * count
    assert found["file.notRegular"] == count
    for _ in range(2):
        catalog = Catalog(root)
        assert names(catalog.entries()) == names(fresh.entries())
        assert catalog.diagnostics == fresh.diagnostics
        assert catalog.index is not None
        assert catalog.index.unwritten is None
