"""How often a cold load opens, walks and parses: once each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files import file_mark, tree_digest
from prowess.catalog import Catalog
from prowess.format import parsing
from prowess.format.source import plain_front_matter
from prowess.runtime import Session
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

pytestmark = pytest.mark.anyio


def _counted(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[object]:
    """Return a list that grows by the first argument of each call."""
    calls: list[object] = []
    honest = getattr(module, name)

    def counting(*given: object, **named: object) -> object:
        calls.append(given[0])
        return honest(*given, **named)

    monkeypatch.setattr(module, name, counting)
    return calls


@pytest.mark.parametrize("extra", ["", "version: {major: 1}\n"], ids=["plain", "needs the full parser"])
async def test_a_cold_load_walks_the_tree_once_and_reads_and_parses_the_document_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: str
) -> None:
    skill = write_skill(tmp_path, "a", extra=extra, files={"references/guide.md": "guide"})
    monkeypatch.setattr(file_mark, "SETTLED_NS", -(10**12))  # as if the files had been left alone for long
    opened, listed = _counted(monkeypatch, os, "open"), _counted(monkeypatch, os, "scandir")
    plain = _counted(monkeypatch, plain_front_matter, "plain_properties")
    full = _counted(monkeypatch, parsing, "read_yaml")
    walks = _counted(monkeypatch, tree_digest, "read_stamped_tree")

    session = Session(Catalog(tmp_path))
    assert len(session.catalog.entries()) == 1
    discovery = (opened.count(str(skill / "SKILL.md")), len(plain), len(full))
    # What the plain reader cannot answer is read once more, by the full parser.
    assert discovery == ((2, 1, 1) if extra else (1, 1, 0))
    for calls in (opened, listed, plain, full):
        calls.clear()

    await session.load(["a"])
    assert sorted(str(path) for path in opened if str(path).endswith(".md")) == ["SKILL.md", "guide.md"]
    assert len(listed) == len(["the skill", "references"])
    assert (len(walks), len(plain), len(full)) == (1, 0, 1)

    opened.clear()
    assert "Body of a." in session.instructions()
    assert [path for path in opened if str(path).endswith("SKILL.md")] == []  # its digest is known from the load

    opened.clear()
    assert session.catalog.skill("a").body == "Body of a.\n"
    assert opened == []  # a few calls of `stat` show that nothing has changed
