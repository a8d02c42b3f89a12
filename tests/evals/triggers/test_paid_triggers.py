"""Trigger sets with our own agent and a provider on loopback that counts: curtailing, caps, resuming, replay."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli.dispatch import run
from prowess.evals.iterations.fence import alone_in
from tests.evals.campaigns.provider import MODEL, ScriptedProvider, text_of
from tests.evals.triggers.planted import make_triggered
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.evals.campaigns.provider import Answer, Request

PRICE = ("--price", "1/2")
QUERIES = [
    ("sum the rows of a file", True),
    ("sum this column", True),
    ("put it all together", True),
    ("sing a song", False),
    ("use the skill sums", True),
]


def obedient(request: Request) -> Answer:
    """Read something first, then load `sums` if the task says so."""
    texts = [str(message.get("content")) for message in request["messages"]]
    task = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
    turn = sum(message["role"] == "assistant" for message in request["messages"])
    if turn == 0:
        return [("Glob", {"pattern": "*"})]
    if turn == 1 and "sum" in task and "sums" in "".join(texts):
        return [("skills_load", {"names": ["sums"]})]
    return "Done."


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider(obedient) as serving:
        yield serving


@pytest.fixture
def skill(tmp_path: Path) -> str:
    return make_triggered(tmp_path, "sums", "Sums rows of files.", QUERIES)


def triggers(provider: ScriptedProvider | None, *words: str, code: int = 0) -> dict[str, Any]:
    address = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "key"}
    ran = subprocess.run(
        [prowess(), "eval", "triggers", *words, *(() if "--replay" in words else ("--model", MODEL)), "--json"],
        env={**os.environ, **(address if provider is None else provider.environment)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == code, (ran.returncode, ran.stdout[-500:], ran.stderr)
    assert "Traceback" not in ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout) if ran.stdout else {"error": ran.stderr}
    return found


def rows(report: dict[str, Any]) -> list[tuple[int, int, bool | None]]:
    return [(row["triggers"], row["runs"], row["pass"]) for row in report["results"]]


@pytest.mark.proves("evals.trigger.whole-run", "evals.trigger.runs", "evals.trigger.result")
def test_a_skill_that_is_loaded_after_another_call_counts_as_chosen(provider: ScriptedProvider, skill: str) -> None:
    report = triggers(provider, skill, *PRICE)
    assert rows(report) == [(2, 2, True), (2, 2, True), (0, 2, False), (0, 2, True), (0, 0, False)]
    first = {
        name: report["results"][0][name] for name in ("query", "should_trigger", "triggers", "runs", "trigger_rate")
    }
    assert [*first.values()] == [*QUERIES[0], 2, 2, 1.0]
    assert [row["curtailed"] for row in report["results"]] == [1, 1, 1, 1, 0]
    assert report["results"][-1]["polluted"] == 3
    assert report["spent"]["calls"] == len(provider.requests) == 4 * 3 + 4 * 2
    assert report["spent"]["usd"] == pytest.approx(20 * (100 * 1 + 10 * 2) / 1e6)
    assert (report["host"], report["model"], report["estimate"]) == ("prowess", MODEL, False)
    assert all(row["split"] in ("train", "validation") for row in report["results"])


def test_a_provider_that_cannot_be_reached_is_named(
    skill: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    assert run(["eval", "triggers", skill, "--model", MODEL, "--runs", "1", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert re.search("^error in 4 runs: .*model", out, re.MULTILINE), out
    assert "validation: " not in out  # no run counts, so there is no rate
    assert "0.000" not in out


def test_a_run_sees_the_skill_without_its_evals(provider: ScriptedProvider, skill: str) -> None:
    report = triggers(provider, skill, "--runs", "1")
    snapshot = os.path.join(report["iteration"], "skill", "with_skill", "sums")
    assert sorted(os.listdir(snapshot)) == ["SKILL.md"]
    assert not any("should_trigger" in text_of(request) for request in provider.requests)


def test_a_cap_ends_the_runs_and_they_are_resumed_without_paying_twice(provider: ScriptedProvider, skill: str) -> None:
    report = triggers(provider, skill, "--max-calls", "7", code=5)
    assert (report["complete"], report["stopped"], len(provider.requests)) == (False, "call_cap", 7)
    assert None in [row["pass"] for row in report["results"]]
    with alone_in(report["iteration"]):
        assert "another process runs" in triggers(provider, skill, "--resume", code=2)["error"]
    assert len(provider.requests) == 7
    report = triggers(provider, skill, "--max-calls", "100", "--resume")
    assert (report["complete"], len(provider.requests)) == (True, 20)
    assert rows(report)[:2] == [(2, 2, True), (2, 2, True)]
    assert report["iteration"].endswith("iteration-1")
    again = triggers(provider, skill, "--runs", "1", "--resume")
    assert again["iteration"].endswith("iteration-2")


def test_a_finished_run_is_replayed_without_a_provider(provider: ScriptedProvider, skill: str) -> None:
    first = triggers(provider, skill)
    report = triggers(None, skill, "--replay", first["iteration"])
    assert report["results"] == first["results"]
    assert report["iteration"].endswith("iteration-2")
    with open(os.path.join(skill, "SKILL.md"), "a", encoding="utf-8") as file:
        file.write("More.\n")
    stale = triggers(None, skill, "--replay", first["iteration"], code=1)
    assert "SKILL.md" in stale["error"]
    assert stale["error_detail"]["code"] == "digest_changed"
    assert not os.path.exists(report["iteration"].replace("iteration-2", "iteration-3"))


def test_the_replay_of_runs_that_were_not_finished_is_not_complete_either(
    provider: ScriptedProvider, skill: str
) -> None:
    capped = triggers(provider, skill, "--max-calls", "7", "--jobs", "1", code=5)
    report = triggers(None, skill, "--replay", capped["iteration"], code=5)

    assert (report["complete"], report["stopped"]) == (False, "call_cap")
    assert report["results"][:4] == capped["results"][:4]  # the last one names the skill and needs no run
    os.unlink(os.path.join(capped["iteration"], "trigger-report.json"))  # as after a kill
    killed = triggers(None, skill, "--replay", capped["iteration"], code=5)
    assert (killed["complete"], killed["stopped"]) == (False, None)
    assert killed["results"] == report["results"]

    triggers(provider, skill, "--resume")
    whole = triggers(None, skill, "--replay", capped["iteration"])
    assert (whole["complete"], whole["stopped"]) == (True, None)


def test_a_replay_with_a_changed_request_fails_and_names_it(provider: ScriptedProvider, skill: str) -> None:
    first = triggers(provider, skill, "--runs", "1")
    asked = len(provider.requests)
    file = os.path.join(skill, "evals", "triggers.json")
    with open(file, encoding="utf-8") as reading:
        rows = json.load(reading)
    rows[0]["query"] = "sum the rows of another file"
    with open(file, "w", encoding="utf-8") as writing:
        json.dump(rows, writing)
    drifted = triggers(None, skill, "--runs", "1", "--replay", first["iteration"], code=1)
    assert "is not the recorded one; run prowess eval again without --replay to record it" in drifted["error"]
    assert len(provider.requests) == asked


def test_the_split_is_kept_beside_the_iterations(provider: ScriptedProvider, skill: str, tmp_path: Path) -> None:
    first = triggers(provider, skill, "--runs", "1", "--seed", "1")
    kept = json.loads((tmp_path / "sums-workspace" / "trigger-split.json").read_text())
    second = triggers(provider, skill, "--runs", "1", "--seed", "5")
    assert [row["split"] for row in first["results"]] == [row["split"] for row in second["results"]]
    assert kept["seed"] == 1
    assert {row["query"] for row in first["results"] if row["split"] == "train"} == set(kept["train"])


def test_a_failing_provider_makes_errors_and_no_refusals(skill: str) -> None:
    with ScriptedProvider(lambda _: 400) as broken:
        report = triggers(broken, skill, "--runs", "2")
    assert [(row["errors"], row["runs"], row["pass"]) for row in report["results"][:4]] == [(2, 0, False)] * 4
    assert report["complete"] is True


def test_faults_of_options_leave_no_folder(skill: str, tmp_path: Path) -> None:
    assert "name the model" in triggers_without_model(skill)
    unknown = triggers(None, skill, "--max-cost-usd", "1", code=2)
    assert "--price" in unknown["error"]
    assert "above 0" in triggers(None, skill, "--max-calls", "0", code=2)["error"]
    assert "not 'nobody'" in triggers(None, skill, "--host", "nobody", code=2)["error"]
    assert not list((tmp_path / "sums-workspace").glob("iteration-*"))


def triggers_without_model(skill: str) -> str:
    ran = subprocess.run(
        [prowess(), "eval", "triggers", skill], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 2
    return ran.stderr


def test_resuming_with_other_settings_is_refused(provider: ScriptedProvider, skill: str) -> None:
    triggers(provider, skill, "--max-calls", "3", code=5)
    refused = triggers(provider, skill, "--resume", "--seed", "4", code=2)
    assert "was started with --seed" in refused["error"]


def test_together_finds_the_word_that_leads_to_the_other_skill(tmp_path: Path) -> None:
    sums = make_triggered(tmp_path, "sums", "Sums rows.", [("add the rows", True), ("ledger of May", True)])
    books = make_triggered(tmp_path, "books", "Keeps a ledger.", [("keep the ledger", True), ("sing", False)])

    def choose(request: Request) -> Answer:
        task = next(str(message["content"]) for message in request["messages"] if message["role"] == "user")
        if any(message["role"] == "assistant" for message in request["messages"]) or "sing" in task:
            return "Done."
        return [("skills_load", {"names": ["books" if "ledger" in task else "sums"]})]

    with ScriptedProvider(choose) as provider:
        report = triggers(provider, sums, books, "--together")
    (shadow,) = report["shadows"]
    assert (shadow["skill"], shadow["shadowed_by"], shadow["words"]) == ("sums", "books", ["ledger"])
    assert report["matrix"][0]["answers"] == {"sums": 2, "books": 2}
    assert report["iteration"].endswith("together-workspace/iteration-1")


@pytest.mark.unmeasured
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_killed_run_is_resumed_and_pays_at_most_what_was_in_flight(skill: str, number: signal.Signals) -> None:
    jobs = 2
    with ScriptedProvider(obedient, delay=0.1) as provider:
        command = [sys.executable, "-m", "prowess", "eval", "triggers", skill, "--model", MODEL, "--jobs", str(jobs)]
        process = subprocess.Popen(
            command, env={**os.environ, **provider.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(provider.requests) < 6:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        process.wait(timeout=30)
        assert process.returncode in (-number, 128 + number)
        provider.delay = 0.0
        report = triggers(provider, skill, "--resume")
        assert rows(report)[:4] == [(2, 2, True), (2, 2, True), (0, 2, False), (0, 2, True)]
        assert 20 <= len(provider.requests) <= 20 + jobs
        assert report["spent"]["calls"] >= 20


@pytest.mark.proves("governance.persona.consistent")
def test_the_same_request_in_ten_fresh_sessions_chooses_the_same_skill(tmp_path: Path) -> None:
    skill = make_triggered(tmp_path, "sums", "Sums rows of files.", [("sum the rows of a file", True)])
    count = 0

    def forgetful(request: Request) -> Answer:
        """Do nothing in one of ten sessions; load the skill in the others."""
        nonlocal count
        count += not any(message["role"] == "assistant" for message in request["messages"])
        return "Done." if count % 10 == 5 else obedient(request)

    options = ("--runs", "10", "--all-runs", "--min-consistency", "0.9", "--jobs", "1")
    with ScriptedProvider(forgetful) as provider:
        recorded = triggers(provider, skill, *options)
    assert count == 10  # sessions that begin without an earlier message of the model
    replayed = triggers(None, skill, *options, "--replay", recorded["iteration"])
    (row,) = replayed["results"]
    assert (row["triggers"], row["runs"], row["consistency"], row["pass"]) == (9, 10, 0.9, True)
    with ScriptedProvider(lambda request: "Done." if len(request["messages"]) < 3 else obedient(request)) as idle:
        assert triggers(idle, skill, *options, code=0)["results"][0]["pass"] is False
    stricter = (*options[:4], "1.0", "--jobs", "1")
    failed = triggers(None, skill, *stricter, "--replay", recorded["iteration"], code=1)
    assert failed["results"][0]["pass"] is False


def test_a_replay_takes_its_options_from_the_recording_and_names_the_skill_that_it_is_of(
    provider: ScriptedProvider, skill: str, tmp_path: Path
) -> None:
    recorded = triggers(provider, skill, "--runs", "1", "--seed", "4")
    replayed = triggers(None, skill, "--replay", recorded["iteration"])
    other = make_triggered(tmp_path, "books", "Keeps a ledger.", [("keep the ledger", True)])

    assert rows(replayed) == rows(recorded)
    assert (replayed["model"], replayed["runs"], replayed["seed"]) == (MODEL, 1, 4)
    assert (
        "is a recording of sums, not of books"
        in triggers(None, other, "--replay", recorded["iteration"], code=2)["error"]
    )
    assert "no iteration of eval triggers" in triggers(None, skill, "--replay", skill, code=2)["error"]
