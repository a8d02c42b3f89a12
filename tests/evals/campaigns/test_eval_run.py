"""`prowess eval run` in processes of its own, against a provider on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.evals.found_tests import FoundTests
from prowess.evals.reports.answer import money
from tests.evals.campaigns.provider import JUDGE, MODEL, ScriptedProvider, obedient, text_of
from tests.evals.campaigns.skills import PHRASE, an_eval, skill_at
from tests.fork_server import prowess
from tools.hosts.scripted_provider import Part
from tools.hosts.scripted_provider import ScriptedProvider as ProviderOfHosts
from tools.hosts.wire_forms import ScriptedCall, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.evals.campaigns.provider import Answer, Request

TWO_DECIMALS = {"text": "two decimals", "type": "contains_phrase", "phrase": "12.50"}
NAMES_SUM = {"text": "names the sum", "type": "contains_phrase", "phrase": "sum"}
FAKE_HOST = Path(__file__).parents[1] / "hosts" / "fake_host.py"
IMPOSSIBLE = {"text": "writes a file", "type": "file_exists", "path": "out.txt"}


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(obedient) as serving:
        yield serving


def start(
    provider: ScriptedProvider | None, *words: str, own_process: bool = False, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "key"}
    variables = {**os.environ, **(address if provider is None else provider.environment), **(environment or {})}
    command = [prowess(), "eval", "run", *words]
    if own_process:
        command[:1] = [sys.executable, "-m", "prowess"]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(
    provider: ScriptedProvider | None, *words: str, code: int = 0, environment: dict[str, str] | None = None
) -> dict[str, Any]:
    process = start(provider, *words, "--json", environment=environment)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == code, (process.returncode, out[-500:], errors)
    assert "Traceback" not in errors
    found: dict[str, Any] = json.loads(out) if out else {"error": errors}
    return found


def outcomes(report: dict[str, Any]) -> dict[str, str]:
    return {unit["id"]: unit["outcome"] for unit in report["units"]}


@pytest.mark.proves("evals.workspace.layout", "evals.workspace.baseline", "evals.timing.shape", "evals.grading.shape")
def test_each_eval_runs_with_the_skill_and_without_it_in_the_layout_of_the_guide(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    token = "ghp_" + "a1B2" * 9
    secret = an_eval("files", IMPOSSIBLE, prompt=f"Sum it up with {token}")
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS, NAMES_SUM), secret)
    page, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    files = ("--report", str(page), "--junit", str(junit))
    report = run(provider, str(skill), "--model", MODEL, "--runs", "1", "--price", "1/2", *files)
    transcripts = [path.read_text() for path in tmp_path.rglob("transcript.jsonl")]
    assert len(transcripts) == 4
    assert not any(token in text for text in transcripts)
    assert "sums" in page.read_text()
    assert "<testsuite" in junit.read_text()

    assert outcomes(report) == {
        "1/with_skill/run-1": "passed",
        "1/without_skill/run-1": "failed",
        "files/with_skill/run-1": "failed",
        "files/without_skill/run-1": "failed",
    }
    assert (report["complete"], report["stopped"]) == (True, None)
    assert report["spent"] == {
        "usd": pytest.approx(0.00072),
        "in_doubt_usd": 0.0,
        "calls": 6,
        "input_tokens": 600,
        "output_tokens": 60,
    }
    assert [(weak["text"], weak["kind"]) for weak in report["summary"]["weak"]] == [
        ("names the sum", "uninformative"),
        ("writes a file", "suspect"),
    ]
    assert report["units"][0]["activated"] is True
    place = tmp_path / "sums-workspace" / "iteration-1"
    for name in ("eval-1/with_skill", "eval-1/without_skill", "eval-files/with_skill", "eval-files/without_skill"):
        assert {"outputs", "timing.json", "grading.json"} <= {*os.listdir(place / name)}
        timing = json.loads((place / name / "timing.json").read_text())
        grading = json.loads((place / name / "grading.json").read_text())
        assert timing["total_tokens"] > 0
        assert timing["duration_ms"] > 0
        assert {"text", "passed", "evidence"} <= grading["assertion_results"][0].keys()
        assert (place / name / "outputs" / "answer.md").read_text().startswith("The sum is")
    grading = json.loads((place / "eval-1/without_skill/grading.json").read_text())
    assert [(row["text"], row["passed"]) for row in grading["assertion_results"]] == [
        ("two decimals", False),
        ("names the sum", True),
    ]
    assert grading["summary"] == {"passed": 1, "failed": 1, "total": 2, "pass_rate": 0.5}
    assert (place / "benchmark.json").exists()


def test_gates_decide_about_the_exit_code(provider: ScriptedProvider, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS), an_eval(2, IMPOSSIBLE))
    words = (str(skill), "--model", MODEL, "--runs", "1")

    run(provider, *words, "--min-pass-rate", "0.5", "--min-delta", "0.5")
    failed = run(provider, *words, "--min-pass-rate", "0.6", code=1)
    assert failed["summary"]["gates"] == [{"name": "min_pass_rate", "wanted": 0.6, "value": 0.5, "passed": False}]
    run(provider, *words, "--baseline", "none", "--min-delta", "0", code=1)


@pytest.mark.proves("evals.grading.code-first")
def test_a_judge_grades_what_code_cannot_and_its_calls_are_booked(tmp_path: Path) -> None:
    def rule(request: Request) -> Answer:
        if request["model"] != "judge":
            return obedient(request)
        asked = json.loads(request["messages"][-1]["content"])
        assert [one["text"] for one in asked["assertions"]] == ["names a currency"]
        passed = "EUR" in asked["answer"]
        return json.dumps([{"number": 1, "passed": passed, "evidence": f"'{asked['answer']}'"}])

    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS, "names a currency"))
    with ScriptedProvider(rule) as provider:
        words = (str(skill), "--model", MODEL, "--runs", "1", "--price", "1/2")
        without = run(provider, *words)
        assert [len(unit["assertions"]) for unit in without["units"]] == [1, 1]
        report = run(provider, *words, "--judge", JUDGE, "--max-cost-usd", "1")
        assert outcomes(report) == {"1/with_skill/run-1": "passed", "1/without_skill/run-1": "failed"}
        assert [row["type"] for row in report["units"][0]["assertions"]] == ["contains", "judge"]
        assert report["spent"]["calls"] == 3 + 2 * 2  # two votes of each run agree
        replayed = run(None, str(skill), "--replay", report["iteration"])
        assert outcomes(replayed) == outcomes(report)
        _, shown = start(provider, *words, "--judge", JUDGE, "--max-cost-usd", "1").communicate(timeout=120)
        spent = report["spent"]["usd"]
        assert shown.splitlines()[-1].startswith(f"2 of 2 runs, {money(spent)} spent, {money(1 - spent)} left: ")


def test_assertions_that_only_a_judge_could_grade_cost_nothing_without_one(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    skill = skill_at(tmp_path, an_eval(1, "is polite"), an_eval(2, NAMES_SUM))
    report = run(provider, str(skill), "--model", MODEL, "--runs", "1", "--baseline", "none")

    assert outcomes(report) == {"1/with_skill/run-1": "error", "2/with_skill/run-1": "passed"}
    assert "--judge" in report["units"][0]["reason"]
    assert len(provider.requests) == 2


def test_assertions_that_are_not_graded_beside_others_are_told_before_the_first_call_and_in_each_report(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    only_with = {"text": "uses it", "type": "skill_activated", "arm": "with-only"}
    strange = {"text": "scores well", "type": "rubric"}
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM, "is polite", strange), an_eval(2, only_with, "is polite"))
    page = tmp_path / "page.html"
    words = (str(skill), "--model", MODEL, "--runs", "1", "--report", str(page))
    report = run(provider, *words)

    needs_judge = "it needs a judge; name one with --judge MODEL"
    assert report["summary"]["ungraded"] == [
        {"eval": "1", "text": "is polite", "reason": needs_judge},
        {"eval": "1", "text": "scores well", "reason": "no grader has the type 'rubric'"},
        {"eval": "2", "text": "is polite", "reason": needs_judge},
    ]
    assert outcomes(report) == {
        "1/with_skill/run-1": "passed",
        "1/without_skill/run-1": "passed",
        "2/with_skill/run-1": "passed",
        "2/without_skill/run-1": "not_run",
    }
    without = report["units"][3]
    assert without["reason"] == "no assertion of the eval can be graded in this configuration, so no call was made"
    assert len(provider.requests) == report["spent"]["calls"] == 5
    told = "not graded, and counted in no outcome: 2 assertions of 2 evals"
    assert told in page.read_text()

    out, errors = start(provider, *words).communicate(timeout=120)
    first = errors.splitlines()[0]
    assert first == f"{told} ('is polite', and others); {needs_judge}"
    assert f"note: {first}" in out.splitlines()


@pytest.mark.proves("evals.grading.errors")
def test_a_crashed_run_is_an_error_and_the_others_go_on(tmp_path: Path) -> None:
    def rule(request: Request) -> Answer:
        return 401 if "xyzzy" in text_of(request) else obedient(request)

    broken = an_eval(3, NAMES_SUM, files=["evals/files/missing.csv"])
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM), an_eval(2, NAMES_SUM, prompt="xyzzy"), broken)
    with ScriptedProvider(rule) as provider:
        report = run(provider, str(skill), "--model", MODEL, "--runs", "1", "--baseline", "none")

    assert list(outcomes(report).values()) == ["passed", "error", "error"]
    assert report["summary"]["configurations"]["with_skill"]["rate"] == 1.0
    assert report["units"][1]["assertions"] == []
    grading = json.loads((tmp_path / "sums-workspace/iteration-1/eval-2/with_skill/grading.json").read_text())
    assert grading["summary"]["total"] == 0
    assert "missing.csv" in report["summary"]["faults"][0]


def test_texts_that_no_request_can_have_are_an_error_of_their_eval(provider: ScriptedProvider, tmp_path: Path) -> None:
    half = an_eval(1, {**NAMES_SUM, "text": "\ud800"}, prompt="half of a pair: \ud800")
    report = run(provider, str(skill_at(tmp_path, half, an_eval(2, NAMES_SUM))), "--model", MODEL, "--runs", "1")

    by_eval = {unit["eval"]: unit["outcome"] for unit in report["units"]}
    assert by_eval["2"] == "passed"
    assert report["complete"]


def test_the_reason_of_errors_is_printed_once_for_all_runs(tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM))
    with ScriptedProvider(lambda _: 401) as provider:
        process = start(provider, str(skill), "--model", MODEL, "--quiet", "--min-pass-rate", "0")
        out, errors = process.communicate(timeout=60)

    assert process.returncode == 1, errors
    assert "with_skill     no run counts, 3 errors" in out
    assert out.count("error in 6 runs: model ") == 1
    assert "gate min_pass_rate 0: not measured, failed" in out


@pytest.mark.proves("evals.workspace.clean")
def test_each_run_starts_in_a_workspace_of_its_own_with_the_files_of_its_eval(tmp_path: Path) -> None:
    def rule(request: Request) -> Answer:
        results = [message for message in request["messages"] if message["role"] == "tool"]
        if not results:
            return [("Bash", {"command": "ls -A; cat data.csv; echo mine > left.txt; ls -A /tmp .. | wc -l"})]
        return f"The listing is {results[-1]['content']}"

    check = {"text": "alone", "type": "workspace", "created": ["left.txt"], "unchanged": ["data.csv"]}
    clean = {"text": "clean", "type": "regex", "pattern": "left.txt", "match": "not_contains"}
    skill = skill_at(tmp_path, an_eval(1, check, clean, files=["evals/files/data.csv"]))
    (skill / "evals" / "files").mkdir()
    (skill / "evals" / "files" / "data.csv").write_text("1,2\n")
    with ScriptedProvider(rule) as provider:
        report = run(provider, str(skill), "--model", MODEL, "--runs", "2", "--jobs", "4")

    assert set(outcomes(report).values()) == {"passed"}, report["units"]
    roles = [[message["role"] for message in request["messages"]] for request in provider.requests]
    assert sorted([role for role in one if role != "system"] for one in roles) == [
        *[["user"]] * 4,
        *[["user", "assistant", "tool"]] * 4,
    ]  # no message of another run
    assert not any("The listing is" in text_of(request) for request in provider.requests)
    outputs = tmp_path / "sums-workspace/iteration-1/eval-1/with_skill/run-2/outputs"
    assert sorted(path.name for path in outputs.iterdir()) == ["answer.md", "left.txt"]
    assert "1,2" in (outputs / "answer.md").read_text()


def test_a_baseline_that_saw_the_skill_is_contaminated(tmp_path: Path) -> None:
    def rule(request: Request) -> Answer:
        results = [message for message in request["messages"] if message["role"] == "tool"]
        if not results and "skills_load" not in json.dumps(request.get("tools")):
            return [("Bash", {"command": f"echo '{PHRASE}'"})]  # as if it found the skill on the disk
        return "The sum is 12.50 EUR."

    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS))
    with ScriptedProvider(rule) as provider:
        report = run(provider, str(skill), "--model", MODEL, "--runs", "1")

    assert report["summary"]["contaminated"] == ["1/without_skill/run-1"]
    assert report["summary"]["configurations"]["without_skill"]["rate"] is None
    assert report["summary"]["delta"] is None


@pytest.mark.proves("evals.workspace.baseline", "evals.workspace.snapshot")
def test_the_old_skill_is_the_one_before_the_last_edit_or_a_revision(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    skill = skill_at(tmp_path / "repository", an_eval(1, TWO_DECIMALS), body="Be brief.")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *step], cwd=skill.parent, check=True)
    words = (str(skill), "--model", MODEL, "--runs", "1")
    none = run(provider, *words, "--baseline", "old", code=2)
    assert "no snapshot of another version" in none["error"]
    run(provider, *words)
    skill_at(tmp_path / "repository", body=PHRASE)

    for baseline in ("old", "HEAD"):
        report = run(provider, *words, "--baseline", baseline)
        assert outcomes(report) == {"1/with_skill/run-1": "passed", "1/old_skill/run-1": "failed"}
        assert report["summary"]["contaminated"] == []
        used = [unit["activated"] for unit in report["units"]]
        assert used == [True, True]


@pytest.mark.proves("evals.feedback.shape")
def test_the_next_iteration_shows_what_was_wished_and_nothing_of_what_was_accepted(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS), an_eval(2, NAMES_SUM))
    words = (str(skill), "--model", MODEL, "--runs", "1")
    first = run(provider, *words)
    feedback = {"eval-1": "Name the currency.", "eval-2": ""}
    (Path(first["iteration"]) / "feedback.json").write_text(json.dumps(feedback))
    process = start(provider, *words)
    out, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    (shown,) = [line for line in f"{out}\n{errors}".splitlines() if "feedback" in line]
    assert "eval-1" in shown
    assert "Name the currency." in shown


@pytest.mark.proves("governance.feedback.suggest")
@pytest.mark.parametrize(
    ("current", "proposed", "code"),
    [("Be brief.", PHRASE, 0), (PHRASE, "Be brief.", 1), (PHRASE, f"{PHRASE} Be brief.", 1)],
)
def test_a_proposed_change_must_beat_the_committed_version(
    provider: ScriptedProvider, tmp_path: Path, current: str, proposed: str, code: int
) -> None:
    skill = skill_at(tmp_path / "repository", an_eval(1, TWO_DECIMALS), body=current)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *step], cwd=skill.parent, check=True)
    skill_at(tmp_path / "repository", body=proposed)
    difference = subprocess.run([*git, "diff"], cwd=skill.parent, check=True, capture_output=True).stdout
    words = (
        "--model",
        MODEL,
        "--runs",
        "1",
        "--baseline",
        "HEAD",
        "--min-delta",
        "0.1",
        "--out",
        str(tmp_path / "out"),
    )
    report = run(provider, str(skill), *words, code=code)

    assert [gate["passed"] for gate in report["summary"]["gates"]] == [code == 0]
    after = subprocess.run([*git, "diff"], cwd=skill.parent, check=True, capture_output=True).stdout
    assert after == difference, "the difference is left for a person, and is not committed"
    assert proposed.encode() in difference


def test_neighbours_are_installed_in_both_configurations(provider: ScriptedProvider, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM))
    other = skill_at(tmp_path, name="charts")
    words = (str(skill), "--model", MODEL, "--runs", "1")
    run(provider, *words, "--with", str(other))

    assert all("<name>charts</name>" in text_of(request) for request in provider.requests)
    assert "installed once" in run(provider, *words, "--with", str(skill), code=2)["error"]


@pytest.mark.parametrize(
    ("words", "stopped"),
    [
        (["--max-calls", "4"], "call_cap"),
        (["--max-cost-usd", "0.0155", "--price", "1/2"], "cost_cap"),
        (["--max-tokens", "15200"], "token_cap"),
    ],
)
def test_a_cap_ends_the_run_with_code_5_and_resume_completes_it(
    words: list[str], stopped: str, provider: ScriptedProvider, tmp_path: Path
) -> None:
    skill = skill_at(tmp_path, *(an_eval(number, TWO_DECIMALS) for number in range(4)))
    common = (str(skill), "--model", MODEL, "--runs", "1", "--max-output-tokens", "200")
    report = run(provider, *common, *words, code=5)

    assert (report["complete"], report["stopped"]) == (False, stopped)
    assert "not_run" in outcomes(report).values()
    paid = len(provider.requests)
    assert report["spent"]["calls"] == paid
    again = run(provider, *common, "--resume")
    assert again["complete"]
    assert again["iteration"] == report["iteration"]
    assert len(provider.requests) == 12  # every call was paid once
    assert "not_run" not in outcomes(again).values()


def test_the_replay_of_a_run_that_was_not_finished_is_not_complete_either(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    skill = skill_at(tmp_path, an_eval(1, NAMES_SUM), an_eval(2, NAMES_SUM))
    words = (str(skill), "--model", MODEL, "--runs", "2", "--jobs", "1", "--max-output-tokens", "200")
    capped = run(provider, *words, "--max-calls", "4", code=5)
    replay = (str(skill), "--replay", capped["iteration"])
    report = run(None, *replay, code=5)

    assert (report["complete"], report["stopped"]) == (False, "call_cap")
    assert outcomes(report) == outcomes(capped)
    assert list(outcomes(report).values()).count("not_run") == 6
    assert report["units"][-1]["reason"] == "the recording ended before this run, or was made without its eval"
    shown, _ = start(None, *replay).communicate(timeout=120)
    assert "not complete: the recording (call_cap stopped it) lacks 6 runs; complete it with --resume, then" in shown

    (Path(capped["iteration"]) / "report.json").unlink()  # as after a kill
    killed = run(None, *replay, code=5)
    assert (killed["complete"], killed["stopped"]) == (False, None)
    assert outcomes(killed) == outcomes(capped)

    resumed = run(provider, *words, "--resume")
    assert resumed["iteration"] == capped["iteration"]
    whole = run(None, *replay)
    assert (whole["complete"], whole["stopped"]) == (True, None)
    assert set(outcomes(whole).values()) == {"passed"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_what_there_is_and_resume_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, *(an_eval(number, TWO_DECIMALS) for number in range(4)))
    common = (str(skill), "--model", MODEL, "--runs", "1")
    with ScriptedProvider(obedient, delay=0.15) as provider:
        process = start(provider, *common, "--json", own_process=True)
        deadline = time.monotonic() + 60
        while len(provider.requests) < 6 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
        report = json.loads(out)

        assert process.returncode == 128 + number
        assert "--resume" in errors
        assert (report["complete"], report["stopped"]) == (False, "signal")
        assert {"passed", "not_run"} <= set(outcomes(report).values())
        again = run(provider, *common, "--resume")
        assert again["complete"]
        assert len(provider.requests) <= 12 + 2  # at most one call of each job was in flight


def test_an_iteration_is_run_by_one_process_at_a_time(tmp_path: Path) -> None:
    words = (str(skill_at(tmp_path, an_eval(1, TWO_DECIMALS))), "--model", MODEL)
    with ScriptedProvider(obedient, delay=20) as provider:
        first = start(provider, *words)
        deadline = time.monotonic() + 60
        while not provider.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        assert "another process runs" in run(provider, *words, "--resume", code=2)["error"]
        first.terminate()
        first.communicate(timeout=60)


@pytest.mark.unmeasured
def test_a_killed_campaign_is_resumed_without_paying_again(tmp_path: Path) -> None:
    skill = skill_at(tmp_path, *(an_eval(number, TWO_DECIMALS) for number in range(3)))
    common = (str(skill), "--model", MODEL, "--runs", "2", "--jobs", "2")
    with ScriptedProvider(obedient, delay=0.1) as provider:
        for wanted in (5, 11):
            process = start(provider, *common, "--resume", "--json", own_process=True)
            deadline = time.monotonic() + 60
            while len(provider.requests) < wanted and time.monotonic() < deadline:
                time.sleep(0.02)
            process.kill()
            process.communicate(timeout=60)
        report = run(provider, *common, "--resume")

    assert len(report["units"]) == 12
    assert set(outcomes(report).values()) == {"passed", "failed"}
    assert len(provider.requests) <= 18 + 2 * 2
    assert 0 <= report["spent"]["calls"] - len(provider.requests) <= 2 * 2  # booked, and killed before it was sent


def test_until_decided_stops_as_soon_as_the_skill_is_better(provider: ScriptedProvider, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS), an_eval(2, TWO_DECIMALS))
    words = (str(skill), "--model", MODEL, "--runs", "20", "--jobs", "1")
    report = run(provider, *words, "--until", "decided")

    assert report["summary"]["decision"] == "better"
    assert report["complete"]
    ran = [unit for unit in report["units"] if unit["outcome"] != "not_run"]
    assert len(ran) < 30
    assert "baseline" in run(provider, *words, "--until", "decided", "--baseline", "none", code=2)["error"]
    assert "--until decided" in run(provider, *words, "--detect", "0.2", code=2)["error"]
    assert "--detect" in run(provider, *words, "--until", "decided", "--detect", "0", code=2)["error"]


def test_a_replay_needs_no_provider_and_a_request_that_differs_is_drift(
    provider: ScriptedProvider, tmp_path: Path
) -> None:
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS))
    report = run(provider, str(skill), "--model", MODEL, "--runs", "2")
    paid = len(provider.requests)
    replayed = run(None, str(skill), "--replay", report["iteration"])

    assert outcomes(replayed) == outcomes(report)
    assert sum(unit["replayed_calls"] for unit in replayed["units"]) == paid
    assert replayed["spent"]["calls"] == 0
    skill_at(tmp_path, an_eval(1, TWO_DECIMALS, prompt="Add it up"))
    drift = run(None, str(skill), "--replay", report["iteration"], code=1)
    assert "Add it up" in drift["error"]
    assert drift["error_detail"]["code"] == "digest_changed"
    skill_at(tmp_path, body="Another body.")
    stale = run(None, str(skill), "--replay", report["iteration"], code=1)
    assert "is stale: with_skill/sums/SKILL.md" in stale["error"]
    assert stale["error_detail"] == {"code": "digest_changed", "message": stale["error"], "suggestions": []}
    (Path(report["iteration"]) / "journal.jsonl").unlink()
    assert "journal.jsonl" in run(None, str(skill), "--replay", report["iteration"], code=4)["error"]
    assert len(list(Path(report["iteration"]).parent.glob("iteration-*"))) == 3  # refused replays left none
    both = run(None, str(skill), "--replay", report["iteration"], "--resume", code=2)
    assert "leave --resume or --replay out" in both["error"]


def test_runs_below_a_relative_place_are_replayed_from_another(
    provider: ScriptedProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = str(skill_at(tmp_path, an_eval(1, TWO_DECIMALS)))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    report = run(provider, skill, "--model", MODEL, "--runs", "1", "--out", "place")
    monkeypatch.chdir(tmp_path / "second")
    replayed = run(None, skill, "--replay", f"../first/{os.path.relpath(report['iteration'], tmp_path / 'first')}")

    assert outcomes(replayed) == outcomes(report)
    assert report["iteration"].startswith(str(tmp_path))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "--model"),
        (["--model", "nobody:m"], "nobody"),
        (["--model", MODEL, "--max-cost-usd", "1"], "--price"),
        (["--model", MODEL, "--max-calls", "0"], "above 0"),
        (["--model", MODEL, "--price", "free"], "IN/OUT"),
        (["--model", MODEL, "--host", "nobody"], "nobody"),
        (["--replay", "missing"], "no iteration"),
        (["--model", MODEL, "--report", "/nowhere/page.html"], "/nowhere does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_no_iteration(words: list[str], reason: str, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS))
    found = run(None, str(skill), *words, code=2)

    assert reason in found["error"]
    assert not list(tmp_path.glob("sums-workspace/iteration-*"))


def test_an_edited_skill_or_another_option_is_not_resumed(provider: ScriptedProvider, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS), an_eval(2, TWO_DECIMALS))
    words = (str(skill), "--model", MODEL, "--resume")
    run(provider, *words, "--max-calls", "2", code=5)
    assert "--runs 3, not 5" in run(provider, *words, "--runs", "5", code=2)["error"]
    skill_at(tmp_path, body="Another body.")
    assert "were edited" in run(provider, *words, code=2)["error"]


def test_a_name_with_control_characters_reaches_no_terminal(provider: ScriptedProvider, tmp_path: Path) -> None:
    skill = skill_at(tmp_path, an_eval("a\x1b[31m", {**NAMES_SUM, "text": "b\x1b[32m"}))
    process = start(provider, str(skill), "--model", MODEL, "--runs", "1")
    out, errors = process.communicate(timeout=60)

    assert process.returncode == 0
    assert "\x1b" not in out + errors
    assert "passes with and without the skill" in out


def test_another_host_runs_behind_the_gateway_and_its_run_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE_HOST} "$@"\n')
    (programs / "claude").chmod(0o755)
    skill = skill_at(tmp_path, an_eval(1, TWO_DECIMALS, {"text": "used", "type": "tool_used", "tool": "Skill"}))
    chooses = Part(
        turns=(
            Turn(calls=(ScriptedCall(name="Skill", arguments={"skill": "sums"}),)),
            Turn(text="The sum is 12.50 EUR."),
        )
    )
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    words = ("--host", "claude", "--runs", "1", "--price", "1/2", "--max-calls", "20")
    with ProviderOfHosts([chooses]) as provider:
        address = {"ANTHROPIC_BASE_URL": provider.url, "ANTHROPIC_API_KEY": "key", "PATH": path}
        report = run(None, str(skill), *words, environment=address)

    with_skill, without = report["units"]
    assert (with_skill["outcome"], with_skill["activated"]) == ("passed", True)
    assert "activates the skill sums" in without["contaminated"]  # this host loads what it does not have
    assert report["host"] == "claude"
    assert report["spent"]["calls"] == 4
    assert with_skill["usd"] > 0
    again = ("--replay", report["iteration"], "--host", "claude")
    replayed = run(None, str(skill), *again, environment={"PATH": path})
    assert outcomes(replayed) == outcomes(report)
    assert replayed["spent"]["calls"] == 0
    monkeypatch.setenv("PATH", path)
    with FoundTests([str(skill)], started=tmp_path, shown_from=tmp_path) as found:  # pytest starts no program of it
        assert [(recorded.replay, recorded.is_skipped) for recorded in found.recordings] == [(None, True)]
