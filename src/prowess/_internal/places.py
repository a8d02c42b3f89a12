"""Where Prowess keeps its own files: one home, one cache, both chosen by the environment of the moment.

`PROWESS_HOME` moves every file that belongs to the user; without it the home is `~/.prowess`. The cache follows
`PROWESS_HOME` where that is set and the XDG cache otherwise. The environment is read at each call, so that a host or
a test can change it.
"""

from __future__ import annotations

import errno
import os

from prowess._internal.files.privacy import NotPrivateError, exposure
from prowess.errors import UnavailableError

_PRIVATE = 0o700


class WorkingDirectoryError(UnavailableError):
    """The working directory was deleted under this process."""

    def __init__(self) -> None:
        super().__init__("the working directory")
        self.args = ()

    def __str__(self) -> str:
        return "the working directory no longer exists; change to a directory that does"


def working_directory() -> str:
    """Return the absolute path of the working directory.

    Raises:
        WorkingDirectoryError: it was deleted.
    """
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise WorkingDirectoryError from None


def user_home() -> str:
    """Return the absolute path of the user's home directory (`$HOME`, else what the system's account says)."""
    return os.path.abspath(os.path.expanduser("~"))


def prowess_home() -> str:
    """Return the absolute path of the Prowess home; it may not exist yet."""
    chosen = os.environ.get("PROWESS_HOME")
    return os.path.abspath(chosen) if chosen else os.path.join(user_home(), ".prowess")


def audit_path() -> str:
    """Return the path of the audit log of this user's commands; it may not exist yet."""
    return os.path.join(prowess_home(), "audit", "audit.jsonl")


def cache_home() -> str:
    """Return the absolute path of the cache; everything below it may be deleted at any time."""
    if os.environ.get("PROWESS_HOME"):
        return os.path.join(prowess_home(), "cache")
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification wants relative values ignored.
    root = base if os.path.isabs(base) else os.path.join(user_home(), ".cache")
    return os.path.join(root, "prowess")


def ensure_private_directory(path: str) -> None:
    """Create `path` and what is missing above it, for this user alone (mode 0700); it may exist, if it is private.

    A directory that exists is left as it is: tightening one that the user chose could lock others out of it. One that
    others could change is refused (`prowess._internal.files.privacy`); a link of this user's own to a private one is
    fine.

    Raises:
        NotPrivateError: somebody else could change what lies in it.
        OSError: it cannot be created, or something that is no directory stands there.
    """
    make_directory(path)
    if (why := exposure(path)) is not None:
        raise NotPrivateError(errno.EPERM, why, path)


def make_directory(path: str) -> None:
    """Create `path` and what is missing above it (mode 0700); what exists may belong to anybody.

    Raises:
        OSError: it cannot be created, or something that is no directory stands there.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent and parent != path:
        make_directory(parent)
    try:
        os.mkdir(path, _PRIVATE)
    except FileExistsError:
        if not os.path.isdir(path):  # another process may have been faster; a file in the way is a fault
            raise
