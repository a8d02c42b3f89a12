"""Whatever lies on disk, the shim answers with messages and `SkillError`, never with another exception."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from prowess.compat.skills_ref import ParseError, SkillError, read_properties, to_prompt, validate
from prowess.compat.skills_ref.cli import main
from prowess.compat.skills_ref.parser import find_skill_md, parse_frontmatter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMANDS = ("validate", "read-properties", "to-prompt")
HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "nul": b"---\nname: a\ndescription: \x00\n---\n",
    "nul alone": b"\x00",
    "latin-1": b"---\nname: a\ndescription: caf\xe9\n---\n",
    "cut utf-8": b"---\nname: a\ndescription: \xe6\x97\n---\n",
    "utf-16": "---\nname: a\ndescription: d\n---\n".encode("utf-16"),
    "encoded surrogate": b"---\nname: a\ndescription: \xed\xa0\x80\n---\n",
    "control character": b"---\nname: a\ndescription: \x07bell\n---\n",
    "escaped surrogate": b'---\nname: a\ndescription: "\\ud800"\n---\n',
    "non-character": "---\nname: a\ndescription: \ufffe\n---\n".encode(),
    "deep flow": b"---\nname: " + b"[" * 5000 + b"\n---\n",
    "deep block": b"---\nname: a\nx:\n" + b"".join(b" " * depth + b"- \n" for depth in range(200)) + b"---\n",
    "alias bomb": b"---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: *c\n---\n",
    "second document": b"---\nname: a\n--- \nname: b\n",
    "directive": b"---\n%YAML 9.9\nname: a\n---\n",
    "complex key": b"---\n? [a, b]\n: c\n---\n",
    "merge": b"---\n<<: [a]\nname: a\n---\n",
    "terminal sequence": b'---\nname: "\\e[2J\\e]0;owned\\a"\ndescription: d\n---\n',
    "huge": b"---\nname: a\ndescription: d\n---\n" + b"x" * (3 * 1024 * 1024),
    "long line": b"---\nname: a\ndescription: " + b"x" * 200_000 + b"\n---\n",
}


def _commands(directory: Path) -> list[Result]:
    return [CliRunner().invoke(main, [command, str(directory)]) for command in COMMANDS]


def _no_leak(directory: Path) -> list[str]:
    """Ask every function; return what `validate` says."""
    messages = validate(directory)
    for ask in (read_properties, lambda path: to_prompt([path])):
        try:
            ask(directory)
        except SkillError as fault:
            assert str(fault)  # noqa: PT017 -- succeeding is right too; only another exception is wrong
    return messages


@pytest.mark.proves("tooling.api.no-leaks")
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_content_gives_messages_and_no_other_exception(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "SKILL.md").write_bytes(content)
    assert _no_leak(tmp_path)


@pytest.mark.proves("tooling.api.no-leaks")
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_gives_a_parse_error_or_a_mapping(content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    try:
        fields, _ = parse_frontmatter(text)
    except ParseError as fault:
        assert str(fault)  # noqa: PT017 -- as above
    else:
        assert isinstance(fields, dict)


def _directory(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


SPECIAL: dict[str, Callable[[Path], None]] = {
    "directory": _directory,
    "pipe": _pipe,
    "loop": _loop,
    "dangling link": _dangling,
    "device": _device,
}


@pytest.mark.proves("tooling.api.no-leaks")
@pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and links are made as POSIX makes them")
@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL.keys())
def test_a_skill_file_that_is_no_file_gives_a_message(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "SKILL.md")
    assert _no_leak(tmp_path)
    for done in _commands(tmp_path):
        assert isinstance(done.exception, SystemExit)  # and no other, which would be a traceback
        assert (done.exit_code, done.stdout) == (1, "")


@pytest.mark.proves("tooling.skills-ref.errors")
@pytest.mark.parametrize("content", [HOSTILE["nul"], HOSTILE["latin-1"], HOSTILE["terminal sequence"]])
def test_the_commands_answer_hostile_content_without_a_traceback(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "SKILL.md").write_bytes(content)
    validated, *others = _commands(tmp_path)
    assert validated.exit_code == 1
    assert validated.stderr.startswith("Validation failed for ")
    for done in (validated, *others):
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert "\x1b" not in done.stderr
    for done in others:
        assert done.exit_code == 0 or done.stderr.startswith("Error: ")


@pytest.mark.parametrize("path", ["a\x00b", "x" * 5000, "\udcff"])
def test_a_path_that_no_system_has_is_a_path_that_does_not_exist(path: str) -> None:
    assert validate(path) == [f"Path does not exist: {path}"]
    for ask in (read_properties, lambda name: to_prompt([name])):
        with pytest.raises(SkillError, match=r"SKILL\.md not found"):
            ask(path)


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory cannot be removed there")
def test_a_working_directory_that_is_gone_is_no_skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert len(validate(".")) == 1
    with pytest.raises(SkillError, match=r"SKILL\.md not found"):
        to_prompt(["."])


def test_a_loop_of_links_is_a_path_that_does_not_exist(tmp_path: Path) -> None:
    _loop(tmp_path / "loop")
    assert find_skill_md(tmp_path / "loop") is None
    assert validate(tmp_path / "loop") == [f"Path does not exist: {tmp_path / 'loop'}"]
    with pytest.raises(SkillError, match=r"SKILL\.md not found"):
        to_prompt([tmp_path / "loop"])
