"""Ablation without a model: exactly the passages that a test waits for are needed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.ablation.by_tests import ablate_by_tests
from tests.evals.scenario_skills import case, make_skill, with_cases

if TYPE_CHECKING:
    from pathlib import Path


def _waiting(name: str, texts: list[str], **context: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    """Return a case whose turns wait for texts, one each; the last turn answers."""
    turns: list[dict[str, Any]] = [
        {"when": text, "calls": [{"name": "note", "arguments": {"n": number}}]} for number, text in enumerate(texts)
    ]
    return case(
        case=name,
        turns=[*turns, {"text": "Done."}],
        responses=[{"tool": "note", "result": {"ok": True}}],
        context={"skills": ["ledger"], **context},
    )


def test_exactly_the_planted_sentences_are_needed(tmp_path: Path) -> None:
    sentences = [f"Rule {number} asks for the mark {number * 7919 % 10007}x." for number in range(30)]
    needed = sorted(random.Random(4).sample(range(30), 18))
    body = "\n\n".join(" ".join(sentences[start : start + 5]) for start in range(0, 30, 5))
    skill = make_skill(tmp_path, body=body + "\n")
    cases = [_waiting(f"case {part}", [sentences[at] for at in needed[part::2]]) for part in range(2)]
    report = ablate_by_tests(str(with_cases(skill, *cases)), "sentence")
    assert [unit.text for unit in report.units] == sentences
    assert [at for at, unit in enumerate(report.units) if unit.verdict == "needed"] == needed
    assert report.score == pytest.approx(18 / 30)
    assert {unit.delta for unit in report.units} == {0.0, -0.5}
    first = report.units[needed[0]]
    assert first.line == first.end_line == 7 + 2 * (needed[0] // 5)
    assert first.failing[0].startswith("case 0: when ")


def test_the_skill_stays_as_it_is_and_references_are_tried_too(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, body="See [the rates](references/rates.md).\n\n- Ask first.\n")
    (skill / "references").mkdir()
    (skill / "references" / "rates.md").write_text("# Rates\n\nThe rate is 7.\n\n| a | 1 |\n|---|---|\n| b | 2 |\n")
    read = {"name": "skills_read", "arguments": {"skill": "ledger", "path": "references/rates.md"}}
    turns = [{"calls": [read]}, {"when": "The rate is 7.", "text": "7"}]
    with_cases(skill, case(turns=turns, context={"skills": ["ledger"]}))
    before = {path: path.read_bytes() for path in skill.rglob("*") if path.is_file()}
    report = ablate_by_tests(str(skill), "item")
    assert {path: path.read_bytes() for path in skill.rglob("*") if path.is_file()} == before
    assert [(unit.path, unit.text, unit.verdict) for unit in report.units] == [
        ("SKILL.md", "See [the rates](references/rates.md).", "no_effect"),
        ("SKILL.md", "- Ask first.", "no_effect"),
        ("references/rates.md", "The rate is 7.", "needed"),
        ("references/rates.md", "| b | 2 |", "no_effect"),
    ]


def test_a_whole_file_is_removed_and_tests_that_do_not_notice_it_are_named(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, body="# Steps\n\nKeep it short.\n\nThen [look](references/rates.md).\n")
    (skill / "references").mkdir()
    (skill / "references" / "rates.md").write_text("# Rates\n\nThe rate is 7.\n")
    read = {"name": "skills_read", "arguments": {"skill": "ledger", "path": "references/rates.md"}}
    rates = case(
        case="rates",
        turns=[{"calls": [read]}, {"when": "The rate is 7.", "text": "7"}],
        context={"skills": ["ledger"]},
    )
    idle = case(case="idle", turns=[{"text": "Done."}], context={"skills": ["ledger"]})
    with_cases(skill, _waiting("short", ["Keep it short."]), rates, idle)
    report = ablate_by_tests(str(skill), "file")
    assert [(unit.path, unit.line, unit.verdict) for unit in report.units] == [
        ("SKILL.md", 5, "needed"),
        ("references/rates.md", 1, "needed"),
    ]
    assert [(one.eval, one.verdict, one.removals) for one in report.evals] == [
        ("short", "notices", 1),
        ("rates", "notices", 1),
        ("idle", "silent", 0),
    ]


def test_a_test_that_fails_with_the_whole_skill_says_nothing(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, body="Keep it short.\n")
    good = _waiting("good", ["Keep it short."])
    bad = _waiting("bad", ["Never written."])
    report = ablate_by_tests(str(with_cases(skill, good, bad)), "section")
    assert report.without_verdict == ("bad",)
    assert [unit.failing for unit in report.units] == [(next(iter(report.units[0].failing)),)]
    with_cases(skill, bad)
    with pytest.raises(InvalidArgumentsError, match="no test passes with the whole skill"):
        ablate_by_tests(str(skill), "sentence")


def test_links_are_neither_followed_nor_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private.md").write_bytes(b"Alpha one.\r\nBeta two.\r\n")
    skill = with_cases(make_skill(tmp_path, body="Keep it short.\n"), _waiting("one", ["Keep it short."]))
    (skill / "references").symlink_to(outside)
    (skill / "assets").mkdir()
    (skill / "assets" / "own.md").symlink_to(outside / "private.md")
    report = ablate_by_tests(str(skill), "sentence")
    assert [unit.path for unit in report.units] == ["SKILL.md"]
    assert (outside / "private.md").read_bytes() == b"Alpha one.\r\nBeta two.\r\n"


def test_a_neighbour_beside_the_skill_is_there_in_each_run(tmp_path: Path) -> None:
    make_skill(tmp_path, "helper", body="Helps.\n")
    skill = make_skill(tmp_path, body="Keep it short. Be kind.\n")
    found = case(
        turns=[{"text": "ok"}], expect=[{"found": ["ledger", "helper"]}], context={"neighbours": ["../helper"]}
    )
    report = ablate_by_tests(str(with_cases(skill, found)), "sentence")
    assert [unit.verdict for unit in report.units] == ["no_effect", "no_effect"]


def test_a_faulty_file_of_tests_is_named_with_its_place(tmp_path: Path) -> None:
    skill = with_cases(make_skill(tmp_path))
    (skill / "evals" / "tests.yaml").write_text("cases: [}\n")
    with pytest.raises(InvalidArgumentsError, match=r"tests\.yaml:1:"):
        ablate_by_tests(str(skill), "sentence")


@pytest.mark.unmeasured
def test_the_command_prints_a_document_and_refuses_bad_input(tmp_path: Path) -> None:
    skill = with_cases(make_skill(tmp_path, body="Keep it short. Be kind.\n"), _waiting("one", ["Be kind."]))
    command = [sys.executable, "-m", "prowess", "eval", "ablate"]
    ran = subprocess.run([*command, skill, "--tests", "--json"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert [unit["verdict"] for unit in document["units"]] == ["no_effect", "needed"]
    assert document["score"] == 0.5
    plain = subprocess.run([*command, skill, "--tests"], capture_output=True, text=True, check=False)
    assert "2 passages: 1 needed, 1 without effect, 0 unsure" in plain.stdout
    quiet = subprocess.run([*command, skill, "--tests", "--quiet"], capture_output=True, text=True, check=False)
    assert quiet.stdout == plain.stdout
    for arguments in ([tmp_path / "none", "--tests"], [skill], [skill, "--tests", "--max-calls", "0"]):
        refused = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert refused.returncode == 2, refused.stderr
        assert "Traceback" not in refused.stderr
