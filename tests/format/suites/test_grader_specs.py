"""Graders in eval files: read, reported if they are wrong, and kept by every conversion."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prowess.format.suites.forms import FORMS, FormedData, converted, form_of, original
from prowess.format.suites.grader_specs import parse_grader
from prowess.format.suites.json_faults import json_faults
from prowess.format.suites.suite import SuiteError

GRADERS = [
    {"text": "calls it", "type": "tool_used", "tool": "Bash", "min": 0, "max": 2},
    {"text": "in order", "type": "tool_order", "before": {"tool": "Read"}, "after": "Write", "arm": "with-only"},
    {"text": "has a row", "type": "regex", "pattern": "^a", "target": {"source": "file", "path": "*.csv"}},
    {"text": "is checked", "type": "program", "path": "evals/check.py"},
]


def suite(*assertions: Any) -> dict[str, Any]:  # noqa: ANN401 -- JSON
    evals = [{"id": 1, "prompt": "p", "expected_output": "e", "assertions": list(assertions)}]
    return {"skill_name": "sort", "evals": evals}


def faults(*assertions: Any) -> list[str]:  # noqa: ANN401 -- JSON
    text = json.dumps(suite(*assertions))
    return [fault.message for fault in json_faults(text, file="evals.json", skill="sort", file_at=lambda path: path)]


def test_graders_are_no_faults_and_wrong_members_are() -> None:
    assert faults(*GRADERS) == []
    assert faults({"text": "t", "type": "file_exists", "path": 3}) == [
        "evals[0].assertions[0] cannot be graded: grader file_exists: path must be a text, not a whole number"
    ]
    assert "the unknown member 'shell'" in faults({"text": "t", "type": "program", "path": "x", "shell": True})[0]
    assert faults({"text": "t", "type": "of another tool"}) == []


@pytest.mark.parametrize("form", FORMS)
def test_graders_survive_every_form(form: str) -> None:
    data = suite(*GRADERS, "is polite")
    there, _ = converted(FormedData(form=form_of(data), data=data), FORMS[form])
    back = original(there)

    assert back.data == data
    checks = back.suite().cases[0].checks
    assert [None if check.grader is None else dict(check.grader) for check in checks] == [*GRADERS, None]


def test_an_unknown_type_is_no_grader() -> None:
    with pytest.raises(SuiteError, match="no grader has the type 'baseline'"):
        parse_grader({"type": "baseline"})
