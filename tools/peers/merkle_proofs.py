"""Compare our Merkle proofs with those of pymerkle (GPL, so it is in an environment of its own and judges only).

python tools/peers/merkle_proofs.py SOURCE     SOURCE is the folder of our package; runs where pymerkle is installed
"""

from __future__ import annotations

import random
import sys

import pymerkle

sys.path.insert(0, sys.argv[1])
from prowess.audit.transparency import merkle

PROOFS = 1000
LEAVES = 3000


def main() -> None:
    """Compare roots, 1000 inclusion proofs and 1000 consistency proofs, each verified by both."""
    chosen = random.Random(7)  # noqa: S311 -- drawn cases
    records = [b"%d" % number for number in range(LEAVES)]
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    for record in records:
        theirs.append_entry(record)
    leaves = [merkle.leaf_hash(record) for record in records]
    ours = merkle.MemoryTree(leaves)
    for size in [*range(1, 130), *chosen.sample(range(130, LEAVES + 1), 500)]:
        one_pass = merkle.CompactRange()
        one_pass.extend(leaves[:size])
        assert merkle.root_of(ours, size) == one_pass.root() == theirs.get_root(size), size
    for _ in range(PROOFS):
        size = chosen.randint(1, LEAVES)
        index = chosen.randrange(size)
        root, path = theirs.get_root(size), merkle.inclusion_proof(ours, index, size)
        assert merkle.inclusion_holds(leaves[index], index, size, path, root), (index, size)
        proof = theirs.prove_inclusion(index + 1, size)
        assert proof.path == [leaves[index], *path], (index, size)
        pymerkle.verify_inclusion(leaves[index], merkle.root_of(ours, size), proof)
    for _ in range(PROOFS):
        size = chosen.randint(1, LEAVES)
        old = chosen.randint(1, size)
        states = theirs.get_root(old), theirs.get_root(size)
        path = merkle.consistency_proof(ours, old, size)
        assert merkle.consistency_holds(old, states[0], size, states[1], path), (old, size)
        proof = theirs.prove_consistency(old, size)
        pymerkle.verify_consistency(merkle.root_of(ours, old), merkle.root_of(ours, size), proof)
    print(f"   629 roots, {PROOFS} inclusion proofs and {PROOFS} consistency proofs agree with pymerkle")


main()
