"""The Merkle tree over a log in a file, and checkpoints of it.

A log is verified before its state is signed. The last signed checkpoint is kept in the file `checkpoint` beside the
log, and a log that does not continue it is not signed again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess.audit.chain_walk import ChainWalk
from prowess.audit.record import open_log
from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint, signed_checkpoint
from prowess.audit.transparency.export import FORMAT, ExportHeader, proved_lines, write_export
from prowess.audit.transparency.merkle import CompactRange, MemoryTree, leaf_hash
from prowess.audit.verification import log_snapshot
from prowess.errors import AuditReadError, SignatureError
from prowess.signing.signed_note import note_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.audit.selection import RecordFilter
    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.signing.keys import PrivateKey


class LogTree(Struct, frozen=True, kw_only=True):
    """The leaves of the records of a log. `chosen` are places, offsets and lengths of those that match a filter."""

    path: str
    leaves: Sequence[bytes]
    chosen: Sequence[tuple[int, int, int]]

    def root(self, size: int | None = None) -> bytes:
        """Return the root of the first `size` records, or of all."""
        found = CompactRange()
        found.extend(self.leaves if size is None else self.leaves[:size])
        return found.root()


def read_tree(path: str, wanted: RecordFilter) -> LogTree:
    """Verify a log and read its leaves. Raises AuditReadError if it cannot be read, or has faults."""
    log_path = os.path.abspath(path)
    walk = ChainWalk()
    leaves: list[bytes] = []
    chosen: list[tuple[int, int, int]] = []
    with log_snapshot(log_path) as (stream, size, head, expected):
        if isinstance(head, str):
            raise AuditReadError(log_path, f"{head}; run `prowess audit verify`")
        offset = 0
        for record, line in walk.read(stream, size, head):
            if record is not None and wanted.fits(record):
                chosen.append((len(leaves), offset, len(line) - 1))
            leaves.append(leaf_hash(line[:-1]))
            offset += len(line)
        walk.compare_with_head(head, expected)
    walk.finish()
    if walk.faults:
        raise AuditReadError(log_path, f"{walk.faults[0].message}; run `prowess audit verify`")
    return LogTree(path=log_path, leaves=leaves, chosen=chosen)


def sign_tree(tree: LogTree, origin: str, key: PrivateKey) -> Checkpoint:
    """Sign the state of a log, and keep the checkpoint beside it.

    Raises:
        AuditReadError: the log does not continue the checkpoint that this key signed for it before.
        SignatureError: the key or the origin cannot be used.
        OSError: the checkpoint cannot be kept.
    """
    signed = signed_checkpoint(origin, len(tree.leaves), tree.root(), origin, key)
    place = os.path.join(os.path.dirname(tree.path), "checkpoint")
    kept = _kept(place, origin, key)
    if kept is not None and (kept.size > signed.size or tree.root(kept.size) != kept.root):
        found = f"it does not continue the checkpoint with {kept.size} records that was signed before"
        advice = "if it is a new log, move the file `checkpoint` away with the old one, and choose another --origin"
        raise AuditReadError(tree.path, f"{found}; {advice}")
    write_atomically(place, str(signed).encode())
    return signed


def _kept(place: str, origin: str, key: PrivateKey) -> Checkpoint | None:
    with suppress(FileNotFoundError, SignatureError, UnicodeDecodeError), open(place, encoding="utf-8") as file:
        kept = read_checkpoint(file.read())
        if kept.origin == origin and is_signed(kept, note_key(origin, key.public)):
            return kept
    return None


def export_log(tree: LogTree, checkpoint: Checkpoint, out: str, *, complete: bool) -> int:
    """Write the chosen records of a log to an export file. Return their number. Raises OSError."""
    header = ExportHeader(prowess_export=FORMAT, checkpoint=str(checkpoint), complete=complete)
    if complete:
        write_export(out, header, (record + b"\n" for _, record in _records(tree)))
        return len(tree.chosen)
    last = tree.chosen[-1][0] if tree.chosen else None
    header = ExportHeader(
        prowess_export=FORMAT, checkpoint=str(checkpoint), complete=False, records=len(tree.chosen), last=last
    )
    write_export(out, header, proved_lines(MemoryTree(tree.leaves), checkpoint.size, _records(tree)))
    return len(tree.chosen)


def _records(tree: LogTree) -> Iterator[tuple[int, bytes]]:
    with open_log(tree.path) as stream:
        for index, offset, length in tree.chosen:
            stream.seek(offset)
            yield index, stream.read(length)
