"""The Merkle tree and an export of 1 000 000 records beside one SHA-256 of each record, and proofs in this tree."""

from __future__ import annotations

import os
import tempfile
import time
from hashlib import sha256
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from prowess.audit.transparency.checkpoint import signed_checkpoint
from prowess.audit.transparency.export import FORMAT, ExportHeader, write_export
from prowess.audit.transparency.export_verification import verify_export
from prowess.audit.transparency.merkle import CompactRange, MemoryTree, inclusion_proof, leaf_hash
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpora import Corpus

RECORDS, _BYTES, _TURNS, _PROOFS = 1_000_000, 494, 3, 1000


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure in this process, in turns; the corpora are not used."""
    del corpora, rounds
    key = new_private_key("ed25519")
    records = [
        b'{"at":"2026-11-29T10:00:00.000000Z","sequence":%0*d}' % (_BYTES - 51, number) for number in range(RECORDS)
    ]
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "export")
        tree = CompactRange()
        tree.extend([leaf_hash(record) for record in records])
        checkpoint = str(signed_checkpoint("log", RECORDS, tree.root(), "log", key))
        header = ExportHeader(prowess_export=FORMAT, checkpoint=checkpoint, complete=True)
        write_export(path, header, (record + b"\n" for record in records))

        def verify() -> None:
            if not verify_export(path, note_key("log", key.public)).ok:
                raise AssertionError

        def grow() -> None:
            CompactRange().extend([leaf_hash(record) for record in records])

        def hash_each() -> None:
            for record in records:
                sha256(record).digest()

        least = dict.fromkeys((hash_each, grow, verify), float("inf"))
        for _ in range(_TURNS):
            for work in least:
                least[work] = min(least[work], _spent(work))
    complete = MemoryTree([leaf_hash(record) for record in records])
    size = RECORDS - 1  # not a power of two: the right edge has to be computed
    step = size // _PROOFS

    def prove() -> None:
        for number in range(_PROOFS):
            inclusion_proof(complete, number * step, size)

    proof = min(_spent(prove) for _ in range(_TURNS)) / _PROOFS
    what = f"processor time over {RECORDS:,} records of {_BYTES} bytes".replace(",", " ")
    note = f"least of {_TURNS} turns in one process: {{:.2f}} s, and {least[hash_each]:.2f} s for hashing"
    return [
        Figure(
            name=f"Merkle tree of the audit log: {what}, against one SHA-256 of each",
            value=least[grow] / least[hash_each],
            at_most=4.0,
            note=note.format(least[grow]),
        ),
        Figure(
            name=f"verifying an export of the audit log: {what}, against one SHA-256 of each",
            value=least[verify] / least[hash_each],
            at_most=8.0,
            note=note.format(least[verify]),
        ),
        Figure(
            name="a proof that a record is in the audit log",
            value=proof * 1000,
            unit="ms",
            at_most=1.0,
            note=f"processor time, mean of {_PROOFS} proofs in a tree of {size} records in memory",
        ),
    ]


def _spent(work: Callable[[], None]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before
