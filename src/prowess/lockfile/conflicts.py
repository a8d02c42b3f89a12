"""Conflict markers of git: the texts of both sides, and of the base if git wrote it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from prowess.diagnostics import Location
from prowess.errors import LockfileError
from prowess.lockfile.text import CONFLICT

_Side = Literal["ours", "base", "theirs"]
_OURS, _BASE, _THEIRS, _END = CONFLICT.rstrip().encode(), b"|||||||", b"=======", b">>>>>>>"


class ConflictSides(Struct, frozen=True, kw_only=True):
    """The text of each side of a conflict. `base` is None if a conflict has no base (git's default style)."""

    ours: bytes
    theirs: bytes
    base: bytes | None


def has_conflicts(data: bytes) -> bool:
    """Return whether a text has a line with which git begins a conflict."""
    return any(_is_marker(line, _OURS) for line in data.splitlines())


def conflict_sides(data: bytes, path: str | None = None) -> ConflictSides:
    """Take a text with conflict markers apart. Lines outside of conflicts are in every side.

    Raises:
        LockfileError: the markers are not paired.
    """
    texts: dict[_Side, list[bytes]] = {"ours": [], "base": [], "theirs": []}
    side: _Side | None = None
    begun, has_base, all_have_base = 0, False, True
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        bare = line.rstrip(b"\r\n")
        if side is None:
            if _is_marker(bare, _OURS):
                side, begun, has_base = "ours", number, False
            elif any(_is_marker(bare, mark) for mark in (_BASE, _THEIRS, _END)):
                raise _unpaired(path, number)
            else:
                for text in texts.values():
                    text.append(line)
        elif _is_marker(bare, _BASE) and side == "ours":
            side, has_base = "base", True
        elif bare == _THEIRS and side != "theirs":
            side = "theirs"
        elif _is_marker(bare, _END) and side == "theirs":
            side = None
            all_have_base = all_have_base and has_base
        elif any(_is_marker(bare, mark) for mark in (_OURS, _BASE, _THEIRS, _END)):
            raise _unpaired(path, number)
        else:
            texts[side].append(line)
    if side is not None:
        raise _unpaired(path, begun)
    ours, base, theirs = (b"".join(texts[one]) for one in ("ours", "base", "theirs"))
    return ConflictSides(ours=ours, theirs=theirs, base=base if all_have_base else None)


def _is_marker(line: bytes, mark: bytes) -> bool:
    return line == mark or line.startswith(mark + b" ")


def _unpaired(path: str | None, line: int) -> LockfileError:
    return LockfileError(Location(path=path, line=line), "this conflict marker has no counterpart; merge again")
