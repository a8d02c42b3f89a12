"""Reading up to a limit: an open descriptor, a regular file by its path, or the input that a person named."""

from __future__ import annotations

import errno
import os
import select
import stat
import time

from prowess._internal.files.open_flags import NO_FOLLOW, READ

STANDARD_INPUT = "-"
PIPE_SECONDS = 2.0  # until somebody opens a named pipe for writing
_CHUNK = 1 << 20
_BETWEEN_LOOKS = 0.02


def read_at_most(descriptor: int, most: int, chunk: int | None = None) -> bytes:
    """Return the rest of an open file, at most `most` bytes. One read asks for at most `chunk` bytes. Raises OSError.

    A pipe that is set not to wait, such as standard input may be, is waited for.
    To detect a file that is larger than allowed, ask for one byte more than the limit.
    """
    parts: list[bytes] = []
    left = most
    while left > 0:
        try:
            part = os.read(descriptor, left if chunk is None else min(chunk, left))
        except BlockingIOError:
            select.select([descriptor], [], [])
            continue
        if not part:
            break
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
    return _bounded(data, most, path)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path that a person named is `-`, standard input, or a named pipe."""
    if os.fspath(path) == STANDARD_INPUT:
        return True
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def read_input(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the content of a file that a person named: `-` is standard input, and a pipe is read to its end.

    A pipe with a writer is waited for. A path that comes from a file must go to `read_regular_file` instead.

    Raises:
        OSError: as `read_regular_file`; or a pipe had no writer for `PIPE_SECONDS` and gave no bytes; its
            writer may have closed it before the first read.
        ValueError: the path has a NUL.
    """
    if os.fspath(path) == STANDARD_INPUT:
        return _bounded(read_at_most(0, most + 1, _CHUNK), most, path)
    if not is_stream(path):
        return read_regular_file(path, most)
    descriptor = os.open(path, READ & ~NO_FOLLOW | getattr(os, "O_CLOEXEC", 0))
    try:
        return _bounded(_of_pipe(descriptor, most + 1, path), most, path)
    finally:
        os.close(descriptor)


def _of_pipe(descriptor: int, most: int, path: str | os.PathLike[str]) -> bytes:
    """Read a pipe that was opened without waiting: at its end there is no writer any more, or not yet."""
    parts: list[bytes] = []
    left, has_writer, until = most, False, time.monotonic() + PIPE_SECONDS
    while left > 0:
        try:
            part = os.read(descriptor, min(_CHUNK, left))
        except BlockingIOError:  # somebody may write later
            has_writer = True
            select.select([descriptor], [], [])
            continue
        if part:
            parts.append(part)
            left -= len(part)
        elif parts or has_writer:
            break
        elif time.monotonic() > until:
            raise OSError(errno.EINVAL, "it is a pipe without content and without a writer", os.fspath(path))
        else:
            time.sleep(_BETWEEN_LOOKS)
    return b"".join(parts)


def _bounded(data: bytes, most: int, path: str | os.PathLike[str]) -> bytes:
    if len(data) > most:
        limit = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most} bytes"
        raise OSError(errno.EFBIG, f"it has more than {limit}", os.fspath(path))
    return data
