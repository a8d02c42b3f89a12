from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from prowess.cli.dispatch import run
from prowess.conformance import cases_schema, suite

PROWESS = Path(sys.executable).parent / "prowess"
SMALL = "body,host-fields,encoding"


@pytest.mark.unmeasured
def test_our_own_validate_agrees_with_the_reading_of_the_reference_tool(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(str(PROWESS), "conformance", "--json", "--profile", "skills-ref", "--select", SMALL),
            *("--command", f"'{PROWESS}' validate {{path}}"),
        ],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        timeout=120,
    )
    assert done.stderr == b""
    report = json.loads(done.stdout)
    chosen = suite().select(SMALL.split(","))
    assert report["suite"] == {"version": 1, "digest": suite().digest}
    assert report["summary"] == {
        "cases": len(chosen),
        "agrees": len(chosen),
        "accepts_wrongly": 0,
        "rejects_wrongly": 0,
        "no_answer": 0,
        "skipped": 0,
    }
    assert {entry["answered"] for entry in report["answers"]} == {"accept", "reject"}
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_the_table_counts_each_topic_and_each_difference_has_its_reason(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["conformance", "--command", "true {path}", "--select", SMALL, "--jobs", "2"]) == 1
    printed = capfd.readouterr().out
    chosen = suite().select(SMALL.split(","))
    wrong = [case for case in chosen if case.expect["spec"].outcome == "reject"]
    assert printed.startswith(
        f"true '{{path}}'\n{len(chosen)} cases, version 1, {suite().digest}\n\nprofile spec  cases"
    )
    assert re.search(rf"^all +{len(chosen)} +{len(chosen) - len(wrong)} +{len(wrong)} +0 +0 +0$", printed, re.MULTILINE)
    assert f"agrees with spec {len(chosen) - len(wrong)}, skills-ref " in printed
    for case in wrong:
        assert (
            f"\n{case.id}: accepts wrongly\n  reject: {', '.join(case.expect['spec'].rules)} ({case.topic}: " in printed
        )


def test_quiet_prints_the_differences_alone(capfd: pytest.CaptureFixture[str]) -> None:
    accepted = next(case for case in suite().cases if case.expect["spec"].outcome == "accept")
    assert run(["conformance", "--command", "true {path}", "--select", accepted.id, "-q"]) == 0
    assert capfd.readouterr().out == ""
    assert run(["conformance", "--command", "false {path}", "--select", accepted.id, "-q"]) == 1
    printed = capfd.readouterr().out
    assert printed.startswith(f"{accepted.id}: rejects wrongly\n  accept (")
    assert printed.count("\n") == 2


def test_what_a_tool_prints_reaches_the_terminal_escaped(capfd: pytest.CaptureFixture[str]) -> None:
    words = r"""sh -c 'printf "\n\033]0;title\007%0200d\n" 7; exit 1' tool {path}"""
    assert run(["conformance", "--command", words, "--select", "name-64"]) == 1
    printed = capfd.readouterr().out
    assert "\x1b" not in printed
    assert "  output: \\x1b]0;title\\x07000" in printed
    assert all(len(line) < 200 for line in printed.splitlines() if "it says" in line)


def test_a_tool_that_hangs_is_reported_as_one_without_an_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["conformance", "--command", "tail -f {file}", "--select", "name-64", "--timeout", "0.2"]) == 1
    assert "name-64: no answer, no answer within 0.2 s\n" in capfd.readouterr().out


def test_exit_codes_are_given_their_meaning(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--command", "sh -c 'exit 7' tool {path}", "--select", "name-64", "--json"]
    said = []
    for meaning in ([], ["--accepts-exit", "7"], ["--rejects-exit", "1"]):
        run(["conformance", *words, *meaning])
        said.append(json.loads(capfd.readouterr().out)["answers"][0]["answered"])
    assert said == ["reject", "accept", "none"]


def test_the_cases_and_their_schema_are_printed_and_fit_each_other(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["conformance", "--cases"]) == 0
    cases = json.loads(capfd.readouterr().out)
    assert run(["conformance", "--schema"]) == 0
    schema = json.loads(capfd.readouterr().out)
    assert schema == cases_schema()
    jsonschema.validate(cases, schema)


def test_cases_are_laid_out_for_whoever_asks_by_other_means(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "cases"
    assert run(["conformance", "--lay-out", str(target), "--select", "body"]) == 0
    assert sorted(path.name for path in target.iterdir()) == sorted(case.id for case in suite().select(["body"]))
    assert "4 cases in " in capfd.readouterr().out
    assert run(["conformance", "--lay-out", str(target)]) == 1
    assert len(list(target.iterdir())) == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the tool, as in --command 'othertool validate {path}'"),
        (["--command", "true"], "the command has no placeholder for the skill"),
        (["--command", "   "], "the command has no placeholder for the skill"),
        (["--command", "true {path} 'open"], "--command cannot be used: No closing quotation"),
        (["--command", "no-such-tool {path}"], "there is no such program on PATH"),
        (["--command", "true {path}", "--select", "nothing"], "no case or topic is called 'nothing'"),
        (["--command", "true {path}", "--profile", "nobody"], "nobody"),
        (["--command", "true {path}", "--rejects-exit", "0"], "an exit code cannot mean both"),
        (["--command", "true {path}", "--timeout", "0"], "--timeout"),
    ],
)
def test_a_question_that_cannot_be_asked_is_a_wrong_command_line(
    words: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["conformance", *words]) == 2
    captured = capfd.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_an_interrupt_ends_the_tool_and_removes_what_was_laid_out(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    place = tmp_path / "place"
    place.mkdir()
    asker = subprocess.Popen(
        [PROWESS, "conformance", "--jobs", "2", "--command", f"sh -c 'touch {begun}; exec sleep 60' tool {{path}}"],
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(400):
            if begun.exists():
                break
            time.sleep(0.05)
        asker.send_signal(signal.SIGINT)
        assert asker.wait(20) in {130, -signal.SIGINT}
    finally:
        asker.kill()
    assert list(place.iterdir()) == []
