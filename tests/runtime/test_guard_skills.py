"""Guard skills as their authors wrote them (garrytan/gstack, MIT): they load, and refuse what they mean to refuse."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.catalog import Catalog
from prowess.execution import default_sandbox
from prowess.policy import Policy, PolicyFile, read_policy_file
from prowess.runtime import Session
from prowess.tools import ToolSpec
from prowess.tools.spec import object_schema
from tests.runtime.making import failure, result

if TYPE_CHECKING:
    from prowess.tools import ToolCall

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not default_sandbox().probe().available, reason="no sandbox can start here"),
]

GUARDS = Path(__file__).parent / "guard_skills"


class _Noted:
    """A tool of the host that notes its calls."""

    def __init__(self, name: str, argument: str) -> None:
        schema = object_schema(argument, **{argument: {"type": "string"}})
        self.spec = ToolSpec(name=name, description="Notes.", input_schema=schema)
        self.ran: list[object] = []

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        self.ran.extend(arguments.values())
        return {}


async def _session(tmp_path: Path, vintage: str, skill: str, tools: list[_Noted]) -> Session:
    root, work = tmp_path / "skills", tmp_path / "work"
    shutil.copytree(GUARDS / vintage, root)
    (work / "src").mkdir(parents=True)
    policy = Policy(files=(PolicyFile(path="test", default="allow", allowed_tools="preapprove"),))
    session = Session(Catalog(root), workspace=work, write=True, extra_tools=tools, policy=policy)
    result(await session.call("skills.load", {"names": [skill]}))
    return session


@pytest.mark.parametrize("vintage", ["now", "then"])
@pytest.mark.parametrize("skill", ["careful", "guard"])
@pytest.mark.proves("runtime.hooks.decision", "runtime.hooks.variables")
async def test_careful_has_a_person_asked_about_what_destroys(tmp_path: Path, vintage: str, skill: str) -> None:
    bash = _Noted("Bash", "command")
    session = await _session(tmp_path, vintage, skill, [bash])
    for harmless in ("git status", "rm -rf node_modules"):
        result(await session.call("Bash", {"command": harmless}))
    for command in ("rm -rf src", "git push -f origin main", "git reset --hard", "psql -c 'DROP TABLE users'"):
        refused = failure(await session.call("Bash", {"command": command}))
        assert refused["code"] == "approval_required", command
        assert "[careful]" in refused["message"]
    refused = failure(await session.call("Bash", {"command": "rm -rf /"}))
    assert refused["code"] == ("hook_failed" if vintage == "now" else "approval_required")
    assert bash.ran == ["git status", "rm -rf node_modules"]


@pytest.mark.parametrize("vintage", ["now", "then"])
@pytest.mark.parametrize("skill", ["freeze", "guard", "investigate"])
@pytest.mark.parametrize("tool", ["Edit", "Write"])
@pytest.mark.proves("runtime.hooks.decision", "runtime.hooks.variables")
async def test_freeze_keeps_edits_inside_its_boundary(tmp_path: Path, vintage: str, skill: str, tool: str) -> None:
    edit = _Noted(tool, "file_path")
    session = await _session(tmp_path, vintage, skill, [edit])
    result(await session.call(tool, {"file_path": "before.py"}))  # no boundary yet
    state = tmp_path / "work" / ".prowess-data"
    state.mkdir()
    (state / "freeze-dir.txt").write_text("/workspace/src/\n")
    result(await session.call(tool, {"file_path": "src/a.py"}))
    result(await session.call(tool, {"file_path": "/workspace/src/b.py"}))
    for path in ("a.py", "/workspace/a.py", "/etc/passwd", *(["src/../a.py"] if vintage == "now" else [])):
        refused = failure(await session.call(tool, {"file_path": path}))
        assert refused["code"] == "hook_failed", path
        assert "[freeze] Blocked" in refused["message"]
    assert edit.ran == ["before.py", "src/a.py", "/workspace/src/b.py"]


@pytest.mark.parametrize("vintage", ["now", "then"])
@pytest.mark.parametrize(("skill", "missing"), [("guard", "careful"), ("guard", "freeze"), ("investigate", "freeze")])
async def test_a_guard_whose_script_is_in_a_skill_that_is_not_there_is_not_loaded_or_stays_shut(
    tmp_path: Path, vintage: str, skill: str, missing: str
) -> None:
    root = tmp_path / "skills"
    shutil.copytree(GUARDS / vintage, root)
    shutil.rmtree(root / missing)
    session = Session(Catalog(root), workspace=tmp_path, write=True)
    outcome = await session.call("skills.load", {"names": [skill]})
    if (vintage, skill) == ("now", "investigate"):
        assert outcome.success  # its author lets edits through without the script: `[ -x "$S" ] && …; exit 0`
    else:
        assert "names a file that the skill does not contain" in failure(outcome)["message"]


async def test_a_skill_beside_that_the_policy_denies_lends_no_script(tmp_path: Path) -> None:
    root = tmp_path / "skills"
    shutil.copytree(GUARDS / "then", root)
    rule = '[[rule]]\neffect = "deny"\ntool = "skills.load"\nmatch = { names = "careful" }\n'
    (tmp_path / "p.toml").write_text(f'default = "allow"\n{rule}')
    session = Session(Catalog(root), policy=Policy(files=(read_policy_file(str(tmp_path / "p.toml")),)))
    assert failure(await session.call("skills.load", {"names": ["guard"]}))["code"] == "hook_failed"
