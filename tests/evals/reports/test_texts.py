"""JUnit and the summary in Markdown."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from msgspec.structs import replace

from prowess.evals.campaigns.report import WITH_SKILL, GateResult
from prowess.evals.reports.junit import junit_of_run
from prowess.evals.reports.summary import summary_of_run
from tests.evals.reports.sample_report import hostile, sample


def test_junit_has_a_case_for_each_run_with_the_skill_and_for_each_gate() -> None:
    report = sample()
    gate = GateResult(name="min_pass_rate", wanted=0.9, value=0.86, passed=False)
    report = replace(report, summary=replace(report.summary, gates=(gate,)))
    suites = ET.fromstring(junit_of_run(report)).findall("testsuite")  # noqa: S314 -- our own document
    units = [unit for unit in report.units if unit.configuration == WITH_SKILL]
    failed = sum(unit.outcome == "failed" for unit in units)
    errors = sum(unit.outcome == "error" for unit in units)
    assert [suites[0].get(name) for name in ("tests", "failures", "errors")] == ["50", str(failed), str(errors)]
    assert (len(suites[0].findall(".//failure")), len(suites[0].findall(".//error"))) == (failed, errors)
    failure = suites[0].find(".//failure")
    assert failure is not None
    assert "The sum is 119.00: the answer has 118.99" in (failure.text or "")
    assert suites[1].find(".//failure") is not None
    assert suites[1].find(".//failure").get("message") == "0.86, wanted 0.9"  # type: ignore[union-attr]  # see above


def test_the_summary_names_the_answer_the_evals_and_what_failed() -> None:
    text = summary_of_run(sample())
    assert text.startswith("## invoice&#45;check raises the pass rate by ")
    assert "| eval | without the skill | with the skill | difference |" in text
    assert "\n| two&#45;vat&#45;rates | 1/3 | 5/5 | &#43;67 &#40;3 to 94&#41; |\n" in text
    assert "failed: The sum is 119.00&#58; the answer has 118.99" in text


def test_foreign_text_stays_text_in_both() -> None:
    report = hostile(30)
    ET.fromstring(junit_of_run(report))  # noqa: S314 -- our own document
    text = summary_of_run(report)
    assert not set("<>`[]!@\0\x1b") & set(text.replace("| eval |", ""))
    assert len(text.splitlines()) < 200
