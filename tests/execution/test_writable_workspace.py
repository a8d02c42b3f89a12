"""What a script may write to the workspace is data: places that other tools obey stay as they are."""

from __future__ import annotations

import os
import tempfile
import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import pytest
from msgspec import structs

from prowess.errors import InvalidArgumentsError, SandboxUnavailableError, UnavailableError
from prowess.execution import writable_workspace as guard
from prowess.execution.workspace import PROTECTED_PLACES, protected_entries, protected_part
from prowess.execution.writable_workspace import WritableWorkspace, writable_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.execution.bench import Bench

pytestmark = pytest.mark.anyio


def _populate(workspace: Path) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / ".git" / "config").write_text("[core]\n")
    (workspace / ".claude" / "skills").mkdir(parents=True)
    (workspace / ".mcp.json").write_text("{}")
    (workspace / ".bashrc").write_text("")


@pytest.mark.parametrize(
    "attack",
    [
        "echo x > .git/hooks/pre-commit",
        "echo x >> .git/config",
        "rm -rf .git",
        "mv .git git",
        "mkdir .claude/skills/evil",
        "mv .claude claude",
        "echo x > .mcp.json",
        "rm .mcp.json",
        "ln -sf /tmp/x .mcp.json",
        "ln .mcp.json again",
        "echo x > .bashrc",
        "mkdir d; mv d/.. e 2>&1; mount -o remount,rw .git",
        "umount .git",
    ],
)
async def test_a_script_that_may_write_changes_no_protected_place(bench: Bench, attack: str) -> None:
    _populate(bench.workspace)
    before = _state(bench.workspace)
    result = await bench.sh(f"{attack}\nstatus=$?\necho fine > data\nexit $status", workspace=True, write=True)
    assert result.exit_code != 0, result.stdout
    assert _state(bench.workspace) == before
    assert (bench.workspace / "data").read_text() == "fine\n"
    assert result.notices == ()
    assert "protected_places" in result.guarantees.enforced
    assert "repositories further down" in dict(result.guarantees.not_enforced)["workspace_programs"]


def _state(workspace: Path) -> list[tuple[str, int, bytes]]:
    found = []
    for name in (".git", ".claude", ".mcp.json", ".bashrc"):
        top = workspace / name
        for path in [top, *top.rglob("*")]:
            facts = path.lstat()
            found.append((str(path), facts.st_ino, b"" if path.is_dir() else path.read_bytes()))
    return found


async def test_a_protected_place_that_the_script_made_is_named_and_kept_from_the_next_one(bench: Bench) -> None:
    result = await bench.sh("mkdir -p .git/hooks; echo 1 > .envrc", workspace=True, write=True)
    [notice] = result.notices
    assert notice.code == "protected_place_made"
    assert ".git, .envrc" in notice.message
    again = await bench.sh("echo x > .git/hooks/post-checkout", workspace=True, write=True)
    assert again.exit_code != 0
    assert again.notices == ()


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "second name"])
async def test_a_workspace_with_a_place_that_cannot_be_protected_is_not_opened_for_writing(
    bench: Bench, kind: str
) -> None:
    place = bench.workspace / ".mcp.json"
    (bench.workspace / "target").write_text("")
    match kind:
        case "link":
            place.symlink_to("target")
        case "dangling":
            place.symlink_to("/oldroot/tmp/made-on-the-host")
        case "pipe":
            os.mkfifo(place)
        case _:
            os.link(bench.workspace / "target", place)
    with pytest.raises(InvalidArgumentsError, match=r"\.mcp\.json could not be protected, because it is"):
        await bench.sh("echo x > new", workspace=True, write=True)
    assert not (bench.workspace / "new").exists()
    assert (await bench.sh("exit 0", workspace=True)).exit_code == 0  # reading needs no protection


async def test_one_script_at_a_time_writes_to_a_workspace(bench: Bench) -> None:
    source = "echo $1 >> order; sleep 0.1; echo $1 >> order"
    async with anyio.create_task_group() as group:
        for name in ("a", "b"):
            request = bench.request(f"{name}.sh", source, name, workspace=True, write=True)
            group.start_soon(bench.sandbox.run, request)
    assert (bench.workspace / "order").read_text() in {"a\na\nb\nb\n", "b\nb\na\na\n"}


