"""Scenarios run in real sessions: the assertions of 001, the doubles, and the expectations."""

from __future__ import annotations

import json
import socket
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals import Grade, GradedRun, grader, run_tests
from prowess.evals.graders import registry
from prowess.evals.scenarios import assertions
from prowess.format.manifest.manifest_reader import read_sidecar
from tests.evals.scenario_skills import case, judged, make_skill, one, outcomes, with_cases

if TYPE_CHECKING:
    from pathlib import Path

WRITES = {"tools": ["write", "read"], "approve": "all"}


def calls(*asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return turns that make these calls, one each, and then answer."""
    made = [{"calls": [{"name": name, "arguments": arguments}]} for name, arguments in asked]
    return [*made, {"text": "Done."}]


@pytest.mark.proves("evals.scenario.place")
def test_the_cases_of_a_manifest_run_with_the_turns_beside_it(tmp_path: Path) -> None:
    expected = {"type": "contains", "value": "12.50", "description": "the sum"}
    named = {
        "name": "one",
        "input": "What do I owe?",
        "assertions": [expected],
        "expectedBehavior": "It names the sum.",
    }
    tests = [{"name": "sums", "description": "Sums.", "cases": [named, {**named, "name": "later"}]}]
    skill = make_skill(tmp_path)
    assert run_tests(skill).cases == ()
    script = {"scenario": "sums", "case": "one", "turns": [{"text": "You owe 12.50."}]}
    report = run_tests(with_cases(skill, script, tests=tests))
    assert outcomes(report) == [("one", "passed"), ("later", "skipped")]
    assert report.cases[1].reason == "it has no turns; add them to evals/tests.yaml"
    assert report.cases[0].assertions[0].evidence == "the answer is: You owe 12.50."


@pytest.mark.proves(
    "evals.scenario.shape", "evals.scenario.case", "evals.scenario.expected", "evals.scenario.assertion"
)
@pytest.mark.parametrize("part", ["scenario", "case", "assertion"])
def test_each_part_of_a_scenario_has_fields_that_it_needs_and_others(part: str, tmp_path: Path) -> None:
    skill = make_skill(tmp_path)

    def parts() -> dict[str, dict[str, Any]]:
        assertion = {"type": "contains", "value": "12.50", "description": "the sum"}
        one_case = {"name": "one", "input": "x", "assertions": [assertion], "expectedBehavior": "It names the sum."}
        scenario = {"name": "sums", "description": "Sums.", "cases": [one_case]}
        return {"scenario": scenario, "case": one_case, "assertion": assertion}

    def faults_without(*removed: str) -> list[str]:
        changed = parts()
        for field in removed:
            del changed[part][field]
        with_cases(skill, tests=[changed["scenario"]])
        return [found.message.partition(" is absent")[0] for found in run_tests(skill).diagnostics]

    assert faults_without() == []
    (scenario,) = read_sidecar(str(skill)).tests or ()
    assert scenario.cases[0].expected_behavior == "It names the sum."
    assert scenario.cases[0].assertions[0].description == "the sum"
    place = {"scenario": "tests[0]", "case": "tests[0].cases[0]", "assertion": "tests[0].cases[0].assertions[0]"}[part]
    for field in parts()[part]:
        is_optional = field == "expectedBehavior" or (part, field) == ("assertion", "description")
        assert faults_without(field) == ([] if is_optional else [f"{place}.{field}"])


@pytest.mark.proves("evals.scenario.contains", "evals.scenario.not-contains")
def test_the_answer_contains_a_text_or_does_not(tmp_path: Path) -> None:
    assert judged(tmp_path / "a", "contains", "12.50")[0] == "passed"
    assert judged(tmp_path / "b", "contains", "13")[0] == "failed"
    assert judged(tmp_path / "c", "not-contains", "13")[0] == "passed"
    assert judged(tmp_path / "d", "not-contains", "owe")[0] == "failed"


@pytest.mark.proves("evals.scenario.matches-regex")
def test_a_pattern_is_searched_within_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(tmp_path / "a", "matches-regex", r"owe \d+\.\d\d")[0] == "passed"
    assert judged(tmp_path / "b", "matches-regex", r"^\d+$")[0] == "failed"
    outcome, reason = judged(tmp_path / "c", "matches-regex", "(")
    assert (outcome, "not a Python regular expression" in reason) == ("error", True)
    monkeypatch.setattr(assertions, "PATTERN_SECONDS", 0.3)
    outcome, reason = judged(tmp_path / "d", "matches-regex", "(a+)+$", turns=[{"text": "a" * 40 + "!"}])
    assert (outcome, "Timeout exceeded" in reason) == ("error", True)


@pytest.mark.proves("evals.scenario.file-created", "evals.scenario.file-modified")
def test_files_are_compared_with_the_workspace_before(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    (skill / "evals" / "files" / "sub").mkdir(parents=True)
    (skill / "evals" / "files" / "sub" / "a.csv").write_text("1\n", encoding="utf-8")
    (skill / "evals" / "files" / "same.csv").write_text("1\n", encoding="utf-8")
    turns = calls(
        ("Write", {"file_path": "new/b.csv", "content": "2\n"}),
        ("Write", {"file_path": "sub/a.csv", "content": "2\n"}),
        ("Write", {"file_path": "same.csv", "content": "1\n"}),
    )
    found = {
        (kind, path): one(
            skill,
            workspace="evals/files",
            context=WRITES,
            turns=turns,
            assertions=[{"type": f"file-{kind}", "value": path}],
        ).outcome
        for kind in ("created", "modified")
        for path in ("new/b.csv", "./sub/a.csv", "same.csv", "../a.csv")
    }
    assert {key for key, outcome in found.items() if outcome == "passed"} == {
        ("created", "new/b.csv"),
        ("modified", "./sub/a.csv"),
    }
    assert set(found.values()) == {"passed", "failed"}
    assert (skill / "evals" / "files" / "sub" / "a.csv").read_text() == "1\n"  # the workspace is a copy
    wrong = one(skill, workspace="evals/none")
    assert (wrong.outcome, "workspace 'evals/none' of the skill cannot be copied" in str(wrong.reason)) == (
        "error",
        True,
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"workspace": "../../etc"}, "leaves the skill"),
        ({"workspace": "/etc"}, "leaves the skill"),
        ({"turns": None, "recording": "../../../x.jsonl"}, "leaves the skill"),
        ({"context": {"neighbours": ["/etc"]}}, "not in the skill or beside it"),
        ({"turns": [{}]}, "has neither a text nor calls"),
        ({"turns": [{"when": "12"}]}, "has neither a text nor calls"),
        ({"turns": [{"text": "a", "else": {"text": "b"}}]}, "has an else that is never given"),
        ({"context": ["read"]}, "cases[0].context is a list, it must be a mapping"),
    ],
)
def test_a_place_outside_of_the_skill_and_a_turn_that_says_nothing_are_faults(
    fields: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    data = {name: value for name, value in case(**fields).items() if value is not None}
    report = run_tests(with_cases(make_skill(tmp_path), data))
    assert [found.rule for found in report.diagnostics] == ["testing.tests"]
    assert reason in report.diagnostics[0].message
    assert not report.diagnostics[0].message.endswith(" ")


@pytest.mark.proves("evals.scenario.command-executed")
def test_commands_are_compared_by_their_words(tmp_path: Path) -> None:
    response = {"tool": "Bash", "result": {"stdout": "", "exit_code": 0}}
    line = "cd src && git log --oneline -n 3 | head -1; echo 'git push'"

    def executed(value: str, folder: str, **context: Any) -> str:  # noqa: ANN401 -- JSON
        given = {"tools": ["bash"], "approve": "all", **context}
        turns = calls(("Bash", {"command": line}))
        return judged(tmp_path / folder, "command-executed", value, turns=turns, responses=[response], context=given)[0]

    assert executed("git log --oneline", "a") == "passed"
    assert executed("git * --oneline -n 3", "b") == "passed"
    assert executed("git push", "c") == "failed"  # a word of echo, and no command
    assert executed("git log --one", "d") == "failed"
    assert executed("git log", "e", approve="none") == "failed"  # the call was refused, so the command did not run


@pytest.mark.proves("evals.scenario.custom")
def test_custom_calls_a_grader_that_is_registered_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})

    @grader("names-a-sum")
    def names_a_sum(run: GradedRun) -> Grade:
        return Grade(passed="12.50" in run.answer, evidence=f"{len(run.created)} files in {run.workspace}")

    @grader("broken")
    def broken(run: GradedRun) -> bool:
        raise KeyError(run.answer)

    assert judged(tmp_path / "a", "custom", "names-a-sum") == ("passed", "0 files in …/workspace")
    assert judged(tmp_path / "b", "custom", "names-a-sum", turns=[{"text": "no"}])[0] == "failed"
    assert judged(tmp_path / "c", "custom", "broken")[0] == "error"
    outcome, reason = judged(tmp_path / "d", "custom", "names-a-sun")
    assert (outcome, reason.startswith("grader 'names-a-sun': no grader is called 'names-a-sun'")) == ("error", True)
    with pytest.raises(ValueError, match="already"):
        grader("broken")(names_a_sum)
    point = EntryPoint("packaged", "tests.evals.test_scenarios:packaged_grader", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda **wanted: [point] if wanted.get("name") == "packaged" else [])
    assert judged(tmp_path / "e", "custom", "packaged")[0] == "passed"


def packaged_grader(run: GradedRun) -> bool:
    """A grader as a package would register it by an entry point."""
    return run.answer != ""


def test_a_turn_waits_for_a_text_of_the_request(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, body="Round to two digits.\n")
    turns = [{"when": "Round to two digits", "text": "12.50", "else": {"text": "12.5"}}]
    active = {"skills": ["ledger"]}
    assert (
        one(skill, turns=turns, context=active, assertions=[{"type": "contains", "value": "12.50"}]).outcome == "passed"
    )
    assert one(skill, turns=turns, assertions=[{"type": "contains", "value": "12.50"}]).outcome == "failed"
    waits = one(skill, turns=[{"when": "Round to two digits", "text": "12.50"}])
    assert (waits.outcome, waits.assertions[0].type) == ("failed", "when")
    assert waits.reason == (
        "turn 1 waits for a text that the request does not contain: 'Round to two digits'; no call was made before"
    )


def test_too_few_and_too_many_turns_are_errors(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    more = [{"text": "a"}, {"text": "b"}]
    assert one(skill, turns=more).reason == "the run ended with turn 1, and the case has 2"
    load = [{"calls": [{"name": "skills_load", "arguments": {"names": ["ledger"]}}]}]
    fewer = one(skill, turns=load)
    assert (fewer.outcome, fewer.reason) == ("error", "the model is asked for turn 2, and the case has 1")


def test_the_first_response_that_fits_answers_a_call_and_a_call_without_one_is_an_error(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    responses = [
        {"tool": "Fetch", "match": {"url": "https://*/a"}, "result": {"body": "first"}},
        {"tool": "Fetch", "match": {"url": "https://*"}, "result": "second"},
        {"tool": "Fetch", "match": {"url": "ftp://*"}, "error": "the server is down"},
    ]

    def asked(url: str, seen: str) -> Any:  # noqa: ANN401 -- a result
        turns = [{"calls": [{"name": "Fetch", "arguments": {"url": url}}]}, {"when": seen, "text": "Done."}]
        return one(skill, responses=responses, turns=turns)

    assert asked("https://x/a", "first").outcome == "passed"
    assert asked("https://x/b", "second").outcome == "passed"
    assert asked("ftp://x", "the server is down").outcome == "passed"
    missed = asked("http://x", "no response")
    assert (missed.outcome, missed.reason) == (
        "error",
        'no response of the case fits the call of Fetch with {"url": "http://x"}',
    )
    unknown = one(skill, turns=calls(("Fetch", {"url": "x"})))
    assert (unknown.outcome, "no tool is called 'Fetch'" in str(unknown.reason)) == ("error", True)


def test_a_response_can_leave_a_call_to_the_real_tool(tmp_path: Path) -> None:
    responses = [
        {"tool": "Read", "match": {"file_path": "big.csv"}, "result": {"text": "rows"}},
        {"tool": "Read", "real": True},
    ]
    turns = [
        {"calls": [{"name": "Read", "arguments": {"file_path": "big.csv"}}]},
        {"when": "rows", "calls": [{"name": "Read", "arguments": {"file_path": "a.csv"}}]},
        {"when": "real content", "text": "Done."},
    ]
    skill = make_skill(tmp_path)
    (skill / "evals" / "files").mkdir(parents=True)
    (skill / "evals" / "files" / "a.csv").write_text("real content\n", encoding="utf-8")
    context = {"tools": ["read"]}
    assert one(skill, workspace="evals/files", responses=responses, turns=turns, context=context).outcome == "passed"
    absent = one(skill, workspace="evals/files", responses=responses, turns=turns)
    assert (absent.outcome, "Read is no built-in tool of the case" in str(absent.reason)) == ("error", True)


def test_restrictions_and_approvals_are_those_of_a_real_session(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, front="allowed-tools: Read\n")
    write = calls(("Write", {"file_path": "a", "content": "b"}))
    restricted = one(
        skill,
        context={**WRITES, "skills": ["ledger"]},
        turns=write,
        expect=[{"refused": "Write", "code": "tool_not_allowed", "skill": "ledger"}, {"called": "Write", "times": 0}],
    )
    assert restricted.outcome == "passed", restricted.reason
    by_another = [{"refused": "Write", "skill": "mail"}]
    assert one(skill, context={**WRITES, "skills": ["ledger"]}, turns=write, expect=by_another).outcome == "failed"
    asked = [{"refused": "Write", "code": "approval_required"}]
    assert one(skill, context={"tools": ["write"]}, turns=write, expect=asked).outcome == "passed"
    allowed = one(skill, context=WRITES, turns=write, expect=asked)
    assert (allowed.outcome, allowed.assertions[0].evidence) == ("failed", "calls of Write: succeeded")
    named = one(skill, context={"tools": ["write"]}, turns=write, assertions=[{"type": "file-created", "value": "a"}])
    assert "Write was refused: Tool 'Write' needs the approval" in str(named.reason)


def test_skills_are_found_by_audience_and_only_the_skill_and_its_neighbours(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, front="scope:\n  tenants: acme\n")
    make_skill(tmp_path, "mail")
    make_skill(tmp_path, "other")
    acme = {"tenant": "acme", "neighbours": ["../mail"]}
    load = [{"calls": [{"name": "skills_load", "arguments": {"names": ["mail"]}}]}, {"text": "Done."}]
    result = one(skill, context=acme, turns=load, expect=[{"activated": "mail"}, {"found": ["ledger", "mail"]}])
    assert result.outcome == "passed", result.reason
    nobody = {"neighbours": ["../mail"]}
    unseen = one(skill, context=nobody, turns=load, expect=[{"found": "mail"}, {"not_found": ["ledger", "other"]}])
    assert [row.passed for row in unseen.assertions] == [True, True]
    assert one(skill, context=nobody, expect=[{"not_found": ["other", "mail"]}]).outcome == "failed"
    far = one(skill, context={"neighbours": ["../../.."]})
    assert (far.outcome, far.reason) == ("error", "neighbour '../../..' is no directory in the skill or beside it")


def test_context_and_history_are_what_the_model_reads(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, body="Round to two digits.\n")
    context = {"skills": ["ledger"], "messages": [{"user": "My name is Ada."}, {"assistant": "Hello Ada."}]}
    expect = [
        {"turn": 1, "context_contains": "My name is Ada."},
        {"turn": 1, "context_contains": "Round to two digits."},
        {"turn": 1, "context_excludes": "Grace"},
        {"turn": 1, "context_tokens_at_most": 100_000},
        {"turn": 1, "context_tokens_at_most": 3},
        {"turn": 2, "context_contains": "x"},
    ]
    result = one(skill, context=context, expect=expect)
    assert [row.passed for row in result.assertions] == [True, True, True, True, False, False]


@pytest.mark.proves("governance.testing.isolation")
def test_a_skill_is_tested_alone_with_doubles_and_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: reached.append(address))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **_: reached.append(address))
    skill = make_skill(tmp_path)
    make_skill(tmp_path, "mail")
    (skill / "evals" / "files").mkdir(parents=True)
    (skill / "evals" / "files" / "a.csv").write_text("the real rows\n", encoding="utf-8")
    messages = [{"user": "My name is Ada."}, {"assistant": "Hello Ada."}]
    turns = [
        {"when": "My name is Ada.", "calls": [{"name": "Read", "arguments": {"file_path": "a.csv"}}]},
        {"when": "rows of the double", "calls": [{"name": "Fetch", "arguments": {"url": "https://example.org"}}]},
        {"when": "a rate of 2", "text": "Done."},
    ]
    responses = [{"tool": "Read", "result": {"text": "rows of the double"}}, {"tool": "Fetch", "result": "a rate of 2"}]
    result = one(
        skill,
        workspace="evals/files",
        context={"skills": ["ledger"], "tools": ["read"], "messages": messages},
        turns=turns,
        responses=responses,
        expect=[{"found": "ledger"}, {"not_found": "mail"}, {"turn": 3, "context_excludes": "the real rows"}],
    )
    assert (result.outcome, result.reason) == ("passed", None)
    assert reached == []


@pytest.mark.proves("governance.testing.qa")
def test_a_tester_states_what_is_found_and_refused_and_what_each_request_contains(tmp_path: Path) -> None:
    skill = make_skill(tmp_path, front="allowed-tools: Read\n", body="Round to two digits.\n")
    make_skill(tmp_path, "mail")
    load, write = ("skills_load", {"names": ["ledger"]}), ("Write", {"file_path": "a", "content": "b"})

    def held(*expect: dict[str, Any]) -> list[bool]:
        result = one(skill, context=WRITES, turns=calls(load, write), expect=list(expect))
        return [row.passed for row in result.assertions]

    assert held({"found": "ledger"}, {"found": "mail"}, {"not_found": "ledger"}) == [True, False, False]
    by_ledger = {"refused": "Write", "code": "tool_not_allowed", "skill": "ledger"}
    assert held(by_ledger, {**by_ledger, "skill": "mail"}, {"refused": "skills_load"}) == [True, False, False]
    body = "Round to two digits."
    there = [held({"turn": turn, "context_contains": body}) for turn in (1, 2, 3)]
    absent = [held({"turn": turn, "context_excludes": body}) for turn in (1, 2, 3)]
    assert (there, absent) == ([[False], [True], [True]], [[True], [False], [False]])


def test_a_recording_plays_the_turns_of_a_transcript(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    (skill / "evals").mkdir()
    lines: list[dict[str, Any]] = [
        {"role": "user", "text": "x"},
        {
            "role": "assistant",
            "text": "",
            "calls": [{"id": "1", "name": "skills_load", "arguments": {"names": ["ledger"]}}],
        },
        {"role": "tool", "id": "1"},
        {"role": "assistant", "text": "You owe 12.50.", "calls": []},
    ]
    text = "\n".join([*map(json.dumps, lines), '{"torn'])
    (skill / "evals" / "run.jsonl").write_text(text, encoding="utf-8")
    recorded = case(recording="evals/run.jsonl", expect=[{"activated": "ledger"}])
    del recorded["turns"]
    assert outcomes(run_tests(with_cases(skill, recorded))) == [("one", "passed")]
    gone = {**recorded, "recording": "evals/gone.jsonl"}
    assert run_tests(with_cases(skill, gone)).cases[0].outcome == "error"


@pytest.mark.proves("evals.scenario.validation")
def test_faults_of_the_file_are_diagnostics_with_their_places(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    (skill / "evals").mkdir()
    first = "- case: a\n  input: x\n  turns: [{text: b}]\n  assertions:\n  - {type: contain, value: c}\n"
    text = f"cases:\n{first}- {{case: b}}\n"
    (skill / "evals" / "tests.yaml").write_text(text, encoding="utf-8")
    report = run_tests(skill)
    places = [(found.rule, found.location.line) for found in report.diagnostics]
    assert places == [("testing.tests", 6), ("testing.tests", 7)]
    with_cases(skill, {"scenario": "sums", "case": "one"})
    wrong = "cases:\n  - name: one\n    input: x\n    assertions:\n    - {type: contain, value: c}\n"
    manifest = f"tests:\n- name: sums\n  description: Sums.\n  {wrong}"
    (skill / "skill.manifest.yaml").write_text(manifest, encoding="utf-8")
    report = run_tests(skill)
    files = [str(found.location.path).rpartition("/")[2] for found in report.diagnostics]
    assert files == ["skill.manifest.yaml", "tests.yaml"]
    places = [(found.rule, found.location.line) for found in report.diagnostics]
    assert places == [("testing.scenarios.itemType", 8), ("testing.tests", 1)]
    assert report.passed is False


def test_two_runs_give_the_same_report_but_for_durations(tmp_path: Path) -> None:
    skill = make_skill(tmp_path)
    turns = calls(("Write", {"file_path": "a/b", "content": "c"}), ("Read", {"file_path": "gone"}))
    cases = [case(case=str(number), context=WRITES, turns=turns, assertions=[{"type": "file-created", "value": value}])
             for number, value in enumerate(("a/b", "no"))]  # fmt: skip
    reports = [run_tests(with_cases(skill, *cases)).as_dict() for _ in range(2)]
    for report in reports:
        for result in report["cases"]:
            del result["duration_ms"]
    assert reports[0] == reports[1]
    assert reports[0]["summary"] == {"cases": 2, "passed": 1, "failed": 1, "errors": 0, "skipped": 0}
