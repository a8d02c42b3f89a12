"""Glob patterns for paths and texts: the one matcher behind settings, policies, file tools and rules.

In a path, `*`, `?` and `[a-z]` stand for characters of one component, `[!a]` and `[^a]` for any other character, and
`**` for any number of components, none included; at the end of a pattern, `**` is everything below, but not the
directory itself. A path is compared component by component, with all places in the pattern at once: a match takes at
most as many steps as the path has components times those of the pattern. Each user has special signs of its own:

    settings   (`config.settings`)              as in .gitignore, and everything below a match is meant, too
    policies   (`policy.patterns`)         as in .gitignore, on resolved paths; `//` begins an absolute path
    file tools (`tools.builtin.path_pattern`)   from the directory of the search; `{a,b}` is either of both

In a text, `*` stands for any characters, slashes included.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEEP = "**"
BELOW = (DEEP, "*")  # everything below, but not the directory itself

Places = frozenset[tuple[int, int]]  # (alternative, index of its next component)


class PathGlob(Struct, frozen=True, kw_only=True):
    """Alternative patterns, each a tuple of components; a path that matches one of them matches."""

    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, *texts: str, floating: bool = False) -> PathGlob:
        """Read alternatives; `floating` takes one without a slash, except at its end, at any depth."""
        return cls(alternatives=tuple(_components(text, floating=floating) for text in texts))

    def start(self) -> Places:
        """Return the places before the first component."""
        return self._past_deep((number, 0) for number in range(len(self.alternatives)))

    def step(self, places: Places, name: str) -> Places:
        """Return the places after one more component; empty if nothing below it can match."""
        after = []
        for number, index in places:
            pattern = self.alternatives[number]
            if index == len(pattern):
                continue
            if pattern[index] == DEEP:
                after.append((number, index))
            elif _component(pattern[index]).match(name):
                after.append((number, index + 1))
        return self._past_deep(after)

    def after(self, path: Iterable[str]) -> Places:
        """Return the places after a whole path."""
        places = self.start()
        for name in path:
            places = self.step(places, name)
        return places

    def accepts(self, places: Places) -> bool:
        """Whether the components so far are a match."""
        return any(index == len(self.alternatives[number]) for number, index in places)

    def matches(self, path: Iterable[str]) -> bool:
        """Whether the path of these components matches."""
        return self.accepts(self.after(path))

    def matches_or_lies_below(self, path: Sequence[str]) -> bool:
        """Whether the path of these components, or a directory above it, matches."""
        places = self.start()
        for name in path:
            if self.accepts(places):
                return True
            places = self.step(places, name)
        return self.accepts(places)

    def _past_deep(self, places: Iterable[tuple[int, int]]) -> Places:
        """Add the places behind each `**`, which may stand for no component. `parse` leaves no two in a row."""
        found = set(places)
        for number, index in tuple(found):
            if self.alternatives[number][index : index + 1] == (DEEP,):
                found.add((number, index + 1))
        return frozenset(found)


def fits_text(text: str, glob: str) -> bool:
    """Whether a whole text matches; case counts. As in Python's fnmatch, `[^a]` is one of both characters."""
    return fnmatchcase(text, glob)


def fits_stars(text: str, pattern: str) -> bool:
    """Whether a whole text matches a pattern in which only `*` is special; no expression is compiled from it.

    Linear in the text for each star, whatever the pattern: the first place that fits is always good enough.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    last = rest.pop()
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in rest:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def as_written(path: str) -> str:
    """Return a pattern that only this path matches, whatever signs are in it."""
    return re.sub(r"[*?[]", r"[\g<0>]", path)


def path_components(text: str) -> list[str]:
    """Return the components of a path or pattern, without empty ones and `.`."""
    return [part for part in text.split("/") if part not in {"", "."}]


def _components(text: str, *, floating: bool) -> tuple[str, ...]:
    parts = path_components(text)
    if parts and floating and "/" not in text.rstrip("/"):
        parts.insert(0, DEEP)
    parts = [part for index, part in enumerate(parts) if part != DEEP or parts[index - 1 : index] != [DEEP]]
    return tuple(parts[:-1]) + BELOW if parts[-1:] == [DEEP] else tuple(parts)


@lru_cache(maxsize=512)
def _component(glob: str) -> re.Pattern[str]:
    # fnmatch wants `!` for the complement of a set; gitignore takes `^` as well.
    return re.compile(translate(glob.replace("[^", "[!")))
