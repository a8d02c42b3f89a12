"""`prowess use`: the instructions of a skill from a source, and nothing is kept or run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.tree_digest import read_tree
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


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("[packages]\nrequire_signature = true\n", "no verified signature of a trusted publisher: alpha"),
        ('[packages]\nsources = ["acme/*"]\n', "only these sources of skills are permitted"),
        ('[[rule]]\neffect = "deny"\ntool = "packages.install"\nmatch = { skill.digest = "TREE" }\n', "skill.digest"),
        (
            '[[rule]]\neffect = "deny"\ntool = "packages.install"\nmatch = { skill.publisher = "acme" }\n',
            "skill.publisher: acme",
        ),
    ],
)
def test_the_policy_for_installations_applies(
    table: str, reason: str, prowess: Commands, tmp_path: Path, own_home: Path
) -> None:
    tree = str(read_tree(str(tmp_path / "skills/alpha")).digest)
    policy = own_home / ".prowess/policy.toml"
    prowess.text("key", "new", "../k")
    if "publisher" in table:
        prowess.text("key", "trust", "../k.pub", "--as", "acme")
        prowess.text("sign", "../skills/alpha", "--key", "../k")
    policy.parent.mkdir(exist_ok=True)
    policy.write_text(f'default = "allow"\n{table.replace("TREE", tree)}', encoding="utf-8")
    assert prowess.text("use", "../skills", "--skill", "alpha", code=exit_codes.DENIED) == ""
    assert reason in prowess.err
    if "require" in table:
        prowess.text("sign", "../skills/alpha", "--key", "../k")
        prowess.text("use", "../skills", "--skill", "alpha", code=exit_codes.DENIED)
        prowess.text("key", "trust", "../k.pub", "--as", "acme")
        prowess.text("use", "../skills", "--skill", "alpha")
        (tmp_path / "skills/alpha/more.md").touch()
        prowess.text("use", "../skills", "--skill", "alpha", code=exit_codes.DENIED)
        assert "the signature of skill 'alpha' is not accepted" in prowess.err


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
