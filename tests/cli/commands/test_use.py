"""`prowess use`: the instructions of a skill from a source, and nothing is kept or run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.distribution.installation.projects import Commands, make_project, snapshot, write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    return Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)


def test_the_instructions_are_printed_as_load_prints_them_and_nothing_is_kept(
    prowess: Commands, tmp_path: Path, own_home: Path
) -> None:
    write_skill(tmp_path / "skills/alpha", body="Do ${CLAUDE_SKILL_DIR}.\n")
    before = snapshot(tmp_path)
    assert prowess.text("use", "../skills", "--skill", "beta") == prowess.text("load", "../skills/beta")
    assert prowess.text("use", "../skills", "--skill", "alpha") == "Do ..\n"
    document = prowess.report("use", "../skills", "--skill", "alpha")
    assert set(document) == set(prowess.report("load", "../skills/alpha"))
    assert (document["name"], document["root_dir"], document["location"]) == ("alpha", None, None)
    assert snapshot(tmp_path) == before
    assert not (own_home / ".prowess/stage").exists()
    assert not (own_home / ".prowess/store").exists()


def test_the_use_is_recorded_and_the_policy_decides(prowess: Commands, own_home: Path) -> None:
    prowess.text("use", "../skills", "--skill", "alpha")
    records = [json.loads(line) for line in (own_home / ".prowess/audit/audit.jsonl").read_text("utf-8").splitlines()]
    assert any("skills" in str(record["data"]) for record in records)
    rule = '[[rule]]\neffect = "deny"\ntool = "*"\nmatch = { "skill.name" = "alpha" }\n'
    (own_home / ".prowess/policy.toml").write_text(rule, encoding="utf-8")
    prowess.text("use", "../skills", "--skill", "alpha", code=exit_codes.DENIED)


def test_nothing_of_the_skill_is_run(prowess: Commands, tmp_path: Path) -> None:
    write_skill(tmp_path / "skills/alpha", body="Now: !`touch ran`\n")
    prowess.text("use", "../skills", "--skill", "alpha")
    assert not list(tmp_path.rglob("ran"))


def test_one_skill_is_named(prowess: Commands) -> None:
    for given in ((), ("--skill", "*")):
        prowess.text("use", "../skills", *given, code=exit_codes.USAGE)
        assert "has 2 skills: alpha, beta; name some with --skill" in prowess.err
    prowess.text("use", "../skills", "--skill", "gamma", code=exit_codes.FAILED)
    prowess.text("use", "../nothing", code=exit_codes.UNAVAILABLE)
    assert run(["use", "no source at all"]) == exit_codes.USAGE
