"""What a person can rely on: trusted sources, consent, a sandbox or nothing, records, and a session that goes on."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from prowess.audit import JsonlAuditLog, verify_log
from prowess.catalog import Catalog
from prowess.catalog.trust import TrustStore
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.execution import default_sandbox
from prowess.execution.backends.bubblewrap import BubblewrapSandbox
from prowess.policy import Policy, PolicyFile
from prowess.runtime import Session
from prowess.tools.builtin import builtin_tools
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
needs_sandbox = pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here")

FILES = {
    "scripts/fail.py": "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(7)\n",
    "scripts/crash.py": "raise RuntimeError('broken')\n",
    "scripts/kill.sh": "kill -9 $$\n",
    "scripts/fine.sh": "echo fine\n",
    "scripts/odd.xyz": "?",
    "references/a.md": "Text.\n",
}


@needs_sandbox
@pytest.mark.proves("client.degrade.script-failure")
async def test_a_failing_script_is_a_result_and_the_session_goes_on(tmp_path: Path) -> None:
    write_skill(tmp_path, "kit", files=FILES)
    session = Session(Catalog(tmp_path))
    await session.load(["kit"])

    async def ran(path: str, **arguments: object) -> tuple[int, str, bool]:
        found = result(await session.call("skills.run_script", {"path": path, **arguments}))
        return found["exit_code"], found["stdout"] + found["stderr"], found["timed_out"]

    assert await ran("scripts/fail.py") == (7, "out\nerr\n", False)
    code, said, _ = await ran("scripts/crash.py")
    assert (code, "RuntimeError: broken" in said) == (1, True)
    assert (await ran("scripts/kill.sh"))[0] == 137
    assert failure(await session.call("skills.run_script", {"path": "scripts/odd.xyz"}))["code"] == "script_unsupported"
    assert await ran("scripts/fine.sh") == (0, "fine\n", False)
    assert [skill.name for skill in session.active_skills] == ["kit"]
    assert result(await session.call("skills.read", {"path": "references/a.md"}))["text"] == "Text.\n"


@pytest.mark.proves("client.safety.isolation", "runtime.run.sandboxed")
async def test_without_a_sandbox_no_script_runs_and_nothing_stands_in_for_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    write_skill(tmp_path / "skills", "kit", files={"scripts/a.sh": f"echo ran >{trace}\n"})
    sandbox = BubblewrapSandbox(program=str(tmp_path / "none"))
    session = Session(Catalog(tmp_path / "skills"), sandbox=sandbox, workspace=tmp_path / "skills", write=True)
    await session.load(["kit"])

    detail = failure(await session.call("skills.run_script", {"path": "scripts/a.sh"}))

    assert detail["code"] == "sandbox_unavailable"
    assert "bubblewrap" in detail["message"]
    assert not trace.exists()
    assert "skills.run_script" not in [spec.name for spec in session.tools()]


@needs_sandbox
@pytest.mark.proves("client.safety.trusted-sources")
def test_scripts_of_a_project_that_nobody_trusts_do_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    write_skill(project / ".agents" / "skills", "kit", files=FILES)
    monkeypatch.chdir(project)
    words = ["run", "kit", "scripts/fine.sh"]

    assert run(words) == exit_codes.FAILED
    refused = capfd.readouterr()
    assert refused.out == ""
    assert "trust" in refused.err
    TrustStore().trust(str(project))
    assert run(words) == exit_codes.OK
    assert capfd.readouterr().out == "fine\n"
    TrustStore().revoke(str(project))
    assert run(words) == exit_codes.FAILED


@needs_sandbox
@pytest.mark.proves("client.safety.consent")
async def test_what_is_dangerous_waits_for_a_person_or_a_policy(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "kept.txt").write_text("kept\n")
    probe = "import socket, sys\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])), 2)\nprint('reached')\n"
    files = {"scripts/delete.sh": 'rm -f "$WORKSPACE/kept.txt"\n', "scripts/net.py": probe}
    write_skill(tmp_path / "skills", "kit", files=files)
    dangerous: list[tuple[str, dict[str, object]]] = [
        ("Bash", {"command": "rm kept.txt"}),
        ("Write", {"file_path": "kept.txt", "content": "gone"}),
        ("Edit", {"file_path": "kept.txt", "old_string": "kept", "new_string": "gone"}),
    ]

    def session(**options: Any) -> Session:  # noqa: ANN401 -- the options of Session
        tools = builtin_tools(["Bash", "Write", "Edit"], workspace=work, write=True)
        return Session(Catalog(tmp_path / "skills"), workspace=work, extra_tools=tools, **options)

    careful = session()
    await careful.load(["kit"])
    for tool, arguments in dangerous:
        assert failure(await careful.call(tool, arguments))["code"] == "approval_required", tool
    assert result(await careful.call("skills.run_script", {"path": "scripts/delete.sh"}))["exit_code"] != 0
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        tried = result(await careful.call("skills.run_script", {"path": "scripts/net.py", "args": [port]}))
    assert "reached" not in tried["stdout"]
    assert tried["exit_code"] == 1
    assert (work / "kept.txt").read_text() == "kept\n"
    allowed = session(policy=Policy(files=(PolicyFile(path="p", default="allow"),)))
    assert (await allowed.call("Bash", {"command": "rm kept.txt"})).success
    assert not (work / "kept.txt").exists()


@pytest.mark.proves("client.activation.allowlist")
async def test_files_of_an_active_skill_need_no_permission_and_no_others_get_one(tmp_path: Path) -> None:
    asked: list[object] = []

    class Asked:
        async def approve(self, request: object) -> Any:  # noqa: ANN401 -- never answers
            asked.append(request)
            raise AssertionError

    write_skill(tmp_path, "kit", files=FILES)
    write_skill(tmp_path, "other", files={"secret.md": "secret\n", "references/a.md": "secret\n"})
    session = Session(Catalog(tmp_path), approver=Asked())
    await session.load(["kit"])

    assert result(await session.call("skills.read", {"path": "references/a.md"}))["text"] == "Text.\n"
    assert asked == []
    for given in (
        {"path": "../other/secret.md"},
        {"path": "secret.md", "skill": "other"},
        {"path": "references/a.md", "skill": "other"},
        {"path": "/etc/passwd"},
    ):
        assert not (await session.call("skills.read", given)).success, given
    await session.unload(["kit"])
    assert failure(await session.call("skills.read", {"path": "references/a.md"}))["code"] == "skill_not_active"


@needs_sandbox
@pytest.mark.proves("client.audit.executions")
async def test_each_run_and_each_decision_is_in_the_log_with_its_outcome(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "kit", files=FILES)
    log = JsonlAuditLog(tmp_path / "audit" / "audit.jsonl")
    rule = PolicyFile(path="p", default="allow", script_dirs=("scripts",))
    session = Session(Catalog(tmp_path / "skills"), audit=log, policy=Policy(files=(rule,)))
    await session.load(["kit"])
    for path in ("scripts/fail.py", "SKILL.md"):
        await session.call("skills.run_script", {"path": path}, f"call-{path}")
    await session.call("nothing", {}, "call-none")

    verified = verify_log(log.path)
    assert verified.faults == ()
    with open(log.path, encoding="utf-8") as file:  # noqa: ASYNC230 -- the loop has nothing else to do
        records = [json.loads(line) for line in file]
    of: dict[str, list[tuple[str, object]]] = {}
    for record in records:
        data = record["data"]
        of.setdefault(record["call_id"], []).append((record["kind"], data.get("exit_code", data.get("code"))))
    assert of["call-scripts/fail.py"][0] == ("tool.started", None)
    assert ("script.finished", 7) in of["call-scripts/fail.py"]
    assert of["call-scripts/fail.py"][-1] == ("tool.finished", None)
    assert of["call-SKILL.md"][-1] == ("tool.finished", "policy_denied")
    assert of["call-none"] == [("tool.refused", "tool_not_found")]
