"""Imports the SDK in half the time: validators of its models are built on first use.

The SDK defines about 900 models, three times over for the protocol's revisions; one connection uses a few dozen.
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

    Garbage collection is off in the block. Only for a process whose sole task is serving: models of other libraries in
    the block are deferred too.
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
