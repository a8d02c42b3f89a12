"""`prowess block` and `unblock`: one act, shown by list, why and doctor, recorded, and taken back."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.governance.blocking import BlockedSkills
from prowess.policy.policy_in_force import PolicyInForce, load_policy
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's policy file, which lies in /etc outside of tests."""
    path = tmp_path / "etc" / "policy.toml"
    for function in (PolicyInForce.__init__, BlockedSkills.__init__, load_policy):
        monkeypatch.setitem(cast("dict[str, Any]", function.__kwdefaults__), "enterprise_file", str(path))
    return path


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    write_skill(tmp_path / "skills" / "deploy", body="swordfish\n")
    write_skill(tmp_path / "skills" / "other")
    return tmp_path / "skills"


def _printed(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = exit_codes.OK) -> dict[str, Any]:
    capfd.readouterr()
    assert run([*arguments, "--json"]) == code
    return cast("dict[str, Any]", json.loads(capfd.readouterr().out))


def test_a_blocked_skill_is_denied_shown_recorded_and_permitted_again(
    skills: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root = ("--root", str(skills))
    block = _printed(capfd, "block", "deploy", "--reason", "It leaks.", "--scope", "user")
    assert block["match"] == {"name": "deploy"}
    assert (block["reason"], block["scope"], block["created"]) == ("It leaks.", "user", True)
    assert run(["load", "deploy", *root]) == exit_codes.DENIED
    told = capfd.readouterr()
    assert f"denied by {block['id']}: the skill 'deploy' is blocked by its name deploy: It leaks." in told.err
    assert "swordfish" not in told.out
    assert run(["load", "other", *root]) == exit_codes.OK
    assert run(["load", "typo", *root]) == exit_codes.FAILED  # not denied: no skill has this name
    listed = {entry["name"]: entry["policy"]["effect"] for entry in _printed(capfd, "list", *root)["skills"]}
    assert listed == {"deploy": "deny", "other": "allow"}
    (copy,) = _printed(capfd, "why", "deploy", *root)["copies"]
    assert copy["policy"]["rule"] == "block name deploy"
    assert copy["policy"]["origin"] == f"{block['path']}:2"
    run(["doctor"])
    assert f"1 block in {block['path']}" in capfd.readouterr().out
    again = _printed(capfd, "block", "deploy", "--reason", "Other.", "--scope", "user")
    assert again == {**block, "created": False}
    assert _printed(capfd, "block", "--list")["blocks"] == [{key: block[key] for key in block if key != "created"}]
    assert _printed(capfd, "unblock", block["id"])["match"] == {"name": "deploy"}
    assert run(["load", "deploy", *root]) == exit_codes.OK
    records = _printed(capfd, "audit", "show", "--kind", "governance")["records"]
    assert [record["kind"] for record in records] == ["governance.block", "governance.unblock"]
    (refused,) = _printed(capfd, "audit", "show", "--outcome", "refused")["records"]
    assert (refused["data"]["rule"], refused["data"]["skill"]) == (block["id"], "deploy")


@pytest.mark.skipif(os.geteuid() != 0, reason="the blocks of a machine are root's")
def test_root_blocks_for_the_machine(skills: Path, machine: Path, capfd: pytest.CaptureFixture[str]) -> None:
    block = _printed(capfd, "block", "--source", str(skills), "--reason", "It leaks.")
    assert (block["scope"], block["path"]) == ("machine", str(machine.parent / "blocks.json"))
    assert run(["load", "other", "--root", str(skills)]) == exit_codes.DENIED
    capfd.readouterr()
    assert run(["block", "--list"]) == exit_codes.OK
    assert f"{block['id']}  machine  source {skills}\n  It leaks. (" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["block", "deploy"], exit_codes.USAGE, "--reason"),
        (["block", "--reason", "x"], exit_codes.USAGE, "give one of NAME"),
        (["block", "deploy", "--file", "0" * 64, "--reason", "x"], exit_codes.USAGE, "give one of NAME"),
        (["block", "deploy", "--list"], exit_codes.USAGE, "--list takes no other option"),
        (["block", "--digest", "12", "--reason", "x", "--scope", "user"], exit_codes.USAGE, "prowess load NAME --json"),
        (["block", "dep*", "--reason", "x", "--scope", "user"], exit_codes.USAGE, "write a rule in a policy file"),
        (["unblock", "block-x"], exit_codes.FAILED, "prowess block --list"),
    ],
)
def test_what_cannot_be_blocked_is_refused_with_a_remedy(
    arguments: list[str], code: int, told: str, skills: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    del skills
    assert run(arguments) == code
    assert told in capfd.readouterr().err


def test_without_blocks_the_list_is_empty(skills: Path, capfd: pytest.CaptureFixture[str]) -> None:
    del skills
    assert run(["block", "--list"]) == exit_codes.OK
    assert "nothing is blocked" in capfd.readouterr().err
