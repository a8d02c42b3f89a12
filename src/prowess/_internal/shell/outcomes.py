"""What is known of a command without running it: whether it succeeds, and whether it passes any output on."""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_STATUS = {"true": True, ":": True, "echo": True, "false": False}
_OF_NOTHING = re.compile(r"-(?:[qvz]*[nc])?0+|--(?:lines|bytes)=0+")
_COUNTS = frozenset({"-n", "-c", "--lines", "--bytes"})


def known_status(program: str) -> bool | None:
    """Return whether a program always succeeds (`true`) or always fails (`false`); None if that depends."""
    return _STATUS.get(program)


def joined_status(left: bool | None, sign: str, right: bool | None) -> bool | None:  # noqa: FBT001 -- a status
    """Return the status of `left && right` or `left || right`."""
    skips = sign == "||"  # the status of the left side that skips the right side
    if left is None:
        return right if right is skips else None
    return left if left is skips else right


def passes_nothing(words: Sequence[str]) -> bool:
    """Return whether a command passes none of its input on: `head -0`, `tail -n 0`, `head -c 0 FILE`."""
    if not words or posixpath.basename(words[0]) not in ("head", "tail"):
        return False
    return any(map(_OF_NOTHING.fullmatch, words[1:])) or any(
        one in _COUNTS and re.fullmatch("0+", after) is not None for one, after in pairwise(words[1:])
    )
