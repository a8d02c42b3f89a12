"""A workspace that scripts may write to: protected places stay as they are, and one script at a time writes.

The places are mounted read-only over themselves. A mount point below a tree that a script writes to is safe only while
nothing there moves (a link in it could lead the creation of the mount point to the host, CVE-2026-87766); so a place is
used only if it exists and is no link, locks keep every other script out until this run has ended, and before the script
starts each mount is looked at from outside.

A run holds the lock of its workspace alone, and that of each directory above it together with others, so a writer in
a directory and one in a directory below it exclude each other. The locks lie in the Prowess home, because a script
could hold one in the workspace.
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
_KNOWS_NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # some file systems
_LOOK = getattr(os, "O_PATH", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class WritableWorkspace(Struct, frozen=True, kw_only=True):
    """`root` is the real path of the workspace, `places` are the names in it that stay read-only."""

    root: str
    places: tuple[str, ...]

    def check_mounts(self, init_pid: int) -> None:
        """See to it that each place is the host's own and read-only in the sandbox whose first process waits.

        Raises:
            SandboxUnavailableError: one is not.
        """
        for name in self.places:
            try:
                same = _identity(f"/proc/{init_pid}/root/workspace", name) == (*_identity(self.root, name)[:2], True)
            except OSError:
                same = False
            if not same:
                raise SandboxUnavailableError("bubblewrap", f"{name} in {self.root} could not be kept read-only")

    def notices(self) -> tuple[ExecNotice, ...]:
        """Name the protected places that the script made; the next run keeps them as they are then."""
        made = [name for name in PROTECTED_PLACES if name not in self.places and _is_there(self.root, name)]
        if not made:
            return ()
        message = (
            f"the script made {', '.join(made)} in the workspace, which programs outside of the sandbox obey; "
            "look at it before you use any of them there"
        )
        return (ExecNotice(code="protected_place_made", message=message),)


@contextmanager
def writable_workspace(root: str, wake: int) -> Iterator[WritableWorkspace]:
    """Hold the workspace at the real path `root` for one run; a readable pipe `wake` ends the wait for it.

    Raises:
        InvalidArgumentsError: it holds a place that cannot be protected.
        UnavailableError: another script writes to it, or above or below it, for a minute or longer.
        OSError: the locks cannot be opened.
    """
    until = time.monotonic() + _WAIT_SECONDS
    with ExitStack() as held:
        for directory in _from_the_top(root):  # always in this order, so that two runs never wait for each other
            left = until - time.monotonic()
            lock = locked(_lock_file(directory), shared=directory != root, wait_seconds=left, wake=wake)
            try:
                held.enter_context(lock)
            except TimeoutError:
                raise UnavailableError(f"the workspace {root}", reason="another script writes to it") from None
            except OSError as fault:
                if fault.errno not in _KNOWS_NO_LOCKS:  # then the look from outside has to do
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
    except OSError:  # a read-only home
        place = os.path.join(tempfile.gettempdir(), f"prowess-locks-{os.geteuid()}")
        ensure_private_directory(place)
    return os.path.join(place, hashlib.sha256(os.fsencode(directory)).hexdigest())


def _identity(directory: str, name: str) -> tuple[int, int, bool]:
    """Return (device, inode, whether its mount is read-only), following no link."""
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
