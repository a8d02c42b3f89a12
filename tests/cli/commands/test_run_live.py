"""`prowess run` prints as the script does, and shows a spinner on a terminal alone; skills by path, scripts by name."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.execution import default_sandbox
from tests.cli.terminal import on_a_terminal, rest_of, terminal_process
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

WAITS = """\
echo first
echo aside >&2
while [ ! -e $WORKSPACE/go ]; do sleep 0.02; done
printf last
"""
_FRAME = re.compile(r"\r\x1b\[K(?:[-|/\\\\] naps\.sh \d+ s)?")
FLOOD = "head -c 900000 /dev/zero | tr '\\0' x"
NAPS = "sleep 1\nprintf 'a\\033[2Jb'\necho err >&2\n"


@pytest.fixture(autouse=True)
def needs_sandbox() -> None:
    report = default_sandbox().probe()
    if not report.available:
        pytest.skip(report.hint)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    scripts = {
        "scripts/waits.sh": WAITS,
        "scripts/naps.sh": NAPS,
        "scripts/flood.sh": f"{FLOOD}\n",
        "scripts/deep/er.sh": "echo deeper\n",
        "notes.md": "Notes.\n",
    }
    write_skill(tmp_path / "skills", "demo", files=scripts)
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def _line(*words: str) -> list[str]:
    return [sys.executable, "-m", "prowess", "run", *words]


@pytest.mark.proves("runtime.run.streaming")
def test_a_pipe_gets_the_first_line_before_the_script_ends(work: Path) -> None:
    with subprocess.Popen(_line("../skills/demo", "waits.sh"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"first\n"
        assert child.stderr.readline() == b"aside\n"
        assert child.poll() is None
        (work / "go").touch()  # until now the script waited
        assert child.stdout.read() == b"last"
        assert child.stderr.read() == b""
        assert child.wait(20) == exit_codes.OK


def test_a_reader_that_is_slow_gets_every_byte(work: Path) -> None:
    with subprocess.Popen(_line("../skills/demo", "flood.sh"), stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        time.sleep(7)  # longer than a run waits for a callback; the pipe holds less than the script writes
        assert len(child.stdout.read()) == 900_000
        assert child.wait(20) == exit_codes.OK


def test_an_interrupt_ends_the_command_though_nobody_reads(work: Path) -> None:
    write_skill(work.parent / "skills", "demo", files={"scripts/flood.sh": f"{FLOOD}\nsleep 30\n"})
    with subprocess.Popen(_line("../skills/demo", "flood.sh"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read(1000)  # it runs, and the pipe is full
        child.send_signal(signal.SIGINT)
        assert child.wait(10) == exit_codes.INTERRUPTED
        assert child.stderr.read() == b"interrupted: the script was stopped\n"


def test_a_reader_that_goes_ends_nothing_else(work: Path) -> None:
    with subprocess.Popen(_line("../skills/demo", "flood.sh"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(20) == exit_codes.OK


def test_a_disk_that_is_full_is_told(work: Path) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(_line("../skills/demo", "flood.sh"), stdout=full, stderr=subprocess.PIPE, check=False)
    assert ran.returncode == exit_codes.FAILED
    assert ran.stderr == b"error: standard output: No space left on device\n"


def test_a_terminal_has_a_spinner_that_is_gone_before_each_line_and_at_the_end(work: Path) -> None:
    printed = on_a_terminal(work, "run", "../skills/demo", "naps.sh")
    assert "| naps.sh 0 s" in printed
    assert len(_FRAME.findall(printed)) > 3
    assert _FRAME.sub("", printed) == "a\\x1b[2Jberr\r\n"  # escaped
    assert "\r\x1b[Ka\\x1b" in printed
    assert printed.endswith(("err\r\n", "\r\x1b[K"))


@pytest.mark.measured_once
@pytest.mark.parametrize(
    ("words", "environment"),
    [((), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"}), (("--color", "never"), {}), (("--quiet",), {})],
)
def test_who_wants_plain_text_has_no_spinner(work: Path, words: tuple[str, ...], environment: dict[str, str]) -> None:
    printed = on_a_terminal(work, "run", *words, "../skills/demo", "naps.sh", environment=environment)
    assert printed == "a\\x1b[2Jberr\r\n"


def test_the_spinner_goes_to_standard_error_and_a_pipe_gets_the_output_alone(work: Path) -> None:
    with terminal_process(work, "run", "../skills/demo", "naps.sh", piped=True) as (process, ours):
        assert process.stdout is not None
        assert process.stdout.read() == rb"a\x1b[2Jb"  # no raw control character reaches a pipe
        printed = rest_of(ours)
    assert "naps.sh 0 s" in printed
    assert _FRAME.sub("", printed) == "err\r\n"


def test_an_interrupt_leaves_no_spinner_behind(work: Path) -> None:
    with terminal_process(work, "run", "../skills/demo", "waits.sh") as (process, ours):
        printed = ""
        while printed.count("\r\x1b[K") < 8:
            printed += os.read(ours, 65536).decode()
        process.send_signal(signal.SIGINT)
        printed += rest_of(ours)
        assert process.wait(20) == exit_codes.INTERRUPTED
    assert printed.endswith("\r\x1b[Kinterrupted: the script was stopped\r\n")


def test_json_is_one_document_and_has_no_spinner_in_it(work: Path) -> None:
    with terminal_process(work, "run", "../skills/demo", "naps.sh", "--json", piped=True) as (process, _):
        assert process.stdout is not None
        result = json.loads(process.stdout.read())
    assert (result["stdout"], result["stderr"]) == ("a\x1b[2Jb", "err\n")


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("demo", "deep/er.sh"),
        ("demo", "./scripts//deep/er.sh"),
        ("../skills/demo", "deep/er.sh"),
        ("../skills/demo/", "scripts/deep/er.sh"),
        ("../skills/demo/SKILL.md", "deep/er.sh"),
    ],
)
def test_a_script_is_found_below_scripts_and_a_skill_by_its_path(
    work: Path, capfd: pytest.CaptureFixture[str], name: str, script: str
) -> None:
    root = ("--root", "../skills") if name == "demo" else ()
    assert run(["run", *root, name, script]) == exit_codes.OK
    assert capfd.readouterr().out == "deeper\n"


def test_a_skill_in_the_working_directory_is_a_path_too(
    work: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(work.parent)
    assert run(["run", str(work.parent / "skills" / "demo"), "deep/er.sh"]) == exit_codes.OK
    assert run(["run", "skills/demo", "deep/er.sh"]) == exit_codes.OK
    monkeypatch.chdir(work.parent / "skills" / "demo")
    assert run(["run", ".", "deep/er.sh"]) == exit_codes.OK
    assert run(["load", "."]) == exit_codes.OK
    assert run(["read", ".", "notes.md"]) == exit_codes.OK
    assert capfd.readouterr().out == "deeper\n" * 3 + "Body of demo.\nNotes.\n"


def test_a_script_that_is_not_there_is_answered_with_those_that_are(
    work: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["run", "../skills/demo", "wait.py"]) == exit_codes.FAILED
    every = "scripts/deep/er.sh, scripts/flood.sh, scripts/naps.sh, scripts/waits.sh"
    assert capfd.readouterr().err == f"error: skill 'demo' has no script 'wait.py'; it has {every}\n"
    assert run(["run", "../skills/demo", "waits"]) == exit_codes.FAILED
    assert capfd.readouterr().err == "error: skill 'demo' has no script 'waits'; did you mean 'scripts/waits.sh'?\n"
    package = work.parent / "skills" / "demo" / "scripts" / "__init__.py"
    package.write_text("")
    assert run(["run", "../skills/demo", "wait.py"]) == exit_codes.FAILED
    assert capfd.readouterr().err == f"error: skill 'demo' has no script 'wait.py'; it has {every}\n"
    write_skill(tmp_path / "skills", "bare")
    assert run(["run", "../skills/bare", "x"]) == exit_codes.FAILED
    assert "and no other runnable script" in capfd.readouterr().err
    assert run(["run", "../skills/demo", "notes.md"]) == exit_codes.FAILED
    assert "only files below scripts/ can be run" in capfd.readouterr().err


def test_a_policy_that_names_directories_says_where_a_name_is_looked_for(
    work: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_skill(tmp_path / "skills", "demo", files={"bin/naps.sh": "echo from bin\n"})
    (tmp_path / "policy.toml").write_text('default = "allow"\nscript_dirs = ["bin"]\n')
    assert run(["run", "../skills/demo", "naps.sh", "--policy", str(tmp_path / "policy.toml")]) == exit_codes.OK
    assert capfd.readouterr().out == "from bin\n"


@pytest.mark.parametrize("command", [("run", "x.sh"), ("load",), ("read", "SKILL.md")])
def test_a_path_without_a_skill_is_one_sentence(
    work: Path, capfd: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    name, *rest = command
    for path, said in (
        ("./none", "there is no directory './none'"),
        ("../skills", "'../skills' is a folder of skills; name one of them: "),
        (str(work), "no skill at"),
    ):
        assert run([name, path, *rest]) == exit_codes.USAGE
        assert said in capfd.readouterr().err
    assert run([name, "../skills/demo", *rest, "--root", "../skills"]) == exit_codes.USAGE
    assert "leave out --root" in capfd.readouterr().err
