"""Policy files in running sessions: every entry reads them, and a new rule holds at the next call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prowess import Catalog, Session, SyncSession
from prowess.audit import JsonlAuditLog
from prowess.execution import default_sandbox
from prowess.policy import Policy, PolicyFile
from prowess.tools.functions.function_tool import FunctionTool
from tests.runtime.making import failure, result, write_skill

pytestmark = pytest.mark.anyio

_RULE = '[[rule]]\neffect = "{effect}"\ntool = "{tool}"\n{match}'
_SCRIPT = "print('ran')\n"


def _rule(effect: str, tool: str, **match: str) -> str:
    matches = ", ".join(f'{name} = "{value}"' for name, value in match.items())
    return _RULE.format(effect=effect, tool=tool, match=f"match = {{ {matches} }}\n" if match else "")


def _put(file: Path, text: str | None) -> None:
    if text is None:
        file.unlink()
    else:
        file.write_text(text, encoding="utf-8")


def _records(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def user_file() -> Path:
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home / "policy.toml"


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    files = {"references/a.md": "a secret\n", "scripts/a.py": _SCRIPT, "scripts/b.py": _SCRIPT}
    write_skill(tmp_path / "skills", "deploy", files=files, body="Text of deploy.\n")
    write_skill(tmp_path / "skills", "other", files=files, body="Text of other.\n")
    return tmp_path / "skills"


def _note(text: str) -> str:
    """Write a note."""
    return text


@pytest.mark.proves("governance.policy.every-process")
@pytest.mark.parametrize("made", ["async", "sync"])
async def test_a_session_reads_the_users_file_without_being_told(made: str, skills: Path, user_file: Path) -> None:
    _put(user_file, 'default = "allow"\n' + _rule("deny", "_note"))
    tool = FunctionTool(_note)
    if made == "async":
        refused = await Session(Catalog(skills), extra_tools=[tool]).call("_note", {"text": "x"})
    else:
        refused = SyncSession(Catalog(skills), extra_tools=[tool]).call("_note", {"text": "x"})
    assert failure(refused)["code"] == "policy_denied"
    assert f"{user_file}:2" in str(refused.error)


@pytest.mark.proves("governance.policy.next-call")
async def test_a_new_rule_holds_at_the_next_call_and_is_gone_with_the_file(skills: Path, user_file: Path) -> None:
    session = Session(Catalog(skills), extra_tools=[FunctionTool(_note)])
    assert (await session.call("_note", {"text": "x"})).success
    _put(user_file, 'default = "allow"\n' + _rule("deny", "_note"))
    assert failure(await session.call("_note", {"text": "x"}))["code"] == "policy_denied"
    _put(user_file, None)
    assert (await session.call("_note", {"text": "x"})).success


@pytest.mark.proves("governance.policy.every-process")
async def test_a_given_policy_can_only_tighten(skills: Path, user_file: Path) -> None:
    _put(user_file, 'default = "allow"\n' + _rule("deny", "_note"))
    loose = Policy(files=(PolicyFile(path="loose.toml", default="allow"),))
    session = Session(Catalog(skills), extra_tools=[FunctionTool(_note)], policy=loose)
    assert failure(await session.call("_note", {"text": "x"}))["code"] == "policy_denied"


@pytest.mark.proves("governance.policy.next-call")
async def test_who_denies_a_load_ends_what_the_active_skill_may_do(skills: Path, user_file: Path) -> None:
    session = Session(Catalog(skills), scripts=True)
    await session.load(["deploy", "other"])
    assert result(await session.call("skills.read", {"path": "references/a.md", "skill": "deploy"}))["text"]
    assert "Text of deploy." in session.instructions()
    _put(user_file, 'default = "allow"\n' + _rule("deny", "skills.load", names="deploy"))
    for tool, path in (("skills.read", "references/a.md"), ("skills.run_script", "scripts/a.py")):
        refused = await session.call(tool, {"path": path, "skill": "deploy"})
        assert failure(refused)["code"] == "policy_denied"
    assert "Text of deploy." not in session.instructions()
    assert "Text of other." in session.instructions()
    assert result(await session.call("skills.read", {"path": "references/a.md", "skill": "other"}))["text"]
    assert (await session.call("skills.unload", {"names": ["deploy"]})).success


@pytest.mark.proves("governance.policy.missing-argument")
@pytest.mark.parametrize("arguments", [{}, {"skill": "deploy"}, {"skill": "\uff44eploy"}])
@pytest.mark.parametrize("path", ["scripts/a.py", "./scripts/a.py", "scripts//a.py", "scripts/./a.py"])
async def test_a_rule_about_a_skill_or_a_path_holds_for_every_spelling(
    path: str, arguments: dict[str, object], skills: Path, user_file: Path
) -> None:
    session = Session(Catalog(skills), scripts=True)
    await session.load(["other", "deploy"])
    by_skill = _rule("deny", "skills.run_script", skill="deploy")
    by_path = _rule("deny", "skills.run_script", path="scripts/a.py")
    for rule in (by_skill, by_path):
        _put(user_file, 'default = "allow"\n' + rule)
        refused = await session.call("skills.run_script", {"path": path, **arguments})
        assert failure(refused)["code"] == "policy_denied", rule
    _put(user_file, 'default = "allow"\n' + by_skill)
    refused = await session.call("skills.run_script", {"path": "scripts/b.py", "skill": "other"})
    assert refused.success or failure(refused)["code"] != "policy_denied"


@pytest.mark.proves("governance.policy.invalid-closes")
async def test_an_invalid_file_closes_running_sessions_with_its_own_code(skills: Path, user_file: Path) -> None:
    session = Session(Catalog(skills), extra_tools=[FunctionTool(_note)])
    await session.load(["other"])
    _put(user_file, "default = ")
    for name, arguments in (("_note", {"text": "x"}), ("skills.read", {"path": "references/a.md"})):
        error = failure(await session.call(name, arguments))
        assert error["code"] == "policy_invalid"
        assert str(user_file) in str(error["message"])
    assert "Text of other." not in session.instructions()


async def test_nothing_that_comes_from_policy_outlives_a_call(
    skills: Path, user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rules, settings of scripts and tools, commands and audit change in a running session, and change back."""
    if not default_sandbox().probe().available:
        pytest.skip("scripts need a sandbox")
    monkeypatch.setenv("HOST_TOKEN", "t0ken")
    show = {"scripts/a.py": "import os\nprint(os.environ.get('HOST_TOKEN'))\n"}
    write_skill(skills, "shown", files=show, extra="allowed-tools: Read\n", body="Now: !`/usr/bin/printf 1%s 2`.\n")
    session = Session(Catalog(skills), extra_tools=[FunctionTool(_note)])
    await session.load(["shown"])

    async def seen() -> dict[str, object]:
        ran, noted = (
            await session.call("skills.run_script", {"path": "scripts/a.py"}),
            await session.call("_note", {"text": "x"}),
        )
        await session.call("skills.unload", {"all": True})
        await session.call("skills.load", {"names": ["shown"]})
        return {
            "script": result(ran)["stdout"] if ran.success else failure(ran)["code"],
            "note": "ran" if noted.success else failure(noted)["code"],
            "commands": "Now: 12." in session.instructions(),
        }

    usual = {"script": "None\n", "note": "tool_not_allowed", "commands": False}
    assert await seen() == usual
    for settings, changed in (
        ('env_allow = ["HOST_TOKEN"]\n', {"script": "t0ken\n"}),
        ("script_dirs = []\n", {"script": "policy_denied"}),
        ('allowed_tools = "ask"\n', {"note": "approval_required"}),
        ('allowed_tools = "preapprove"\n', {"note": "ran"}),
        ("dynamic_commands = true\n", {"commands": True}),
        (_rule("deny", "skills.run_script"), {"script": "policy_denied"}),
        (_rule("deny", "_note"), {"note": "policy_denied"}),
        ("[audit]\nrequired = true\n", {"script": "unavailable", "note": "unavailable"}),
    ):
        _put(user_file, f'default = "allow"\n{settings}')
        assert await seen() == {**usual, **changed}, settings
        _put(user_file, None)
        if "required" in settings:
            await session.load(["shown"])
        assert await seen() == usual, settings


