from __future__ import annotations

import json
from typing import TYPE_CHECKING

from prowess.cli.dispatch import run
from prowess.format import parse_document
from prowess.lint.catalog_budget import catalog_budget, listed_characters

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from prowess.diagnostics import Diagnostic
    from prowess.format.document import SkillDocument


def _over(documents: list[SkillDocument]) -> tuple[int, Diagnostic] | None:
    return catalog_budget(list(map(listed_characters, documents)), documents.__getitem__)


def test_a_set_within_the_budget_draws_nothing_and_one_above_names_its_longest() -> None:
    documents = [parse_document(f"---\nname: a\ndescription: {'x' * length}\n---\n") for length in (900, 999)]
    assert _over(documents * 4) is None
    over = _over(documents * 5)
    assert over is not None
    at, found = over
    assert at == 1
    assert "10 skills have 9505 characters, about 2377 tokens (characters / 4)" in found.message
    assert (found.location.line, found.location.column) == (3, 14)


def test_nothing_in_a_set_without_descriptions() -> None:
    documents = [parse_document(f"---\nname: {'x' * 9000}\n---\n")]
    over = _over(documents)
    assert over is not None
    assert over[1].location.line == 1


def test_a_folder_of_skills_is_weighed_as_a_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for number in range(10):
        (tmp_path / f"s-{number}").mkdir()
        text = f"---\nname: s-{number}\ndescription: {'word ' * 190}\n---\nx\n"
        (tmp_path / f"s-{number}" / "SKILL.md").write_text(text)
    assert run(["check", str(tmp_path), "--json", "--select", "catalog", "--isolated"]) == 0
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    assert [one["rule"] for one in found] == ["catalog.budget"]
    assert run(["check", str(tmp_path / "s-1"), "--json", "--select", "catalog", "--isolated"]) == 0
    assert "catalog.budget" not in capfd.readouterr().out
