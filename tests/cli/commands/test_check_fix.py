from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from prowess.format import read_skill

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = "---\nname: a\ndescription: Checks bills. Triggers: VAT\nmodel: x\n---\nBody\n"
RULES = ("--select", "spec")


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "a"
    directory.mkdir()
    (directory / "SKILL.md").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return directory / "SKILL.md"


@pytest.mark.proves("tooling.cli.check-fix")
def test_fix_writes_what_is_safe_and_reports_what_is_left(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "a", "--fix", *RULES]) == 1
    captured = capfd.readouterr()
    assert skill.read_text(encoding="utf-8") == BROKEN.replace(
        "Checks bills. Triggers: VAT", '"Checks bills. Triggers: VAT"'
    )
    assert captured.err == "fixed 1 fault in 1 file\n"
    assert "frontmatter.unknownField" in captured.out
    assert "frontmatter.syntax" not in captured.out
    assert run(["check", "a", "--fix", "--unsafe-fixes", *RULES]) == 0
    assert "metadata:\n  model: x\n" in skill.read_text(encoding="utf-8")
    stamp = skill.stat().st_mtime_ns
    assert run(["check", "a", "--fix", "--unsafe-fixes", *RULES]) == 0
    assert skill.stat().st_mtime_ns == stamp


def test_a_diff_that_shows_nothing_says_why_it_fails(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    skill.write_text("---\nname: a\ndescription: Checks bills.\nmodel: x\n---\nBody\n", encoding="utf-8")
    assert run(["check", "a", "--diff", *RULES]) == 1
    expected = "would fix 0 faults in 0 files\nnot fixed: 1 error; see `prowess check`\n"
    assert capfd.readouterr() == ("", expected)
    skill.write_text("---\nname: a\nmodel: x\n---\nBody\n", encoding="utf-8")
    assert run(["check", "a", "--diff", *RULES]) == 1
    assert capfd.readouterr().err.endswith("not fixed: 2 errors; see `prowess check`\n")
    skill.write_text("---\nname: a\ndescription: Checks bills.\n---\nBody\n", encoding="utf-8")
    assert run(["check", "a", "--diff", *RULES]) == 0
    assert capfd.readouterr().err == "would fix 0 faults in 0 files\n"


@pytest.mark.proves("tooling.cli.check-fix", "client.parse.repair")
def test_diff_shows_the_change_and_writes_nothing(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "a", "--diff", "--profile", "lenient", *RULES]) == 1
    captured = capfd.readouterr()
    assert captured.out.splitlines() == [
        "--- a/SKILL.md",
        "+++ a/SKILL.md",
        "@@ -1,6 +1,6 @@",
        " ---",
        " name: a",
        "-description: Checks bills. Triggers: VAT",
        '+description: "Checks bills. Triggers: VAT"',
        " model: x",
        " ---",
        " Body",
    ]
    assert captured.err == "would fix 1 fault in 1 file\n"
    assert skill.read_text(encoding="utf-8") == BROKEN
    assert read_skill(skill.parent).description == "Checks bills. Triggers: VAT"
    assert run(["check", "a", "--diff", "--exit-zero", "-q"]) == 0
    assert capfd.readouterr().err == ""


def test_what_is_not_reported_is_not_fixed(skill: Path) -> None:
    assert run(["check", "a", "--fix", "--unsafe-fixes", "--select", "name"]) == 0
    assert skill.read_text(encoding="utf-8") == BROKEN


def test_a_file_that_cannot_be_written_is_an_error_and_the_others_are_fixed(
    skill: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = skill.parents[1] / "b"
    other.mkdir()
    (other / "SKILL.md").write_text("\ufeff---\nname: b\ndescription: d\n---\n", encoding="utf-8")
    skill.write_text("\n---\nname: a\ndescription: d\n---\n", encoding="utf-8")
    skill.chmod(0o444)
    assert run(["check", ".", "--fix", "--select", "encoding"]) == 0
    assert run(["check", ".", "--fix", "--select", "spec"]) == 1
    captured = capfd.readouterr()
    assert "error: a/SKILL.md was not fixed: it is read-only" in captured.err
    assert (other / "SKILL.md").read_bytes().startswith(b"---")


@pytest.mark.parametrize("place", ["other", "tree-old"])
def test_a_link_out_of_the_tree_is_not_followed(skill: Path, capfd: pytest.CaptureFixture[str], place: str) -> None:
    tree, moved = skill.parents[1] / "tree", skill.parents[1] / place / "a"
    tree.mkdir()
    moved.parent.mkdir()
    skill.parent.rename(moved)
    (tree / "a").symlink_to(moved)
    assert run(["check", "tree", "--fix", *RULES]) == 1
    assert "outside of the named path" in capfd.readouterr().err
    assert (moved / "SKILL.md").read_text(encoding="utf-8") == BROKEN


def test_wrong_combinations_are_a_wrong_command_line(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "a", "--unsafe-fixes"]) == 2
    assert "--fix" in capfd.readouterr().err
    assert run(["check", "-", "--fix"]) == 2
    assert run(["check", "a", "--diff", "--json"]) == 2
    assert skill.read_text(encoding="utf-8") == BROKEN


