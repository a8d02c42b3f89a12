"""A workspace that scripts may write to: protected places stay as they are, and one script at a time writes.

The places are mounted read-only over themselves. A mount point below a tree that a script writes to is safe only while
nothing there moves (a link in it could lead the creation of the mount point to the host, CVE-2026-87766); so a place is
used only where it exists and is no link, the lock keeps every other script out until this run has ended, and before
the script starts each mount is looked at from outside.
"""

from __future__ import annotations

import os
import select
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.open_flags import READ_DIRECTORY
from prowess.errors import InvalidArgumentsError, SandboxUnavailableError, UnavailableError
from prowess.execution.result import ExecNotice
from prowess.execution.workspace import PROTECTED_PLACES, protected_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAIT_SECONDS = 60.0
_PAUSE_SECONDS = 0.02
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
        UnavailableError: another script writes to it for a minute or longer.
        OSError: it cannot be opened.
    """
    # Imported here, not at the top: there is no such module on Windows, where everything but scripts works.
    import fcntl

    fd = os.open(root, READ_DIRECTORY)
    try:
        until = time.monotonic() + _WAIT_SECONDS
        # A network file system may know no lock on a directory; then the look from outside has to do.
        with suppress(_LocksUnknownError):
            while not _locked(fd, fcntl.LOCK_EX | fcntl.LOCK_NB):
                left = until - time.monotonic()
                if left <= 0 or select.select([wake], [], [], min(left, _PAUSE_SECONDS))[0]:
                    raise UnavailableError(f"the workspace {root}", reason="another script writes to it")
        places, weak = protected_entries(root)
        if weak is not None:
            raise InvalidArgumentsError(
                (f"{root} cannot be opened for writing: {weak[0]} could not be protected, because {weak[1]}",)
            )
        yield WritableWorkspace(root=root, places=places)
    finally:
        os.close(fd)


class _LocksUnknownError(Exception):
    """The file system has no locks on directories."""


def _locked(fd: int, operation: int) -> bool:
    import fcntl  # as above

    try:
        fcntl.flock(fd, operation)
    except BlockingIOError:
        return False
    except OSError:
        raise _LocksUnknownError from None
    return True


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
