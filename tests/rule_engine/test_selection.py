from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.errors import InvalidArgumentsError
from prowess.format import PROFILES
from prowess.format.rules.meta import RuleMeta, Severities
from prowess.lint import RULES
from prowess.rule_engine import Judgement, RuleRegistry, Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEC, LENIENT = PROFILES["spec"], PROFILES["lenient"]


@pytest.mark.parametrize(
    ("select", "ignore", "runs"),
    [
        ("", "", "name.format reference.missing reference.case"),
        ("reference", "", "reference.missing reference.case"),
        ("lint", "", "reference.missing reference.case"),
        ("name.format lint", "", "name.format reference.missing reference.case"),
        ("", "lint", "name.format"),
        ("reference", "reference.case", "reference.missing"),
        ("reference.case", "reference", "reference.case"),
        ("reference.case", "lint", "reference.case"),
        ("reference", "reference", ""),
        ("spec", "name", ""),
    ],
)
def test_select_replaces_ignore_wins_and_the_more_exact_beats_both(select: str, ignore: str, runs: str) -> None:
    selection = Selection.checked(select.split(), ignore.split(), RULES)
    rules = ("name.format", "reference.missing", "reference.case")
    assert [rule for rule in rules if selection.keeps(RULES[rule], SPEC)] == runs.split()


def test_a_selected_rule_that_the_profile_switches_off_runs_at_its_default() -> None:
    finding = Diagnostic(
        rule="name.ascii", family="spec", severity=Severity.INFO, message="m", location=Location(path="p")
    )
    assert Judgement(profile=LENIENT).judge([finding]) == []
    assert Judgement(profile=LENIENT, selection=Selection(select=("name",))).judge([finding]) == [finding]


def test_a_severity_is_the_profiles() -> None:
    finding = Diagnostic(
        rule="name.format", family="spec", severity=Severity.ERROR, message="m", location=Location(path="p")
    )
    assert [found.severity for found in Judgement(profile=LENIENT).judge([finding])] == [Severity.WARNING]


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("name.fromat", "did you mean name.format?"),
        ("refrence", "did you mean reference?"),
        ("name.f", "no rule or family is called 'name.f'"),
        ("securty", "did you mean security?"),
        ("zzz", "families are spec, catalog, lint"),
    ],
)
def test_a_selector_that_means_nothing_is_refused_with_spellings(selector: str, says: str) -> None:
    with pytest.raises(InvalidArgumentsError) as refusal:
        Selection.checked([selector], [selector], RULES)
    assert says in str(refusal.value)
    assert len(refusal.value.problems) == 2


class _Even:
    """Numbers that are even."""

    meta: ClassVar[RuleMeta] = RuleMeta(id="number.even", family="lint", severities=Severities(), summary="odd only")

    def check(self, subject: int) -> Iterator[Diagnostic]:
        if subject % 2 == 0:
            yield self.meta.found(f"{subject} is even", Location())


def test_a_registry_runs_its_rules_and_holds_each_id_once() -> None:
    registry: RuleRegistry[int] = RuleRegistry(_Even())
    assert [found.message for found in registry.check(4)] == ["4 is even"]
    assert registry.check(3) == []
    assert len(registry) == 1
    assert [rule.meta.id for rule in registry] == ["number.even"]
    assert registry["number.even"].meta.family == "lint"
    with pytest.raises(ValueError, match=r"unique: number\.even"):
        RuleRegistry(_Even(), _Even())