def test_waiting_for_another_writer_ends_when_the_run_is_cancelled_or_after_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wake, cancel = os.pipe()
    with writable_workspace(str(tmp_path), wake):
        closing = threading.Timer(0.05, os.close, [cancel])
        closing.start()
        with pytest.raises(UnavailableError, match="another script writes to"), writable_workspace(str(tmp_path), wake):
            pass
        closing.join()
        monkeypatch.setattr(guard, "_WAIT_SECONDS", 0.01)
        other, keep = os.pipe()
        with pytest.raises(UnavailableError), writable_workspace(str(tmp_path), other):
            pass
    for fd in (wake, other, keep):
        os.close(fd)


@pytest.mark.parametrize("above", ["", "a"])
@pytest.mark.parametrize("first", ["above", "below"])
async def test_a_writer_above_or_below_a_workspace_waits(bench: Bench, above: str, first: str) -> None:
    """CVE-2026-87766: a script that writes above could move what a mount point is made below."""
    below = bench.workspace / "a" / "b"
    below.mkdir(parents=True)
    directories = [str(below), str(bench.workspace / above)]
    if first == "above":
        directories.reverse()
    order: list[str] = []

    async def write(directory: str) -> None:
        request = bench.request("run.sh", "touch begun; sleep 0.6", workspace=True, write=True)
        await bench.sandbox.run(structs.replace(request, workspace=directory, out_dir=None))
        order.append(directory)

    async with anyio.create_task_group() as group:
        group.start_soon(write, directories[0])
        while not await anyio.Path(directories[0], "begun").exists():  # noqa: ASYNC110 -- another process makes it
            await anyio.sleep(0.01)
        await write(directories[1])
        assert order == directories


async def test_writers_beside_each_other_and_readers_do_not_wait(bench: Bench) -> None:
    for name in ("a", "b"):
        (bench.workspace / name).mkdir()
    wake, keep = os.pipe()
    with writable_workspace(str(bench.workspace / "a"), wake), writable_workspace(str(bench.workspace / "b"), wake):
        assert (await bench.sh("ls a", workspace=True)).exit_code == 0
    for fd in (wake, keep):
        os.close(fd)


async def test_a_script_cannot_hold_up_those_that_write(bench: Bench) -> None:
    import fcntl  # here, because only this test locks

    directory = os.open(bench.workspace, os.O_RDONLY)
    fcntl.flock(directory, fcntl.LOCK_EX)
    try:
        began = anyio.current_time()
        assert (await bench.sh("echo x > new", workspace=True, write=True)).exit_code == 0
        assert anyio.current_time() - began < 5
    finally:
        os.close(directory)


async def test_without_a_home_the_locks_lie_in_a_private_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    wake, keep = os.pipe()
    with writable_workspace(str(tmp_path), wake):
        [place] = (tmp_path / "tmp").iterdir()
        assert place.stat().st_mode & 0o077 == 0
        assert len(list(place.iterdir())) == len(tmp_path.parts)
    for fd in (wake, keep):
        os.close(fd)


def test_a_mount_that_did_not_land_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    workspace = WritableWorkspace(root=str(tmp_path), places=(".git",))
    with pytest.raises(SandboxUnavailableError, match=r"\.git .* could not be kept read-only"):
        workspace.check_mounts(os.getpid())  # this process has no /workspace with it


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (".git/hooks/x", ".git"),
        (".GIT/config", ".GIT"),
        ("sub/.git/config", ".git"),
        (".claude/skills/x/SKILL.md", ".claude"),
        (".mcp.json", ".mcp.json"),
        ("sub/.mcp.json", None),
        ("src/git.py", None),
        ("", None),
    ],
)
def test_a_path_is_judged_by_its_components(path: str, part: str | None) -> None:
    assert protected_part(tuple(path.split("/")) if path else ()) == part


def test_each_place_is_one_component() -> None:
    assert [name for name in PROTECTED_PLACES if "/" in name or name in {"", ".", ".."}] == []
    assert len(set(PROTECTED_PLACES)) == len(PROTECTED_PLACES)


def test_only_what_is_there_is_listed(tmp_path: Path) -> None:
    assert protected_entries(str(tmp_path)) == ((), None)
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")  # as in a worktree
    assert protected_entries(str(tmp_path)) == ((".git",), None)


def test_where_a_file_system_knows_no_locks_the_look_from_outside_has_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl  # here, because only this test takes it away

    def refuse(*_: object) -> None:
        raise OSError(9, "Bad file descriptor")

    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(fcntl, "flock", refuse)
    wake, keep = os.pipe()
    with writable_workspace(str(tmp_path), wake) as workspace:
        assert workspace.places == (".git",)
    for fd in (wake, keep):
        os.close(fd)
