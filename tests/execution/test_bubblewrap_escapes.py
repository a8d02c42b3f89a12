"""Ways out of the sandbox, each tried. `test_self_check` shows that the same probe succeeds without the sandbox."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.execution.backends import device_nodes
from prowess.execution.backends.bubblewrap_options import DEVICES, ETC_FILES, Layout, options
from prowess.execution.backends.device_nodes import device_directory
from prowess.execution.backends.syscall_filter import ARCHITECTURES
from prowess.execution.self_check import check_sandbox

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.execution.backends.bubblewrap import BubblewrapSandbox
    from tests.execution.bench import Bench

pytestmark = pytest.mark.anyio


@pytest.mark.proves("runtime.run.sandboxed", "client.safety.isolation")
async def test_every_escape_is_blocked_and_every_limit_holds(sandbox: BubblewrapSandbox) -> None:
    found = await check_sandbox(sandbox)
    assert [finding for finding in found.escapes if finding.held is not True] == []
    assert len(found.escapes) == (41 if os.uname().machine in ARCHITECTURES else 28)
    assert [finding for finding in found.limits if finding.held is False] == []
    assert len(found.limits) == 10
    assert found.passed
    assert found.overhead_ms > 0


@pytest.mark.parametrize("place", ["skill", "workspace"])
async def test_links_in_untrusted_trees_make_nothing_on_the_host(bench: Bench, tmp_path: Path, place: str) -> None:
    """CVE-2026-87766: a link through the old root, where a mount point would have to be made."""
    tree = bench.skill if place == "skill" else bench.workspace
    target = tmp_path / "made-on-the-host"
    for name in ("out", "tmp", "etc", "proc", "dev", "workspace", "skill", "interpreters"):
        (tree / name).symlink_to(f"/oldroot{target}/{name}")
        (tree / f"{name}-up").symlink_to(f"../../../../oldroot{target}/{name}")
    result = await bench.sh("echo fine", workspace=True, write=True)
    assert result.stdout == b"fine\n"
    assert not target.exists()


def test_no_mount_point_is_made_inside_the_skill_or_the_workspace() -> None:
    layout = Layout(
        skill="/s", workspace="/w", write=True, cwd="/workspace", interpreter=("/opt/x", "/interpreters/python3")
    )
    words = options(layout, dict.fromkeys(ETC_FILES, 9))
    takes_one = {"--tmpfs", "--dir", "--dev", "--proc", "--remount-ro"}
    takes_two = {"--bind", "--ro-bind", "--dev-bind", "--symlink", "--file"}
    points = [words[at + 1] for at, word in enumerate(words) if word in takes_one]
    points += [words[at + 2] for at, word in enumerate(words) if word in takes_two]
    assert {"/skill", "/workspace", "/out", "/etc/passwd"} <= set(points)
    assert [point for point in points if point.startswith(("/skill/", "/workspace/", "/usr/", "/out/"))] == []


async def test_the_devices_are_those_that_every_program_needs(bench: Bench) -> None:
    result = await bench.sh(
        "ls /dev; echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; "
        "head -c 3 /dev/random | wc -c; cat /dev/fd/0; echo heard > /dev/stdout; echo x > /dev/full; : > /dev/new",
    )
    names = ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    assert result.stdout.decode().split() == [*names, "3", "3", "3", "heard"]
    assert b"echo: I/O error" in result.stderr or b"No space left" in result.stderr
    assert b"/dev/new: Read-only file system" in result.stderr


_CHANGES_DEVICES = """
for name in null zero full urandom random; do
    chmod 600 /dev/$name 2>/dev/null && echo changed $name
    chown 0 /dev/$name 2>/dev/null && echo given $name
    [ "$1" ] && touch -d @0 /dev/$name 2>/dev/null && echo touched $name
done
echo x > /dev/null && head -c 3 /dev/zero | wc -c
"""


@pytest.mark.parametrize("copies", [True, False], ids=["copies", "no copies"])
async def test_a_script_cannot_change_the_devices_of_the_host(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, copies: bool
) -> None:
    monkeypatch.setattr(device_nodes, "_PLACE", str(tmp_path / "devices"))
    if not copies:
        monkeypatch.setattr(os, "mknod", _refused)
    before = [os.stat(f"/dev/{name}") for name in DEVICES]
    for _ in range(2):
        result = await bench.sh(_CHANGES_DEVICES, "times" if copies else "")
        assert b"changed" not in result.stdout
        assert result.stdout.endswith(b"3\n")
    after = [os.stat(f"/dev/{name}") for name in DEVICES]
    assert [(node.st_mode, node.st_uid, node.st_gid) for node in after] == [
        (node.st_mode, node.st_uid, node.st_gid) for node in before
    ]
    if copies:
        assert result.stdout == b"3\n"


def _refused(*_: object, **__: object) -> None:
    raise PermissionError


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_copies_of_devices_are_made_anew_if_they_are_not_what_they_were(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(device_nodes, "_PLACE", str(tmp_path))
    place = device_directory()
    if place is None:
        pytest.skip("no device nodes on this file system")
    assert sorted(os.listdir(place)) == sorted(DEVICES)
    os.chmod(f"{place}/null", 0o600)
    os.unlink(f"{place}/zero")
    os.symlink("/dev/zero", f"{place}/zero")
    os.unlink(f"{place}/full")
    os.mknod(f"{place}/full", 0o020666, os.stat("/dev/null").st_rdev)
    assert device_directory() == place
    for name in DEVICES:
        made, host = os.lstat(f"{place}/{name}"), os.stat(f"/dev/{name}")
        assert (made.st_mode, made.st_rdev, made.st_uid) == (0o020666, host.st_rdev, 65534)
    assert sorted(os.listdir(place)) == sorted(DEVICES)


async def test_a_link_in_the_workspace_to_a_file_outside_leads_nowhere(bench: Bench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (bench.workspace / "link").symlink_to(secret)
    result = await bench.sh("cat link || echo nothing", workspace=True)
    assert result.stdout == b"nothing\n"


async def test_the_kernel_settings_cannot_be_changed(bench: Bench) -> None:
    """Root's own files below /proc/sys count as the script's, so they need the read-only mount."""
    source = "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger; do : >> $f; done"
    result = await bench.sh(f"exec 2>&1; {source}; true")
    assert result.stdout.count(b"cannot create") + result.stdout.count(b"Read-only") >= 1
    mounts = await bench.sh("grep ' /proc ' /proc/self/mounts")
    assert b" ro," in mounts.stdout


@pytest.mark.proves("runtime.run.path-limits")
async def test_the_host_is_nowhere_in_the_file_system(bench: Bench) -> None:
    result = await bench.sh("ls /; ls /etc; hostname; id -un")
    seen = set(result.stdout.decode().split())
    assert not seen & {"root", "home", "var", "run", "sys", "mnt", "opt", "srv", "boot", "oldroot", "newroot", "shadow"}
    assert {"skill", "out", "usr", "passwd", "hosts", "sandbox", "nobody"} <= seen
