"""Glob patterns for paths and texts: the one matcher for settings, policies, file tools and rules.

In a path, `*`, `?` and `[a-z]` match characters of one component, and `[!a]` and `[^a]` match any other character. `**`
matches any number of components, including none. At the end of a pattern, `**` matches everything below the directory,
but not the directory itself. A path is compared component by component. All positions in the pattern that the path so
far may have reached (its "places") are followed at the same time. So a match takes at most as many steps as the number
of path components times the number of pattern components. Each user of this module adds its own syntax:

    settings   (`config.settings`)              as in .gitignore; everything below a match matches too
    policies   (`policy.patterns`)              as in .gitignore, on resolved paths; `//` begins an absolute path
    file tools (`tools.builtin.path_pattern`)   relative to the directory of the search; `{a,b}` matches either

In a text, `*` matches any characters, including slashes.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DEEP = "**"
BELOW = (DEEP, "*")  # everything below a directory, but not the directory itself

Places = frozenset[tuple[int, int]]  # (alternative, index of its next component)


class PathGlob(Struct, frozen=True, kw_only=True):
    """Alternative patterns, each a tuple of components. A path matches if it matches one of them."""

    alternatives: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, *texts: str, floating: bool = False) -> PathGlob:
        """Parse alternatives. With `floating`, a pattern without a slash (except at its end) matches at any depth."""
        return cls(alternatives=tuple(_components(text, floating=floating) for text in texts))

    def start(self) -> Places:
        """Return the places before the first component."""
        return self._past_deep((number, 0) for number in range(len(self.alternatives)))

    def step(self, places: Places, name: str) -> Places:
        """Return the places after one more component; empty if no path that begins with these components can match."""
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
        """Return whether the components so far are a complete match."""
        return any(index == len(self.alternatives[number]) for number, index in places)

    def matches(self, path: Iterable[str]) -> bool:
        """Return whether the path of these components matches."""
        return self.accepts(self.after(path))

    def matches_or_is_below(self, path: Sequence[str]) -> bool:
        """Return whether the path of these components, or a directory above it, matches."""
        places = self.start()
        for name in path:
            if self.accepts(places):
                return True
            places = self.step(places, name)
        return self.accepts(places)

    def _past_deep(self, places: Iterable[tuple[int, int]]) -> Places:
        """Add the places after each `**`, because `**` may match no component. No pattern has two `**` in a row."""
        found = set(places)
        for number, index in tuple(found):
            if self.alternatives[number][index : index + 1] == (DEEP,):
                found.add((number, index + 1))
        return frozenset(found)


def fits_text(text: str, glob: str) -> bool:
    """Return whether the whole text matches, with regard to case. As in Python's fnmatch, `[^a]` matches `^` or `a`."""
    return _text(glob).match(text) is not None


@lru_cache(maxsize=16_384)  # a policy may have many patterns; `fnmatch` keeps 256, and translating one takes 50 µs
def _text(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def joined(globs: Iterable[str]) -> re.Pattern[str]:
    """Return a regular expression that matches a text if `fits_text` is true for one of the globs."""
    return re.compile("|".join(map(translate, globs)))


def is_glob(text: str) -> bool:
    """Return whether `fits_text` may be true for a text other than `text` itself."""
    return "*" in text or "?" in text or "[" in text


def fits_stars(text: str, pattern: str) -> bool:
    """Return whether the whole text matches a pattern in which only `*` is special. Compiles no regular expression.

    Takes linear time for each star: every piece between two stars is matched at its first occurrence, which never
    prevents a match of the rest.
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
    """Escape glob characters: return a pattern that matches only this path."""
    return re.sub(r"[*?[]", r"[\g<0>]", path)


def path_components(text: str) -> list[str]:
    """Return the components of a path or pattern, without empty components and `.`."""
    return [part for part in text.split("/") if part not in {"", "."}]


def _components(text: str, *, floating: bool) -> tuple[str, ...]:
    parts = path_components(text)
    if parts and floating and "/" not in text.rstrip("/"):
        parts.insert(0, DEEP)
    parts = [part for index, part in enumerate(parts) if part != DEEP or parts[index - 1 : index] != [DEEP]]
    return tuple(parts[:-1]) + BELOW if parts[-1:] == [DEEP] else tuple(parts)


@lru_cache(maxsize=512)
def _component(glob: str) -> re.Pattern[str]:
    # fnmatch negates a set with `!` only; gitignore also with `^`.
    return re.compile(translate(glob.replace("[^", "[!")))
