"""Proofs about a log that hold without it: Merkle tree, checkpoints and export files."""
