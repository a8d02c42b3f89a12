"""Locations of locks and of the trees they name; reading and writing a lock on disk."""

from __future__ import annotations

import json
import os
import stat
from typing import Literal

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.open_flags import READ
from prowess._internal.places import LOCK_FILE, prowess_home, store_home
from prowess.lockfile.lock import Lockfile
from prowess.lockfile.text import MOST_BYTES, parse_lock, render_lock

Scope = Literal["project", "personal"]
SIGNERS = ".signers"  # in the store, beside a skill
_NEW_MODE = 0o644
_MOST_SIGNERS = 1 << 20  # bytes


def lock_path(scope: Scope, project: str | None = None) -> str:
    """Return the path of a lock: in the Prowess home, or at the root of the project. The file may not exist.

    Raises:
        ValueError: `scope` is `project`, and no root is given.
    """
    if scope == "personal":
        return os.path.join(prowess_home(), LOCK_FILE)
    if project is None:
        raise ValueError("the lock of a project needs the project's root")
    return os.path.join(project, LOCK_FILE)


def stored_tree(home: str, tree: str, name: str) -> str:
    """Return the directory of a verified skill in the store of a Prowess home. It may not exist.

    `tree` and `name` come from a parsed lock, which refuses names that are not one directory, and digests that are
    none. A colon cannot be in a file name on Windows, so it is a hyphen there.
    """
    return f"{store_home(home)}/{tree_directory(tree)}/{name}"


def tree_directory(tree: str) -> str:
    """Return the directory of a tree, relative to the store."""
    return tree.replace(":", "-") if os.name == "nt" else tree


def stored_signers(skill: str) -> frozenset[str]:
    """Return whose signatures of the stored skill at this path were verified when it came into the store.

    A lock names a signer too, but anybody who can change a lock can write that. Empty if nothing is recorded.
    """
    try:
        descriptor = os.open(signers_file(skill), READ)
    except OSError:
        return frozenset()
    try:
        found = json.loads(read_at_most(descriptor, _MOST_SIGNERS))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    finally:
        os.close(descriptor)
    return frozenset(one for one in found if isinstance(one, str)) if isinstance(found, list) else frozenset()


def signers_file(skill: str) -> str:
    """Return the path of the file with the signers of the stored skill at this path: JSON, a list of texts."""
    return os.path.join(os.path.dirname(skill), SIGNERS)


def read_lock(path: str) -> Lockfile:
    """Read the lock at `path`. A missing file is an empty lock.

    Raises:
        LockfileError: the file is no lock.
        OSError: the file exists and cannot be read.
    """
    return Lockfile() if (data := lock_bytes(path)) is None else parse_lock(data, path)


def lock_bytes(path: str) -> bytes | None:
    """Return the bytes of a lock, one more than a lock may have if there are more; None if there is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    try:
        return read_at_most(descriptor, MOST_BYTES + 1)
    finally:
        os.close(descriptor)


def write_lock(path: str, lock: Lockfile) -> None:
    """Replace the lock at `path` atomically. The mode of an existing file is kept; a link is replaced, not followed.

    Raises:
        ValueError: a value cannot be in a lock (see `render_lock`); nothing was written.
        OSError: nothing was written.
    """
    try:
        found = os.lstat(path)
        mode = stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else _NEW_MODE
    except FileNotFoundError:
        mode = _NEW_MODE
    write_atomically(path, render_lock(lock), mode)
