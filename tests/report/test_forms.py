from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from prowess.config.settings import FORMATS
from prowess.diagnostics import Diagnostic, Edit, Fix, FixSafety, Location, Severity
from prowess.format import parse_document, validate_skill
from prowess.report import CheckedSkill
from prowess.report.forms import render

# The schema that OASIS publishes with SARIF 2.1.0, unchanged.
_SCHEMA = Path(__file__).parent / "sarif-schema-2.1.0.json"
SARIF = Draft4Validator(json.loads(_SCHEMA.read_text(encoding="utf-8")))
BROKEN = "---\nname: a\ndescription: Checks: VAT\nallowed-tools: A,B\nown: x\n---\n[a](/etc/b)\n"


def checked(text: str = BROKEN, path: str = "a/SKILL.md", **other: Any) -> CheckedSkill:  # noqa: ANN401 -- fields of a diagnostic
    document = parse_document(text, path=path)
    found = tuple(validate_skill(document))
    if other:
        found = (Diagnostic(rule="name.format", family="spec", severity=Severity.ERROR, **other), *found)
    return CheckedSkill(path=path.rpartition("/")[0], name="a", read=lambda: document, diagnostics=found)


def sarif(*skills: CheckedSkill) -> Any:  # noqa: ANN401 -- a JSON document
    log = json.loads(render("sarif", skills))
    SARIF.validate(log)
    return log["runs"][0]


@pytest.mark.proves("tooling.cli.check-formats")
def test_sarif_is_valid_and_has_place_fix_and_rule() -> None:
    run = sarif(checked())
    assert run["columnKind"] == "unicodeCodePoints"
    first = run["results"][0]
    assert first["ruleId"] == "frontmatter.syntax"
    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == "frontmatter.syntax"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a/SKILL.md", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 3, "startColumn": 14, "endLine": 3, "endColumn": 25}
    (replacement,) = first["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"] == {"text": '"Checks: VAT"'}
    assert {result["level"] for result in run["results"]} == {"error", "warning"}
    assert sarif()["results"] == []
    assert [result["level"] for result in sarif(checked("---\nname: é\ndescription: d\n---\n"))["results"]] == ["note"]


def test_sarif_writes_paths_as_addresses() -> None:
    run = sarif(checked(path="/x y/ü%/SKILL.md", message="m", location=Location()))
    assert "locations" not in run["results"][0]
    address = run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert address == {"uri": "file:///x%20y/%C3%BC%25/SKILL.md"}


def test_a_fingerprint_survives_moved_lines_and_not_another_text() -> None:
    def prints(text: str) -> dict[str, str]:
        return {
            result["ruleId"]: result["partialFingerprints"]["prowess/v1"] for result in sarif(checked(text))["results"]
        }

    before = prints(BROKEN)
    assert prints(BROKEN.replace("name: a\n", "# c\nname: a\nlicense: MIT\n")) == before
    other = prints(BROKEN.replace("own: x", "own: y"))
    assert {rule for rule in before if before[rule] != other[rule]} == {"frontmatter.unknownField"}


@pytest.mark.proves("tooling.cli.check-formats")
def test_github_gets_one_command_a_finding() -> None:
    lines = render("github", [checked()]).splitlines()
    assert lines[0] == (
        "::error file=a/SKILL.md,line=3,col=14,endLine=3,endColumn=24,title=frontmatter.syntax"
        '::a value with "%3A " must be quoted'.replace("%3A", ":")
    )
    assert len(lines) == len(checked().diagnostics)
    several = Location(path="a/SKILL.md", line=3, column=2, end_line=5, end_column=1)
    two_lines = render("github", [checked(message="m", location=several)]).splitlines()[0]
    assert two_lines == "::error file=a/SKILL.md,line=3,endLine=5,title=name.format::m"


def test_a_file_cannot_write_a_command_of_github() -> None:
    path = "a,line=1::x\n::error::/SKILL.md"
    text = render("github", [checked(path=path, message="100%\n::warning::m\r", location=Location(path=path))])
    first = text.splitlines()[0]
    assert first.startswith(
        "::error file=a%2Cline=1%3A%3Ax\\n%3A%3Aerror%3A%3A/SKILL.md,line=1,col=1,title=name.format::"
    )
    assert first.endswith("::100%25\\n::warning::m\\x0d")
    assert all(line.startswith(("::error file=", "::warning file=")) for line in text.splitlines())


@pytest.mark.proves("tooling.cli.check-formats")
def test_junit_has_a_test_for_each_skill() -> None:
    tree = ET.fromstring(render("junit", [checked(), checked("---\nname: a\ndescription: d\n---\n")]))  # noqa: S314 -- our own
    assert tree.attrib == {"name": "prowess", "tests": "2", "failures": "1"}
    bad, good = tree.iter("testcase")
    failure = bad.find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "frontmatter.syntax", "message": 'a value with ": " must be quoted'}
    assert "a/SKILL.md:5:1 error frontmatter.unknownField" in str(failure.text)
    assert "allowed-tools.separator" in str(bad.findtext("system-out"))
    assert list(good) == []


_HOSTILE = st.text(
    st.characters(codec=None) | st.sampled_from("\0\x1b\r\n%:,<>&\"']]>\u2028\ufffe\uffff\udc80"), max_size=20
)


@given(_HOSTILE, _HOSTILE, st.sampled_from(FORMATS))
def test_hostile_text_is_data_in_every_form(message: str, path: str, form: str) -> None:
    place = Location(path=path, line=1, column=1, end_line=1, end_column=2)
    edit = Edit(line=1, column=1, end_line=1, end_column=2, text=message)
    fix = Fix(safety=FixSafety.SAFE, title=message, edits=(edit,))
    text = render(form, [checked(path=path, message=message, location=place, fix=fix)])
    text.encode()
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e]", text) is None
    if form == "sarif":
        SARIF.validate(json.loads(text))
    elif form == "json":
        json.loads(text)
    elif form == "junit":
        assert len(list(ET.fromstring(text).iter("testcase"))) == 1  # noqa: S314 -- our own
    elif form == "github":
        assert len(text.split("\n")) == len(checked(path=path).diagnostics) + 2


def test_the_text_has_its_summary_unless_that_is_not_wanted() -> None:
    assert render("text", [checked()]).endswith("in 1 skill\n")
    assert not render("text", [checked()], summary=False).endswith("in 1 skill\n")
