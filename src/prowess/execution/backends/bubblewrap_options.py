"""The sandbox's file system as options for bubblewrap: it contains only the listed mounts.

Every mount point is on the new root, or below the new /skills and home, and is made before untrusted content is
mounted. No mount point is created inside the skill or the workspace: a link in them could make it be created on the
host (CVE-2026-87766). Protected places of a writable workspace are mounted over themselves;
`prowess.execution.writable_workspace` explains why that is safe. The root is made read-only at the end. That includes
/dev, which is a directory of the root.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from prowess.execution.environment import HOME, PRIVATE_DIRECTORY, SKILL
from prowess.execution.request import ExecLimits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

NOBODY: Final = "65534"
SHM_BYTES: Final = 16 * 1024 * 1024

ETC_FILES: Final[Mapping[str, bytes]] = {
    "/etc/passwd": b"root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
    b"nobody:x:65534:65534:nobody:/tmp/home:/usr/sbin/nologin\n",
    "/etc/group": b"root:x:0:\nnogroup:x:65534:\n",
    "/etc/hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
    "/etc/nsswitch.conf": b"passwd: files\ngroup: files\nhosts: files\n",
}

_LIBRARY_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_HOST_ETC = ("/etc/alternatives", "/etc/ld.so.cache")
# No terminal is included: scripts need none, and a script could use one to deceive a program that checks for a
# terminal. bubblewrap's own /dev has terminals, with a file system for them, and makes a short run a twentieth longer.
DEVICES: Final = ("null", "zero", "full", "urandom")
_DEVICE_LINKS = (
    ("random", "urandom"),  # equal since Linux 5.6
    ("fd", "/proc/self/fd"),
    *((name, f"/proc/self/fd/{number}") for number, name in enumerate(("stdin", "stdout", "stderr"))),
)
# Files that are covered in the sandbox. /proc/keys lists the keys of the user who started Prowess, because key rings
# belong to no namespace.
_COVERED = ("/proc/keys",)

_ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--disable-userns", "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"),
    *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--clearenv"),
)


class Layout(Struct, frozen=True, kw_only=True):
    """The file system of one run: absolute host directories, and the script's working directory.

    `skill` is None if a command runs without a skill. `cwd` is a path inside the sandbox. `interpreter` is (host
    directory, mount point) of an interpreter outside /usr. `protected` are names at the top of the workspace that stay
    read-only. `mounts` are (path inside the sandbox, host directory) of additional skills. `devices` is the host
    directory of the device nodes.
    """

    skill: str | None
    workspace: str | None = None
    write: bool = False
    protected: tuple[str, ...] = ()
    cwd: str
    interpreter: tuple[str, str] | None = None
    mounts: tuple[tuple[str, str], ...] = ()
    devices: str = "/dev"
    limits: ExecLimits = field(default_factory=ExecLimits)
    env: Mapping[str, str] = field(default_factory=dict)


def options(layout: Layout, etc_fds: Mapping[str, int]) -> list[str]:
    """Return the options before `--`. `etc_fds` holds a readable descriptor for each path of `ETC_FILES`."""
    return [
        *_ISOLATION,
        *(word for name, value in layout.env.items() for word in ("--setenv", name, value)),
        *_system(),
        *_etc(etc_fds),
        *_scratch(layout.limits, layout.devices),
        *_given(layout),
        # For the kernel, a script started by root is still root in checks that only compare the owner. Without this
        # option the script could write /proc/sys/kernel/core_pattern and so make the host run a program. bubblewrap
        # covers /proc/sys only if that directory itself is writable, which is never the case.
        *("--remount-ro", "/proc"),
        *("--remount-ro", "/"),
        *("--chdir", layout.cwd),
    ]


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path in _LIBRARY_LINKS:
        if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        elif os.path.isdir(path):
            yield from ("--ro-bind", path, path)


def _etc(etc_fds: Mapping[str, int]) -> Iterator[str]:
    yield from ("--perms", "0755", "--dir", "/etc")
    for path, fd in etc_fds.items():
        yield from ("--perms", "0444", "--file", str(fd), path)
    for path in _HOST_ETC:
        if os.path.exists(path):
            yield from ("--ro-bind", path, path)


def _scratch(limits: ExecLimits, devices: str) -> Iterable[str]:
    covered = [path for path in _COVERED if os.path.exists(path)]
    return (
        *(word for name in DEVICES for word in ("--dev-bind", f"{devices}/{name}", f"/dev/{name}")),
        *(word for name, target in _DEVICE_LINKS for word in ("--symlink", target, f"/dev/{name}")),
        *("--size", str(SHM_BYTES), "--tmpfs", "/dev/shm"),
        *("--proc", "/proc"),
        *(word for path in covered for word in ("--ro-bind", "/dev/null", path)),
        *("--size", str(limits.tmp_bytes), "--tmpfs", "/tmp"),
        *("--perms", "0700", "--dir", HOME, "--perms", "0700", "--dir", PRIVATE_DIRECTORY),
        *("--size", str(limits.out_bytes), "--tmpfs", "/out"),
    )


def _given(layout: Layout) -> Iterator[str]:
    if layout.skill is not None:
        yield from ("--ro-bind", layout.skill, SKILL)
    for place, directory in layout.mounts:
        yield from ("--ro-bind", directory, place)
    if layout.interpreter is not None:
        yield from ("--ro-bind", *layout.interpreter)
    if layout.workspace is not None:
        yield from ("--bind" if layout.write else "--ro-bind", layout.workspace, "/workspace")
    for name in layout.protected:
        yield from ("--ro-bind", f"{layout.workspace}/{name}", f"/workspace/{name}")
