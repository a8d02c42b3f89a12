"""`list`, `why`, `show` and `doctor` state what the policy does to a skill, and by which rule of which file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli.dispatch import run
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_POLICY = """\
default = "allow"

[[rule]]
effect = "deny"
tool = "skills.load"
match = { skill.name = "deploy" }
reason = "people deploy"

[[rule]]
effect = "ask"
tool = "skills.load"
match = { skill.source = "*/asked" }
"""


@pytest.fixture
def policy(own_home: Path) -> Path:
    (own_home / ".prowess").mkdir(mode=0o700)
    file = own_home / ".prowess" / "policy.toml"
    file.write_text(_POLICY, encoding="utf-8")
    return file


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    for name in ("deploy", "free", "asked"):
        write_skill(tmp_path / "skills", name)
    return tmp_path / "skills"


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 -- a JSON document
    run([*words, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.proves("governance.policy.shown")
def test_list_states_what_is_denied_and_asked_about(
    policy: Path, skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["list", "--root", str(skills)]) == 0
    asked, deploy, free = capsys.readouterr().out.splitlines()
    assert "asked about by" in asked
    assert "(denied by ~/.prowess/policy.toml:3) Does deploy." in deploy
    assert free == "free    project  Does free."
    listed = {skill["name"]: skill["policy"] for skill in _json(capsys, "list", "--root", str(skills))["skills"]}
    assert listed["deploy"] == {
        "effect": "deny",
        "rule": "deny skills.load(skill.name: deploy)",
        "origin": f"{policy}:3",
        "reason": "people deploy",
    }
    assert (listed["asked"]["effect"], listed["free"]["effect"], listed["free"]["origin"]) == ("ask", "allow", None)


@pytest.mark.proves("governance.policy.shown")
def test_why_and_show_name_the_rule_and_the_reason(
    policy: Path, skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "policy: denied by ~/.prowess/policy.toml:3 ('deny skills.load(skill.name: deploy)'): people deploy"
    assert run(["why", "deploy", "--root", str(skills)]) == 0
    assert said in capsys.readouterr().out
    assert run(["show", str(skills / "deploy")]) == 0
    assert said in capsys.readouterr().out
    assert _json(capsys, "why", "deploy", "--root", str(skills))["copies"][0]["policy"]["effect"] == "deny"
    assert _json(capsys, "show", str(skills / "deploy"))["policy"]["origin"] == f"{policy}:3"
    assert run(["why", "free", "--root", str(skills)]) == 0
    assert "policy: allowed by the policy's default" in capsys.readouterr().out


@pytest.mark.proves("governance.policy.shown")
def test_doctor_counts_what_the_policy_does(
    policy: Path, own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("deploy", "free"):
        write_skill(own_home / ".prowess" / "skills", name)

    def line() -> dict[str, str]:
        return next(check for check in _json(capsys, "doctor")["checks"] if check["name"] == "catalog")

    assert line()["detail"] == f"2 skills, 1 denied (deploy), 0 asked about by {policy}"
    policy.write_text("default = ", encoding="utf-8")
    assert line()["status"] == "fail"
    policy.unlink()
    assert line()["detail"] == "2 skills"


def test_without_a_policy_file_nothing_is_said(skills: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["list"], ["why", "deploy"]):
        assert run([*words, "--root", str(skills)]) == 0
        assert "policy:" not in capsys.readouterr().out
    assert all("policy" not in skill for skill in _json(capsys, "list", "--root", str(skills))["skills"])
    assert run(["show", str(skills / "deploy")]) == 0
    assert "policy:" not in capsys.readouterr().out


def test_a_policy_that_cannot_be_read_denies_every_skill(
    policy: Path, skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy.write_text("default = ", encoding="utf-8")
    assert run(["list", "--root", str(skills)]) == 0
    listed = capsys.readouterr()
    assert listed.out.count("denied by a policy that cannot be read") == 3
    assert f"the policy cannot be read, so nothing is permitted: {policy}: " in listed.err
