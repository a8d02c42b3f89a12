"""An audit log in one JSONL file that several processes append to.

Under a lock on the file, an append learns from `head.json` where the chain ends, announces there what the head will be,
writes the record, and replaces the head. A writer may be killed between any two of these steps. The next
append takes over a record that was announced, removes half a line, and writes a record of its own about both
(`log.recovered`). Records behind the head that nobody announced are not taken over: appending fails until a person has
looked and accepts them (`accept`, a record `log.accepted`). A log that is shorter than its head, or that has lost it,
is not continued: that is for `prowess audit verify` and a person.

The file is private (0600 in a 0700 directory) and is never reached through a link. `head.json` beside it holds how
many records it has, the hash of the last one, and where that one ends; its further lines announce what is about to be
written. It is replaced as a whole after each record.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct

from prowess._internal.files.atomic_write import write_all, write_atomically
from prowess._internal.files.file_lock import WAIT_SECONDS, descriptor_locked
from prowess._internal.files.file_mark import Mark, mark_of
from prowess._internal.files.open_flags import READ
from prowess._internal.places import OTHERS, ensure_private_directory, exposed
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.audit.caller import Caller, with_keys
from prowess.audit.record import AuditEvent, BadLineError, ChangedRecordError, read_line, seal
from prowess.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.audit.record import AuditRecord

T = TypeVar("T")
_MAX_BYTES = 4096
_MOST_ANNOUNCED = 16  # records; one that is written, and those before it that are taken over


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
    found = _read(log_path)
    return None if found is None else found[0]


def _read(log_path: str) -> list[AuditHead] | None:
    """Return the head and those that are announced behind it."""
    try:
        descriptor = os.open(head_path(log_path), READ)
    except FileNotFoundError:
        return None
    try:
        data = os.read(descriptor, _MAX_BYTES)
    finally:
        os.close(descriptor)
    try:
        heads = [AuditHead(**json.loads(line)) for line in data.splitlines()]
        if not heads or b"".join(map(_spell, heads)) != data or not all(map(_fits, heads)):
            raise BadHeadError
    except (ValueError, TypeError, RecursionError):
        raise BadHeadError("head.json is not one that this log wrote") from None
    return heads


def announced(log_path: str) -> frozenset[AuditHead]:
    """Return the heads that a writer announced before it wrote; errors as from `read_head`."""
    found = _read(log_path)
    return frozenset(() if found is None else found[1:])


def _announce(log_path: str, heads: Sequence[AuditHead]) -> None:
    """Announce the heads to come behind the head, in place: to replace the file would cost twice."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(head_path(log_path), flags)
    try:
        end = os.read(descriptor, _MAX_BYTES).index(b"\n") + 1
        os.lseek(descriptor, end, os.SEEK_SET)
        data = b"".join(map(_spell, heads[-_MOST_ANNOUNCED:]))
        written = 0
        try:
            write_all(descriptor, data)
            written = len(data)
        finally:  # half a line would be no head of this log
            os.ftruncate(descriptor, end + written)
    finally:
        os.close(descriptor)


def _spell(head: AuditHead) -> bytes:
    return canonical_json({"count": head.count, "hash": head.hash, "size": head.size}) + b"\n"


def _fits(head: AuditHead) -> bool:
    numbers = type(head.count) is int and type(head.size) is int and head.count >= 0 and head.size >= 0
    return numbers and (head.hash is None if head.count == 0 else isinstance(head.hash, str))


RECOVERED, ACCEPTED = "log.recovered", "log.accepted"
_OWN_KINDS = "log."  # events of the log itself; nobody else writes one
_SYNC_SECONDS = 1.0
_MAX_RECOVERY_BYTES = 64 * 1024 * 1024


