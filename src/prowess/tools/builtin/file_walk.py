"""Walk through the files below a directory, within limits on depth, number of entries and time.

Symbolic links are not followed. Directories of version control systems are not entered, unless the walk starts in one.
All other files are found, including hidden files and files listed in `.gitignore`: if a tool left files out silently, a
model would believe that they do not exist.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct, field

from prowess._internal.globs import PathGlob
from prowess.errors import UnsafePathError
from prowess.execution.workspace import VERSION_CONTROL

if TYPE_CHECKING:
    from prowess._internal.files.workspace_root import WorkspaceRoot
    from prowess._internal.globs import Places

MAX_DEPTH = 64
MAX_ENTRIES = 200_000
MAX_SECONDS = 10.0
_NOT_ENTERED = frozenset(VERSION_CONTROL)
_EVERYTHING = PathGlob.parse("**")


class Found(Struct, frozen=True, kw_only=True):
    """A regular file. `parts` are its path components below the workspace root; `size` is in bytes."""

    parts: tuple[str, ...]
    size: int
    mtime_ns: int


class FileWalk(Struct):
    """The files that a walk found, most recently changed first. `stopped` is the reason if the walk ended early."""

    files: list[Found] = field(default_factory=list)
    stopped: str | None = None
    unreadable: int = 0


def walk(root: WorkspaceRoot, start: tuple[str, ...], pattern: PathGlob = _EVERYTHING) -> FileWalk:
    """Return the files below `start` whose path relative to `start` matches.

    Raise FileNotFoundError, NotADirectoryError, UnsafePathError or PermissionError if `start` cannot be read.
    """
    outcome = FileWalk()
    deadline = time.monotonic() + MAX_SECONDS
    seen = 0
    pending: list[tuple[tuple[str, ...], Places]] = [(start, pattern.start())]
    while pending:
        parts, states = pending.pop()
        try:
            entries = root.scan(parts)
        except (OSError, UnsafePathError):  # removed, replaced or made unreadable since it was listed
            if parts == start:
                raise
            outcome.unreadable += 1
            continue
        seen += len(entries)
        if seen > MAX_ENTRIES or time.monotonic() > deadline:
            limit = f"{MAX_ENTRIES} entries" if seen > MAX_ENTRIES else f"{MAX_SECONDS:g} s"
            outcome.stopped = f"the search stopped after {limit}; give a path or a narrower pattern"
            break
        for entry in entries:
            below = (*parts, entry.name)
            after = pattern.step(states, entry.name)
            if entry.kind == "directory":
                if after and len(below) - len(start) < MAX_DEPTH and entry.name not in _NOT_ENTERED:
                    pending.append((below, after))
            elif entry.kind == "file" and pattern.accepts(after):
                outcome.files.append(Found(parts=below, size=entry.size, mtime_ns=entry.mtime_ns))
    outcome.files.sort(key=lambda found: (-found.mtime_ns, found.parts))
    return outcome
