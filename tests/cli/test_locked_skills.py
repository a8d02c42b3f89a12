"""Locked skills in every entry: the command line, Python, JSON lines, MCP and a watch, each as a process of its own."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from prowess import Catalog, SyncSession
from prowess.errors import DigestChangedError, SkillNotFoundError
from tests.catalog.locking import edit, lock, locked, place_of, store
from tests.cli.commands.test_watch import WATCH, watching
from tests.fork_server import prowess as forked_prowess

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def prowess(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([forked_prowess(), *arguments], input=given, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("work")
@pytest.mark.proves("governance.plugin.isolated", "governance.version.request")
def test_the_command_line_lists_loads_reads_and_runs_what_the_lock_names() -> None:
    skill = locked("deploy")
    lock(skill, locked("review", package="beta"))
    (listed, _) = json.loads(prowess("list", "--json").stdout)["skills"]
    assert (listed["name"], listed["layer"], listed["source"], listed["source_version"]) == (
        "deploy",
        "plugin",
        "acme",
        "1.0.0",
    )
    for text in ("deploy", "deploy@acme", "acme/deploy", "deploy@1.0.0"):
        assert "# Do it" in prowess("load", text).stdout, text
    assert prowess("read", "deploy@1.0.0", "SKILL.md").stdout.startswith("---\nname: deploy")
    assert prowess("run", "acme/deploy", "run.sh").stdout == "done\n"
    assert prowess("load", "deploy@2.0.0").returncode == 1
    assert "no copy of 'deploy' has the version 2.0.0; there is 1.0.0" in prowess("load", "deploy@2.0.0").stderr
    for path in ("../../../prowess.lock", f"../{skill.tree}/deploy/SKILL.md", str(place_of(skill) / "SKILL.md")):
        assert prowess("read", "review", path).returncode == 1, path


@pytest.mark.measured_once
@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("file", ["SKILL.md", "scripts/run.sh"])
def test_a_changed_tree_is_neither_listed_nor_loaded_read_or_run(file: str) -> None:
    skill = locked("deploy")
    lock(skill)
    assert prowess("run", "deploy", "run.sh").stdout == "done\n"
    edit(place_of(skill) / file, (place_of(skill) / file).read_text() + "echo more\n")
    assert prowess("list").stdout == ""
    for arguments in (("list",), ("load", "deploy"), ("read", "deploy", "SKILL.md"), ("run", "deploy", "run.sh")):
        done = prowess(*arguments)
        assert "are not those that prowess.lock names; run `prowess install --scope personal`" in done.stderr
        assert "more" not in done.stdout


@pytest.mark.usefixtures("work")
def test_a_session_refuses_files_that_changed_after_the_load() -> None:
    skill = locked("deploy")
    lock(skill)
    with SyncSession(Catalog.discover()) as session:
        session.load(["deploy@1.0.0"])
        session.read("SKILL.md")
        edit(place_of(skill) / "SKILL.md", (place_of(skill) / "SKILL.md").read_text() + "More.\n")
        with pytest.raises(DigestChangedError):
            session.read("SKILL.md")
        session.unload(all=True)
        with pytest.raises(SkillNotFoundError, match="not those that prowess"):
            session.load(["deploy"])
    with pytest.raises(SkillNotFoundError):
        Catalog.discover().get("deploy")


@pytest.mark.proves("governance.version.request")
@pytest.mark.usefixtures("work")
def test_json_lines_load_a_package_and_a_version() -> None:
    lock(locked("deploy"), locked("deploy", package="beta", version="2.0.0", order=2))
    calls = [
        {"id": number, "tool": "skills.load", "arguments": {"names": [name]}}
        for number, name in enumerate(("deploy", "deploy@1.0.0", "acme/deploy", "deploy@3.0.0"))
    ]
    done = prowess("session", given="".join(f"{json.dumps(call)}\n" for call in calls))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["success"] for answer in answers] == [True, True, True, False]
    assert answers[3]["error_detail"]["code"] == "skill_not_found"
    assert "there is 2.0.0, 1.0.0" in answers[3]["error"]


@pytest.mark.anyio
@pytest.mark.usefixtures("work")
async def test_the_mcp_server_offers_locked_skills_and_follows_the_lock() -> None:
    first = locked("deploy")
    lock(first)
    parameters = StdioServerParameters(command=forked_prowess(), args=["serve"])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        loaded = await client.call_tool("skills_load", {"names": ["acme/deploy"]})
        assert not loaded.is_error
        assert (await client.call_tool("skills_load", {"names": ["review"]})).is_error
        lock(first, locked("review", package="beta"))
        assert not (await client.call_tool("skills_load", {"names": ["review"]})).is_error


@pytest.mark.usefixtures("work")
def test_a_watch_tells_of_a_changed_lock() -> None:
    first, second = locked("deploy"), locked("review")
    path = lock(first)
    with watching([*WATCH, "--json"]) as watcher:
        watcher.until_it_watches()
        lock(first, second)
        added = watcher.document()
        assert (added["event"], added["name"]) == ("added", "review")
        path.unlink()
        assert {watcher.document()["name"], watcher.document()["name"]} == {"deploy", "review"}


@pytest.mark.measured_once
@pytest.mark.usefixtures("work")
@pytest.mark.proves("governance.plugin.isolated")
@pytest.mark.parametrize("package", ["acme", "beta"])
@pytest.mark.parametrize(
    "place", ["${CLAUDE_SKILL_DIR}/../helper/scripts/run.sh", "$HOME/.claude/skills/helper/scripts/run.sh"]
)
def test_a_hook_of_an_installed_skill_gets_no_files_of_another_one(package: str, place: str) -> None:
    hooks = f"hooks:\n  PreToolUse:\n  - command: bash {place}\n"
    guard = locked("guard", tree=store("guard", extra=hooks))
    lock(guard, locked("helper", package=package))
    refused = prowess("load", "guard")
    assert refused.returncode == 1
    assert "names a file that the skill does not contain" in refused.stderr
