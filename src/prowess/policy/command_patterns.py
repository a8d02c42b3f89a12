"""Patterns for command lines: words that an argument vector must fit, one by one.

`git status:*` is `git status *`. A last word `*` stands for any arguments, also for none; without it the vector must
fit to its end. `*` inside a word stands for any characters of that word, and in the name of the program for none that
is a `/`. Nothing in a pattern is quoted.

A rule that permits asks whether a line fits for certain; a rule that refuses asks whether it may. Between the two lie
words that bash expands, and lines that cannot be taken apart: they may do anything, so they are refused and never
permitted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.globs import fits_stars
from prowess._internal.shell.command_line import ShellParts, parse_command_line
from prowess._internal.shell.launchers import started_by
from prowess.policy.decision import CERTAIN, Fit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess._internal.shell.command_line import ShellWord, SimpleCommand

_CLUSTER = re.compile(r"-[A-Za-z]+")  # `-rf`: options of one letter, written together


class CommandPattern(Struct, frozen=True, kw_only=True):
    """One pattern; `anything` is the pattern `*` alone, which permits every line, also one that cannot be parsed."""

    source: str
    words: tuple[str, ...]
    open_end: bool

    @classmethod
    def parse(cls, source: str) -> CommandPattern:
        """Read a pattern; every text is one."""
        text = source.strip()
        words = (f"{text[:-2]} *" if text.endswith(":*") else text).replace("\t", " ").split(" ")
        words = [word for word in words if word]
        open_end = words[-1:] == ["*"]
        return cls(source=source, words=tuple(words[:-1] if open_end else words), open_end=open_end)

    @property
    def anything(self) -> bool:
        """Whether no line is outside of it."""
        return self.source.strip() == "*"

    def fits(self, command: SimpleCommand) -> bool:
        """Whether bash, whatever files there are, passes arguments that fit."""
        given = command.words
        if len(given) < len(self.words) or (len(given) > len(self.words) and not self.open_end):
            return False
        return all(
            not word.expands and matches_stars(pattern, word.text, slash=place > 0)
            for place, (pattern, word) in enumerate(zip(self.words, given, strict=False))
        )

    def may_fit(self, command: SimpleCommand) -> bool:
        """Whether bash could pass arguments that fit.

        A program counts by its last component as well. Options may stand between the words of a pattern, each with a
        value (`git -C . push` is `git push`), and the letters of an option may be given apart (`rm -r -f` is `rm -rf`).
        """
        given = command.words
        if given[0].expands or not self.words:
            return given[0].expands or self.open_end
        names = (given[0].text, given[0].text.rpartition("/")[2])
        if not any(matches_stars(self.words[0], name, slash=True) for name in names):
            return False
        letters = {letter for word in given[1:] if _CLUSTER.fullmatch(word.text) for letter in word.text[1:]}
        wanted = [word for word in self.words[1:] if not (_CLUSTER.fullmatch(word) and letters.issuperset(word[1:]))]
        if len(wanted) < len(self.words) - 1 and self._reaches(given, wanted):
            return True
        return self._reaches(given, self.words[1:])

    def _reaches(self, given: Sequence[ShellWord], wanted: Sequence[str]) -> bool:
        """Whether `wanted` stand in the arguments in this order, with nothing but options between them."""
        places = {0}  # how many of `wanted` may have been met
        for at, word in enumerate(given[1:], start=1):
            if (self.open_end and len(wanted) in places) or (word.expands and places != {len(wanted)}):
                return True
            option = word.text.startswith("-") and word.text != "-"
            value = given[at - 1].text.startswith("-") and at > 1
            met = {place + 1 for place in places if place < len(wanted) and _is(wanted[place], word.text)}
            kept = {place for place in places if place < len(wanted)} if option or value else set()
            places = met | kept
            if not places:
                return False
        return len(wanted) in places


def judge_command(line: object, patterns: Sequence[CommandPattern]) -> Fit:
    """Hold a command line against patterns, of which each part needs one."""
    if any(pattern.anything for pattern in patterns):
        return CERTAIN
    if not isinstance(line, str):
        return Fit(certain=False, possible=True, kind="command", reason="it has no command line")
    parts = parse_command_line(line)
    if not isinstance(parts, ShellParts):
        return Fit(certain=False, possible=True, kind=parts.construct, reason=parts.reason)
    foreign = next((part for part in parts.commands if not any(pattern.fits(part) for pattern in patterns)), None)
    if foreign is None:
        return CERTAIN
    possible = any(_may_start(part, pattern) for part in parts.commands for pattern in patterns)
    return Fit(certain=False, possible=possible, kind="command", reason=_why(foreign, patterns))


def _may_start(command: SimpleCommand, pattern: CommandPattern) -> bool:
    """Whether the command, or one that it starts, may fit."""
    if pattern.may_fit(command):
        return True
    others = started_by(command)
    name = pattern.words[0].strip("*").rpartition("/")[2] if pattern.words else ""
    return (
        others.unknown
        or any(pattern.may_fit(other) for other in others.commands)
        or any(name in text for text in others.code)
    )


def _is(pattern: str, word: str) -> bool:
    return matches_stars(pattern, word, slash=True)


def _why(command: SimpleCommand, patterns: Sequence[CommandPattern]) -> str:
    expanding = next((word.text for word in command.words if word.expands), None)
    shown = _shortened(" ".join(command.argv))
    permitted = _shortened(", ".join(f"'{pattern.source}'" for pattern in patterns))
    why = f"'{shown}' fits none of {permitted}"
    return why if expanding is None else f"{why} (bash puts file names in the place of '{_shortened(expanding)}')"


def _shortened(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def matches_stars(pattern: str, text: str, *, slash: bool) -> bool:
    """Whether `text` fits a pattern in which only `*` is special; without `slash` a star stands for no `/`."""
    if slash or "/" not in f"{pattern}{text}":
        return fits_stars(text, pattern)
    pieces, parts = text.split("/"), pattern.split("/")
    return len(pieces) == len(parts) and all(map(fits_stars, pieces, parts))
