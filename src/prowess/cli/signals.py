"""Orderly shutdown on SIGTERM and SIGHUP, for commands that must clean up.

SIGTERM (sent by a service manager or a time limit) and SIGHUP (sent when a terminal is closed) raise an exception in
the main thread, as Ctrl-C does: scripts are stopped, records written, temporary files removed. A signal that is ignored
when the command starts, as under `nohup`, stays ignored.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class SignalledError(BaseException):
    """A signal asked the process to end. It is not an `Exception`, so handlers of `Exception` do not catch it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.name = signal.Signals(number).name


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Raise `SignalledError` in the main thread on SIGTERM or SIGHUP. In other threads, do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    taken = [number for number, handler in before.items() if handler is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])


def _raise(number: int, frame: FrameType | None) -> None:
    del frame
    for name in _NAMES:  # a second signal must not interrupt the cleanup
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise SignalledError(number)
