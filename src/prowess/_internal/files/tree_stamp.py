"""Stamp of a directory tree: what `stat` returns for each of its directories and files, to see whether it changed.

A file that is written to, an entry that comes or goes, a change of mode or owner: each leaves another time of change on
the file or on its directory. So a tree whose stamp holds is the tree that was read, and nothing has to be opened to
know it. A tree that was changed within the last two seconds has no stamp (`prowess._internal.files.file_mark`).
"""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from prowess._internal.files.contained import opens_beneath
from prowess._internal.files.file_mark import Mark, last_change, mark_of, settled_before


class TreeStamp(Struct, frozen=True, kw_only=True):
    """The marks of a tree at rest by path, relative to `root` with `/`; the path of `root` itself is empty."""

    root: str
    marks: tuple[tuple[str, Mark], ...]

    def holds(self) -> bool:
        """Return whether everything is as it was; one call of `stat` for each mark."""
        lead = self.root if self.root.endswith("/") else f"{self.root}/"
        examine = os.lstat
        try:
            for path, mark in self.marks:
                now = examine(lead + path)  # the slash at the end follows a root that is a link
                # As `mark_of`, without a call for each file.
                if mark != (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev, now.st_mode):
                    return False
        except (OSError, ValueError):
            return False
        return True


def stamp_tree(root: str, *, most: int) -> TreeStamp | None:
    """Return the stamp of everything below `root`, which may be a link; nothing is opened but directories.

    None if there are more than `most` files and directories, if one was changed within the last two seconds or cannot
    be examined, or if one is a link or no file: what it leads to may change without a mark. None also where the system
    opens nothing beneath a directory, because a change of an entry may leave no time there.
    """
    if not opens_beneath():
        return None
    before = settled_before()
    lead = root if root.endswith("/") else f"{root}/"
    marks: list[tuple[str, Mark]] = []
    waiting = [""]
    try:
        while waiting:
            directory = waiting.pop()
            # Marked before it is listed: whatever comes later has a later time.
            found = [(directory, os.lstat(lead + directory))]
            with os.scandir(lead + directory) as entries:
                for entry in entries:
                    path = f"{directory}/{entry.name}" if directory else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    else:
                        found.append((path, entry.stat(follow_symlinks=False)))
                    if len(marks) + len(waiting) + len(found) > most:
                        return None
            for path, facts in found:
                special = path != directory and not stat.S_ISREG(facts.st_mode)
                if special or last_change(facts) > before:
                    return None
                marks.append((path, mark_of(facts)))
    except OSError:
        return None
    return TreeStamp(root=root, marks=tuple(marks))
