"""Reading up to a limit: an open descriptor, or a regular file by its path."""

from __future__ import annotations

import errno
import os
import stat

from prowess._internal.files.open_flags import NO_FOLLOW, READ

_CHUNK = 1 << 20


def read_at_most(descriptor: int, most: int, chunk: int | None = None) -> bytes:
    """Return the rest of an open file, at most `most` bytes. One read asks for at most `chunk` bytes. Raises OSError.

    To detect a file that is larger than allowed, ask for one byte more than the limit.
    """
    parts: list[bytes] = []
    left = most
    while left > 0 and (part := os.read(descriptor, left if chunk is None else min(chunk, left))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_regular_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes. The path may be a link.

    A pipe without a writer, a socket or a device is refused at once, without waiting for it.

    Raises:
        OSError: it cannot be read, is not a regular file, or is larger. `strerror` is the reason in words.
        ValueError: the path has a NUL.
    """
    descriptor = os.open(path, READ & ~NO_FOLLOW | getattr(os, "O_CLOEXEC", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file but a pipe, a socket or a device", os.fspath(path))
        data = read_at_most(descriptor, most + 1, _CHUNK)
    finally:
        os.close(descriptor)
    if len(data) > most:
        limit = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most} bytes"
        raise OSError(errno.EFBIG, f"it has more than {limit}", os.fspath(path))
    return data
