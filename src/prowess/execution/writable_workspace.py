"""A workspace that scripts may write to: protected places stay read-only, and one script at a time writes.

Each protected place is mounted read-only over itself. A mount point below a tree that a script writes to is safe only
while the tree does not change: a symbolic link in it could make the mount point be created on the host
(CVE-2026-87766). Three conditions make the mount safe. The place exists and is no link. Locks keep every other script
out until this run has ended. Each mount is checked from outside before the script starts.

A run holds an exclusive lock on its workspace and a shared lock on each directory above it. So two writers exclude each
other if one directory contains the other. The lock files are in the Prowess home, because a script could hold a lock on
a file in the workspace.
"""

from __future__ import annotations

import errno
import hashlib
import os
import tempfile
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.file_lock import locked
from prowess._internal.files.open_flags import READ_DIRECTORY
from prowess._internal.places import ensure_private_directory, prowess_home
from prowess.errors import InvalidArgumentsError, SandboxUnavailableError, UnavailableError
from prowess.execution.result import ExecNotice
from prowess.execution.workspace import PROTECTED_PLACES, protected_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAIT_SECONDS = 60.0
# Errors of file systems without locks.
_KNOWS_NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_LOOK = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class WritableWorkspace(Struct, frozen=True, kw_only=True):
    """A locked workspace. `root` is its real path, `places` are the names in it that stay read-only."""

    root: str
    places: tuple[str, ...]

    def check_mounts(self, init_pid: int) -> None:
        """Check that each place in the sandbox is the host's own file or directory, and read-only.

        `init_pid` is the sandbox's first process, which must be waiting.

        Raises:
            SandboxUnavailableError: a place is not protected.
        """
        for name in self.places:
            try:
                same = _identity(f"/proc/{init_pid}/root/workspace", name) == (*_identity(self.root, name)[:2], True)
            except OSError:
                same = False
            if not same:
                raise SandboxUnavailableError("bubblewrap", f"{name} in {self.root} could not be kept read-only")

    def notices(self) -> tuple[ExecNotice, ...]:
        """Return a notice that names protected places made by the script, if any. The next run protects them."""
        made = [name for name in PROTECTED_PLACES if name not in self.places and _is_there(self.root, name)]
        if not made:
            return ()
        message = (
            f"the script made {', '.join(made)} in the workspace, and programs outside the sandbox follow such files; "
            "check them before you run such a program there"
        )
        return (ExecNotice(code="protected_place_made", message=message),)


@contextmanager
def writable_workspace(root: str, wake: int) -> Iterator[WritableWorkspace]:
    """Lock the workspace at the real path `root` for one run. The wait for the lock ends if `wake` becomes readable.

    Raises:
        InvalidArgumentsError: the workspace has a place that cannot be protected.
        UnavailableError: for a minute, another script held the lock on this directory or on one above or below it.
        OSError: the locks cannot be opened.
    """
    until = time.monotonic() + _WAIT_SECONDS
    with ExitStack() as held:
        for directory in _from_the_top(root):  # always in this order, so that two runs cannot deadlock
            left = until - time.monotonic()
            lock = locked(_lock_file(directory), shared=directory != root, wait_seconds=left, wake=wake)
            try:
                held.enter_context(lock)
            except TimeoutError:
                raise UnavailableError(f"the workspace {root}", reason="another script writes to it") from None
            except OSError as fault:
                if fault.errno not in _KNOWS_NO_LOCKS:  # without locks, only `check_mounts` protects the places
                    raise
        places, weak = protected_entries(root)
        if weak is not None:
            raise InvalidArgumentsError(
                (f"{root} cannot be opened for writing: {weak[0]} could not be protected, because {weak[1]}",)
            )
        yield WritableWorkspace(root=root, places=places)


def _from_the_top(path: str) -> list[str]:
    above = os.path.dirname(path)
    return [path] if above == path else [*_from_the_top(above), path]


def _lock_file(directory: str) -> str:
    place = os.path.join(prowess_home(), "locks")
    try:
        ensure_private_directory(place)
    except OSError:  # the home is read-only
        place = os.path.join(tempfile.gettempdir(), f"prowess-locks-{os.geteuid()}")
        ensure_private_directory(place)
    return os.path.join(place, hashlib.sha256(os.fsencode(directory)).hexdigest())


def _identity(directory: str, name: str) -> tuple[int, int, bool]:
    """Return (device, inode, whether its mount is read-only), without following links."""
    parent = os.open(directory, _LOOK | READ_DIRECTORY)
    try:
        fd = os.open(name, _LOOK, dir_fd=parent)
    finally:
        os.close(parent)
    try:
        found = os.fstat(fd)
        return found.st_dev, found.st_ino, bool(os.fstatvfs(fd).f_flag & os.ST_RDONLY)
    finally:
        os.close(fd)


def _is_there(root: str, name: str) -> bool:
    return os.path.lexists(os.path.join(root, name))