class JsonlAuditLog:
    """The log at `path`, with `head.json` beside it; one log has one directory.

    Args:
        path: the file, by custom `audit.jsonl`. It and its directory are made when first used.
        fsync: `record` puts each record on the disk before `append` returns; `second` at most once a second and on
            `close`, so that a loss of power (not a killed process) may cost the last records.
        wait_seconds: how long to wait for other writers.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fsync: Literal["record", "second"] = "record",
        *,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self.path = os.path.abspath(path)
        self._head = HeadFile(self.path)
        self._each = fsync == "record"
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._synced_at = time.monotonic()
        self._unsynced = False

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write one record behind the last.

        Raises:
            AuditError: nothing was written, and the file is as it was.
        """
        if event.kind.startswith(_OWN_KINDS):
            raise AuditError(self.path, f"kind {event.kind!r} is kept for the log itself")
        with self._told():
            return self._locked(lambda descriptor: self._write(descriptor, event, self._end_of_chain(descriptor))[0])

    def accept(self) -> int:
        """Take over the records behind the head that no writer announced; return how many there were.

        A record of its own (`log.accepted`) names them and who accepted them. For a person who has looked at them.

        Raises:
            AuditError: they do not continue the chain, or the log cannot be written; nothing was changed.
        """
        with self._told():
            return self._locked(self._accept)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what goes wrong in a change into an AuditError; one change of this process at a time."""
        with self._lock:
            try:
                yield
            except TimeoutError as fault:
                raise AuditError(self.path, f"{fault}; try again") from fault
            except OSError as fault:
                raise AuditError(self.path, f"cannot be written: {fault.strerror or fault}") from fault
            except BadHeadError as fault:
                raise AuditError(self.path, f"{fault}; run `prowess audit verify`") from fault
            except BadLineError as fault:
                raise AuditError(self.path, f"this event cannot be recorded: {fault}") from fault

    def close(self) -> None:
        """Put on the disk what `second` has left; the log can be used again afterwards."""
        with self._lock:
            if self._unsynced:
                with suppress(OSError):
                    descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
                    try:
                        self._sync(descriptor)
                    finally:
                        os.close(descriptor)

    def _locked(self, change: Callable[[int], T]) -> T:
        descriptor = self._open()
        try:
            with descriptor_locked(descriptor, wait_seconds=self._wait_seconds):
                self._check_still_in_place(descriptor)
                return change(descriptor)
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        directory = os.path.dirname(self.path)
        ensure_private_directory(directory)
        self._check_private(os.stat(directory), directory)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        if os.path.islink(self.path):
            raise AuditError(self.path, "is a link; name the file itself")
        # O_NONBLOCK, so that a pipe in its place cannot make the open wait for ever.
        descriptor = os.open(self.path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
        try:
            self._check_private(os.fstat(descriptor), self.path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _check_private(self, status: os.stat_result, path: str) -> None:
        if os.name != "posix":
            return  # Windows has access lists, which the modes do not show
        if (why := exposed(status, path, bits=OTHERS)) is not None:
            raise AuditError(self.path, why)
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            raise AuditError(self.path, "has a second name; remove the other link")
        if not stat.S_ISREG(status.st_mode) and path == self.path:
            raise AuditError(self.path, "is not a plain file")

    def _check_still_in_place(self, descriptor: int) -> None:
        """Refuse a file that was moved away while this process waited: its chain goes on without a head."""
        if os.name == "posix" and not os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
            raise AuditError(self.path, "was replaced just now; try again")

    def _accept(self, descriptor: int) -> int:
        head, size = self._known_head(descriptor)
        if size == head.size:
            return 0
        return self._recover(descriptor, head, size, accepting=True).count - head.count - 1

    def _end_of_chain(self, descriptor: int) -> AuditHead:
        head, size = self._known_head(descriptor)
        return head if size == head.size else self._recover(descriptor, head, size)

    def _known_head(self, descriptor: int) -> tuple[AuditHead, int]:
        """Return the head, and how long the log is, at least as long as the head has it."""
        size = os.fstat(descriptor).st_size
        head = self._head.read(size)
        if head is None:
            if size:
                raise AuditError(self.path, "head.json is missing beside it; run `prowess audit verify`")
            self._head.write(EMPTY)
            return EMPTY, size
        if size < head.size:
            reason = f"{head.size - size} bytes are missing from its end; run `prowess audit verify`"
            raise AuditError(self.path, reason)
        return head, size

    def _recover(self, descriptor: int, head: AuditHead, size: int, *, accepting: bool = False) -> AuditHead:
        """Take over whole records behind the head, remove a torn line, and record both.

        The head moves after that record is written, and not before.
        """
        if size - head.size > _MAX_RECOVERY_BYTES:
            raise AuditError(self.path, "too much stands behind its last known record; run `prowess audit verify`")
        tail = _read_at(descriptor, head.size, size - head.size)
        *lines, torn = tail.split(b"\n")
        adopted, steps = head, []
        for line in lines:
            try:
                record = read_line(line)
            except (BadLineError, ChangedRecordError):
                record = None
            if record is None or record.sequence != adopted.count + 1 or record.previous != adopted.hash:
                reason = (
                    f"what stands behind record {adopted.count} is no record of this log; run `prowess audit verify`"
                )
                raise AuditError(self.path, reason)
            adopted = AuditHead(count=record.sequence, hash=record.hash, size=adopted.size + len(line) + 1)
            steps.append(adopted)
        if not accepting and not announced(self.path).issuperset(steps):
            some = "a record stands" if len(steps) == 1 else f"{len(steps)} records stand"
            reason = f"{some} behind record {head.count} that no writer announced; run `prowess audit verify`"
            raise AuditError(self.path, f"{reason}, and `prowess audit accept` to keep what you know to be right")
        if torn:
            os.ftruncate(descriptor, adopted.size)
        data: dict[str, object] = {"adopted_records": len(lines), "removed_bytes": len(torn)}
        if torn:
            data["removed_sha256"] = sha256_of(torn)
        event = with_keys(AuditEvent(kind=ACCEPTED if accepting else RECOVERED, data=data), Caller.here())
        return self._write(descriptor, event, adopted, steps)[1]

    def _write(
        self, descriptor: int, event: AuditEvent, head: AuditHead, before: Sequence[AuditHead] = ()
    ) -> tuple[AuditRecord, AuditHead]:
        """Write a record behind `head`; `before` are the heads of records that the head of the disk does not count."""
        record, line = seal(event, sequence=head.count + 1, at=_now(), previous=head.hash)
        behind = AuditHead(count=record.sequence, hash=record.hash, size=head.size + len(line))
        try:
            _announce(self.path, [*before, behind])
            write_all(descriptor, line)
            if self._each:
                os.fsync(descriptor)
            self._head.write(behind)
        except OSError:
            with suppress(OSError):  # where even this fails, a torn line is left, and the next append removes it
                os.ftruncate(descriptor, head.size)
            raise
        if not self._each:
            self._unsynced = True
            if time.monotonic() - self._synced_at >= _SYNC_SECONDS:
                with suppress(OSError):  # the record is written; the next second tries again
                    self._sync(descriptor)
        return record, behind

    def _sync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        self._synced_at, self._unsynced = time.monotonic(), False


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _read_at(descriptor: int, start: int, size: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)  # not pread, which Windows lacks; writes go to the end in any case
    parts = []
    while size and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
