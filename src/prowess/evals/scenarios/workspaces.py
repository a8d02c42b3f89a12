"""Workspaces of cases: a writable copy of a directory of the skill, and the changes that a run made to it."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot
from prowess.errors import InvalidArgumentsError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILES = 10_000
MAX_WORKSPACE_BYTES = 64 * 1024 * 1024  # of all files
FileDigests = dict[str, str]  # by relative path


def copy_workspace(skill: str, path: str | None, target: str) -> None:
    """Create the directory `target` with a copy of the skill's directory `path`; empty without a path.

    Raises:
        InvalidArgumentsError: there is no such directory, it leaves the skill, or is too large.
    """
    os.mkdir(target)
    if path is None:
        return
    try:
        with ContainedRoot(skill) as root:
            _copy(root, path, target)
    except (OSError, UnsafePathError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault.reason
        raise InvalidArgumentsError((f"workspace {path!r} of the skill cannot be copied: {reason}",)) from None


def _copy(root: ContainedRoot, path: str, target: str) -> None:
    left = MAX_WORKSPACE_BYTES
    for count, (name, kind) in enumerate(_walk(root, path)):
        place = os.path.join(target, *name.split("/"))
        if kind == "directory":
            os.mkdir(place)
            continue
        with root.open(f"{path}/{name}", allow_hard_links=True) as file:
            data = file.read(left + 1)
        left -= len(data)
        if left < 0 or count >= MAX_FILES:
            problem = f"workspace {path!r} is larger than {MAX_WORKSPACE_BYTES} bytes or {MAX_FILES} files"
            raise InvalidArgumentsError((problem,))
        with open(place, "xb") as copy:
            copy.write(data)


def digests(directory: str) -> FileDigests:
    """Return the digest of each regular file; links are not followed, and not listed."""
    found: FileDigests = {}
    with ContainedRoot(directory) as root:
        for name, kind in _walk(root, ""):
            if kind == "file":
                with root.open(name, allow_hard_links=True) as file:
                    found[name] = hashlib.sha256(file.read(MAX_WORKSPACE_BYTES)).hexdigest()
    return found


def _walk(root: ContainedRoot, top: str) -> Iterator[tuple[str, str]]:
    """Yield files and directories below `top`, each directory before its content; links are left out."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        for entry, kind in root.entries("/".join(filter(None, (top, here))) or "."):
            name = f"{here}/{entry}" if here else entry
            if kind == "directory":
                waiting.append(name)
            if kind in ("directory", "file"):
                yield name, kind
