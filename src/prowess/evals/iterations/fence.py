"""Who may work in an iteration: one command, and the workers to which it gives units.

The command writes a mark into the lock that it holds. Its workers know the mark: another mark, or a free lock, means
that their command ended. A worker holds the lock of a unit, too, as long as it runs the unit. So the next command
writes its own mark first, and then waits until no lock of a unit is held. A worker looks at the mark after it took the
lock of a unit, so it either ends at once, or is waited for.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.file_lock import locked
from prowess._internal.files.open_flags import READ
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKS = ".units"  # the folder of an iteration for the locks of workers
OF_LEDGER = ".ledger"  # the end of the names of other locks in it
LONGEST_WAIT = 60.0  # seconds for workers of a command that ended; they look each second
_LOCK = ".lock"
_SECONDS_OF_A_LOOK = 0.2  # `Fence.holds` holds the lock for a moment, if it is free
_SECONDS_BEFORE_A_NOTE = 5.0
_MARK_BYTES = 16
_log = logging.getLogger("prowess.evals")


class Fence(Struct, frozen=True, kw_only=True):
    """The right of one command, and of its workers, to work in the folder `iteration`."""

    iteration: str
    mark: str

    def holds(self) -> bool:
        """Return whether the command still holds the lock of the folder. It can be on another machine."""
        path = os.path.join(self.iteration, _LOCK)
        return _is_locked(path) and _mark_in(path) == self.mark


@contextmanager
def alone_in(iteration: str, *, longest_wait: float = LONGEST_WAIT) -> Iterator[Fence]:
    """Hold the lock of an iteration of any command: two processes would empty each other's folders.

    Raises:
        InvalidArgumentsError: another process holds it, it cannot be written, or after `longest_wait` seconds a worker
            of an earlier command has not ended its unit.
    """
    path, mark = os.path.join(iteration, _LOCK), os.urandom(_MARK_BYTES).hex()
    with ExitStack() as held:
        try:
            held.enter_context(locked(path, wait_seconds=_SECONDS_OF_A_LOOK))
            _write_mark(path, mark)
        except TimeoutError:
            problem = f"another process runs {iteration}; wait until it ends, or start a new iteration without --resume"
            raise InvalidArgumentsError((problem,)) from None
        except OSError as fault:
            problem = f"{path} cannot be written ({fault.strerror}); change that, or name another folder with --out"
            raise InvalidArgumentsError((problem,)) from None
        _wait_for_workers(iteration, longest_wait)
        yield Fence(iteration=iteration, mark=mark)


def unit_lock(iteration: str, unit: str) -> str:
    """Return the path of the lock of a unit, whose id can be any text, in `LOCKS`."""
    return os.path.join(iteration, LOCKS, hashlib.sha256(unit.encode("utf-8", "surrogatepass")).hexdigest()[:32])


def _wait_for_workers(iteration: str, longest: float) -> None:
    begun, told = time.monotonic(), False
    while _has_workers(iteration):
        waited = time.monotonic() - begun
        if waited > longest:
            problem = f"a worker of an earlier command still runs a unit in {iteration}, and does not end"
            raise InvalidArgumentsError((f"{problem}; end the worker, or start a new iteration without --resume",))
        if waited > _SECONDS_BEFORE_A_NOTE and not told:
            told = True
            _log.warning("%s: waiting for a worker of an earlier command to end its unit", printable_line(iteration))
        time.sleep(_SECONDS_OF_A_LOOK)


def _has_workers(iteration: str) -> bool:
    """Return whether a worker holds the lock of a unit."""
    folder = os.path.join(iteration, LOCKS)
    with suppress(OSError):
        for name in os.listdir(folder):
            if not name.endswith(OF_LEDGER) and _is_locked(os.path.join(folder, name)):
                return True
    return False


def _is_locked(path: str) -> bool:
    """Return whether another holds a lock. A file that is absent, or that this user may not write, is not locked."""
    try:
        with locked(path, shared=True, wait_seconds=0):
            return False
    except TimeoutError:
        return True
    except OSError:
        return False


def _write_mark(path: str, mark: str) -> None:
    descriptor = os.open(path, READ | os.O_RDWR)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, mark.encode())
    finally:
        os.close(descriptor)


def _mark_in(path: str) -> str | None:
    try:
        descriptor = os.open(path, READ)
    except OSError:  # it was removed meanwhile
        return None
    try:
        return os.read(descriptor, 2 * _MARK_BYTES + 1).decode("ascii", "replace")
    finally:
        os.close(descriptor)
