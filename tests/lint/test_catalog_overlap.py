"""`catalog.overlap`: skills whose descriptions compete for the same tasks."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog.matching.overlap import overlaps
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_DESCRIPTIONS = {
    "csv-report": "Summarise CSV files as a report with totals per column, a chart of trends and a list of outliers.",
    "log-triage": "Group the errors of a server log by their stack trace and find the first cause of an outage.",
    "pdf-forms": "Fill in the fields of PDF forms from a table, and flatten the filled document for printing.",
    "release-notes": "Write release notes from the commits since the last tag, grouped by kind of change.",
}


def _checked(root: Path, capfd: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    assert run(["check", str(root), "--json", "--isolated", *options]) == 0
    found: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["diagnostics"]
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, description in _DESCRIPTIONS.items():
        write_skill(tmp_path / name, description=description)
    return tmp_path


def test_different_skills_do_not_compete(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert _checked(root, capfd, "--select", "catalog") == []


@pytest.mark.proves("catalog.match.overlap")
def test_a_rival_is_reported_with_both_names_the_words_and_what_to_change(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_skill(root / "table-sums", description="Summarise CSV files with totals per column and a list of outliers.")
    (found,) = _checked(root, capfd, "--select", "catalog")
    assert (found["rule"], found["severity"], found["skill"]) == ("catalog.overlap", "info", "table-sums")
    assert found["message"].startswith("table-sums competes with csv-report: both descriptions have the words ")
    assert "outliers" in found["message"]
    assert found["message"].endswith("Merge the skills, or state in each description which tasks are for the other one")
    assert (found["line"], found["column"]) == (3, 14)


def test_the_rule_runs_only_if_it_is_selected(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(root / "csv-again", description=_DESCRIPTIONS["csv-report"])
    assert "catalog.overlap" not in {one["rule"] for one in _checked(root, capfd)}
    assert [one["rule"] for one in _checked(root, capfd, "--select", "catalog.overlap")] == ["catalog.overlap"]
    assert _checked(root, capfd, "--select", "catalog", "--ignore", "catalog.overlap") == []


def test_rivals_with_two_thirds_of_the_words_are_found(root: Path) -> None:
    draw = random.Random(5)
    for at, text in enumerate(_DESCRIPTIONS.values()):
        words = text.split()
        gone = set(draw.sample(range(len(words)), len(words) // 3))
        rival = " ".join(word for place, word in enumerate(words) if place not in gone)
        pairs = [(one.first, one.second) for one in overlaps([*_DESCRIPTIONS.values(), rival])]
        assert pairs == [(at, len(_DESCRIPTIONS))]


def test_many_equal_descriptions_are_reported_a_bounded_number_of_times(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(30):
        write_skill(tmp_path / f"s-{number}", description=_DESCRIPTIONS["csv-report"])
    assert len(_checked(tmp_path, capfd, "--select", "catalog.overlap")) == 100
