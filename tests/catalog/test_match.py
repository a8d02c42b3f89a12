from __future__ import annotations

import pytest

from prowess.catalog.match import close_names

_NAMES = ["csv-report", "csv-clean", "log-triage", "release-notes", "git-changelog", "a"]


@pytest.mark.parametrize(
    ("asked", "suggested"),
    [
        ("csv-reprot", ("csv-report",)),
        ("csv", ("csv-clean", "csv-report")),
        ("CSV-Report", ("csv-report",)),
        ("report", ("csv-report",)),
        ("triage", ("log-triage",)),
        ("my-log-triage-skill", ("log-triage",)),
        ("relase-notes", ("release-notes",)),
        ("zzz", ()),
        ("", ()),
        ("b", ()),
    ],
)
def test_names_that_may_have_been_meant_are_suggested(asked: str, suggested: tuple[str, ...]) -> None:
    assert close_names(asked, _NAMES) == suggested


def test_at_most_three_are_suggested() -> None:
    assert len(close_names("skill", [f"skill-{number}" for number in range(100)])) == 3
