"""A place for searches with hundreds of runs, each of which waits for the disk several times."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_IN_MEMORY = "/dev/shm"


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A directory in memory, if the machine has such a place."""
    with TemporaryDirectory(dir=_IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None) as made:
        yield Path(made)
