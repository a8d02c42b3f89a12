"""`prowess load`: the instructions, exactly."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_BODY = "\n# Do it\n\n\x1b[31mred\x1b[0m ü\n  end without a line break"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    skill = write_skill(tmp_path / "a", body=_BODY, extra="license: MIT\n")
    (skill / "scripts").mkdir()
    (skill / "scripts" / "run.sh").write_text("echo\n")
    return tmp_path


def test_a_pipe_gets_the_exact_text_after_the_front_matter(
    root: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["load", "a", "--root", str(root)]) == exit_codes.OK
    assert capfdbinary.readouterr() == (_BODY.encode(), b"")


def test_a_terminal_gets_no_control_characters(
    root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    run(["load", "a", "--root", str(root)])
    out = capfd.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out


def test_json_has_the_body_with_what_belongs_to_it(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["load", "a", "--root", str(root), "--json"]) == exit_codes.OK
    document = json.loads(capfd.readouterr().out)
    assert document["body"] == _BODY
    assert document["properties"] == {"name": "a", "description": "Does it.", "license": "MIT"}
    assert document["resources"] == [{"path": "scripts/run.sh", "kind": "script", "size": 5, "executable": False}]
    assert document["digest"].startswith("sha256:")
    assert document["location"] == str(root / "a" / "SKILL.md")


def test_an_unknown_name_fails_with_what_may_have_been_meant(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(root / "csv-report")
    assert run(["load", "csv-repotr", "--root", str(root)]) == exit_codes.FAILED
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "did you mean 'csv-report'?" in printed.err


def test_arguments_are_one_text_or_stand_one_by_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path / "a", body="0=$0 1=$1 2=$2.\n")
    for given in (["x.csv 'my column' it's"], ["x.csv", "my column", "it's"]):
        assert run(["load", "a", *given, "--root", str(tmp_path)]) == exit_codes.OK
        assert capfd.readouterr().out == "0=x.csv 1=my column 2=it's.\n"
    assert run(["load", "a", "x", "", "y z", "--root", str(tmp_path)]) == exit_codes.OK
    assert capfd.readouterr().out == "0=x 1= 2=y z.\n"


def test_notices_of_the_load_are_remarks(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_skill(tmp_path / "a", body="Do it.\n", extra="disallowedTools: Write\n")
    assert run(["load", "a", "--root", str(tmp_path)]) == exit_codes.OK
    told = capfd.readouterr()
    assert told.out == "Do it.\n"
    assert "a writes 'disallowedTools', which is read as disallowed-tools" in told.err
    assert run(["load", "a", "--root", str(tmp_path), "--quiet"]) == exit_codes.OK
    assert capfd.readouterr() == ("Do it.\n", "")
    assert run(["load", "a", "--root", str(tmp_path), "--json"]) == exit_codes.OK
    told = capfd.readouterr()
    assert told.err == ""
    assert [notice["code"] for notice in json.loads(told.out)["notices"]] == ["field_read_as"]


def test_the_hint_about_an_unknown_skill_repeats_the_roots(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["load", "nope", "--root", str(root)]) == exit_codes.FAILED
    assert f"`prowess list --root {root}` shows the available skills" in capfd.readouterr().err
