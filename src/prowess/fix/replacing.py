"""Put new bytes in the place of a file, unless something speaks against it.

The file is replaced as a whole and keeps its mode and, where the system lets us, its owner. It is left alone where it
is no regular file, may not be written, is reached through a link that leads out of what was named, or has changed
since it was read.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from prowess._internal.files.atomic_write import write_atomically


def replace_file(path: str, before: bytes, after: bytes, *, within: str) -> str | None:
    """Replace the bytes `before` of the file at `path` by `after`; return why that was not done, else None.

    `within` is the file or directory that the user named; the file's real place must be that, or lie below it.
    """
    root, real = os.path.realpath(within), os.path.realpath(path)
    if real != root and not real.startswith(root if root.endswith(os.sep) else f"{root}{os.sep}"):
        return "it lies behind a link, outside of what was named; name it itself"
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return "it is not a regular file"
        # To replace a file it takes a right on the directory alone, but read-only is what its owner said.
        if not found.st_mode & 0o222 or not os.access(path, os.W_OK):
            return "it is read-only"
        with open(path, "rb") as file:
            if file.read(len(before) + 1) != before:
                return "it changed while it was checked; run the command again"
        write_atomically(path, after, stat.S_IMODE(found.st_mode))
    except OSError as fault:
        return f"it cannot be written: {fault.strerror}"
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(path, found.st_uid, found.st_gid, follow_symlinks=False)
    return None
