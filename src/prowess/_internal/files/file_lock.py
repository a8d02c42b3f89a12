"""Advisory file locks with a timeout: one process at a time.

The lock belongs to an open file, so the lock ends when the process that holds it ends, even if the process is killed.
Two threads that open the file separately exclude each other as two processes do.
"""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_SECONDS = 10.0
_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.016  # a longer pause is unfair; a much shorter one slows down the holder, by a third on two cores

if sys.platform == "win32":  # pragma: no cover -- runs on Windows alone
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        # Windows has only exclusive locks here. Readers then wait for each other, which is slower but correct.
        del shared
        # a byte after the data, because other processes cannot read a locked range
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        import fcntl  # Imported here, not at the top: this module must be importable on systems without `fcntl`.

        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        import fcntl  # imported here for the same reason

        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(
    path: str, *, shared: bool = False, wait_seconds: float = WAIT_SECONDS, wake: int | None = None
) -> Iterator[None]:
    """Hold the lock on the file at `path`. The file is created if it is missing (mode 0600) and is not removed.

    Raises:
        TimeoutError: as in `descriptor_locked`.
        OSError: the file cannot be opened, or is a link.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        with descriptor_locked(descriptor, shared=shared, wait_seconds=wait_seconds, wake=wake):
            yield
    finally:
        os.close(descriptor)


@contextmanager
def descriptor_locked(
    descriptor: int, *, shared: bool = False, wait_seconds: float = WAIT_SECONDS, wake: int | None = None
) -> Iterator[None]:
    """Hold a lock on an open file: exclusive, or shared with other shared locks.

    Raises:
        TimeoutError: the lock was not free within `wait_seconds`, or before the descriptor `wake` became readable.
    """
    until = time.monotonic() + wait_seconds
    pause = _FIRST_PAUSE
    while not _try_lock(descriptor, shared=shared):
        if time.monotonic() >= until or (wake is not None and _is_readable(wake)):
            raise TimeoutError(f"locked by another process for more than {wait_seconds:g} s")
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
    try:
        yield
    finally:
        _unlock(descriptor)


def _is_readable(pipe: int) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(0))
