"""An audit log in one JSONL file, with several processes as writers.

The head of a log is the end of its hash chain, stored in `head.json`. An append locks the file, reads the head,
announces the next head in `head.json`, writes the record, and replaces the head. A writer may be killed between any two
of these steps. The next append then adopts a record that was announced, removes an incomplete line, and writes a record
about the recovery (`log.recovered`). Records after the head that were not announced are not adopted, except in the log
of a machine's service (`adopts_unannounced`): appending fails until a person has checked and accepted them (`accept`,
which writes a record `log.accepted`). Appending also fails if the log is shorter than its head or the head is missing;
a person must then run `prowess audit verify`.

The log is private (0600 in a 0700 directory) and is never opened through a link. The first line of `head.json`, in the
directory of the log, has the number of records, the hash of the last one, and the offset of its end. Each line after
the first announces the head of a record that is about to be written. `head.json` is replaced as a whole after each
record.
"""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct

from prowess._internal.files.atomic_write import remove_drafts, write_all, write_atomically
from prowess._internal.files.file_lock import WAIT_SECONDS, descriptor_locked
from prowess._internal.files.file_mark import Mark, mark_of
from prowess._internal.files.open_flags import READ
from prowess._internal.places import OTHERS, ensure_private_directory, exposed
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.audit.caller import Caller, with_keys
from prowess.audit.record import AuditEvent, BadLineError, ChangedRecordError, read_line, seal, time_text
from prowess.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.audit.record import AuditRecord

T = TypeVar("T")
_MAX_BYTES = 4096
MAX_GROUP = 16  # records written with one sync
_MOST_ANNOUNCED = MAX_GROUP + 8  # the records being written, and adopted records before them; fits `_MAX_BYTES`


class AuditHead(Struct, frozen=True, kw_only=True):
    """The end of the chain after `count` records, which take `size` bytes. `hash` is `None` if `count` is 0."""

    count: int
    hash: str | None
    size: int


class BadHeadError(ValueError):
    """head.json exists, but this module did not write it."""


EMPTY = AuditHead(count=0, hash=None, size=0)


def head_path(log_path: str) -> str:
    """Return the path of head.json for the log at `log_path`."""
    return os.path.join(os.path.dirname(log_path), "head.json")


