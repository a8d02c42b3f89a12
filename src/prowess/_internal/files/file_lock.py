"""One process at a time: advisory locks on files, with a bounded wait.

The lock belongs to an open file, so it ends with the process that holds it, however that ends. Two threads that lock
through files of their own exclude each other as two processes do.
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
_LONGEST_PAUSE = 0.016  # longer is unfair, and much shorter slows the holder down: on two cores by a third

if sys.platform == "win32":  # pragma: no cover -- runs on Windows alone
    import msvcrt

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        del shared  # Windows has one kind here; a reader then waits for a reader, which is slower and not wrong
        os.lseek(descriptor, 2**30, os.SEEK_SET)  # behind the data, because a locked range cannot be read by others
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
        # Imported here, not at the top: this module must be importable where files cannot be locked.
        import fcntl

        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        import fcntl  # as above

        fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def locked(
    path: str, *, shared: bool = False, wait_seconds: float = WAIT_SECONDS, wake: int | None = None
) -> Iterator[None]:
    """Hold the lock on the file at `path`, which is made (0600) if it is missing and stays behind.

    Raises:
        TimeoutError: as `descriptor_locked`.
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
    """Hold a lock on an open file: exclusive, or shared with other shared ones.

    Raises:
        TimeoutError: somebody else holds it for longer than `wait_seconds`, or until the pipe `wake` is readable.
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
