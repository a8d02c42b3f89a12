"""Imports the SDK in half the time: validators of its models are built on first use.

The SDK defines about 900 models, because each protocol revision has its own models. One connection uses a few dozen.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def models_built_when_used() -> Iterator[None]:
    """Context manager: models defined in the block are built on first use.

    Garbage collection is off in the block. Use this only in a process whose sole task is serving, because models that
    other libraries define in the block are built later too.
    """
    collecting = gc.isenabled()
    gc.disable()
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        BaseModel.model_config.pop("defer_build", None)
        if collecting:
            gc.enable()
