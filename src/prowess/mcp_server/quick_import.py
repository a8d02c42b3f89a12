"""Importing the SDK in half the time: the validators of its models are built when they are first used.

The SDK defines some 900 models, three times over for the revisions of the protocol; one connection uses a few dozen.
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
    """Let models that are defined inside be built at their first use, and collect no garbage meanwhile.

    For a process that serves and nothing else: what other libraries define inside is deferred too.
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
