"""Stamp of a directory tree: the `stat` values of its directories and files, to detect changes.

Writing to a file, adding or removing an entry, and changing a mode or owner all change a time of the file or of its
directory. So if all `stat` values are as in the stamp, the tree is unchanged, and no file has to be opened to find that
out. A tree that was changed within the last two seconds has no stamp (see `prowess._internal.files.file_mark`).
"""

from __future__ import annotations

import os
import stat

from msgspec import Struct

from prowess._internal.files.contained import opens_beneath
from prowess._internal.files.file_mark import Mark, last_change, mark_of, settled_before, stamp_of, stamp_of_mark


class TreeStamp(Struct, frozen=True, kw_only=True):
    """The `stat` values of an unchanged tree by path, relative to `root` with `/`. The path of `root` is empty."""

    root: str
    marks: tuple[tuple[str, Mark], ...]

    def holds(self) -> bool:
        """Return whether the tree is unchanged. Calls `lstat` once for each mark."""
        lead = self.root if self.root.endswith("/") else f"{self.root}/"
        examine = os.lstat
        try:
            for path, mark in self.marks:
                now = examine(lead + path)  # the path of the root ends with a slash, so a link at the root is followed
                # `mark_of` inlined, to save a call for each file.
                if mark != (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev, now.st_mode):
                    return False
        except (OSError, ValueError):
            return False
        return True

    def has(self, path: str, stamp: int) -> bool:
        """Whether the file at `path` had this stamp."""
        return any(here == path and stamp_of_mark(mark) == stamp for here, mark in self.marks)

    def folded(self, first: str) -> FoldedStamp:
        """Return a stamp that takes less space. The path `first`, which must be one of the tree, comes first."""
        marks = dict(self.marks)
        ordered = {first: marks[first], **marks}
        return FoldedStamp((*ordered,), hash(tuple(map(stamp_of_mark, ordered.values()))))


class FoldedStamp(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The paths of an unchanged tree, and the hash of their stamps: the same in every process of one Python."""

    paths: tuple[str, ...]
    value: int

    def first_of(self, root: str) -> int | None:
        """Return the stamp of the first path if the tree at `root` is unchanged, or None. Calls `lstat` per path."""
        lead, examine = f"{root}/", os.lstat
        try:
            stamps = [stamp_of(examine(lead + path)) for path in self.paths]
        except (OSError, ValueError):
            return None
        return stamps[0] if stamps and hash(tuple(stamps)) == self.value else None


def stamp_tree(root: str, *, most: int) -> TreeStamp | None:
    """Return the stamp of everything below `root`, which may be a link. Opens only directories.

    Returns None in these cases:

    - There are more than `most` files and directories.
    - An entry was changed within the last two seconds or cannot be examined.
    - An entry is a link or a special file, whose target may change without a change of its own `stat` values.
    - The system cannot open files relative to a directory. There a changed entry may not change its directory's time.
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
            # Marked before it is listed, so that any later change has a later time.
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
