"""What the sandbox looks like from inside, as options for bubblewrap: a file system made of nothing but what is listed.

Every mount point is a name on the fresh root, or below the fresh /skills and home, made before anything untrusted is
mounted, and none is created inside the skill or the workspace: there a link can lead the creation to the host
(CVE-2026-87766). Protected places of a writable workspace are mounted over themselves;
`prowess.execution.writable_workspace` says why that is safe. The root is made read-only at the end, and with it /dev,
which is a directory of it.
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
# No terminal is among them: a script has none, and could make itself one only to fool whoever looks. bubblewrap's own
# /dev has, with a file system for them, and takes a twentieth of a short run longer.
DEVICES: Final = ("null", "zero", "full", "urandom")
_DEVICE_LINKS = (
    ("random", "urandom"),  # the same since Linux 5.6
    ("fd", "/proc/self/fd"),
    *((name, f"/proc/self/fd/{number}") for number, name in enumerate(("stdin", "stdout", "stderr"))),
)
# It names the keys of whoever started Prowess: a key ring belongs to no namespace.
_COVERED = ("/proc/keys",)

_ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--disable-userns", "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"),
    *("--hostname", "sandbox", "--new-session", "--die-with-parent", "--clearenv"),
)


class Layout(Struct, frozen=True, kw_only=True):
    """The facts that decide the file system of one run: host directories, all absolute, and the script's place.

    `skill` is None where a command runs without one. `cwd` is a path inside the sandbox; `interpreter` is (host
    directory, mount point) for one that lies outside /usr. `protected` are names at the top of the workspace that stay
    read-only. `mounts` are (place inside, host directory) of further skills. `devices` is the host directory of the
    device nodes.
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
    """Return every option before `--`; `etc_fds` holds a readable descriptor for each path of `ETC_FILES`."""
    return [
        *_ISOLATION,
        *(word for name, value in layout.env.items() for word in ("--setenv", name, value)),
        *_system(),
        *_etc(etc_fds),
        *_scratch(layout.limits, layout.devices),
        *_given(layout),
        # To the kernel, a script that root started is still root where only the owner counts: without this it could
        # write /proc/sys/kernel/core_pattern and so have the host run a program. bubblewrap covers /proc/sys only where
        # the directory itself is writable, which it never is.
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
