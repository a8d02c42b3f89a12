"""Reports on a terminal and in a pipe: its width, colours as they are asked for, nothing of either in documents."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from prowess._internal.text.terminal_text import columns
from prowess.cli.dispatch import run
from tests.cli.terminal import on_a_terminal
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Faults with long, wide and blank texts around their places, and one file in two skills."""
    write_skill(tmp_path, "wide", description=f"{'数' * 60}: {'据' * 60} Triggers: VAT and {'é' * 30}")
    write_skill(tmp_path, "tabs", body=f"Go\t\t{'word ' * 30}[there](/etc/passwd)\t{'word ' * 30}\n")
    write_skill(tmp_path, "long", extra=f"own-{'x' * 120}: y\n")
    guide = "# Guide\n\n" + "".join(f"## Part {at}\n\nText.\n\n" for at in range(60))
    body = "See [it](references/guide.md) for it.\n"
    for name in ("one", "two", "three"):
        write_skill(tmp_path, name, body=body, files={"references/guide.md": guide})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("width", [40, 80, 132])
def test_a_report_keeps_to_the_width_of_the_terminal(skills: Path, width: int) -> None:
    lines = _STYLE.sub("", on_a_terminal(skills, "check", ".", columns=width)).split("\r\n")
    assert max(map(columns, lines)) <= width
    marks = [at for at, line in enumerate(lines) if re.fullmatch(r" +\| +\^+.*", line)]
    assert len(marks) >= 3
    for at in marks:
        assert re.match(r"  \d+ \| ", lines[at - 1])
    shown = " ".join(" ".join(lines).split())
    assert "/etc/passwd" in shown


def test_a_pipe_has_one_line_for_each_finding_and_columns_is_obeyed(
    skills: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["check", ".", "--verbose"])
    lines = capfd.readouterr().out.splitlines()
    assert max(map(columns, lines)) > 80
    assert max(columns(line) for line in lines if re.match(r"  +\d* \| ", line)) <= 80
    monkeypatch.setenv("COLUMNS", "60")
    run(["check", "."])
    assert max(map(columns, capfd.readouterr().out.splitlines())) <= 60


def test_one_file_in_three_skills_is_one_finding_and_three_in_json(
    skills: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["check", "one", "two", "three", "--select", "reference.contents"]
    run([*words, "--verbose"])
    out = capfd.readouterr().out
    assert out.count("reference.contents") == 1
    assert "    the same file: two/references/guide.md:1:1, three/references/guide.md:1:1\n" in out
    run(words)
    assert capfd.readouterr().out.startswith("info  3 \N{MULTIPLICATION SIGN} reference.contents  ")
    for form in ("json", "sarif"):
        run([*words, "--format", form])
        document = json.loads(capfd.readouterr().out)
        found = document["diagnostics"] if form == "json" else document["runs"][0]["results"]
        assert len(found) == 3


@pytest.mark.parametrize(
    ("words", "environment", "coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "0"}, False),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colours_in_a_pipe_are_those_that_are_asked_for(  # noqa: PLR0917 -- pytest gives them by name
    skills: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    environment: dict[str, str],
    coloured: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert run(["check", *words, "."]) == 1
    assert ("\x1b[31merror" in capfd.readouterr().out) is coloured
    assert run([*words, "check", "."]) == 1
    assert ("\x1b[31merror" in capfd.readouterr().out) is coloured
    run(["check", *words, "--json", "."])
    assert "\x1b" not in capfd.readouterr().out


def test_a_terminal_has_colours_unless_it_is_told_not_to(skills: Path) -> None:
    assert "\x1b[31m" in on_a_terminal(skills, "check", ".")
    assert "\x1b" not in on_a_terminal(skills, "check", "--color", "never", ".")
    assert "\x1b" not in on_a_terminal(skills, "check", ".", environment={"TERM": "dumb"})
    assert "\x1b" not in on_a_terminal(skills, "policy", "show", "--color", "never")
