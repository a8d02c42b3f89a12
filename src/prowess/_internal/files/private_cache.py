"""A directory of private cache files. A file is read only if no other user could have written it.

A cache that cannot be trusted, read or written is not an error: the caller works as if there were no cache. No other
user can write the files, but a file may be damaged, so a caller must decode its content strictly.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.open_flags import READ
from prowess._internal.places import OTHERS, cache_home, ensure_private_directory, exposed, exposure

MAX_BYTES = 64 * 1024 * 1024


class PrivateCache:
    """The files of one kind below the user's cache directory. If there are more than `most`, the oldest are deleted."""

    def __init__(self, kind: str, *, most: int = 32) -> None:
        self._folder = os.path.join(cache_home(), kind)
        self._most = most

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None if it does not exist, is too large or is not private to this user."""
        path = os.path.join(self._folder, name)
        try:
            descriptor = os.open(path, READ)
        except OSError:
            return None
        try:
            if _flaw(os.fstat(descriptor), path, MAX_BYTES) is not None:
                return None
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(MAX_BYTES)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def write(self, name: str, data: bytes) -> None:
        """Replace a file, and delete the oldest files beyond `most`. Failures are ignored."""
        if len(data) > MAX_BYTES:
            return
        with suppress(OSError):
            ensure_private_directory(self._folder)
            write_atomically(os.path.join(self._folder, name), data, sync=False)
            self._delete_oldest()

    def _delete_oldest(self) -> None:
        with os.scandir(self._folder) as entries:
            files = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries)
        for _, path in files[: -self._most]:
            os.unlink(path)


def flaw_of(path: str, *, most: int = MAX_BYTES) -> str | None:
    """Return why a cache file must not be read, or None.

    It must be a regular file with one link and at most `most` bytes, private to this user, in a directory that no other
    user can change.

    Raises:
        OSError: the file does not exist or cannot be examined.
    """
    return _flaw(os.lstat(path), path, most)


def _flaw(found: os.stat_result, path: str, most: int) -> str | None:
    if not stat.S_ISREG(found.st_mode):
        return f"{path} is not a regular file"
    if found.st_nlink > 1:
        return f"{path} has a second hard link"
    if found.st_size > most:
        return f"{path} is larger than {most} bytes"
    return exposed(found, path, bits=OTHERS) or exposure(os.path.dirname(path))
