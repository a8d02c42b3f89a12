"""`prowess list`, as a pipe, a program and a person see it."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from prowess import Catalog
from prowess.cli import exit_codes
from prowess.cli.commands import list as list_command
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "skills"
    write_skill(root / "csv-report", description="Makes a table and a chart " + "from rows of numbers " * 10)
    write_skill(root / "log-triage", description="Short.", extra="license: MIT\n")
    monkeypatch.chdir(tmp_path)
    return root


def test_a_pipe_gets_one_whole_line_a_skill(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run(["list", "--root", str(root)]) == exit_codes.OK
    whole = "Makes a table and a chart " + "from rows of numbers " * 10
    assert capfd.readouterr().out == f"csv-report  project  {whole.strip()}\nlog-triage  project  Short.\n"


def test_a_line_is_cut_at_the_width_that_columns_states(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["list", "--root", str(root)]) == exit_codes.OK
    printed = capfd.readouterr()
    first, second = printed.out.splitlines()
    assert first.startswith("csv-report  project  Makes a table and a chart from rows of")
    assert first.endswith("…")
    assert 70 < len(first) <= 80
    assert second == "log-triage  project  Short."
    assert printed.err == ""


def test_a_terminal_gets_its_own_width(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    run(["list", "--root", str(root)])
    assert all(len(line) <= 50 for line in capfd.readouterr().out.splitlines())


def test_wide_characters_count_as_the_columns_they_take(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    write_skill(root / "数据分析", description="分析" * 60)
    write_skill(root / "e", description="é" * 60)
    run(["list", "--root", str(root), "--quiet"])
    lines = capfd.readouterr().out.splitlines()
    wide = next(line for line in lines if line.startswith("数"))
    assert wide.startswith(
        "数据分析    project  分析"
    )  # four characters that take eight columns, as csv-report takes ten
    assert 40 < len(wide) < 80
    assert any("é" * 57 in line for line in lines)


def test_a_prefix_keeps_the_names_that_begin_with_it(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["list", "log", "--root", str(root)])
    assert capfd.readouterr().out == "log-triage  project  Short.\n"
    assert run(["list", "nothing", "--root", str(root)]) == exit_codes.OK
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "no skill name begins with 'nothing'" in printed.err


def test_nothing_found_is_said_with_what_to_do(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert run(["list", "--root", str(tmp_path / "empty")]) == exit_codes.OK
    assert f"no skills found in {tmp_path / 'empty'}" in capfd.readouterr().err


def test_what_was_left_out_stands_on_standard_error_and_quiet_drops_it(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "broken").mkdir()
    (root / "broken" / "SKILL.md").write_text("---\nname: broken\n---\n")
    (root / "dangling").symlink_to("nowhere")
    write_skill(root / "odd", extra="version: 1\n")
    assert run(["list", "--root", str(root)]) == exit_codes.OK
    printed = capfd.readouterr()
    assert "broken" not in printed.out
    assert "skills/broken/SKILL.md:1:1 error description.required" in printed.err
    assert "skills/dangling warning catalog.link" in printed.err
    assert f"1 listed with warnings; `prowess check {root}` explains them" in printed.err
    assert run(["list", "--root", str(root), "--quiet"]) == exit_codes.OK
    assert capfd.readouterr().err == ""


def test_many_findings_are_cut_and_counted(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_command, "_MOST_FINDINGS", 2)
    for number in range(5):
        (root / f"dangling-{number}").symlink_to("nowhere")
    run(["list", "--root", str(root)])
    assert "3 more; `prowess list --json` shows all" in capfd.readouterr().err


def test_text_from_a_skill_cannot_act_on_the_terminal(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(root / "evil", description='"\\e[2J clear \\u202e turned\\nnext"')
    run(["list", "evil", "--root", str(root)])
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "\\x1b[2J clear" in out
    assert out.count("\n") == 1


@pytest.fixture
def tagged(root: Path) -> Path:
    write_skill(root / "listed", extra="tags: [PDF, tables]\n")
    write_skill(root / "by-comma", extra="tags: pdf, forms\n")
    write_skill(root / "below", extra="metadata:\n  tags: [pdf, tables]\n")
    write_skill(root / "text-below", extra="metadata:\n  tags: maps, tables\n")
    write_skill(root / "both", extra="tags: [x]\nmetadata:\n  tags: [pdf]\n")
    write_skill(root / "words", description="Tags pdf.", extra="license: |\n  tags: pdf\n")
    write_skill(root / "odd", extra="tags:\n  - {a: pdf}\n")
    return root


@pytest.mark.proves("catalog.list.tag")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tag", "pdf"], ["below", "by-comma", "listed"]),
        (["--tag", "PDF", "--tag", "tables"], ["below", "listed"]),
        (["--tag", "tables"], ["below", "listed", "text-below"]),
        (["b", "--tag", "pdf"], ["below", "by-comma"]),
        (["--tag", "x"], ["both"]),
        (["--tag", "pd"], []),
    ],
)
def test_only_skills_with_all_tags_are_listed(
    tagged: Path, capfd: pytest.CaptureFixture[str], options: list[str], expected: list[str]
) -> None:
    assert run(["list", *options, "--root", str(tagged)]) == exit_codes.OK
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == expected
    assert run(["list", *options, "--root", str(tagged), "--json"]) == exit_codes.OK
    assert [skill["name"] for skill in json.loads(capfd.readouterr().out)["skills"]] == expected
    prefix = options[0] if options[0] != "--tag" else ""
    tags = options[options.index("--tag") + 1 :: 2]
    assert [entry.name for entry in Catalog(tagged).entries(prefix=prefix, tags=tags)] == expected


def test_a_tag_that_no_skill_has_is_reported_with_a_near_one(tagged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["list", "--tag", "form", "--root", str(tagged)])
    assert "no skill has the tag 'form'; did you mean 'forms'?\n" in capfd.readouterr().err
    write_skill(tagged / "chart", extra="tags: [SVG]\n")
    run(["list", "--tag", "svgs", "--tag", "X", "--root", str(tagged)])
    assert "has the tags 'svgs' and 'X'; did you mean 'SVG'?\n" in capfd.readouterr().err
    run(["list", "by", "--tag", "forms", "--tag", "maps", "--root", str(tagged)])
    assert "no skill whose name begins with 'by' has the tags 'forms' and 'maps'\n" in capfd.readouterr().err


def test_json_is_one_document_with_everything(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(root / "z" / "log-triage", description="Another.")
    (root / "dangling").symlink_to("nowhere")
    assert run(["list", "--root", str(root), "--json"]) == exit_codes.OK
    printed = capfd.readouterr()
    document: dict[str, Any] = json.loads(printed.out)
    assert printed.err == ""
    assert list(document) == ["skills", "shadowed", "diagnostics", "notices"]
    assert [skill["name"] for skill in document["skills"]] == ["csv-report", "log-triage"]
    assert document["skills"][1] == {
        "name": "log-triage",
        "description": "Short.",
        "layer": "project",
        "source": str(root),
        "source_version": None,
        "location": str(root / "log-triage" / "SKILL.md"),
        "root_dir": str(root / "log-triage"),
        "origin": None,
        "aliases": [],
        "live": False,
        "properties": {"name": "log-triage", "description": "Short.", "license": "MIT"},
    }
    (shadowed,) = document["shadowed"]
    assert shadowed["location"] == str(root / "z" / "log-triage" / "SKILL.md")
    assert "the first path wins" in shadowed["reason"]
    assert {found["rule"] for found in document["diagnostics"]} == {"catalog.link", "catalog.shadowed"}
    assert set(document["diagnostics"][0]) >= {"rule", "family", "severity", "message", "path", "line", "column"}


def test_an_untrusted_project_is_one_notice_and_json_carries_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / ".claude" / "skills" / "theirs")
    monkeypatch.chdir(tmp_path)
    run(["list"])
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.count("not trusted") == 1
    run(["list", "--json"])
    assert [notice["code"] for notice in json.loads(capfd.readouterr().out)["notices"]] == ["project_untrusted"]
    run(["list", "--trust-project"])
    assert capfd.readouterr().out.startswith("theirs  project")


def test_a_plugin_can_be_added_to_the_layers_and_to_a_root(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(root.parent / "acme" / "deploy")
    for words in (["--root", str(root)], []):
        run(["list", *words, "--plugin", str(root.parent / "acme")])
        assert "deploy      plugin   Does it." in capfd.readouterr().out.replace(
            "deploy  plugin", "deploy      plugin "
        )


def test_a_root_that_does_not_exist_is_a_fault_of_usage(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--root", str(tmp_path / "none")]) == exit_codes.USAGE
    assert "does not exist" in capfd.readouterr().err


def test_from_the_root_of_the_file_system_paths_stay_whole(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "dangling").symlink_to("nowhere")
    monkeypatch.chdir(os.sep)
    run(["list", "--root", str(root)])
    assert f"{root}/dangling warning" in capfd.readouterr().err


def test_a_prefix_without_a_match_gets_a_suggestion(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["list", "CSV", "--root", str(root)])
    assert capfd.readouterr().err == "no skill name begins with 'CSV'; did you mean 'csv-report'?\n"
