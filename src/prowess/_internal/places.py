"""Where Prowess keeps its own files, and who else could change what a path leads to.

There is one home and one cache, both chosen by the environment of the moment.
`PROWESS_HOME` moves every file that belongs to the user; without it the home is `~/.prowess`. The cache follows
`PROWESS_HOME` where that is set and the XDG cache otherwise. The environment is read at each call, so that a host or
a test can change it.

Whether somebody else could change what a path leads to is asked before Prowess believes, keeps or runs it. Another user
who may write to a directory exchanges what lies in it between a check and its use; that holds for every directory
above, up to a sticky one as `/tmp`, where nobody can exchange what is not theirs. Owners count up to the first
directory of this user's own: beyond it they gave the place away, and in containers root may have another number.
"""

from __future__ import annotations

import errno
import os
import stat
from functools import lru_cache

from prowess.errors import UnavailableError

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MACHINE_POLICY, POLICY_FILE = "/etc/prowess/policy.toml", "policy.toml"  # the second lies in the home
_ROOT = 0


class NotPrivateError(PermissionError):
    """Somebody else could change what lies here; `strerror` says who and, where it helps, what to do."""


def exposure(path: str, *, bits: int = OTHERS_WRITE) -> str | None:
    """Say why `path`, a file or a directory, is not this user's own; None where it is, and where modes say nothing.

    `bits` are the rights that others must not have on it: to write, or with `OTHERS` to read as well. What lies above
    is asked about writing alone.

    Raises:
        OSError: it does not exist, or cannot be examined.
    """
    if not hasattr(os, "geteuid"):
        return None  # Windows has access lists, which the modes do not show
    return _foreign_link(path) or exposed(os.stat(path), path, bits=bits) or _exposed_above(os.path.realpath(path))


def exposed(found: os.stat_result, path: str, *, bits: int = OTHERS_WRITE) -> str | None:
    """Say the same of `found` alone, the facts of `path`, without what lies above it."""
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user"
    if found.st_mode & bits and not (bits == OTHERS_WRITE and _is_shared_with_nobody(found)):
        mode = "700" if stat.S_ISDIR(found.st_mode) else "600"
        open_to = "open to other users" if bits == OTHERS else "writable by other users"
        return f"{path} is {open_to}; run `chmod {mode} {path}`"
    return None


def _exposed_above(real: str) -> str | None:
    here, given = real, False
    while (above := os.path.dirname(here)) != here:
        here = above
        found = os.lstat(here)
        if found.st_mode & stat.S_ISVTX and found.st_uid in {os.geteuid(), _ROOT}:
            return None
        if found.st_mode & OTHERS_WRITE and not _is_shared_with_nobody(found):
            return f"{here}, which it lies in, is writable by other users"
        given = given or found.st_uid == os.geteuid()
        if not given and found.st_uid != _ROOT:
            return f"{here}, which it lies in, belongs to another user"
    return None


def _foreign_link(path: str) -> str | None:
    """Name a link on the way that neither this user nor root made: its owner could turn it."""
    here = os.path.abspath(path)
    while (above := os.path.dirname(here)) != here:
        found = os.lstat(here)
        if stat.S_ISLNK(found.st_mode) and found.st_uid not in {os.geteuid(), _ROOT}:
            return f"{here} is a link of another user"
        here = above
    return None


def _is_shared_with_nobody(found: os.stat_result) -> bool:
    """Whether only the group may write, and it is the one that many systems make for each user alone."""
    if found.st_mode & stat.S_IWOTH:
        return False
    # Imported here, not at the top: few directories are writable by a group.
    import grp
    import pwd

    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
        group = grp.getgrgid(found.st_gid)
    except KeyError:
        return False
    return group.gr_name == name and not set(group.gr_mem) - {name}


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
    return _at_first_use(chosen) if chosen else os.path.join(user_home(), ".prowess")


@lru_cache
def _at_first_use(path: str) -> str:
    """Return the absolute path that `path` meant first: a process that changes its directory keeps its policy."""
    return os.path.abspath(path)


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
    others could change is refused (`prowess._internal.places`); a link of this user's own to a private one is
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
