"""Reads the records of a log in a store, and verifies them against its last signed checkpoint on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint
from prowess.audit.transparency.merkle import EMPTY_ROOT, HASH_BYTES, CompactRange, leaf_hash, leaf_hashes
from prowess.audit.transparency.tiles import WIDTH
from prowess.errors import SignatureError
from prowess.signing.signed_note import read_note_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.store.shared.audit_rows import LogEnd, SharedAuditRows


class LogWalk:
    """Yields the body and the number of each record that was not erased, from the first one of a time to the last.

    `since` and `until` choose the first and the last record; a record between them may be from another time. When all
    were read, `is_unchanged` states whether the bodies, and the hashes of all other records, are those of the last
    checkpoint, and whether the key that the store states signed it. Needs memory for one page of records.

    Raises:
        StoreError: on iteration, if the store cannot be used.
    """

    def __init__(self, rows: SharedAuditRows, *, since: str | None = None, until: str | None = None) -> None:
        self._rows, self._since, self._until = rows, since, until
        self.is_unchanged = True

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        end = self._rows.end()
        if end is None:
            return
        first, last = self._rows.span(end.size, self._since, self._until)
        tree = CompactRange()
        self._take_tiles(tree, 0, first - 1)
        expected = first
        for page in self._rows.bodies(first, last):
            kept = [(body, number) for number, _, body in page if isinstance(body, bytes)]
            whole = len(kept) == len(page)
            tree.extend(leaf_hashes([body for body, _ in kept]) if whole else self._leaves(page))
            self.is_unchanged &= page[-1][0] - expected == len(page) - 1
            expected += len(page)
            yield from kept
        self._take_tiles(tree, last, end.size)
        self.is_unchanged &= tree.size == end.size and self._is_signed(end, tree.root())

    def _leaves(self, page: Sequence[tuple[int, bytes, bytes | None]]) -> list[bytes]:
        """Return the hashes of a page in which a body was erased, or has another type in an SQLite file."""
        self.is_unchanged &= all(body is None or type(body) is bytes for _, _, body in page)
        leaves = (leaf if body is None else leaf_hash(body) for _, leaf, body in page)
        return [leaf if type(leaf) is bytes else b"" for leaf in leaves] if self.is_unchanged else []

    def _take_tiles(self, tree: CompactRange, begin: int, end: int) -> None:
        """Add the hashes of the leaves from `begin` to before `end`, as the tiles have them."""
        while begin < end:
            number, offset = divmod(begin, WIDTH)
            count = min(WIDTH - offset, end - begin)
            hashes = self._rows.tile(0, number)[offset * HASH_BYTES : (offset + count) * HASH_BYTES]
            tree.extend([hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)])
            begin += count

    def _is_signed(self, end: LogEnd, root: bytes) -> bool:
        try:
            checkpoint = read_checkpoint(end.checkpoint)
            key = read_note_key(self._rows.public_key())
            return is_signed(checkpoint, key) and (checkpoint.size, checkpoint.root) == (end.size, root or EMPTY_ROOT)
        except SignatureError:
            return False
