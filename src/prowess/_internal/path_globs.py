"""Which paths a pattern of a settings file means, by the rules of .gitignore.

    vendor        a file or directory of that name at any depth, and all below it
    docs/*        what lies directly in docs
    docs/**       everything below docs
    .             everything

A path is compared component by component, so that no pattern, however it is made, takes long.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEEP = "**"
_MAX_SEGMENTS = 64


class PathGlob:
    """One pattern.

    Raises:
        ValueError: it is empty, climbs with `..`, or is longer than any path; the text says which.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        body = source.strip().rstrip("/")
        self._segments = [part for part in body.split("/") if part not in {"", "."}]
        if not source.strip():
            raise ValueError("a pattern is empty; write . for everything")
        if ".." in self._segments:
            raise ValueError(f"{source!r} climbs out of the directory of the file; patterns go down from there")
        if len(self._segments) > _MAX_SEGMENTS:
            raise ValueError(f"a pattern has {len(self._segments)} parts, at most {_MAX_SEGMENTS} are allowed")
        if self._segments and "/" not in body:
            self._segments.insert(0, _DEEP)
        if self._segments[-1:] == [_DEEP]:
            self._segments.append("*")  # everything below, but not the directory itself

    def fits(self, components: Sequence[str]) -> bool:
        """Whether the path of these components, or a directory above it, is meant."""
        reached = self._past_deep({0})
        if len(self._segments) in reached:
            return True
        for component in components:
            following = set()
            for at in reached:
                if self._segments[at] == _DEEP:
                    following.add(at)
                elif _segment(self._segments[at]).match(component):
                    following.add(at + 1)
            reached = self._past_deep(following)
            if len(self._segments) in reached:
                return True
        return False

    def _past_deep(self, reached: set[int]) -> set[int]:
        """`**` stands for any number of directories, none among them."""
        for at in range(len(self._segments)):
            if at in reached and self._segments[at] == _DEEP:
                reached.add(at + 1)
        return reached


@lru_cache(maxsize=256)
def _segment(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))
