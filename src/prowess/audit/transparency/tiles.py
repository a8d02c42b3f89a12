"""Tiles: the stored form of a Merkle tree that grows.

A tile has up to 256 hashes of one height: level 0 those of leaves, level 1 those of complete tiles of level 0, and so
on. A tile that is complete never changes. Sizes as in C2SP tlog-tiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.audit.transparency.merkle import HASH_BYTES, parents
from prowess.errors import AuditReadError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    ReadTile = Callable[[int, int], bytes]

HEIGHT = 8
WIDTH = 1 << HEIGHT


class TileTree:
    """A tree whose hashes are read from tiles. `read` returns the hashes of a tile, given by level and number.

    `name` is the log in messages. A tile that is missing or too short raises AuditReadError.
    """

    def __init__(self, read: ReadTile, name: str) -> None:
        self._read, self._name = read, name
        self._tiles: dict[tuple[int, int], list[list[bytes]]] = {}

    def subtree(self, height: int, index: int) -> bytes:
        """Return the hash of a complete subtree."""
        level, rest = divmod(height, HEIGHT)
        number, offset = divmod(index << rest, WIDTH)
        heights = self._tiles.get((level, number))
        if heights is None:
            heights = self._tiles[level, number] = [_hashes(self._read(level, number))]
        while len(heights) <= rest:
            heights.append(parents(heights[-1]))
        if offset >> rest >= len(heights[rest]):
            raise AuditReadError(self._name, f"tile {number} of level {level} of its tree was changed or removed")
        return heights[rest][offset >> rest]


def extended(read: ReadTile, size: int, leaves: Sequence[bytes]) -> dict[tuple[int, int], bytes]:
    """Return the tiles that change if leaves are appended to a tree of this size."""
    changed: dict[tuple[int, int], bytes] = {}
    level, added = 0, list(leaves)
    while added:
        number, offset = divmod(size, WIDTH)
        row = [*(_hashes(read(level, number))[:offset] if offset else ()), *added]
        complete: list[bytes] = []
        for at in range(0, len(row), WIDTH):
            tile = row[at : at + WIDTH]
            changed[level, number + at // WIDTH] = b"".join(tile)
            if len(tile) == WIDTH:
                while len(tile) > 1:
                    tile = parents(tile)
                complete += tile
        level, size, added = level + 1, size // WIDTH, complete
    return changed


def _hashes(data: bytes) -> list[bytes]:
    return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]
