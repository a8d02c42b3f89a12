"""`prowess test`: exit codes, JSON, strictness and configurations."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.evals.scenario_skills import case, make_skill, with_cases
from tests.fork_server import prowess

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, *words: str) -> tuple[int, str]:
    ran = subprocess.run(
        [prowess(), "test", *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout + ran.stderr


def test_exit_codes_tell_what_happened(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    code, text = run(tmp_path, "ledger")
    assert (code, text.splitlines()[0]) == (1, "0 passed, 0 failed, 0 errors, 0 skipped")
    assert "there is no case: add tests to skill.manifest.yaml" in text
    idle = case(case="idle")
    del idle["turns"]
    with_cases(skill, case(), idle)
    code, text = run(tmp_path, "ledger")
    assert (code, text.splitlines()) == (
        0,
        [
            "passed  ledger / one",
            "skipped ledger / idle: it has no turns; add them to evals/tests.yaml",
            "1 passed, 0 failed, 0 errors, 1 skipped",
        ],
    )
    assert run(tmp_path, "--strict", ".")[0] == 1
    with_cases(skill, idle)
    assert run(tmp_path, "ledger")[0] == 1
    with_cases(skill, case(assertions=[{"type": "contains", "value": "13"}]))
    assert run(tmp_path, "--quiet", "ledger") == (
        1, 'failed  ledger / one: contains "13": the answer is: You owe 12.50.\n',
    )  # fmt: skip
    with_cases(skill, case(turn=[]))
    code, text = run(tmp_path, "ledger")
    assert (code, "ledger/evals/tests.yaml:1:" in text) == (2, True)
    assert run(tmp_path, "nowhere")[0] == 2


@pytest.mark.proves("governance.testing.suite")
def test_one_command_runs_the_scenarios_and_cases_of_every_skill(tmp_path: Path) -> None:
    expected = {"name": "one", "input": "What do I owe?", "assertions": [{"type": "contains", "value": "12.50"}]}
    tests = [{"name": "sums", "description": "Sums.", "cases": [expected]}]
    script = {"scenario": "sums", "case": "one", "turns": [{"text": "You owe 12.50."}]}
    with_cases(make_skill(tmp_path), script, case(case="alone"), tests=tests)
    with_cases(make_skill(tmp_path, "mail"), case(assertions=[{"type": "contains", "value": "13"}]))
    code, text = run(tmp_path, ".")
    assert (code, text.splitlines()) == (
        1,
        [
            "passed  ledger / sums / one",
            "passed  ledger / alone",
            'failed  mail / one: contains "13": the answer is: You owe 12.50.',
            "2 passed, 1 failed, 0 errors, 0 skipped",
        ],
    )


def test_json_has_the_documented_shape(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    with_cases(skill, case(assertions=[{"type": "contains", "value": "12.50"}]))
    code, text = run(tmp_path, "--json", "ledger")
    document: dict[str, Any] = json.loads(text)
    document["cases"][0]["duration_ms"] = 0
    assert (code, document) == (0, {
        "summary": {"cases": 1, "passed": 1, "failed": 0, "errors": 0, "skipped": 0},
        "cases": [{
            "skill": "ledger", "scenario": None, "case": "one", "outcome": "passed", "reason": None,
            "assertions": [
                {"type": "contains", "value": "12.50", "passed": True, "evidence": "the answer is: You owe 12.50."},
            ],
            "duration_ms": 0,
        }],
        "diagnostics": [],
    })  # fmt: skip


@pytest.mark.proves("governance.testing.configurations")
def test_configurations_report_the_differences_alone(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, front="scope:\n  agents: writer\n")
    turns = [{"calls": [{"name": "Read", "arguments": {"file_path": "a"}}]}, {"text": "Done."}]
    found = case(case="found", context={"agent": "writer"}, expect=[{"found": "ledger"}])
    with_cases(skill, case(), case(case="reads", turns=turns, context={"tools": ["read"]}), found)
    file = tmp_path / "all.yaml"
    configurations = ["name: as written", "{name: bare, tools: []}", "{name: reviewer, agent: reviewer}"]
    file.write_text("\n- ".join(["configurations:", *configurations]), encoding="utf-8")
    code, text = run(tmp_path, "--json", "--configurations", "all.yaml", "ledger")
    document = json.loads(text)
    assert code == 1
    assert [(row["case"], row["outcomes"]) for row in document["differences"]] == [
        ("reads", {"as written": "passed", "bare": "error", "reviewer": "passed"}),
        ("found", {"as written": "passed", "bare": "passed", "reviewer": "failed"}),
    ]
    assert document["summary"]["bare"]["errors"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("configurations: []", "it must be a mapping with a list `configurations`"),
        ("configurations:\n- {name: a}\n- {name: a}\n", ":3: the name 'a' is there twice"),
        ("configurations:\n- {name: a, tool: read}\n", ":2: a configuration has no key 'tool'"),
        ("configurations: [", "cannot be read as YAML"),
    ],
)
def test_a_file_of_configurations_with_a_fault_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    with_cases(make_skill(tmp_path), case())
    (tmp_path / "all.yaml").write_text(text, encoding="utf-8")
    code, printed = run(tmp_path, "--configurations", "all.yaml", "ledger")
    assert (code, reason in printed) == (2, True), printed


def test_input_that_cannot_be_used_ends_with_code_2_and_says_what_it_is(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    (skill / "evals").mkdir(exist_ok=True)
    for text, told in (
        ("cases:\n- {case: 'a\0b'}\n", "there is a NUL character at byte 18; remove it"),
        ("cases: [3]\n", "cases[0] is a number, it must be a mapping with case"),
        ("cases:\n- {case: a, input: b, context: {neighbours: [3]}}\n", "neighbours[0] is a number, it must be a text"),
    ):
        (skill / "evals" / "tests.yaml").write_text(text, encoding="utf-8")
        code, shown = run(tmp_path, "ledger")
        assert (code, told in shown) == (2, True), shown
    (tmp_path / "empty").mkdir()
    assert run(tmp_path, "empty")[0] == 2
