"""Registers the merge driver for locks in a repository, and names it in `.gitattributes`.

The driver is set in the configuration of one clone, because git runs no driver that comes with a repository. The line
in `.gitattributes` is for everybody; without the driver git merges a lock as text, and `prowess lock` mends it.
"""

from __future__ import annotations

import errno
import os
import shlex

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.own_command import own_command
from prowess._internal.places import LOCK_FILE
from prowess.distribution.locks.git import repository_root, set_config
from prowess.errors import UnavailableError

DRIVER = "prowess-lock"
ATTRIBUTES = f"{LOCK_FILE} merge={DRIVER} text eol=lf"
_NEW_MODE = 0o644


class GitSetup(Struct, frozen=True, kw_only=True):
    """A repository that merges locks.

    `driver` is the command that git runs, `changed` are the settings and files that were changed now.
    """

    repository: str
    driver: str
    attributes: str
    changed: tuple[str, ...]


def set_up_git(directory: str) -> GitSetup:
    """Register the merge driver in the repository of `directory`, and write `.gitattributes` at its root.

    Raises:
        UnavailableError: git is missing, `directory` is in no repository, or git refused.
        OSError: `.gitattributes` cannot be written.
    """
    if (root := repository_root(directory)) is None:
        raise UnavailableError("git", None, f"{directory} is not in a working tree of git, or git is not installed")
    # An absolute path: git takes the PATH of whoever calls it, and editors have another one than shells.
    driver = f"{shlex.join([*own_command(), 'lock', 'merge'])} %O %A %B"
    settings = {
        f"merge.{DRIVER}.name": "merge prowess.lock block by block",
        f"merge.{DRIVER}.driver": driver,
    }
    changed = [name for name, value in settings.items() if set_config(root, name, value)]
    attributes = os.path.join(root, ".gitattributes")
    if _add_line(attributes, ATTRIBUTES):
        changed.append(attributes)
    return GitSetup(repository=root, driver=driver, attributes=attributes, changed=tuple(changed))


def _add_line(path: str, line: str) -> bool:
    """Append a line to a text file unless it is there. Return whether it was added."""
    try:
        if os.path.islink(path):  # git does not read a link, and the text elsewhere may be no one's to commit
            raise FileExistsError(errno.EEXIST, "it is a link, which git does not follow; put a file there", path)
        with open(path, "rb") as file:
            text, mode = file.read(), os.fstat(file.fileno()).st_mode & 0o777
    except FileNotFoundError:
        text, mode = b"", _NEW_MODE
    if line.encode() in (one.strip() for one in text.splitlines()):
        return False
    gap = b"" if not text or text.endswith(b"\n") else b"\n"
    write_atomically(path, text + gap + line.encode() + b"\n", mode)
    return True
