from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "---\nname: A # prowess: ignore name.format, body.tokens\ndescription: Use when asked.\n---\n"
ASKING = f"{HEAD}<!-- prowess: ignore-file nme -->\n"
SPEC = ("--select", "spec,suppression,body", "--ignore", "name.matchesDirectory")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "SKILL.md").write_text(ASKING, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return [found["rule"] for found in json.loads(capfd.readouterr().out)["diagnostics"]]


def test_a_skill_cannot_silence_its_own_faults_unless_somebody_else_says_so(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "a", *SPEC]) == 1
    captured = capfd.readouterr()
    assert "name.format" in captured.out
    assert captured.err == (
        "comments that suppress 1 finding are ignored; run `prowess trust` or use --suppressions on\n"
    )
    assert run(["check", "a", "--json", "--suppressions", "on", *SPEC]) == 0
    assert rules(capfd) == ["suppression.unused", "suppression.unused"]
    (project / "prowess.toml").write_text('suppressions = "on"\n', encoding="utf-8")
    assert run(["check", "a", "--json", *SPEC]) == 0
    capfd.readouterr()
    (project / "prowess.toml").unlink()
    assert run(["trust", str(project)]) == 0
    capfd.readouterr()
    assert run(["check", "a", "--json", *SPEC]) == 0
    assert rules(capfd) == ["suppression.unused", "suppression.unused"]
    assert run(["check", "a", "--suppressions", "off", "-q", *SPEC]) == 1
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("project")
def test_what_is_unused_is_said_with_a_reason(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "a", "--suppressions", "on", *SPEC]) == 0
    out = capfd.readouterr().out
    assert (
        "a/SKILL.md:2:11 warn  suppression.unused  this comment suppresses no finding of body.tokens; remove it" in out
    )
    assert "no rule or family is called 'nme'; did you mean name?" in out
    assert run(["check", "a", "--suppressions", "on", "--json", "--select", "name.format,suppression"]) == 0
    assert rules(capfd) == ["suppression.unused"]


@pytest.mark.proves("tooling.cli.check-select")
def test_a_baseline_hides_what_was_there(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    known = ("--baseline", "known.json")
    assert run(["check", ".", *known]) == 2
    assert "write one with --write-baseline" in capfd.readouterr().err
    assert run(["check", ".", *known, "--write-baseline", *SPEC]) == 0
    assert capfd.readouterr().err.splitlines()[-1] == f"wrote 1 finding to {project}/known.json"
    assert run(["check", ".", *known, *SPEC]) == 0
    assert capfd.readouterr().out == "no faults in 1 skill\n"
    skill = project / "a" / "SKILL.md"
    skill.write_text(skill.read_text(encoding="utf-8").replace("name", "# c\nown: x\nname", 1), encoding="utf-8")
    assert run(["check", "a", *known, "--json", *SPEC]) == 1
    assert rules(capfd) == ["frontmatter.unknownField"]
    skill.write_text("---\nname: a\ndescription: Use when asked.\n---\n", encoding="utf-8")
    assert run(["check", "a", *known, *SPEC]) == 0
    assert "resolved since the baseline: 1 finding;" in capfd.readouterr().err


@pytest.mark.usefixtures("project")
def test_wrong_uses_of_a_baseline_are_a_wrong_command_line() -> None:
    assert run(["check", "a", "--write-baseline"]) == 2
    assert run(["check", "a", "--write-baseline", "--baseline", "b", "--diff"]) == 2
    assert run(["check", "a", "--write-baseline", "--baseline", "a/b.json"]) == 2