def test_standard_input_has_a_diff(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    text = "\ufeff---\ndescription: d\n---\n\t\x1b]0;x\x07\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8"))
    assert run(["check", "-", "--diff", "--select", "encoding"]) == 1
    out = capfd.readouterr().out
    assert "-\\ufeff---" in out
    assert "\x1b" not in out
    assert " \t\\x1b]0;x\\x07" in out


def test_what_is_no_regular_file_or_cannot_be_read_is_left_alone(tmp_path: Path, skill: Path) -> None:
    linked = tmp_path / "l"
    linked.mkdir()
    (linked / "SKILL.md").symlink_to(skill)
    (tmp_path / "empty").mkdir()
    assert run(["check", "l", "empty", "--fix", "--unsafe-fixes"]) == 1
    assert os.path.islink(linked / "SKILL.md")
    assert skill.read_text(encoding="utf-8") == BROKEN


def _crlf(skill: Path) -> Path:
    skill.write_text("---\nname: a\ndescription: Checks bills. Use when one is due.\n---\nBody\n", encoding="utf-8")
    script = skill.parent / "scripts" / "x.sh"
    script.parent.mkdir()
    script.write_bytes(b"#!/bin/sh\r\necho \xff\r\n")
    script.chmod(0o755)
    return script


LINE_BREAKS = ("--select", "scripts.lineBreaks")


def test_line_breaks_of_scripts_are_fixed_and_the_mode_stays(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = _crlf(skill)
    before = skill.read_bytes()
    assert run(["check", "a", "--diff", *LINE_BREAKS]) == 1
    shown = capfd.readouterr()
    assert "--- a/scripts/x.sh" in shown.out
    assert "-#!/bin/sh\\x0d" in shown.out
    assert shown.err == "would fix 1 fault in 1 file\n"
    assert script.read_bytes().count(b"\r") == 2
    assert run(["check", "a", "--fix", *LINE_BREAKS]) == 0
    assert capfd.readouterr() == ("no faults in 1 skill\n", "fixed 1 fault in 1 file\n")
    assert script.read_bytes() == b"#!/bin/sh\necho \xff\n"
    assert script.stat().st_mode & 0o777 == 0o755
    assert skill.read_bytes() == before
    stamp = script.stat().st_mtime_ns
    assert run(["check", "a", "--fix", *LINE_BREAKS]) == 0
    assert script.stat().st_mtime_ns == stamp


def test_a_file_with_both_line_breaks_is_fixed_only_as_unsafe(skill: Path) -> None:
    script = _crlf(skill)
    script.write_bytes(b"#!/bin/sh\r\necho\n")
    assert run(["check", "a", "--fix", *LINE_BREAKS]) == 0
    assert b"\r" in script.read_bytes()
    assert run(["check", "a", "--fix", "--unsafe-fixes", *LINE_BREAKS]) == 0
    assert script.read_bytes() == b"#!/bin/sh\necho\n"


def test_a_script_is_not_fixed_behind_a_link_read_only_or_if_skill_md_alone_was_named(
    skill: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = _crlf(skill)
    assert run(["check", "a/SKILL.md", "--fix", *LINE_BREAKS]) == 0
    script.chmod(0o555)
    assert run(["check", "a", "--fix", *LINE_BREAKS]) == 1
    assert "error: a/scripts/x.sh was not fixed: it is read-only" in capfd.readouterr().err
    elsewhere = skill.parents[1] / "elsewhere"
    script.parent.rename(elsewhere)
    script.parent.symlink_to(elsewhere)
    assert run(["check", "a", "--fix", *LINE_BREAKS]) == 0
    assert (elsewhere / "x.sh").read_bytes().count(b"\r") == 2


def test_a_report_for_machines_has_the_fix_without_edits(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _crlf(skill)
    assert run(["check", "a", "--json", *LINE_BREAKS]) == 0
    (found,) = json.loads(capfd.readouterr().out)["diagnostics"]
    assert found["fix"] == {"safety": "safe", "title": "end its lines with LF", "edits": []}
    assert run(["check", "a", "--format", "sarif", *LINE_BREAKS]) == 0
    (result,) = json.loads(capfd.readouterr().out)["runs"][0]["results"]
    assert "fixes" not in result
