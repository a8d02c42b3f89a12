"""The process that runs work for another machine: its name, its version and its logger."""

from __future__ import annotations

import os
import platform

import prowess
from prowess.errors import UnavailableError


def worker_name() -> str:
    """Return a name of this process for messages that are read on another machine."""
    return f"the worker on {platform.node()} (process {os.getpid()})"


def require_version(version: str) -> None:
    """Require that this process has the Prowess of the process that sent the work.

    Raises:
        UnavailableError: it has another version.
    """
    if version != prowess.__version__:
        reason = f"its Prowess has the version {prowess.__version__}"
        raise UnavailableError(worker_name(), reason=reason, advice=f"install {version} there")
