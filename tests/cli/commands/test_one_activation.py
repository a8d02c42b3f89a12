"""`load`, `read` and `run` from the shell, under the rules of a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.execution import default_sandbox
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

COMMANDS = (["load", "alpha"], ["read", "alpha", "references/guide.md"], ["run", "alpha", "scripts/say.sh"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {"references/guide.md": "the guide\n", "scripts/say.sh": "echo said\n"}
    write_skill(tmp_path / "skills", "alpha", body="Follow.\n", files=files)
    return tmp_path / "skills"


def _kinds(home: Path) -> list[tuple[str, str]]:
    lines = (home / ".prowess/audit/audit.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [(record["kind"], str(record["data"].get("tool", ""))) for record in records]


def _needs_sandbox() -> None:
    if not (report := default_sandbox().probe()).available:
        pytest.skip(report.hint)


@pytest.mark.proves("tooling.cli.activation")
@pytest.mark.parametrize(("words", "says"), list(zip(COMMANDS, ["Follow.\n", "the guide\n", "said\n"], strict=True)))
def test_each_command_activates_does_one_thing_and_is_recorded(
    words: list[str], says: str, root: Path, own_home: Path, capfd: Capture
) -> None:
    if words[0] == "run":
        _needs_sandbox()
    assert run([*words, "--root", str(root)]) == exit_codes.OK
    assert capfd.readouterr().out == says
    kinds = _kinds(own_home)
    tools = {"load": [], "read": ["skills.read"], "run": ["skills.run_script"]}[words[0]]
    finished = [tool for kind, tool in kinds if kind == "tool.finished"]
    assert finished[1:] == tools
    assert finished[0] in {"skills.invoke", "skills.load"}
    assert "skill.loaded" in [kind for kind, _ in kinds]


@pytest.mark.proves("tooling.cli.activation")
@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_is_stopped_by_a_policy_an_untrusted_hook_and_a_missing_log(
    words: list[str], root: Path, tmp_path: Path, own_home: Path, capfd: Capture
) -> None:
    policy = tmp_path / "policy.toml"
    rule = '[[rule]]\neffect = "deny"\ntool = "skills.*"\nreason = "not here"\n'
    policy.write_text(f'default = "allow"\n{rule}', encoding="utf-8")
    assert run([*words, "--root", str(root), "--policy", str(policy)]) == exit_codes.DENIED
    printed = capfd.readouterr()
    assert (printed.out, "not here" in printed.err) == ("", True)
    hooks = "hooks:\n  pre: scripts/refuse.sh\n"
    write_skill(root, "alpha", extra=hooks, files={"scripts/refuse.sh": "echo go away >&2\nexit 1\n"})
    assert run([*words, "--root", str(root)]) != exit_codes.OK
    assert capfd.readouterr().out == ""
    policy.write_text('default = "allow"\naudit = { required = true }\n', encoding="utf-8")
    for place in sorted((own_home / ".prowess").rglob("*"), reverse=True):
        place.unlink() if place.is_file() else place.rmdir()
    (own_home / ".prowess").rmdir()
    (own_home / ".prowess").write_text("no directory", encoding="utf-8")
    assert run([*words, "--root", str(root), "--policy", str(policy)]) == exit_codes.UNAVAILABLE
    assert "without a record" in capfd.readouterr().err


def test_a_script_is_named_as_one_that_is_run(root: Path, capfd: Capture) -> None:
    assert run(["read", "alpha", "scripts/say.sh", "--root", str(root)]) == exit_codes.FAILED
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "it is run, not shown; use prowess run alpha scripts/say.sh" in printed.err


@pytest.mark.proves("runtime.activate.arguments.zero")
def test_arguments_take_the_places_that_the_instructions_have_for_them(root: Path, capfd: Capture) -> None:
    write_skill(root, "deploy", body="Deploy $0 to $1 ($ARGUMENTS), from ${SKILL_DIR}.\n")
    assert run(["load", "deploy", "web production", "--root", str(root)]) == exit_codes.OK
    assert capfd.readouterr().out == f"Deploy web to production (web production), from {root}/deploy.\n"
    assert run(["load", "deploy", "web production", "--first-argument", "1", "--root", str(root)]) == exit_codes.OK
    assert capfd.readouterr().out == f"Deploy $0 to web (web production), from {root}/deploy.\n"


@pytest.mark.proves("runtime.activate.arguments.appended")
def test_arguments_without_a_place_follow_the_instructions(root: Path, capfd: Capture) -> None:
    assert run(["load", "alpha", "don't \"stop", "--root", str(root)]) == exit_codes.OK
    assert capfd.readouterr().out == "Follow.\n\nARGUMENTS: don't \"stop\n"
    assert run(["load", "alpha", "x", "--json", "--root", str(root)]) == exit_codes.OK
    document = json.loads(capfd.readouterr().out)
    assert document["body"] == "Follow.\n\nARGUMENTS: x\n"
    assert document["substitutions"] == {"replaced": {}, "unfilled": [], "appended": True}


@pytest.mark.parametrize("field", ["user-invocable: false\n", "disable-model-invocation: true\n"])
def test_a_skill_that_is_open_to_one_side_alone_can_be_looked_at_from_the_shell(
    field: str, root: Path, capfd: Capture
) -> None:
    write_skill(root, "half", extra=field, body="Half.\n")
    assert run(["load", "half", "--root", str(root)]) == exit_codes.OK
    assert capfd.readouterr().out == "Half.\n"


def test_a_skill_that_forks_cannot_be_loaded_and_says_why(root: Path, capfd: Capture) -> None:
    write_skill(root, "apart", extra="context: fork\n")
    assert run(["load", "apart", "--root", str(root)]) == exit_codes.FAILED
    assert "sub-agent" in capfd.readouterr().err
