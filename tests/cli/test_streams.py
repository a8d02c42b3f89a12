"""What happens where the streams are not what a command hopes for: full, closed, a terminal, or no place to stand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli import output
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors and pipes as POSIX has them")

_PROWESS = (sys.executable, "-m", "prowess")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    skill = write_skill(tmp_path / "skills" / "a", description='"Does\\u2028\\u202eit\\x9b."')
    (skill / "big.txt").write_text("0123456789\n" * 100_000)
    (skill / "odd.bin").write_bytes(b"\x1b[2J\xff\n")
    return tmp_path / "skills"


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    for number in range(200):
        skill = tmp_path / "faulty" / f"s{number}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: Wrong Name\n---\n" + "x" * 500)
    return tmp_path / "faulty"


@pytest.mark.measured_once
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        "list",
        "read a SKILL.md",
        "load a",
        "check --json {root}",
        "doctor",
        "--version",
        "--help",
        "session",
        "list --json",
    ],
)
def test_a_full_disk_is_one_sentence(root: Path, words: str) -> None:
    arguments = words.format(root=root).split()
    if arguments[0] in {"list", "read", "load", "session"}:
        arguments += ["--root", str(root)]
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [*_PROWESS, *arguments],
            input=b'{"id":1,"method":"tools"}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            cwd=root,
        )
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].startswith(b"error: ")
    assert ran.stderr.endswith(b"No space left on device\n")
    assert b"Traceback" not in ran.stderr


def _shell(words: str) -> subprocess.CompletedProcess[bytes]:
    program = f"{sys.executable} -m prowess"
    return subprocess.run(
        ["bash", "-c", words.replace("prowess", program, 1)], capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize("words", ["--version", "--help", "list"])
def test_a_closed_standard_output_is_told(words: str) -> None:
    ran = _shell(f"prowess {words} 1>&-")
    assert (ran.returncode, ran.stderr) == (1, b"error: standard output is closed\n")


@pytest.mark.parametrize("closed", ["2>&-", "0<&-", "2>/dev/full"])
def test_the_other_streams_may_be_closed_or_full(root: Path, closed: str) -> None:
    ran = _shell(f"prowess list nothing --root {root} {closed}")
    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("words", ["read a big.txt --root {root}", "--help", "load a --json --root {root}"])
def test_a_reader_that_has_seen_enough_is_no_error(root: Path, words: str) -> None:
    ran = _shell(f"prowess {words.format(root=root)} | head -c 10; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, len(ran.stdout), ran.stderr) == (0, 10, b"")


@pytest.mark.parametrize("form", ["--json", "-q"])
def test_a_closed_pipe_never_hides_that_a_check_found_errors(faulty: Path, form: str) -> None:
    ran = _shell(f"prowess check {form} {faulty} | head -c 10; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, ran.stderr) == (1, b"")


def test_a_terminal_and_a_pipe_are_shown_a_file_and_a_file_on_the_disk_gets_its_bytes(
    root: Path, tmp_path: Path
) -> None:
    arguments = [*_PROWESS, "read", "a", "odd.bin", "--root", str(root)]
    piped = subprocess.run(arguments, capture_output=True, timeout=60, check=True).stdout
    assert piped == b"\\x1b[2J\\xff\n"
    with (tmp_path / "copy").open("wb") as copy:
        subprocess.run(arguments, stdout=copy, timeout=60, check=True)
    assert (tmp_path / "copy").read_bytes() == b"\x1b[2J\xff\n"
    own, other = os.openpty()
    try:
        subprocess.run(arguments, stdout=other, stdin=subprocess.DEVNULL, timeout=60, check=True)
        shown = os.read(own, 1000)
    finally:
        os.close(own)
        os.close(other)
    assert shown == b"\\x1b[2J\\xff\r\n"


@pytest.mark.measured_once
@pytest.mark.parametrize("words", ["list --json", "load a --json", "check --json {root}", "session"])
def test_no_json_holds_what_a_terminal_acts_on(root: Path, words: str) -> None:
    arguments = words.format(root=root).split()
    arguments += [] if arguments[0] == "check" else ["--root", str(root)]
    ran = subprocess.run(
        [*_PROWESS, *arguments],
        input=b'{"id":"\\u2028","method":"instructions"}\n',
        capture_output=True,
        timeout=60,
        check=False,
        cwd=root,
    )
    text = ran.stdout.decode()
    assert not {"\u2028", "\u202e", "\x9b"} & set(text)
    assert json.loads(text) is not None
    if arguments[0] in {"list", "load"}:
        assert "\\u2028\\u202eit\\u009b." in text


def test_the_json_of_a_document_is_the_same_value(capfd: pytest.CaptureFixture[str]) -> None:
    value = {"a\u202eb": ["\x7f\u200b\U000e0041\udcff", "ü", 1.5, None]}
    output.document(value)
    text = capfd.readouterr().out
    assert json.loads(text) == value
    assert "ü" in text
    assert text.isprintable() or set(text) - {"\n"} == {char for char in text if char.isprintable()}


def test_a_number_that_json_cannot_write_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        output.document({"a": float("inf")})


@pytest.mark.parametrize("words", ["check", "validate .", "trust", "policy test x.toml"])
def test_a_working_directory_that_is_gone_is_one_sentence(tmp_path: Path, words: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ran = _shell(f"cd {gone} && rmdir {gone} && prowess {words}")
    assert ran.returncode in {1, 2}
    assert ran.stderr.count(b"\n") == 1
    assert b"Traceback" not in ran.stderr
    if words != "policy test x.toml":
        assert ran.stderr == b"error: the working directory no longer exists; change to a directory that does\n"


@pytest.mark.parametrize("words", ["why a", "list", "load a", "session", "check"])
def test_absolute_paths_need_no_working_directory(root: Path, tmp_path: Path, words: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    named = f"{root}" if words == "check" else f"--root {root}"
    ran = _shell(f"cd {gone} && rmdir {gone} && prowess {words} {named} < /dev/null")
    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr
