"""`prowess match`: the skills that fit a task."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def skills(tmp_path: Path) -> list[str]:
    root = tmp_path / "skills"
    write_skill(root / "csv-report", description="Summarise CSV files with totals per column.", body="Use awk.\n")
    write_skill(root / "csv-clean", description="Remove broken rows from CSV files.")
    write_skill(root / "log-triage", description="Find the first error of a log.")
    return ["--root", str(root)]


def test_each_skill_is_on_a_line_with_its_score_and_the_shared_words(
    skills: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["match", "totals of my CSV files", *skills]) == exit_codes.OK
    first, second = capfd.readouterr().out.splitlines()
    name, score, reasons = first.split("  ")
    assert (name, reasons) == ("csv-report", "description: totals, files; name: CSV")
    assert 0 < float(score) < 1
    assert second.startswith("csv-clean   0.")


@pytest.mark.proves("tooling.cli.catalog")
def test_json_has_the_matches_with_their_reasons(
    skills: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["match", "--json", "first", "error", "--limit", "1", *skills]) == exit_codes.OK
    (match,) = json.loads(capfd.readouterr().out)["matches"]
    assert 0 < match.pop("score") < 1
    assert match == {
        "name": "log-triage",
        "location": str(tmp_path / "skills" / "log-triage" / "SKILL.md"),
        "reasons": [{"word": "first", "field": "description"}, {"word": "error", "field": "description"}],
    }


def test_a_task_that_no_skill_serves_is_told(skills: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "bake bread", *skills]) == exit_codes.OK
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == (
        "",
        "no skill fits this task; --bodies also compares the instructions\n",
    )
    assert run(["match", "bake bread", "--quiet", *skills]) == exit_codes.OK
    assert capfd.readouterr() == ("", "")
    assert run(["match", "bake bread", "--json", *skills]) == exit_codes.OK
    assert json.loads(capfd.readouterr().out) == {"matches": []}


def test_bodies_are_compared_on_request(skills: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["match", "awk", "--quiet", *skills]) == exit_codes.OK
    assert capfd.readouterr().out == ""
    assert run(["match", "awk", "--bodies", *skills]) == exit_codes.OK
    assert capfd.readouterr().out.startswith("csv-report")


@pytest.mark.parametrize("words", [[], ["x", "--limit", "0"], ["x", "--limit", "many"]])
def test_a_missing_task_and_a_wrong_limit_are_usage_errors(words: list[str]) -> None:
    assert run(["match", *words]) == exit_codes.USAGE


def test_a_misspelt_word_near_two_words_of_a_skill_is_one_reason(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_skill(tmp_path / "books", description="Shows the contrast of contract and contact.")
    assert run(["match", "contrasct", "--root", str(tmp_path)]) == exit_codes.OK
    assert capfd.readouterr().out.endswith("  description: contrasct\n")


@pytest.mark.parametrize("words", [[""], [" ", "\t"]])
def test_an_empty_task_is_a_usage_error(skills: list[str], words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["match", *words, *skills]) == exit_codes.USAGE
    assert "TASK is empty; describe what to do" in capfd.readouterr().err
