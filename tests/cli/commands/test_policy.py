"""`prowess policy` as administrators read it and pipelines use it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from prowess.cli.dispatch import run

Capture = pytest.CaptureFixture[str]

_POLICY = """\
[[rule]]
effect = "allow"
tool = "Bash"
match = { command = "git status:*" }

[[rule]]
effect = "deny"
tool = "Read"
match = { file_path = "secrets/**" }
reason = "keys live there\\u001b"

[[expect]]
call = "Bash(git status)"
effect = "allow"

[[expect]]
call = "Read(docs/../secrets/key)"
effect = "%s"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the path of a policy whose expectations hold, in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(_POLICY % "deny", encoding="utf-8")
    return "policy.toml"


def test_a_policy_that_does_what_is_expected(file: str, capsys: Capture) -> None:
    assert run(["policy", "test", file]) == 0
    assert capsys.readouterr().out == "2 of 2 expectations hold\n"


def test_a_file_that_expects_nothing_has_not_been_tested(file: str, capsys: Capture) -> None:
    Path(file).write_text(_POLICY.partition("[[expect]]")[0], encoding="utf-8")
    assert run(["policy", "test", file]) == 2
    out, err = capsys.readouterr()
    assert (out, err.partition(";")[0]) == ("", "error: policy.toml has no [[expect]], so nothing was tested")
    assert run(["policy", "test", file, "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"expectations": 0, "hold": 0, "failed": []}


def test_an_expectation_that_fails_says_what_was_decided_and_by_which_rule(file: str, capsys: Capture) -> None:
    Path(file).write_text(_POLICY % "allow", encoding="utf-8")
    assert run(["policy", "test", file]) == 1
    assert capsys.readouterr().out == (
        "policy.toml:16: expected allow for Read(file_path='docs/../secrets/key'), decided deny by rule "
        "'deny Read(file_path: secrets/**)' at policy.toml:6: keys live there\\x1b\n"
        "1 of 2 expectations hold\n"
    )
    assert run(["policy", "test", file, "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["expectations"], shown["hold"]) == (2, 1)
    assert shown["failed"] == [
        {
            "origin": "policy.toml:16",
            "tool": "Read",
            "arguments": {"file_path": "docs/../secrets/key"},
            "expected": "allow",
            "decided": "deny",
            "rule": "deny Read(file_path: secrets/**)",
            "rule_origin": "policy.toml:6",
            "reason": "keys live there\x1b",
        }
    ]


def test_an_expectation_that_a_default_decides_says_so(file: str, capsys: Capture) -> None:
    Path(file).write_text('[[expect]]\ncall = "Read"\neffect = "allow"\n', encoding="utf-8")
    assert run(["policy", "test", file]) == 1
    output = capsys.readouterr().out
    assert "decided ask by policy.toml: no rule matches the call and the file sets no default" in output


def test_a_faulty_policy_is_a_usage_error_with_lines(file: str, capsys: Capture) -> None:
    Path(file).write_text('defualt = "deny"\n', encoding="utf-8")
    for command in (["test", file], ["show", "--policy", file]):
        assert run(["policy", *command]) == 2
        assert (
            "policy.toml:1: defualt: is not a key of a policy file; did you mean 'default'" in capsys.readouterr().err
        )


def test_show_without_any_file_says_what_holds(capsys: Capture) -> None:
    assert run(["policy", "show"]) == 0
    shown = capsys.readouterr().out
    assert "Write, Edit and Bash ask" in shown
    assert "allowed_tools: restrict" in shown
    assert run(["policy", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "files": [],
        "settings": {
            "allowed_tools": "restrict",
            "dynamic_commands": False,
            "script_dirs": ["scripts"],
            "env_allow": [],
            "read_scripts": False,
            "audit_required": False,
            "audit_sink": "file",
            "require_signature": False,
            "max_age": None,
            "too_old": "warn",
        },
    }


def test_show_has_every_rule_with_its_place_and_layers_in_order(file: str, capsys: Capture) -> None:
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(parents=True)
    users = home / "policy.toml"
    users.write_text('default = "deny"\n[audit]\nrequired = true\n', encoding="utf-8")
    assert run(["policy", "show", "--policy", file]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(users),
        "        default deny",
        "policy.toml",
        "     1  allow Bash(command: git status:*)",
        "     6  deny Read(file_path: secrets/**)",
        "        keys live there\\x1b",
        "        default ask (the file sets none)",
        "allowed_tools: restrict",
        "dynamic_commands: no",
        "script_dirs: scripts",
        "env_allow: none",
        "read_scripts: no",
        "audit_required: yes",
        "audit_sink: file",
        "require_signature: no",
        "max_age: not set",
        "too_old: warn",
    ]
    assert run(["policy", "show", "--policy", file, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(entry["path"], entry["default"], entry["default_set"]) for entry in shown["files"]] == [
        (str(users), "deny", True),
        ("policy.toml", "ask", False),
    ]
    assert shown["files"][1]["rules"][0] == {
        "id": None,
        "mode": "enforce",
        "until": None,
        "ended": False,
        "effect": "allow",
        "tool": "Bash",
        "match": {"command": ["git status:*"]},
        "reason": None,
        "origin": "policy.toml:1",
    }
