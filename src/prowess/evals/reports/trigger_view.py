"""The matrix of who answers whose requests, from what `prowess eval triggers --together` found."""

from __future__ import annotations

from msgspec import Struct


class MatrixCell(Struct, frozen=True, kw_only=True):
    """How many runs of the requests for one skill used another one. `kind` is own, stolen or other."""

    runs: int
    kind: str


class MatrixRow(Struct, frozen=True, kw_only=True):
    """The requests for one skill; the last row is for requests that no skill should answer."""

    name: str
    cells: tuple[MatrixCell, ...]


class ShadowNote(Struct, frozen=True, kw_only=True):
    """One skill that answers requests for another one, and the words that they share."""

    skill: str
    shadowed_by: str
    share: float
    words: tuple[str, ...] = ()


class TriggerMatrix(Struct, frozen=True, kw_only=True):
    """The matrix, its columns in the order of its rows."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    shadows: tuple[ShadowNote, ...] = ()
