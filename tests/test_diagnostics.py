"""Diagnostics are plain data: they compare, hash, print a place as compilers do, and change severity by copy."""

from __future__ import annotations

import pytest

from prowess.diagnostics import Diagnostic, Edit, Fix, FixSafety, Location, Severity


def _finding(severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(
        rule="name.format", family="spec", severity=severity, message="no", location=Location(path="a/SKILL.md", line=2)
    )


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (Location(path="a/SKILL.md", line=3, column=14), "a/SKILL.md:3:14"),
        (Location(), "<input>:1:1"),
        (Location(path="x", line=1, column=2, end_line=9, end_column=9), "x:1:2"),
    ],
)
def test_a_location_prints_as_path_line_and_column(location: Location, text: str) -> None:
    assert str(location) == text


def test_another_severity_is_another_finding_and_the_first_stays_as_it_was() -> None:
    first = _finding()
    second = first.with_severity(Severity.INFO)
    assert (first.severity, second.severity) == (Severity.ERROR, Severity.INFO)
    assert second.with_severity(Severity.ERROR) == first


def test_the_same_severity_is_the_same_finding() -> None:
    finding = _finding()
    assert finding.with_severity(Severity.ERROR) is finding


def test_findings_that_say_the_same_are_equal_and_can_be_collected_in_a_set() -> None:
    assert len({_finding(), _finding(), _finding(Severity.INFO)}) == 2


def test_severities_and_safeties_are_their_own_texts() -> None:
    assert [str(severity) for severity in Severity] == ["error", "warning", "info"]
    assert [str(safety) for safety in FixSafety] == ["safe", "unsafe"]


def test_a_fix_is_a_value() -> None:
    edit = Edit(line=1, column=1, end_line=1, end_column=2, text="x")
    assert Fix(safety=FixSafety.SAFE, title="t", edits=(edit,)) == Fix(safety=FixSafety.SAFE, title="t", edits=(edit,))
    with pytest.raises(AttributeError):
        edit.text = "y"  # type: ignore[misc]  # that it is frozen is the point
