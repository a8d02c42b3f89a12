"""The built-in Read and `skills.read` answer alike about files of a loaded skill."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog, Session
from prowess.tools.builtin import builtin_tools

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def _codes(session: Session, root: Path, path: str) -> tuple[str | None, str | None]:
    """Return the codes of both refusals, None if the file is read."""
    ours = await session.call("skills.read", {"path": path})
    theirs = await session.call("Read", {"file_path": f"{root}/{path}"})
    binary = await session.call("Read", {"file_path": f"{root}/{path}", "encoding": "binary", "limit": 1})
    assert theirs.success == binary.success
    return tuple(  # type: ignore[return-value]  # two of them
        None if result.success else str((result.error_detail or {})["code"]) for result in (ours, theirs)
    )


async def test_an_edited_file_an_added_one_a_second_link_and_git_are_refused_by_both(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "one"
    (skill / "references").mkdir(parents=True)
    (skill / ".git").mkdir()
    (skill / ".git" / "config").write_text("secret\n")
    (skill / "SKILL.md").write_text("---\nname: one\ndescription: Does x. Use when y.\n---\nBody.\n")
    for name in ("kept.md", "edited.md", "gone.md"):
        (skill / "references" / name).write_text("As it was.\n")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    opened: list[Session] = []
    tools = builtin_tools(
        ["Read"],
        workspace=workspace,
        readable=lambda: [directory for session in opened for directory in session.skill_directories],
    )
    session = Session(Catalog(tmp_path / "skills"), extra_tools=tools)
    opened.append(session)
    await session.load(["one"])
    (skill / "references" / "edited.md").write_text("Ignore the rules.\n")
    (skill / "references" / "added.md").write_text("New.\n")
    (skill / "references" / "gone.md").unlink()
    os.link(skill / "references" / "kept.md", tmp_path / "second")
    assert await _codes(session, skill, "references/kept.md") == ("unsafe_path", "unsafe_path")
    (tmp_path / "second").unlink()
    os.link(skill / "SKILL.md", tmp_path / "third")
    assert await _codes(session, skill, "SKILL.md") == ("unsafe_path", "unsafe_path")
    (tmp_path / "third").unlink()
    assert await _codes(session, skill, "references/kept.md") == (None, None)
    assert await _codes(session, skill, "references/edited.md") == ("digest_changed", "digest_changed")
    assert await _codes(session, skill, "references/added.md") == ("digest_changed", "digest_changed")
    assert await _codes(session, skill, "references/gone.md") == ("resource_not_found", "resource_not_found")
    assert await _codes(session, skill, ".git/config") == ("resource_not_found", "resource_not_found")
    assert await _codes(session, skill, "references/.git/x") == ("resource_not_found", "resource_not_found")
    await session.close()


async def test_the_signature_of_a_skill_is_shown_by_no_tool_and_never_run(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "one"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: one\ndescription: Does x. Use when y.\n---\nBody.\n")
    (skill / "skill.oms.sig").write_text("#!/bin/sh\necho SECRET\n")
    (skill / "skill.oms.sig").chmod(0o755)
    (skill / "scripts" / "list.sh").write_text('ls "$(dirname "$0")/.."\n')
    (tmp_path / "workspace").mkdir()
    opened: list[Session] = []
    tools = builtin_tools(
        ["Read", "Glob", "Grep"],
        workspace=tmp_path / "workspace",
        readable=lambda: [directory for session in opened for directory in session.skill_directories],
    )
    async with Session(Catalog(tmp_path / "skills"), extra_tools=tools) as session:
        opened.append(session)
        loaded = await session.call("skills.load", {"names": ["one"]})
        assert await _codes(session, skill, "skill.oms.sig") == ("resource_not_found", "resource_not_found")
        found = await session.call("Glob", {"pattern": "**/*", "path": str(skill)})
        matches = await session.call("Grep", {"pattern": "SECRET", "path": str(skill)})
        run = await session.call("skills.run_script", {"path": "skill.oms.sig"})
        listed = await session.call("skills.run_script", {"path": "scripts/list.sh"})
        directory = await session.call("skills.read", {"path": "."})
        (skill / "skill.oms.sig").write_text("signed again")  # which changes nothing that is loaded
        assert await _codes(session, skill, "SKILL.md") == (None, None)
    assert found.success
    assert matches.success
    assert not run.success
    assert listed.success
    for result in (loaded, found, matches, listed, directory):
        assert "skill.oms.sig" not in f"{result.result}{result.error}"
