"""What files of settings are called, and the directories in which those of a project may lie."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in `typing`, without the cost of importing it
if TYPE_CHECKING:
    from collections.abc import Iterator

OWN_FILE, SHARED_FILE, USER_FILE = "prowess.toml", "pyproject.toml", "config.toml"


def upwards(start: str) -> Iterator[str]:
    """Yield a directory and those above it up to the root of its repository; without one, the directory alone.

    `start` is absolute, links resolved.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        above = os.path.dirname(chain[-1])
        if above == chain[-1]:
            yield start
            return
        chain.append(above)
    yield from chain
