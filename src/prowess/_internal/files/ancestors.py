"""Searches from a path upwards."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container


def ancestor_in(path: str, directories: Container[str]) -> str | None:
    """Return the nearest of `directories` that is `path` or above it, or None. Compares texts; asks no file system."""
    while path not in directories:
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
    return path
