"""Reads the records of a log in a store, and verifies them against its last signed checkpoint on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint
from prowess.audit.transparency.merkle import EMPTY_ROOT, CompactRange, leaf_hash, leaf_hashes
from prowess.errors import SignatureError
from prowess.signing.signed_note import read_note_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.store.shared.audit_rows import LogEnd, SharedAuditRows

_TIME = slice(len(b'{"at":"'), len(b'{"at":"2026-11-29T10:00:00.000000Z'))  # of the line of a record


class LogWalk:
    """Yields the body and the number of each record that was not erased, from the first one of a time to the last.

    `since` and `until` choose by the time in the signed body. All records are read, because the time beside a record
    in the store is not signed. When all were read, `is_unchanged` states whether the bodies, and the hashes of erased
    records, are those of the last checkpoint, and whether the key that the store states signed it. Needs memory for
    one page of records. `check` is called for each page, and may raise to end the reading.

    Raises:
        StoreError: on iteration, if the store cannot be used.
    """

    def __init__(
        self,
        rows: SharedAuditRows,
        *,
        since: str | None = None,
        until: str | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self._rows, self._check = rows, check
        self._since = None if since is None else since.encode()
        self._until = None if until is None else until.encode()
        self.is_unchanged = True

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        end = self._rows.end()
        if end is None:
            return
        tree = CompactRange()
        expected = 1
        for page in self._rows.bodies(1, end.size):
            kept = [(body, number) for number, _, body in page if isinstance(body, bytes)]
            whole = len(kept) == len(page)
            tree.extend(leaf_hashes([body for body, _ in kept]) if whole else self._leaves(page))
            self.is_unchanged &= page[-1][0] - expected == len(page) - 1
            expected += len(page)
            if self._check is not None:
                self._check()
            yield from kept if self._since is None and self._until is None else filter(self._is_in_time, kept)
        self.is_unchanged &= tree.size == end.size and self._is_signed(end, tree.root())

    def _leaves(self, page: Sequence[tuple[int, bytes, bytes | None]]) -> list[bytes]:
        """Return the hashes of a page in which a body was erased, or has another type in an SQLite file."""
        self.is_unchanged &= all(body is None or type(body) is bytes for _, _, body in page)
        leaves = (leaf if body is None else leaf_hash(body) for _, leaf, body in page)
        return [leaf if type(leaf) is bytes else b"" for leaf in leaves] if self.is_unchanged else []

    def _is_in_time(self, record: tuple[bytes, int]) -> bool:
        at = record[0][_TIME]
        return (self._since is None or at >= self._since) and (self._until is None or at < self._until)

    def _is_signed(self, end: LogEnd, root: bytes) -> bool:
        try:
            checkpoint = read_checkpoint(end.checkpoint)
            key = read_note_key(self._rows.public_key())
            return is_signed(checkpoint, key) and (checkpoint.size, checkpoint.root) == (end.size, root or EMPTY_ROOT)
        except SignatureError:
            return False
