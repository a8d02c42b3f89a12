"""Patterns for paths: `*` and `?` within a name, `**` for any number of directories, `[a-z]`, and `{a,b}` for either.

A pattern is matched name by name, so a walk can leave out every directory that no match can lie in, and no pattern
takes more than (names x parts) steps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate

from prowess.errors import InvalidArgumentsError

MAX_ALTERNATIVES = 64
MAX_LENGTH = 1000
_ANY = None  # stands for `**`

States = frozenset[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern, ready to match; `PathPattern.parse` is the way in. `*` matches names that begin with a dot, too."""

    alternatives: tuple[tuple[re.Pattern[str] | None, ...], ...]

    @classmethod
    def parse(cls, text: str) -> PathPattern:
        """Read a pattern of a model.

        Raises:
            InvalidArgumentsError: it is empty, too long, leads upwards, or stands for too many patterns.
        """
        if not text.strip("/") or len(text) > MAX_LENGTH or "\0" in text:
            raise InvalidArgumentsError((f"pattern must have 1 to {MAX_LENGTH} characters, such as '**/*.py'",))
        alternatives = []
        for plain in _without_braces(text):
            names = [name for name in plain.split("/") if name not in ("", ".")]
            if ".." in names:
                raise InvalidArgumentsError(("pattern must not hold '..'; give the directory as path",))
            if names and names[-1] == "**":
                names.append("*")
            alternatives.append(tuple(_ANY if name == "**" else re.compile(translate(name)) for name in names))
        return cls(tuple(alternatives))

    def start(self) -> States:
        """Return the state before the first name."""
        return self._closed({(number, 0) for number in range(len(self.alternatives))})

    def step(self, states: States, name: str) -> States:
        """Return the state after one more name; empty where nothing below it can match."""
        after = set()
        for number, index in states:
            parts = self.alternatives[number]
            if index < len(parts):
                part = parts[index]
                if part is _ANY:
                    after.add((number, index))
                elif part.match(name):
                    after.add((number, index + 1))
        return self._closed(after)

    def accepts(self, states: States) -> bool:
        """Tell whether the names so far are a match."""
        return any(index == len(self.alternatives[number]) for number, index in states)

    def matches(self, names: tuple[str, ...]) -> bool:
        """Tell whether a whole path matches."""
        states = self.start()
        for name in names:
            states = self.step(states, name)
        return self.accepts(states)

    def _closed(self, states: set[tuple[int, int]]) -> States:
        """Add the states that are reached without a name: `**` may stand for none."""
        found = set(states)
        for number, first in states:
            parts, index = self.alternatives[number], first
            while index < len(parts) and parts[index] is _ANY:
                index += 1
                found.add((number, index))
        return frozenset(found)


def _without_braces(text: str) -> list[str]:
    """Return the patterns that `{a,b}` stands for, the innermost braces first."""
    done: list[str] = []
    pending = [text]
    while pending:
        if len(done) + len(pending) > MAX_ALTERNATIVES:
            raise InvalidArgumentsError(
                (f"pattern stands for more than {MAX_ALTERNATIVES} patterns; use fewer braces",)
            )
        current = pending.pop(0)
        match = re.search(r"\{([^{}]*,[^{}]*)\}", current)
        if match is None:
            done.append(current)
        else:
            pending += [current[: match.start()] + each + current[match.end() :] for each in match[1].split(",")]
    return done
