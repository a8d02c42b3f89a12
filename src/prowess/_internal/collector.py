"""Pause of the garbage collector while many objects are made that all stay alive."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def paused() -> Iterator[None]:
    """Switch the collector off for the block, and on again if it was on before.

    A scan of 100,000 skills makes no cycles, but its objects let the collector run hundreds of times, which takes a
    third of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
