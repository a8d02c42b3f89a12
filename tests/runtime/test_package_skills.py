"""Skills of a package in sessions, servers and adapters: every file is compared when it is read or run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from prowess.adapters.skill_contents import SkillContents
from prowess.catalog import Catalog
from prowess.cli.dispatch import run
from prowess.errors import SkillError
from prowess.mcp_server.server import open_session
from prowess.runtime import Session
from prowess.store import MemorySessionStore
from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.builtin import builtin_tools
from tests.catalog.installing import install, site_of, skill_text
from tests.runtime.making import failure, result

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

SKILL = "acme/.agents/skills/report"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    monkeypatch.setenv("PROWESS_PACKAGES", "project")
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(root)
    site = site_of(root / ".venv")
    files = {
        f"{SKILL}/SKILL.md": skill_text("report", extra="hooks:\n  pre: scripts/before.sh\n"),
        f"{SKILL}/references/guide.md": "needle in the guide\n",
        f"{SKILL}/scripts/make.sh": "echo made\n",
        f"{SKILL}/scripts/before.sh": "exit 0\n",
    }
    install(site, "acme", files)
    for path in files:
        os.link(site / path, tmp_path / path.replace("/", "-"))
    assert run(["trust", "--package", "acme"]) == 0
    return root


def skill_of(project: Path) -> Path:
    return project / ".venv" / "lib" / "python3.11" / "site-packages" / SKILL


def exchange(file: Path, text: str) -> None:
    """Put other bytes into the package, as a link to a file at another place."""
    aside = file.with_name("aside")
    aside.write_text(text)
    aside.rename(file)
    os.link(file, file.parent.parent.parent / f"second-{file.name}")


async def _read(session: Session, path: str) -> Any:  # noqa: ANN401 -- a tool's result
    return await session.call("skills.read", {"path": path})


async def test_a_session_reads_and_runs_the_files_that_were_recorded(project: Path) -> None:
    async with Session(Catalog.discover(cwd=project)) as session:
        await session.load(["report"])
        assert result(await _read(session, "references/guide.md"))["text"] == "needle in the guide\n"
        ran = result(await session.call("skills.run_script", {"path": "scripts/make.sh"}))
        assert ran["stdout"] == "made\n"


async def test_a_file_that_changes_after_the_load_is_neither_read_nor_run(project: Path) -> None:
    async with Session(Catalog.discover(cwd=project)) as session:
        await session.load(["report"])
        exchange(skill_of(project) / "references" / "guide.md", "needle of another\n")
        exchange(skill_of(project) / "scripts" / "make.sh", "echo other\n")
        assert failure(await _read(session, "references/guide.md"))["code"] == "digest_changed"
        assert failure(await session.call("skills.run_script", {"path": "scripts/make.sh"}))["code"] == "digest_changed"
        again = failure(await session.call("skills.load", {"names": ["report"]}))
        assert again["code"] == "skill_invalid"
        assert "acme 1.0 recorded" in str(again)


async def test_a_session_that_another_process_began_compares_with_the_record_too(project: Path) -> None:
    store = MemorySessionStore()
    first, second, third = (Session(Catalog.discover(cwd=project), store=store, session_id="one") for _ in range(3))
    await first.load(["report"])
    assert result(await _read(second, "references/guide.md"))["text"] == "needle in the guide\n"
    exchange(skill_of(project) / "scripts" / "make.sh", "echo other\n")
    assert failure(await _read(third, "references/guide.md"))["code"] == "digest_changed"


async def test_workspace_tools_show_only_what_was_loaded(project: Path) -> None:
    async with Session(Catalog.discover(cwd=project)) as session:
        await session.load(["report"])
        workspace = project / "work"
        workspace.mkdir()
        tools = builtin_tools(("read", "grep"), workspace=workspace, readable=lambda: session.skill_directories)
        executor = ToolExecutor(tools)
        guide = str(skill_of(project) / "references" / "guide.md")
        read = ToolCall(id="1", name="Read", arguments={"file_path": guide})
        grep = ToolCall(id="2", name="Grep", arguments={"pattern": "needle", "path": str(skill_of(project))})
        assert "needle in the guide" in str((await executor.call(read)).unwrap())
        assert (await executor.call(grep)).unwrap()["files"] == [guide]
        exchange(skill_of(project) / "references" / "guide.md", "needle of another\n")
        assert (await executor.call(read)).error is not None
        assert (await executor.call(grep)).unwrap()["files"] == []


async def test_resources_and_adapters_serve_the_recorded_bytes_and_refuse_others(project: Path) -> None:
    catalog = Catalog.discover(cwd=project)
    session = open_session(catalog, workspace=None)
    contents = SkillContents(catalog)
    uri = "skill://report/references/guide.md"
    assert session.skills.read(uri)[1] == b"needle in the guide\n"
    assert contents.file("report", "references/guide.md") == b"needle in the guide\n"
    assert contents.digest("report") is not None
    exchange(skill_of(project) / "references" / "guide.md", "needle of another\n")
    with pytest.raises(SkillError, match="recorded"):
        session.skills.read(uri)
    with pytest.raises(SkillError, match="recorded"):
        contents.file("report", "references/guide.md")
    await session.close()
