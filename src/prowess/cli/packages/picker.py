"""Asks a person at a terminal which skills of a source to install."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output

if TYPE_CHECKING:
    from prowess.distribution.installation.requests import SeveralSkillsError

_ATTEMPTS = 3


def picked_skills(offered: SeveralSkillsError) -> tuple[str, ...]:
    """Return the names of the chosen skills; empty if the person chose none, or gave no usable answer."""
    names = offered.names
    output.raw_note(f"{printable_line(offered.source)} has {len(names)} skills:\n")
    for number, name in enumerate(names, 1):
        output.raw_note(f"  {number:>3}  {printable_line(name)}\n")
    for _ in range(_ATTEMPTS):
        output.raw_note("Install which? (numbers or names with spaces between them, * for all, nothing for none) ")
        words = sys.stdin.readline().replace(",", " ").split()
        if not words or words == ["*"]:
            return names if words else ()
        chosen = [_chosen(word, names) for word in words]
        if None not in chosen:
            return tuple(dict.fromkeys(name for name in chosen if name is not None))
        unknown = [word for word, name in zip(words, chosen, strict=True) if name is None]
        output.note(f"there is no {printable_line(', '.join(unknown))}")
    return ()


def _chosen(word: str, names: tuple[str, ...]) -> str | None:
    if word in names:
        return word
    return names[int(word) - 1] if word.isdecimal() and 1 <= int(word) <= len(names) else None
