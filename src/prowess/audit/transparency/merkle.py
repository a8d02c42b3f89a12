"""Merkle trees over records: hashes, roots, and proofs of inclusion and consistency.

A proof is made from hashes of complete subtrees. A `Subtrees` gives them, from memory (`MemoryTree`) or from tiles
(`prowess.audit.transparency.tiles`). `CompactRange` computes a root in one pass and keeps a few hashes only.

Source: RFC 9162, sections 2.1.1 to 2.1.4. Leaves are numbered from 0.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EMPTY_ROOT = sha256().digest()
HASH_BYTES = 32
_BLOCK_HEIGHT = 8
_BLOCK = 1 << _BLOCK_HEIGHT


class Subtrees(Protocol):
    """Hashes of complete subtrees."""

    def subtree(self, height: int, index: int) -> bytes:
        """Return the hash of the leaves from `index << height` to before `(index + 1) << height`."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf."""
    return sha256(b"\0" + data).digest()


def leaf_hashes(records: Iterable[bytes]) -> list[bytes]:
    """Return the hashes of several leaves."""
    return [sha256(b"\0" + data).digest() for data in records]  # written out as in `parents`


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node."""
    return sha256(b"\1" + left + right).digest()


def parents(hashes: Sequence[bytes]) -> list[bytes]:
    """Return the hashes one level above; an odd last hash has no parent yet."""
    return [
        sha256(b"\1" + left + right).digest() for left, right in zip(hashes[::2], hashes[1::2], strict=False)
    ]  # `node_hash` is written out, because calling it a million times takes as long as hashing


class CompactRange:
    """The roots of the complete subtrees that a tree of `size` leaves consists of, from the left."""

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self.size, self.hashes = size, list(hashes)

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Append leaf hashes."""
        at, end = 0, len(leaves)
        while at < end:
            if self.size % _BLOCK == 0 and end - at >= _BLOCK:
                level = list(leaves[at : at + _BLOCK])
                while len(level) > 1:
                    level = parents(level)
                self._append(level[0], _BLOCK_HEIGHT)
                at += _BLOCK
            else:
                self._append(leaves[at], 0)
                at += 1

    def root(self) -> bytes:
        """Return the root of the tree so far."""
        if not self.hashes:
            return EMPTY_ROOT
        *others, root = self.hashes
        for left in reversed(others):
            root = node_hash(left, root)
        return root

    def _append(self, root: bytes, height: int) -> None:
        """Append a complete subtree, at a place where one of its height can begin."""
        above = self.size >> height
        while above & 1:
            root = node_hash(self.hashes.pop(), root)
            above >>= 1
        self.hashes.append(root)
        self.size += 1 << height


class MemoryTree:
    """A tree whose hashes are all in memory: 64 bytes and some for each leaf."""

    def __init__(self, leaves: Sequence[bytes]) -> None:
        self._levels: list[Sequence[bytes]] = [leaves]
        while len(self._levels[-1]) > 1:
            self._levels.append(parents(self._levels[-1]))

    def subtree(self, height: int, index: int) -> bytes:
        """Return the hash of a complete subtree."""
        return self._levels[height][index]


def root_of(tree: Subtrees, size: int) -> bytes:
    """Return the root of the first `size` leaves."""
    return _root(tree, 0, size) if size else EMPTY_ROOT


def inclusion_proof(tree: Subtrees, index: int, size: int) -> list[bytes]:
    """Return the path from a leaf to the root of the first `size` leaves, beginning at the leaf."""
    path: list[bytes] = []
    begin, end = 0, size
    while end - begin > 1:
        middle = begin + _split(end - begin)
        if index < middle:
            path.append(_root(tree, middle, end))
            end = middle
        else:
            path.append(_root(tree, begin, middle))
            begin = middle
    return path[::-1]


def consistency_proof(tree: Subtrees, old: int, new: int) -> list[bytes]:
    """Return the proof that the first `old` of `new` leaves are those of the earlier tree; empty if `old` is 0."""
    if old in {0, new}:
        return []
    path: list[bytes] = []
    begin, end = 0, new
    while old != end:
        middle = begin + _split(end - begin)
        if old <= middle:
            path.append(_root(tree, middle, end))
            end = middle
        else:
            path.append(_root(tree, begin, middle))
            begin = middle
    if begin:
        path.append(_root(tree, begin, end))
    return path[::-1]


def inclusion_holds(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Return whether `path` proves that `leaf` is at `index` in the tree with this size and root."""
    return 0 <= index < size and _climb(leaf, index, size - 1, path) == root


def consistency_holds(old: int, old_root: bytes, new: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Return whether `path` proves that the tree of `new` leaves begins with the one of `old` leaves."""
    if old > new or old < 0:
        return False
    if old in {0, new}:
        return not path and old_root == (new_root if old else EMPTY_ROOT)
    if old & (old - 1) == 0:
        path = [old_root, *path]
    if not path:
        return False
    index, last = old - 1, new - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    before = after = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            before, after = node_hash(other, before), node_hash(other, after)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            after = node_hash(after, other)
        index, last = index >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root


def _climb(leaf: bytes, index: int, last: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root to which the path leads, or None if its length does not fit."""
    found = leaf
    for other in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            found = node_hash(other, found)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            found = node_hash(found, other)
        index, last = index >> 1, last >> 1
    return found if last == 0 else None


def _split(count: int) -> int:
    """Return the largest power of two that is smaller than `count`."""
    return 1 << (count - 1).bit_length() - 1


def _root(tree: Subtrees, begin: int, end: int) -> bytes:
    """Return the root of leaves; `begin` is a multiple of the power of two that is not below their number."""
    hashes: list[bytes] = []
    while begin < end:
        height = (end - begin).bit_length() - 1
        hashes.append(tree.subtree(height, begin >> height))
        begin += 1 << height
    root = hashes.pop()
    for left in reversed(hashes):
        root = node_hash(left, root)
    return root
