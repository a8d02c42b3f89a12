from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest

from prowess.diagnostics import Diagnostic, Location, Severity
from prowess.format import PROFILES
from prowess.format.rules.meta import RuleMeta, Severities
from prowess.rule_engine import Judgement, RuleRegistry, Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

SPEC, LENIENT = PROFILES["spec"], PROFILES["lenient"]
E, W, I = Severity.ERROR, Severity.WARNING, Severity.INFO  # noqa: E741 -- as in the table of rules


def finding(rule: str, severity: Severity = W, family: str = "spec") -> Diagnostic:
    return Diagnostic(rule=rule, family=family, severity=severity, message="m", location=Location(path="p"))


def declared(rule: str, family: str) -> RuleMeta:
    return RuleMeta(id=rule, family=family, severities=Severities(spec=W), summary="s")


@pytest.mark.parametrize(
    ("selection", "severity"),
    [
        (Selection(), I),
        (Selection(severity=(("name", E),)), E),
        (Selection(severity=(("spec", E), ("name.ascii", W))), W),
        (Selection(severity=(("name.ascii", W), ("spec", E))), W),
        (Selection(severity=(("name", E), ("name", W))), W),
        (Selection(severity=(("name", None),)), None),
        (Selection(severity=(("name", None), ("name.ascii", E))), E),
        (Selection(severity=(("name.ascii", None),), select=("name",)), None),
        (Selection(severity=(("name", None),), select=("name.ascii",)), I),
        (Selection(severity=(("name.ascii", E),), ignore=("name.ascii",)), None),
        (Selection(severity=(("name.ascii", E),), ignore=("name",)), E),
        (Selection(severity=(("lint", E),), select=("lint",)), None),
        (Selection(shift=((I, E),)), E),
        (Selection(shift=((I, None),)), None),
        (Selection(shift=((I, None),), severity=(("name.ascii", W),)), W),
    ],
)
def test_the_most_exact_severity_counts_and_off_is_ignored(selection: Selection, severity: Severity | None) -> None:
    found = Judgement(profile=SPEC, selection=selection).judge([finding("name.ascii")])
    assert [one.severity for one in found] == ([] if severity is None else [severity])


def test_a_level_for_an_id_switches_a_rule_on_and_one_for_a_family_does_not() -> None:
    by_id = Judgement(profile=LENIENT, selection=Selection(severity=(("name.ascii", W),)))
    by_family = Judgement(profile=LENIENT, selection=Selection(severity=(("spec", W),)))
    selected = Judgement(profile=LENIENT, selection=Selection(severity=(("name.ascii", W),), select=("lint",)))
    assert [one.severity for one in by_id.judge([finding("name.ascii")])] == [W]
    assert by_family.judge([finding("name.ascii")]) == []
    assert selected.judge([finding("name.ascii")]) == []


@pytest.mark.parametrize(
    ("here", "below", "judged"),
    [
        (Selection(), Selection(), W),
        (Selection(severity=(("security", E),)), Selection(), E),
        (Selection(severity=(("security", I),)), Selection(), W),
        (Selection(ignore=("security",)), Selection(), W),
        (Selection(ignore=("security",)), Selection(ignore=("security",)), None),
        (Selection(), Selection(ignore=("security",)), W),
    ],
)
def test_of_security_the_worse_of_two_judgements_counts(
    here: Selection, below: Selection, judged: Severity | None
) -> None:
    floor = Judgement(profile=SPEC, selection=below)
    judgement = Judgement(profile=SPEC, selection=here, floor=floor)
    found = judgement.judge([finding("security.x", family="security")])
    assert [one.severity for one in found] == ([] if judged is None else [judged])
    assert judgement.keeps(declared("security.x", "security")) is (judged is not None)


def test_what_is_excluded_keeps_only_what_the_floor_guards() -> None:
    findings = [finding("security.x", family="security"), finding("name.format")]
    assert Judgement(profile=SPEC, excluded=True).judge(findings) == []
    guarded = Judgement(profile=SPEC, excluded=True, floor=Judgement(profile=SPEC))
    assert guarded.judge(findings) == findings[:1]
    assert not guarded.keeps(declared("name.format", "spec"))


class _Counting:
    meta: ClassVar[RuleMeta] = RuleMeta(id="name.ascii", family="spec", severities=Severities(spec=I), summary="s")
    ran = 0

    def check(self, subject: str) -> Iterator[Diagnostic]:
        self.ran += 1
        yield self.meta.found(subject, Location())


def test_a_rule_whose_findings_nobody_wants_does_not_run() -> None:
    rule = _Counting()
    registry: RuleRegistry[str] = RuleRegistry(rule)
    assert registry.check("x", lambda meta: meta.id != "name.ascii") == []
    assert rule.ran == 0
    assert [found.message for found in registry.check("x")] == ["x"]
