"""Merkle trees: roots and proofs as RFC 9162 defines them."""

from __future__ import annotations

import random
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.audit.transparency.merkle import (
    EMPTY_ROOT,
    CompactRange,
    MemoryTree,
    consistency_holds,
    consistency_proof,
    inclusion_holds,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
)
from prowess.audit.transparency.tiles import TileTree, extended
from prowess.errors import AuditReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAVES = [leaf_hash(b"%d" % number) for number in range(1030)]
TREE = MemoryTree(LEAVES)


def by_definition(leaves: Sequence[bytes]) -> bytes:
    """Return the root as section 2.1.1 defines it."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else EMPTY_ROOT
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(by_definition(leaves[:split]), by_definition(leaves[split:]))


def test_hashes_of_the_certificate_transparency_test_vectors() -> None:
    inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    tree = MemoryTree([leaf_hash(bytes.fromhex(one)) for one in inputs])
    assert sha256().digest() == EMPTY_ROOT
    assert root_of(tree, 1).hex() == "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    assert root_of(tree, 3).hex() == "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"
    assert root_of(tree, 8).hex() == "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 9, 255, 256, 257, 600, 1025])
def test_root_in_one_pass_and_from_the_tree_are_the_defined_one(size: int) -> None:
    expected = by_definition(LEAVES[:size])
    for first in {0, size // 3, size}:
        one_pass = CompactRange()
        one_pass.extend(LEAVES[:first])
        one_pass.extend(LEAVES[first:size])
        assert one_pass.root() == expected
    assert root_of(TREE, size) == expected


@settings(max_examples=50)
@given(st.integers(1, 300), st.data())
def test_every_proof_of_inclusion_holds_for_its_leaf_alone(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    path, root = inclusion_proof(TREE, index, size), root_of(TREE, size)
    assert inclusion_holds(LEAVES[index], index, size, path, root)
    other = data.draw(st.integers(0, size))
    assert inclusion_holds(LEAVES[index], other, size, path, root) == (other == index)
    assert not inclusion_holds(LEAVES[index], index, size, [*path, root], root)
    assert not inclusion_holds(LEAVES[index - 1], index, size, path, root) or size == 1
    if path:
        assert not inclusion_holds(LEAVES[index], index, size, path[:-1], root)


@settings(max_examples=50)
@given(st.integers(1, 300), st.data())
def test_every_proof_of_consistency_holds_for_its_two_roots_alone(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(0, size))
    path, old_root, root = consistency_proof(TREE, old, size), root_of(TREE, old), root_of(TREE, size)
    assert consistency_holds(old, old_root, size, root, path)
    assert not consistency_holds(old, leaf_hash(b"x"), size, root, path)
    assert consistency_holds(old, old_root, size, leaf_hash(b"x"), path) == (old == 0)  # nothing to keep
    assert not consistency_holds(old, old_root, size, root, [*path, root])
    assert not consistency_holds(size + 1, old_root, size, root, path)
    if path:
        assert not consistency_holds(old, old_root, size, root, path[1:])


def test_a_tree_in_tiles_grows_in_any_steps_and_gives_the_same_proofs() -> None:
    chosen, tiles, size = random.Random(3), dict[tuple[int, int], bytes](), 0

    def read(level: int, number: int) -> bytes:
        return tiles[level, number]

    while size < len(LEAVES):
        step = min(chosen.choice([1, 3, 100, 255, 256, 257, 600]), len(LEAVES) - size)
        tiles.update(extended(read, size, LEAVES[size : size + step]))
        size += step
        tree = TileTree(read, "log")
        assert root_of(tree, size) == root_of(TREE, size)
        index = chosen.randrange(size)
        assert inclusion_proof(tree, index, size) == inclusion_proof(TREE, index, size)
        assert consistency_proof(tree, index, size) == consistency_proof(TREE, index, size)
    assert {len(hashes) // 32 for (level, _), hashes in tiles.items() if level == 0} == {256, 6}
    with pytest.raises(AuditReadError, match="tile 0 of level 0 of its tree was changed or removed"):
        root_of(TileTree(lambda level, number: b"", "log"), 3)
