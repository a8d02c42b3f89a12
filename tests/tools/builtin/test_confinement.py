"""No path, link or race leads a built-in tool out of its workspace."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from prowess.errors import InvalidArgumentsError, ToolNotFoundError
from prowess.tools.builtin import builtin_tools
from prowess.tools.builtin.workspace import Workspace
from tests.tools.builtin.desk import Desk

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

OUTSIDE = [
    ("/etc/passwd", "it is outside of the workspace"),
    ("../secret.txt", "a '..' component could leave the workspace"),
    ("a/../../secret.txt", "a '..' component could leave the workspace"),
    ("a\\b", "it holds a backslash"),
    ("C:/a", "it begins with a drive letter"),
    ("a\0b", "it holds a NUL character"),
    ("", "it is empty"),
    ("link.txt", "it is a symbolic link"),
    ("links/secret.txt", "'links' is a symbolic link"),
    ("pipe", "it is not a regular file but a pipe"),
]


@pytest.fixture
def hostile(desk: Desk) -> Desk:
    secret = desk.root.parent / "secret.txt"
    secret.write_text("secret")
    (desk.root / "link.txt").symlink_to(secret)
    (desk.root / "links").symlink_to(desk.root.parent, target_is_directory=True)
    os.mkfifo(desk.root / "pipe")
    desk.put("plain.txt", "plain secretless")
    return desk


@pytest.mark.proves("runtime.builtin.confined", "runtime.toolargs.errors")
@pytest.mark.parametrize(("path", "why"), OUTSIDE)
@pytest.mark.parametrize(
    ("tool", "more"),
    [("Read", {}), ("Write", {"content": "x"}), ("Edit", {"old_string": "secret", "new_string": "x"})],
)
async def test_no_file_outside_is_read_or_written(
    hostile: Desk, path: str, why: str, tool: str, more: dict[str, object]
) -> None:
    code, sentence = await hostile.bad(tool, file_path=path, **more)
    assert code == "unsafe_path"
    assert sentence.startswith("Permission denied: ")
    assert why in sentence
    assert (hostile.root.parent / "secret.txt").read_text() == "secret"
    assert sorted(os.listdir(hostile.root)) == ["link.txt", "links", "pipe", "plain.txt"]


@pytest.mark.proves("runtime.builtin.confined")
@pytest.mark.parametrize("path", ["/", "..", "links", "/etc"])
async def test_no_search_begins_outside(hostile: Desk, path: str) -> None:
    for tool in ("Glob", "Grep"):
        code, sentence = await hostile.bad(tool, pattern="secret", path=path)
        assert (code, sentence.startswith("Permission denied: ")) == ("unsafe_path", True)


@pytest.mark.proves("runtime.builtin.confined")
async def test_no_search_follows_a_link(hostile: Desk) -> None:
    assert (await hostile.good("Glob", pattern="**"))["files"] == ["plain.txt"]
    assert (await hostile.good("Grep", pattern="secret"))["files"] == ["plain.txt"]


async def test_a_directory_that_becomes_a_link_leads_nowhere(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a/b.txt", "inside")
    outside = desk.root.parent / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("outside")
    opening = os.open

    def exchange(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "a" and not (desk.root / "a").is_symlink():
            (desk.root / "a").rename(desk.root / "old")
            (desk.root / "a").symlink_to(outside, target_is_directory=True)
        return opening(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr("os.open", exchange)
    code, _ = await desk.bad("Write", file_path="a/b.txt", content="x")
    assert code == "unsafe_path"
    assert (outside / "b.txt").read_text() == "outside"
    assert os.listdir(outside) == ["b.txt"]


async def test_the_workspace_has_three_names(desk: Desk) -> None:
    desk.put("a/b.txt", "text")
    named = desk.root.parent / "named"
    named.symlink_to(desk.root)
    for path in ("a/b.txt", "./a//b.txt", str(desk.root / "a/b.txt"), "/workspace/a/b.txt"):
        assert (await desk.good("Read", file_path=path))["file_path"] == "a/b.txt"
    by_link = Desk(named)
    assert (await by_link.good("Read", file_path=str(named / "a/b.txt")))["content"] == "text"
    assert (await by_link.good("Glob", pattern="**", path="/workspace"))["files"] == ["a/b.txt"]


async def test_skills_in_force_can_be_read_and_not_written(desk: Desk, tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "pdf"
    (skill / "references").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\n---\nneedle\n")
    (skill / "references" / "a.md").write_text("needle\n")
    own = Desk(desk.root, readable=(str(skill),))
    path = str(skill / "references/a.md")
    assert (await own.good("Read", file_path=path))["file_path"] == path
    assert (await own.good("Glob", pattern="**/*.md", path=str(skill)))["count"] == 2
    assert path in str((await own.good("Grep", pattern="needle", path=str(skill)))["files"])
    assert await own.bad("Write", file_path=path, content="x") == (
        "policy_denied",
        f"Permission denied: {path}: it belongs to a skill, which is read-only",
    )
    assert (await own.bad("Read", file_path=str(skill / "refs.md")))[1].startswith("File not found: ")
    assert (await own.bad("Read", file_path=str(tmp_path / "skills" / "other")))[0] == "unsafe_path"
    assert (await desk.bad("Read", file_path=path))[0] == "unsafe_path"


@pytest.mark.proves("runtime.builtin.scripts-hidden")
@pytest.mark.parametrize("name", ["SKILL.md", "skill.md"])
async def test_scripts_of_a_skill_are_not_shown(desk: Desk, name: str) -> None:
    desk.put(f".prowess/skills/pdf/{name}", "needle")
    desk.put(".prowess/skills/pdf/scripts/deep/run.py", "needle")
    desk.put(".prowess/skills/pdf/Scripts/run.py", "needle")
    desk.put("scripts/build.py", "needle")  # no skill's
    for path in (".prowess/skills/pdf/scripts/deep/run.py", ".prowess/skills/pdf/Scripts/run.py"):
        code, sentence = await desk.bad("Read", file_path=path)
        assert (code, "are run with skills_run_script, not read" in sentence) == ("policy_denied", True)
        assert (await desk.bad("Read", file_path=path, encoding="binary"))[0] == "policy_denied"
    found = (await desk.good("Grep", pattern="needle", output_mode="content"))["content"]
    assert sorted(str(found).splitlines()) == [f".prowess/skills/pdf/{name}:1:needle", "scripts/build.py:1:needle"]
    assert (await desk.good("Grep", pattern="needle", path=".prowess/skills/pdf/scripts"))["files"] == []
    assert (await desk.good("Read", file_path="scripts/build.py"))["content"] == "needle"
    author = Desk(desk.root, show_scripts=True)
    assert (await author.good("Read", file_path=".prowess/skills/pdf/scripts/deep/run.py"))["content"] == "needle"


@pytest.mark.parametrize("tool", ["Write", "Edit"])
async def test_nothing_is_written_where_a_session_may_only_read(desk: Desk, tool: str) -> None:
    desk.put("a.txt", "old")
    more = {"content": "new"} if tool == "Write" else {"old_string": "old", "new_string": "new"}
    reader = Desk(desk.root, write=False)
    assert await reader.bad(tool, file_path="a.txt", **more) == (
        "policy_denied",
        "Permission denied: a.txt: this session may read the workspace, but not write to it",
    )
    assert (desk.root / "a.txt").read_text() == "old"


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "a/.GIT/config", ".hg/hgrc", ".vscode/tasks.json", ".envrc"])
async def test_what_other_programs_obey_is_not_written_to_and_can_be_read(desk: Desk, path: str) -> None:
    desk.put(path, "old")
    code, sentence = await desk.bad("Write", file_path=path, content="x")
    assert (code, " controls programs outside of the sandbox" in sentence) == ("policy_denied", True)
    assert (await desk.good("Read", file_path=path))["content"] == "old"


async def test_what_the_file_system_refuses_is_permission_denied(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("a.txt", "old").chmod(stat.S_IRUSR)
    code, sentence = await desk.bad("Write", file_path="a.txt", content="new")
    assert (code, sentence) == ("policy_denied", "Permission denied: a.txt: the file is marked read-only")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("prowess._internal.files.contained.os.open", refuse)
    assert (await desk.bad("Read", file_path="a.txt"))[1] == "Permission denied: a.txt: Permission denied"


def test_what_cannot_be_a_workspace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentsError, match="it is the root of the file system"):
        Workspace("/")
    with pytest.raises(InvalidArgumentsError, match="it is not a directory"):
        Workspace(tmp_path / "none")


def test_tools_are_chosen_by_name(tmp_path: Path) -> None:
    names = [tool.spec.name for tool in builtin_tools(workspace=tmp_path)]
    assert names == ["Read", "Glob", "Grep", "Bash"]
    assert [tool.spec.name for tool in builtin_tools(["Edit", "Read"], workspace=tmp_path)] == ["Edit", "Read"]
    assert len(builtin_tools(workspace=tmp_path, write=True)) == 6
    with pytest.raises(ToolNotFoundError, match="'Python'"):
        builtin_tools(["Python"], workspace=tmp_path)
