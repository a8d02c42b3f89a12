"""`prowess eval judge`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.files import bounded_read
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.evals.transcripts.reading import TranscriptFileError, read_transcript
from tests.evals.transcripts.written import BODY, FILE, HERE, SKILL, answer, init, lines, result, says, skill, use

if TYPE_CHECKING:
    from pathlib import Path

CALLED = lines(init(HERE), skill(), answer(), says(), result())
FREE = lines(init(HERE), says(), result())


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "called.jsonl").write_bytes(CALLED)
    (tmp_path / "free.jsonl").write_bytes(FREE)
    return tmp_path


def judged(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["eval", "judge", "--json", *arguments]) == exit_codes.OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.usefixtures("place")
def test_a_verdict_has_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(capsys, "called.jsonl", "--skill", SKILL, "--query", "Chart it") == {
        "verdicts": [
            {
                "transcript": "called.jsonl",
                "host": "claude",
                "form": "stream",
                "skill": SKILL,
                "verdict": "triggered",
                "ended": "completed",
                "offered": True,
                "evidence": [{"kind": "call", "at": 2, "agent": "main", "detail": f"Skill: {SKILL}"}],
            }
        ],
        "summary": {
            "cases": 1,
            "polluted": 0,
            "triggered": 1,
            "not_offered": 0,
            "error": 0,
            "not_triggered": 0,
            "rate": 1.0,
            "unread_lines": 0,
        },
    }


def test_cases_are_judged_in_their_order_and_keep_their_keys(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"transcript": "runs/free.jsonl", "skill": SKILL, "verdict": "not_triggered", "note": "a"},
        {"transcript": "runs/called.jsonl", "skill": SKILL, "query": f"/{SKILL}"},
        {"transcript": "gone.jsonl", "skill": SKILL},
    ]
    (place / "cases" / "runs").mkdir(parents=True)
    for name in ("free.jsonl", "called.jsonl"):
        (place / name).rename(place / "cases" / "runs" / name)
    (place / "cases" / "all.jsonl").write_bytes(b"\xef\xbb\xbf" + lines(*rows) + b"\r\n\n")
    document = judged(capsys, "--cases", "cases/all.jsonl")
    assert [row["verdict"] for row in document["verdicts"]] == ["not_triggered", "polluted", "error"]
    assert [row["transcript"] for row in document["verdicts"]] == [row["transcript"] for row in rows]
    assert document["verdicts"][0]["note"] == "a"
    assert document["verdicts"][0]["case"] == {"verdict": "not_triggered"}
    assert document["summary"]["rate"] == 0.0


@pytest.mark.usefixtures("place")
def test_people_get_a_line_for_each_transcript(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "judge", "called.jsonl", "free.jsonl", "--skill", SKILL, "--query", "x"]) == exit_codes.OK
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"triggered     called.jsonl (claude, completed): call at 2, Skill: {SKILL}"
    assert out[2] == "2 transcripts: 1 triggered, 1 not_triggered; rate 0.500"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--skill", "x"], exit_codes.USAGE, "give transcripts, or --cases"),
        (["called.jsonl"], exit_codes.USAGE, "--skill NAME"),
        (["called.jsonl", "--skill", " "], exit_codes.USAGE, "--skill NAME"),
        (["called.jsonl", "--cases", "cases.jsonl"], exit_codes.USAGE, "one of the two"),
        (["--cases", "cases.jsonl", "--skill", "x"], exit_codes.USAGE, "leave them out"),
        (["--cases", "gone.jsonl"], exit_codes.USAGE, "gone.jsonl"),
        (["gone.jsonl", "--skill", "x"], exit_codes.UNAVAILABLE, "gone.jsonl cannot be read"),
    ],
)
@pytest.mark.usefixtures("place")
def test_a_wrong_command_line_gets_one_sentence(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", "judge", *arguments]) == code
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "cases.jsonl:2: this is not a JSON object"),
        ("[]", "cases.jsonl:2: this is not a JSON object"),
        ('{"skill": "x"}', "'transcript' must be a path"),
        ('{"transcript": "a\\u0000b", "skill": "x"}', "'transcript' must be a path"),
        ('{"transcript": "free.jsonl"}', "'skill' must be the name of a skill"),
        ('{"transcript": "free.jsonl", "skill": "x", "query": 1}', "'query' must be a text"),
    ],
)
def test_a_wrong_case_is_named_with_its_line(
    place: Path, line: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "cases.jsonl").write_text(f'{{"transcript": "free.jsonl", "skill": "x"}}\n{line}\n')
    assert run(["eval", "judge", "--cases", "cases.jsonl"]) == exit_codes.USAGE
    assert told in capsys.readouterr().err


def test_an_empty_file_of_cases_is_no_success(place: Path) -> None:
    (place / "cases.jsonl").write_text("\n")
    assert run(["eval", "judge", "--cases", "cases.jsonl"]) == exit_codes.USAGE


def test_the_transcripts_of_cases_are_beside_their_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "cases").mkdir()
    (place / "cases" / "link.jsonl").symlink_to(place / "called.jsonl")
    outside = ("../called.jsonl", str(place / "called.jsonl"), "link.jsonl")
    rows = [{"transcript": one, "skill": SKILL} for one in outside]
    (place / "cases" / "all.jsonl").write_bytes(lines(*rows))
    assert [row["verdict"] for row in judged(capsys, "--cases", "cases/all.jsonl")["verdicts"]] == ["error"] * 3


def test_a_pipe_without_a_writer_a_device_and_pipes_that_a_file_names_are_not_waited_for(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_read, "PIPE_SECONDS", 0.1)
    os.mkfifo(place / "pipe.jsonl")
    for path, reason in (
        ("pipe.jsonl", "it is a pipe without content"),
        ("/dev/zero", "not a regular file"),
    ):
        assert run(["eval", "judge", "--cases", path]) == exit_codes.USAGE
        assert reason in capsys.readouterr().err
        assert run(["eval", "judge", path, "--skill", SKILL]) == exit_codes.UNAVAILABLE
        assert reason in capsys.readouterr().err
    (place / "cases.jsonl").write_bytes(lines({"transcript": "pipe.jsonl", "skill": SKILL}))
    assert judged(capsys, "--cases", "cases.jsonl")["verdicts"][0]["verdict"] == "error"


def test_pipes_that_a_person_names_are_read_to_their_end(place: Path) -> None:
    script = (
        'test -n "$SKILL"; slow() { sleep 0.3; cat called.jsonl; }; '
        'prowess() { "$PYTHON" -m prowess "$@" | tail -1; }; mkfifo named; cat called.jsonl > named & '
        'prowess eval judge <(slow) --skill "$SKILL"; cat called.jsonl | prowess eval judge - --skill "$SKILL"; '
        'prowess eval judge named --skill "$SKILL"; cat called.jsonl | prowess eval judge /dev/stdin --skill "$SKILL"; '
        'echo "{\\"transcript\\": \\"called.jsonl\\", \\"skill\\": \\"$SKILL\\"}" | prowess eval judge --cases -; '
        'prowess eval stats <(echo "{\\"rows\\": [{\\"id\\": 1, \\"a\\": [0], \\"b\\": [1]}]}")'
    )
    names = {**os.environ, "PYTHON": sys.executable, "SKILL": SKILL}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=place, env=names, capture_output=True, text=True, timeout=120, check=True
    )
    told = ran.stdout.splitlines()
    assert told[:5] == ["1 transcript: 1 triggered; rate 1.000"] * 5, (told, ran.stderr)
    assert told[5:] == ["repeated, b: pass@1 1.000, all runs 1.000"]
    assert ran.stderr == ""


def test_standard_input_has_one_transcript(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "judge", "-", "-", "--skill", SKILL]) == exit_codes.USAGE
    assert "name it once" in capsys.readouterr().err


def test_lines_that_need_the_missing_grammar_are_counted(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from prowess._internal.shell import line_steps
    from prowess._internal.shell.syntax_tree import GrammarMissingError

    def missing(_: bytes) -> None:
        raise GrammarMissingError

    monkeypatch.setattr(line_steps, "parsed", missing)
    call = use("Bash", {"command": f"for f in x; do cat {FILE}; done"})
    (place / "loop.jsonl").write_bytes(lines(init(HERE), call, answer(BODY), result()))
    assert run(["eval", "judge", "loop.jsonl", "--skill", SKILL, "--json"]) == exit_codes.OK
    printed = capsys.readouterr()
    assert json.loads(printed.out)["summary"]["unread_lines"] == 1
    assert "prowess[shell]" in printed.err


def test_an_absolute_path_may_stand_in_the_folder_of_the_cases_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for place in (tmp_path / "in" / "a.jsonl", tmp_path / "b.jsonl"):
        place.write_bytes(b'{"type":"thread.started","thread_id":"s"}\n{"type":"turn.completed","usage":{}}\n')
    inside = read_transcript(tmp_path / "in" / "a.jsonl", within=tmp_path / "in")
    assert (inside.host, inside.ended) == ("codex", "completed")
    with pytest.raises(TranscriptFileError, match="absolute"):
        read_transcript(tmp_path / "b.jsonl", within=tmp_path / "in")
    with pytest.raises(TranscriptFileError, match=r"\.\."):
        read_transcript(tmp_path / "in" / ".." / "b.jsonl", within=tmp_path / "in")
