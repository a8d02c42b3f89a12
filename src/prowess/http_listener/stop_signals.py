"""SIGTERM and SIGINT for servers: the first of them ends the server in order."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable


async def stop_on_signal(stop: Callable[[], None], stopped_by: list[int]) -> None:
    """Call `stop` at the first SIGTERM or SIGINT and add the signal to `stopped_by`. Does nothing on Windows."""
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            stopped_by.append(number)
            stop()
            return
