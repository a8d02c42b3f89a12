"""`head.json`: how many records the log beside it has, the hash of the last one, and where that one ends.

It is replaced as a whole after each record. A log that is shorter than its head has lost its tail.
"""

from __future__ import annotations

import json
import os

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_mark import Mark, mark_of
from prowess._internal.files.open_flags import READ
from prowess._internal.text.canonical_json import canonical_json

_MAX_BYTES = 4096


class AuditHead(Struct, frozen=True, kw_only=True):
    """`hash` is None where `count` is 0; `size` is the length in bytes of the first `count` records."""

    count: int
    hash: str | None
    size: int


class BadHeadError(ValueError):
    """The file is there but is not one that this module writes."""


EMPTY = AuditHead(count=0, hash=None, size=0)


def head_path(log_path: str) -> str:
    """Return where the head of the log at `log_path` lies."""
    return os.path.join(os.path.dirname(log_path), "head.json")


class HeadFile:
    """The head of one log, for callers that hold its lock; read again only where somebody else may have written.

    Whoever adds a record makes the log longer, and whoever changes the head alone puts another file in its place: the
    length and one call of `stat` tell. Neither would do alone, for inodes and time stamps repeat within a moment.
    """

    def __init__(self, log_path: str) -> None:
        self._log_path = log_path
        self._known: tuple[Mark, AuditHead] | None = None

    def read(self, log_bytes: int) -> AuditHead | None:
        """As `read_head`; `log_bytes` is how long the log is now."""
        mark = self._mark()
        if self._known is not None and self._known[0] == mark and self._known[1].size == log_bytes:
            return self._known[1]
        head = read_head(self._log_path)
        self._known = None if mark is None or head is None else (mark, head)
        return head

    def write(self, head: AuditHead) -> None:
        """Replace the head; OSError where nothing was changed.

        It is not synced: the log is, where that is asked for, and a head that a loss of power has set back is one that
        the log runs ahead of, which recovery and verification know.
        """
        write_atomically(head_path(self._log_path), _spell(head), sync=False)
        mark = self._mark()
        self._known = None if mark is None else (mark, head)

    def _mark(self) -> Mark | None:
        try:
            return mark_of(os.lstat(head_path(self._log_path)))
        except OSError:
            return None


def read_head(log_path: str) -> AuditHead | None:
    """Return the head, or None where there is none.

    Raises:
        BadHeadError: it was changed by something else.
        OSError: it cannot be read, or is a link.
    """
    try:
        descriptor = os.open(head_path(log_path), READ)
    except FileNotFoundError:
        return None
    try:
        data = os.read(descriptor, _MAX_BYTES)
    finally:
        os.close(descriptor)
    try:
        value = json.loads(data)
        head = AuditHead(**value)
        if _spell(head) != data or not _fits(head):
            raise BadHeadError
    except (ValueError, TypeError, RecursionError):
        raise BadHeadError("head.json is not one that this log wrote") from None
    return head


def _spell(head: AuditHead) -> bytes:
    return canonical_json({"count": head.count, "hash": head.hash, "size": head.size}) + b"\n"


def _fits(head: AuditHead) -> bool:
    numbers = type(head.count) is int and type(head.size) is int and head.count >= 0 and head.size >= 0
    return numbers and (head.hash is None if head.count == 0 else isinstance(head.hash, str))
