"""The runner against tools that answer, hang, flood, crash, lie, and leave something behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from prowess.conformance import Answer, Question, agreement, ask, suite
from prowess.conformance.runner import GIVEN_UP_AFTER, by_topic, verdict
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from pathlib import Path

CASES = suite().select(["body", "host-fields", "unknown-fields"])
ONE = CASES[:1]
_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process may leave the group of its tool")


def _shell(script: str, **bounds: float) -> Question:
    return Question(argv=("sh", "-c", script, "tool", "{path}"), seconds=bounds.get("seconds", 20.0))


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_a_tool_is_asked_about_each_case_and_its_exit_code_is_the_answer() -> None:
    # A tool of one rule: a skill is good where the word "metadata" stands in its file.
    told: list[Answer] = []
    answers = ask(_shell('grep -q metadata "$1/SKILL.md"'), CASES, jobs=3, told=told.append)
    assert [answer.case for answer in answers] == list(CASES)
    for answer in answers:
        content = answer.case.files["SKILL.md"]
        assert answer.said == ("accept" if "metadata" in content.get("text", "") else "reject"), answer.case.id
    assert sorted(answer.case.id for answer in told) == sorted(case.id for case in CASES)


def test_a_tool_that_always_says_yes_agrees_only_where_yes_is_right() -> None:
    answers = ask(Question(argv=("true", "{path}")), CASES, jobs=2)
    for profile in suite().profiles:
        wrong = [case for case in CASES if case.expect[profile].outcome == "reject"]
        counted = agreement(answers, profile)
        assert counted.accepts_wrongly == len(wrong), profile
        assert counted.agrees == len(CASES) - len(wrong), profile
        assert (counted.rejects_wrongly, counted.no_answer, counted.skipped) == (0, 0, 0)
        assert counted.whole is (not wrong)
    assert agreement(answers, "spec").accepts_wrongly > 0
    assert sum(row.agrees for row in by_topic(answers, "spec").values()) == agreement(answers, "spec").agrees


def test_a_tool_that_always_says_no_is_counted_as_rejecting_wrongly() -> None:
    answers = ask(Question(argv=("false", "{path}")), CASES, jobs=2)
    counted = agreement(answers, "spec")
    assert counted.rejects_wrongly == sum(case.expect["spec"].outcome == "accept" for case in CASES) > 0
    assert {verdict(answer, "spec") for answer in answers} == {"agrees", "rejects wrongly"}


@_linux
def test_a_tool_that_hangs_costs_its_time_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"setsid sleep 60 & echo $! >>'{pids}'; sleep 60 & echo $! >>'{pids}'; echo begun; exec sleep 60"
    began = time.monotonic()
    (answer,) = ask(_shell(script, seconds=0.5), ONE)
    assert time.monotonic() - began < 15
    assert (answer.said, answer.why, answer.status) == ("none", "no answer within 0.5 s", None)
    assert answer.output == "begun\n"
    assert all(_gone(int(pid)) for pid in pids.read_text().split())


@_linux
def test_what_a_tool_leaves_in_the_background_neither_holds_up_its_answer_nor_lives_on(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    began = time.monotonic()
    (answer,) = ask(_shell(f"setsid sleep 60 & echo $! >'{pid}'; exit 0"), ONE)
    assert time.monotonic() - began < 15
    assert answer.said == "accept"
    assert _gone(int(pid.read_text()))


def test_a_tool_that_floods_is_ended_and_has_given_no_answer() -> None:
    question = Question(argv=("yes", "{path}"), seconds=20, most_bytes=100_000)
    (answer,) = ask(question, ONE)
    assert (answer.said, answer.why) == ("none", "printed more than 100000 bytes")
    assert 0 < len(answer.output) <= 4096
    assert answer.seconds < 20


def test_a_crash_is_no_answer() -> None:
    (answer,) = ask(_shell("kill -SEGV $$"), ONE)
    assert (answer.said, answer.why) == ("none", "ended by signal 11")


def test_a_tool_that_ends_its_watcher_spoils_one_case_and_no_other() -> None:
    first, second = ask(_shell('case "$1" in */0/*) kill -9 $PPID; sleep 1;; esac'), CASES[:2])
    assert (first.said, first.why) == ("none", "the watcher process was killed")
    assert second.said == "accept"


def test_an_exit_code_that_means_neither_is_no_answer() -> None:
    question = Question(argv=("sh", "-c", "exit 3", "tool", "{path}"), rejects=frozenset({1}))
    (answer,) = ask(question, ONE)
    assert (answer.said, answer.why, answer.status) == ("none", "exit code 3 means neither", 3)
    question = Question(argv=question.argv, accepts=frozenset({3}), rejects=frozenset({1}))
    assert ask(question, ONE)[0].said == "accept"


def test_a_tool_that_never_answers_is_not_asked_for_ever() -> None:
    answers = ask(_shell("kill -KILL $$"), CASES)
    assert [answer.said for answer in answers] == ["none"] * GIVEN_UP_AFTER + ["skipped"] * (
        len(CASES) - GIVEN_UP_AFTER
    )
    assert agreement(answers, "spec").skipped == len(CASES) - GIVEN_UP_AFTER


def test_a_program_that_cannot_be_started_is_said_to_be() -> None:
    (answer,) = ask(Question(argv=("/nowhere/tool", "{path}")), ONE)
    assert answer.said == "none"
    assert answer.why.startswith("could not be started: ")


def test_a_tool_that_ruins_the_files_of_its_case_ruins_no_other() -> None:
    answers = ask(_shell('test -f "$1/SKILL.md" && rm -rf "$1" && test ! -e "$1"'), CASES, jobs=2)
    assert {answer.said for answer in answers} == {"accept"}


def test_what_is_printed_need_be_no_text() -> None:
    (answer,) = ask(_shell(r"printf '\377\033]0;x\007'; exit 1"), ONE)
    assert (answer.said, answer.output) == ("reject", "�\x1b]0;x\x07")


def test_a_case_that_cannot_be_written_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    deep = "x" * 300  # longer than a name may be
    case = type(ONE[0])(
        id="long", topic="body", reason="r", sources=("s",), directory=deep, files={}, around={}, expect=ONE[0].expect
    )
    (answer,) = ask(Question(argv=("true", "{path}")), [case])
    assert answer.said == "skipped"
    assert answer.why.startswith("this file system cannot store the case: ")
    assert list(tmp_path.iterdir()) == []


def test_a_fault_in_the_caller_ends_the_run_and_cleans_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def refuse(_: Answer) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(Question(argv=("true", "{path}")), CASES, jobs=2, told=refuse)
    assert list(tmp_path.iterdir()) == []


def test_places_are_filled_once_and_no_shell_reads_them() -> None:
    question = Question(argv=("tool", "--skill={path}", "{file} in {directory}"))
    assert question.words(skill="/a b/{file};$(x)", folder="/f") == [
        "tool",
        "--skill=/a b/{file};$(x)",
        "/a b/{file};$(x)/SKILL.md in /f",
    ]


def test_a_question_without_a_place_or_with_a_code_of_two_meanings_is_refused() -> None:
    with pytest.raises(InvalidArgumentsError, match="has no placeholder for the skill"):
        Question(argv=("tool", "path"))
    with pytest.raises(InvalidArgumentsError, match="both accept and reject"):
        Question(argv=("tool", "{path}"), rejects=frozenset({0}))


def test_no_case_is_no_question() -> None:
    assert ask(Question(argv=("true", "{path}")), []) == []
    assert agreement([], "spec").whole


@_linux
def test_when_the_asker_is_killed_the_tool_is_ended_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    asker = subprocess.Popen(
        [
            *(sys.executable, "-m", "prowess", "conformance", "--select", "body", "--jobs", "1", "--command"),
            f"sh -c 'echo $$ >{pid}.new; mv {pid}.new {pid}; exec sleep 60' tool {{path}}",
        ],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(400):
            if pid.exists():
                break
            time.sleep(0.05)
    finally:
        asker.kill()
        asker.wait(10)
    assert _gone(int(pid.read_text()))
    for left in tmp_path.glob("prowess-conformance-*"):
        shutil.rmtree(left)