async def test_a_session_for_tests_is_unrestricted_and_recorded_as_such(
    skills: Path, user_file: Path, tmp_path: Path
) -> None:
    _put(user_file, 'default = "deny"\n')
    log = tmp_path / "audit.jsonl"
    session = Session(
        Catalog(skills),
        extra_tools=[FunctionTool(_note)],
        policy=Policy.unrestricted_for_tests(),
        audit=JsonlAuditLog(log, "second"),
    )
    assert (await session.call("_note", {"text": "x"})).success
    started = _records(log)
    assert {record["data"].get("allowed_by") for record in started if record["kind"] == "tool.started"} == {
        "unrestricted-for-tests"
    }


_HOST = """
import sys
from prowess import Catalog, SyncSession
session = SyncSession(Catalog(sys.argv[1]))
for _ in sys.stdin:
    print(session.call("skills.load", {"names": ["deploy"]}).success, flush=True)
"""


@pytest.mark.proves("governance.policy.next-call")
def test_another_process_meets_a_new_rule_at_its_next_call(skills: Path, user_file: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _HOST, str(skills)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdin is not None
        assert host.stdout is not None

        def answer() -> str:
            assert host.stdin is not None
            assert host.stdout is not None
            host.stdin.write("call\n")
            host.stdin.flush()
            return host.stdout.readline().strip()

        assert answer() == "True"
        _put(user_file, _rule("deny", "skills.load", names="deploy"))
        assert answer() == "False"
        _put(user_file, None)
        assert answer() == "True"
        host.stdin.close()
