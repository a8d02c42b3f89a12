"""The check by hand draws the same findings again, and counts what a reader calls false."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from tools import hand_check
from tools.peers.linters import Said

if TYPE_CHECKING:
    from pathlib import Path


def said(number: int, severity: str = "error") -> Said:
    skill = f"a/b/{number}"
    return Said(skill=skill, rule="r", severity=severity, file=f"{skill}/SKILL.md", line=1, message="m")


def drawn(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "list.json"
    findings = [said(number) for number in range(count)]
    hand_check.write_draw(hand_check.drawn(findings, seed=20, count=count), seed=20, population=count, path=path)
    return path


def judge(path: Path, folder: Path, name: str, false: set[str]) -> Path:
    ids = [entry["id"] for entry in json.loads(path.read_text())["findings"]]
    verdicts = {one: {"verdict": "false" if one in false else "true", "why": "w"} for one in ids}
    (folder / name).write_text(json.dumps(verdicts))
    return folder / name


def test_the_same_findings_in_another_order_give_the_same_draw() -> None:
    findings = [said(number) for number in range(300)]
    shuffled = random.Random(1).sample(findings, len(findings))
    assert hand_check.drawn(findings, seed=20, count=100) == hand_check.drawn(shuffled, seed=20, count=100)
    assert hand_check.drawn(findings, seed=20, count=100) != hand_check.drawn(findings, seed=21, count=100)


def test_infos_are_not_drawn() -> None:
    findings = [said(1), said(2, "warning"), said(3, "info")]
    assert {one.severity for _, one in hand_check.drawn(findings, seed=20, count=3)} == {"error", "warning"}


def test_a_finding_that_one_reader_calls_false_counts(tmp_path: Path) -> None:
    path = drawn(tmp_path, 3)
    first, second, _ = (entry["id"] for entry in json.loads(path.read_text())["findings"])
    readers = [judge(path, tmp_path, "one.json", {first}), judge(path, tmp_path, "two.json", {first, second})]
    hand_check.record(readers, path)
    wrong, judged = hand_check.false_findings(path)
    assert [entry["id"] for entry in wrong] == [first, second]
    assert judged == 3


def test_a_verdict_that_is_neither_true_nor_false_is_refused(tmp_path: Path) -> None:
    path = drawn(tmp_path, 1)
    reader = judge(path, tmp_path, "one.json", set())
    reader.write_text(reader.read_text().replace('"true"', '"perhaps"'))
    with pytest.raises(SystemExit, match="true or false"):
        hand_check.record([reader, reader], path)


def test_the_page_of_a_reader_shows_the_line_and_the_files(tmp_path: Path) -> None:
    skill = tmp_path / "a" / "b" / "1"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("first\nsecond\n")
    (skill / "notes.md").write_text("")
    page = hand_check.reading_page(hand_check.drawn([said(1)], seed=20, count=1), tmp_path)
    assert ">     1 first" in page
    assert "      2 second" in page
    assert "SKILL.md, notes.md" in page
