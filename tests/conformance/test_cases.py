"""The data of the conformance kit: fresh, whole, as its schema says, and judged by us as it says."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from prowess.conformance import Case, cases_schema, suite
from prowess.conformance.cases import suite_text
from prowess.diagnostics import Severity
from prowess.errors import InvalidArgumentsError
from prowess.format import PROFILES, validate_skill
from prowess.lint import RULES, lint_skill
from tests.conformance.format_cases import CASES
from tools import conformance_cases

_ABOUT_FILES = {"body", "directory", "hooks", "reference"}  # what a case says nothing on is the quality of its text


def test_the_data_is_what_its_sources_say() -> None:
    assert conformance_cases.main(["--check"]) == 0
    assert suite_text() == conformance_cases.text()


@pytest.mark.unmeasured
def test_the_data_fits_its_schema_and_a_new_key_does_not() -> None:
    document = json.loads(suite_text())
    schema = cases_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    document["cases"][0]["expect"]["spec"]["outcome"] = "maybe"
    with pytest.raises(jsonschema.ValidationError, match="maybe"):
        jsonschema.validate(document, schema)
    document["cases"][0]["expect"]["spec"] = {"outcome": "accept", "new": 1}
    with pytest.raises(jsonschema.ValidationError, match="new"):
        jsonschema.validate(document, schema)


def test_every_name_in_the_data_leads_somewhere() -> None:
    known = suite()
    assert list(known.profiles) == list(PROFILES)
    assert len({case.id for case in known.cases}) == len(known.cases)
    assert {case.topic for case in known.cases} == set(known.topics)
    assert set(known.rules) <= set(RULES)
    for case in known.cases:
        assert case.reason
        assert case.sources
        assert list(case.expect) == list(PROFILES)
        for said in case.expect.values():
            assert {*said.rules, *said.notes} <= set(known.rules)
            assert bool(said.rules) is (said.outcome == "reject"), case.id


def test_each_of_the_known_differences_between_readers_has_a_case() -> None:
    known = {case.id for case in suite().cases}
    numbers = {case["k"] for case in CASES if "k" in case and case["id"] in known}
    assert {f"K{number}" for number in range(1, 43)} <= numbers


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in suite().cases])
def test_a_case_as_it_is_laid_out_is_judged_by_us_as_it_says(case: Case, tmp_path: Path) -> None:
    skill = Path(case.lay_out(str(tmp_path / "case")))
    for profile, expected in case.expect.items():
        advice = [found for found in lint_skill(skill, profile=profile) if found.rule.partition(".")[0] in _ABOUT_FILES]
        found = [*validate_skill(skill, profile=profile), *advice]
        rules = {fault.rule for fault in found if fault.severity is Severity.ERROR}
        assert rules == set(expected.rules), profile


def test_nothing_of_a_case_lies_outside_its_folder(tmp_path: Path) -> None:
    for case in suite().cases:
        case.lay_out(str(tmp_path / "cases" / case.id))
    assert [path.name for path in tmp_path.iterdir()] == ["cases"]
    assert {path.name for path in (tmp_path / "cases").iterdir()} == {case.id for case in suite().cases}


def test_a_case_is_never_written_over_what_is_there(tmp_path: Path) -> None:
    case = suite().cases[0]
    case.lay_out(str(tmp_path / "case"))
    with pytest.raises(FileExistsError):
        case.lay_out(str(tmp_path / "case"))


def test_cases_are_chosen_by_topic_id_or_pattern() -> None:
    known = suite()
    assert known.select(()) == known.cases
    assert {case.topic for case in known.select(["body"])} == {"body"}
    assert [case.id for case in known.select(["name-64"])] == ["name-64"]
    assert {case.id.split("-")[0] for case in known.select(["k4-*", "k5-*"])} == {"k4", "k5"}
    with pytest.raises(InvalidArgumentsError, match="no case or topic is called 'bodies'; topics: files"):
        known.select(["body", "bodies"])


def test_the_schema_of_the_docs_is_the_one_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "schemas" / "conformance-cases.schema.json"
    assert json.loads(page.read_text(encoding="utf-8")) == cases_schema()


def test_the_data_is_shipped_with_the_package() -> None:
    assert files("prowess.conformance").joinpath("cases.json").is_file()


def test_the_page_counts_the_cases_and_has_at_least_six_other_tools() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "conformance.md").read_text(encoding="utf-8")
    assert page.startswith(f"# Conformance\n\n{len(suite().cases)} small skills as test cases ")
    table = page.partition("## Other tools")[2].partition("| tool | files ")[0]
    rows = [
        line for line in table.splitlines() if line.startswith("| ") and not line.startswith(("| tool", "| prowess"))
    ]
    assert len(rows) >= 6
