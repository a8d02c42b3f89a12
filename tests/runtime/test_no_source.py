"""The text of a script in no result, prompt, error, event or record; and the one place where a program prints it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.audit import JsonlAuditLog
from prowess.catalog import Catalog
from prowess.policy import Policy, PolicyFile
from prowess.runtime import Session
from prowess.tools.builtin import builtin_tools
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.runtime.events.event import SessionEvent
    from prowess.runtime.options import Body

pytestmark = pytest.mark.anyio

MARK = "Zx9-inner-workings"
SCRIPT = f"# {MARK}\nimport sys\nprint('printed')\nsys.exit(3)\n"
BROKEN = f"raise SystemExit('{MARK}'[:0] or 4)  # {MARK}\n"
SECTIONED = f"# One\n\n{MARK}\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "work"
    files = {
        "scripts/run.py": SCRIPT,
        "scripts/broken.py": BROKEN,
        "scripts/guide.md": SECTIONED,
        "scripts/odd.xyz": MARK,
        "Scripts/other.py": SCRIPT,
        "notes.md": "Notes.\n",
    }
    write_skill(place / ".agents" / "skills", "kit", files=files, body="Run scripts/run.py.\n")
    return place


def _session(workspace: Path, **options: Any) -> Session:  # noqa: ANN401 -- the options of Session
    root = workspace / ".agents" / "skills"
    tools = builtin_tools(
        ["Read", "Grep", "Glob", "Bash"], workspace=workspace, readable=lambda: [str(root / "kit")], session_id="s"
    )
    policy = Policy(files=(PolicyFile(path="p", default="allow"),))
    return Session(Catalog(root), workspace=workspace, extra_tools=tools, policy=policy, **options)


@pytest.mark.proves("runtime.run.no-source", "runtime.read.scripts-metadata")
@pytest.mark.parametrize("body", ["instructions", "result"])
async def test_no_result_prompt_error_or_record_holds_the_text_of_a_script(
    workspace: Path, tmp_path: Path, body: Body
) -> None:
    log = tmp_path / "audit.jsonl"
    events: list[SessionEvent] = []
    session = _session(workspace, body=body, audit=JsonlAuditLog(log), on_event=events.append)
    calls: list[tuple[str, dict[str, object]]] = [
        ("skills.load", {"names": ["kit"]}),
        ("skill", {"skill": "kit", "args": "x"}),
        ("skills.run_script", {"path": "scripts/run.py"}),
        ("skills.run_script", {"path": "scripts/broken.py"}),
        ("skills.run_script", {"path": "scripts/odd.xyz"}),
        ("skills.run_script", {"path": "scripts/rum.py"}),
        ("Grep", {"pattern": "inner-work", "output_mode": "content"}),
        ("Grep", {"pattern": "inner-work", "path": ".agents/skills/kit/scripts", "output_mode": "content"}),
        ("Glob", {"pattern": "**/*"}),
    ]
    for path in ("scripts/run.py", "scripts/guide.md", "scripts/odd.xyz", "Scripts/other.py", "./scripts//run.py"):
        calls += [("skills.read", {"path": path, **more}) for more in ({}, {"encoding": "binary"}, {"section": "one"})]
        calls.append(("Read", {"file_path": f".agents/skills/kit/{path}"}))
        calls.append(("Read", {"file_path": str(workspace / ".agents/skills/kit" / path), "encoding": "binary"}))
    seen = []
    for tool, arguments in calls:
        outcome = await session.call(tool, arguments)
        assert (outcome.error_detail or {}).get("code") != "tool_not_found", tool
        seen.append(json.dumps(outcome.as_dict()))
        seen.append(session.instructions(navigation=True, tool_system=True))
    seen.append(json.dumps(session.tools("mcp")))
    seen.append(session.restore_after_compaction())
    seen.append((tmp_path / "audit.jsonl").read_bytes().decode())

    await session.close()
    assert events
    seen.append(repr(events))

    assert "printed" in "".join(seen)
    for text in seen:
        assert MARK not in text
        assert "aW5uZXIt" not in text  # the middle of it as base64, at one of its three places
        assert "import sys" not in text


async def test_what_a_command_line_prints_is_its_own_output(workspace: Path) -> None:
    session = _session(workspace)

    refused = await session.call("Read", {"file_path": ".agents/skills/kit/scripts/run.py"})
    assert "are run with skills_run_script, not read" in str(failure(refused)["message"])
    printed = result(await session.call("Bash", {"command": "cat .agents/skills/kit/scripts/run.py"}))
    assert MARK in printed["stdout"]
