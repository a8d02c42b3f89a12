"""Every lint rule finds its bad case and says nothing on its good one."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import prowess.lint.rules
import tests.lint.cases
from prowess.config.configuration_schema import selectors
from prowess.lint import LINT_RULES, lint_skill
from prowess.lint.rule_page import rule_page
from prowess.rule_engine import Selection
from tests.lint.case import Case, beside, body, lay_out

if TYPE_CHECKING:
    from prowess.diagnostics import Diagnostic

_MODULES = [
    importlib.import_module(f"tests.lint.cases.{found.name}")
    for found in pkgutil.iter_modules(tests.lint.cases.__path__)
]
CASES: list[Case] = [case for module in _MODULES for case in module.CASES]
_OLDER = {
    "reference.missing",
    "body.tokens",
    "directory.extraneous",
    "hooks.missing",
    "hooks.command",
}


_OTHERS = {"portability.reservedName", "name.generic", "directory.link"}  # their good case is any other skill


def advice(case: Case, text: str, folder: Path) -> list[Diagnostic]:
    return lint_skill(lay_out(case, text, folder), profile=case.profile, selection=Selection(select=(case.rule,)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_bad_case_is_found_where_it_stands(case: Case, tmp_path: Path) -> None:
    found = advice(case, case.bad, tmp_path)
    assert [one.rule for one in found] == [case.rule] * case.times
    assert case.says in found[0].message
    if case.line is not None:
        assert found[0].location.line == case.line


@pytest.mark.parametrize(("case", "good"), [(case, good) for case in CASES for good in case.good], ids=str)
def test_a_good_case_draws_nothing(case: Case, good: str, tmp_path: Path) -> None:
    assert advice(case, good, tmp_path) == []


@pytest.mark.parametrize("rule", sorted(_OTHERS))
def test_what_is_good_in_every_case_draws_nothing(rule: str, tmp_path: Path) -> None:
    assert advice(Case(rule=rule, bad="", good=()), body("x"), tmp_path) == []


def test_a_link_among_the_files_is_named(tmp_path: Path) -> None:
    case = Case(rule="directory.link", bad="", good=())
    (lay_out(case, beside(body("x"), scripts__a_sh="x"), tmp_path) / "scripts" / "out").symlink_to(tmp_path)
    (found,) = lint_skill(tmp_path / case.name, selection=Selection(select=(case.rule,)))
    assert found.message == "scripts/out is a symbolic link; put a copy of the file there"
    assert found.location.path == str(tmp_path / case.name / "scripts" / "out")


def test_every_rule_has_a_bad_and_a_good_case() -> None:
    covered = {case.rule for case in CASES if case.good} | _OTHERS
    rules = {rule.meta.id for rule in LINT_RULES} - _OLDER
    assert rules == covered, f"add a Case for {sorted(rules - covered)} in tests/lint/cases"


def test_every_rule_names_its_source() -> None:
    for rule in LINT_RULES:
        assert rule.meta.source
        assert rule.meta.since


def test_a_file_of_rules_is_all_that_a_rule_needs() -> None:
    folder = Path(prowess.lint.rules.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {type(rule).__module__.rpartition(".")[2] for rule in LINT_RULES} == files
    known = selectors()
    for rule in LINT_RULES:
        assert rule.meta.id in known
        assert rule_page(rule.meta.id).page.why