class HeadFile:
    """The head of one log, cached; for callers that hold the lock of the log.

    The file is read again only if another process may have written it. An append makes the log longer, and a change of
    the head without an append replaces head.json. So the log's length and one call of `stat` show both changes. Both
    checks are needed, because inodes and time stamps can repeat within a moment.
    """

    def __init__(self, log_path: str) -> None:
        self._log_path = log_path
        self._known: tuple[Mark, AuditHead] | None = None

    def read(self, log_bytes: int) -> AuditHead | None:
        """Return the head as `read_head` does; `log_bytes` is the current length of the log in bytes."""
        mark = self._mark()
        if self._known is not None and self._known[0] == mark and self._known[1].size == log_bytes:
            return self._known[1]
        head = read_head(self._log_path)
        self._known = None if mark is None or head is None else (mark, head)
        return head

    def write(self, head: AuditHead) -> None:
        """Replace the head; raises OSError if it was not changed.

        The head is not synced to disk. The log is synced if configured, so after a power failure the log may be ahead
        of the head. Recovery and verification handle this case.
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
    """Return the head, or `None` if there is no file.

    Raises:
        BadHeadError: another program changed the file.
        OSError: the file cannot be read, or is a link.
    """
    found = _read(log_path)
    return None if found is None else found[0]


def _read(log_path: str) -> list[AuditHead] | None:
    """Return the head and the announced heads after it."""
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
    """Return the heads that writers announced before writing; raises the errors of `read_head`."""
    found = _read(log_path)
    return frozenset(() if found is None else found[1:])


def _announce(log_path: str, heads: Sequence[AuditHead]) -> None:
    """Write the announced heads after the head, in place: replacing the file would cost twice as much."""
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
        finally:  # head.json must not contain an incomplete line
            os.ftruncate(descriptor, end + written)
    finally:
        os.close(descriptor)


def _spell(head: AuditHead) -> bytes:
    return canonical_json({"count": head.count, "hash": head.hash, "size": head.size}) + b"\n"


def _fits(head: AuditHead) -> bool:
    numbers = type(head.count) is int and type(head.size) is int and head.count >= 0 and head.size >= 0
    return numbers and (head.hash is None if head.count == 0 else isinstance(head.hash, str))


RECOVERED, ACCEPTED = "log.recovered", "log.accepted"
_OWN_KINDS = "log."  # events that only the log itself writes
_SYNC_SECONDS = 1.0
_MAX_RECOVERY_BYTES = 64 * 1024 * 1024


class JsonlAuditLog:
    """The log at `path`, with `head.json` in the same directory. Each log needs its own directory.

    Args:
        path: the file, usually `audit.jsonl`. It and its directory are created when first used.
        fsync: `record` syncs each record to disk before `append` returns. `second` syncs at most once a second and on
            `close`, so a power failure (not a killed process) may lose the last records.
        wait_seconds: time limit on waiting for other writers.
        adopts_unannounced: adopt whole records after the head that continue the chain, also if head.json does not
            announce them, and record it. A loss of power leaves them, because head.json is not synced. Only for a log
            that one service alone can write, such as the machine's.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fsync: Literal["record", "second"] = "record",
        *,
        wait_seconds: float = WAIT_SECONDS,
        adopts_unannounced: bool = False,
    ) -> None:
        self._adopts = adopts_unannounced
        self.path = os.path.abspath(path)
        self._head = HeadFile(self.path)
        self._each = fsync == "record"
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._synced_at = time.monotonic()
        self._unsynced = False

    def append(self, event: AuditEvent) -> AuditRecord:
        """Append one record. If the last writer was killed, recover the log first.

        Raises:
            AuditError: the record was not written.
        """
        return self.append_group((event,))[0]

    def append_group(self, events: Sequence[AuditEvent]) -> tuple[AuditRecord, ...]:
        """Append 1 to `MAX_GROUP` records with one sync, as `append` does. All of them are written, or none.

        Raises:
            AuditError: no record was written.
        """
        if not 0 < len(events) <= MAX_GROUP:
            raise ValueError(f"a group has 1 to {MAX_GROUP} events")
        for event in events:
            if event.kind.startswith(_OWN_KINDS):
                raise AuditError(self.path, f"kind {event.kind[:80]!r} is reserved for the log itself")
        with self._converted_errors():
            return self._locked(lambda descriptor: self._write(descriptor, events, self._end_of_chain(descriptor))[0])

    def accept(self) -> int:
        """Adopt records after the head that no writer announced. Return their number.

        Call it only after a person has checked the records. A record `log.accepted` states their number and who
        accepted them.

        Raises:
            AuditError: the records do not continue the chain, or the log cannot be written; no record was adopted.
        """
        with self._converted_errors():
            return self._locked(self._accept)

    @contextmanager
    def _converted_errors(self) -> Iterator[None]:
        """Convert errors to AuditError, and allow one change at a time in this process."""
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
        """Sync records that `second` has not yet synced. The log can be used again afterwards."""
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
        # O_NONBLOCK: opening a pipe in place of the file must not block.
        descriptor = os.open(self.path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)
        try:
            self._check_private(os.fstat(descriptor), self.path)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _check_private(self, status: os.stat_result, path: str) -> None:
        if os.name != "posix":
            return  # Windows has access control lists, which modes do not show
        if (why := exposed(status, path, bits=OTHERS)) is not None:
            raise AuditError(self.path, why)
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            raise AuditError(self.path, "has a second hard link; remove that link")
        if not stat.S_ISREG(status.st_mode) and path == self.path:
            raise AuditError(self.path, "is not a plain file")

    def _check_still_in_place(self, descriptor: int) -> None:
        """Refuse a file that was moved away while this process waited, because its chain no longer has a head."""
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
        """Return the head and the length of the log, which is not less than the head's `size`."""
        size = os.fstat(descriptor).st_size
        head = self._head.read(size)
        if head is None:
            if size:
                raise AuditError(self.path, "its head.json is missing; run `prowess audit verify`")
            self._remove_drafts()
            self._head.write(EMPTY)
            return EMPTY, size
        if size < head.size:
            reason = f"{head.size - size} bytes are missing from its end; run `prowess audit verify`"
            raise AuditError(self.path, reason)
        return head, size

    def _recover(self, descriptor: int, head: AuditHead, size: int, *, accepting: bool = False) -> AuditHead:
        """Adopt complete records after the head, remove an incomplete line, and record both. The head changes last."""
        if size - head.size > _MAX_RECOVERY_BYTES:
            raise AuditError(
                self.path, "there is too much data after its last known record; run `prowess audit verify`"
            )
        self._remove_drafts()
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
                    f"the data after record {adopted.count} is not a record of this log; run `prowess audit verify`"
                )
                raise AuditError(self.path, reason)
            adopted = AuditHead(count=record.sequence, hash=record.hash, size=adopted.size + len(line) + 1)
            steps.append(adopted)
        unannounced = not accepting and not announced(self.path).issuperset(steps)
        if unannounced and not self._adopts:
            some = "a record" if len(steps) == 1 else f"{len(steps)} records"
            reason = f"no writer announced {some} after record {head.count}; run `prowess audit verify`"
            raise AuditError(
                self.path, f"{reason}, and `prowess audit accept` to keep records that you know to be right"
            )
        if torn:
            os.ftruncate(descriptor, adopted.size)
        data: dict[str, object] = {"adopted_records": len(lines), "removed_bytes": len(torn)}
        if unannounced:
            data["unannounced"] = True
        if torn:
            data["removed_sha256"] = sha256_of(torn)
        event = with_keys(AuditEvent(kind=ACCEPTED if accepting else RECOVERED, data=data), Caller.here())
        return self._write(descriptor, (event,), adopted, steps)[1]

    def _remove_drafts(self) -> None:
        """Remove the draft of a head whose writer was killed; such a writer leaves the log longer than its head."""
        with suppress(OSError):
            remove_drafts(*os.path.split(head_path(self.path)))

    def _write(
        self, descriptor: int, events: Sequence[AuditEvent], head: AuditHead, before: Sequence[AuditHead] = ()
    ) -> tuple[tuple[AuditRecord, ...], AuditHead]:
        """Write records after `head`. `before` are the heads of adopted records, not yet counted in head.json."""
        records, lines, steps, behind = [], [], list(before), head
        for event in events:
            record, line = seal(event, sequence=behind.count + 1, at=time_text(), previous=behind.hash)
            behind = AuditHead(count=record.sequence, hash=record.hash, size=behind.size + len(line))
            records.append(record)
            lines.append(line)
            steps.append(behind)
        try:
            _announce(self.path, steps)
            write_all(descriptor, b"".join(lines))
            if self._each:
                os.fsync(descriptor)
            self._head.write(behind)
        except OSError:
            with suppress(OSError):  # if this fails too, the next append removes the incomplete line
                os.ftruncate(descriptor, head.size)
            raise
        if not self._each:
            self._unsynced = True
            if time.monotonic() - self._synced_at >= _SYNC_SECONDS:
                with suppress(OSError):  # the record is written; syncing is tried again after a second
                    self._sync(descriptor)
        return tuple(records), behind

    def _sync(self, descriptor: int) -> None:
        os.fsync(descriptor)
        self._synced_at, self._unsynced = time.monotonic(), False


def _read_at(descriptor: int, start: int, size: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)  # not pread, which Windows lacks; writes append in any case
    parts = []
    while size and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
