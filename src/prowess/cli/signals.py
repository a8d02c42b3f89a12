"""A command that leaves something behind when it is killed ends in order where it is asked to end.

SIGTERM (a service manager, a time limit) and SIGHUP (a terminal that was closed) become an exception in the main
thread, as Ctrl-C is one already: scripts are ended, records written, artifacts removed. A signal that is ignored when
the command starts, as under `nohup`, stays ignored.
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
    """The process was asked to end. No `Exception`: nothing but the end of the command may answer it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.name = signal.Signals(number).name


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Raise `SignalledError` in the main thread when this process is asked to end; elsewhere nothing changes."""
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
    for name in _NAMES:  # the end is under way: a second signal must not break it off half done
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise SignalledError(number)
