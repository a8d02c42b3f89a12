"""Events and records of the audit log, and the line format: canonical JSON with a hash of all other fields.

An event becomes a record when it gets its place in the chain. A line is accepted only if it equals, byte for byte, the
line that this module would write. Therefore any changed byte is detected, even a space.

`read_tail` returns the last records of a log for display. `read_tail` reads from the end, so that its time does not
depend on the length of the log. It does not verify the chain; a line that is not a record becomes `None`.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping  # noqa: TC003 -- msgspec decodes it
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Protocol

from msgspec import Struct

from prowess._internal.files.open_flags import READ
from prowess._internal.text.canonical_json import NotJsonError, canonical_json, sha256_of
from prowess.errors import AuditReadError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE_BYTES = 4 * 1024 * 1024
_TEXTS = {"at", "hash", "kind"}
_FIELDS = {"at", "call_id", "data", "hash", "kind", "previous", "sequence", "session_id"}


class AuditEvent(Struct, frozen=True, kw_only=True):
    """An event to be recorded.

    `kind` is dotted (`tool.started`, `tool.finished`, `tool.refused`, `skill.loaded` ...). `data` contains JSON values
    without floats, because two programs may print the same float differently. `data` must not contain secrets: of the
    arguments of a call it has names, sizes and a digest, of an environment only the names.
    """

    kind: str
    session_id: str | None = None
    call_id: str | None = None
    data: Mapping[str, object] = MappingProxyType({})


class AuditRecord(Struct, frozen=True, kw_only=True):
    """An event with its place in the chain.

    `sequence` counts from 1. `at` is the time of writing, RFC 3339 in UTC with microseconds. `previous` is the hash of
    the record before (None for the first). `hash` is `sha256:` over the canonical JSON of all other fields.
    """

    sequence: int
    at: str
    kind: str
    session_id: str | None
    call_id: str | None
    data: Mapping[str, object]
    previous: str | None
    hash: str


def waiting_record(event: AuditEvent, at: str) -> AuditRecord:
    """Return the record of an event that has no place in its log yet: with the number 0 and without hashes."""
    return AuditRecord(
        sequence=0,
        at=at,
        kind=event.kind,
        session_id=event.session_id,
        call_id=event.call_id,
        data=event.data,
        previous=None,
        hash="",
    )


class AuditLog(Protocol):
    """An append-only log of events in one order. Safe to call from several threads; calls block."""

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write one record.

        If AuditError is raised, it was not written; a caller that requires the record must not act.
        """


def is_in_use(log: AuditLog | None) -> bool:
    """Whether records go to a log now. A log that is only sometimes used has an attribute `in_use`."""
    return log is not None and bool(getattr(log, "in_use", True))


class BadLineError(ValueError):
    """The line was not written by this module; the message is the reason."""


class ChangedRecordError(ValueError):
    """The line is a record, but its hash does not match its fields."""

    def __init__(self, record: AuditRecord) -> None:
        super().__init__(record)
        self.record = record


def seal(event: AuditEvent, *, sequence: int, at: str, previous: str | None) -> tuple[AuditRecord, bytes]:
    """Return the record of `event` at this place of the chain, and its line. Raises BadLineError for invalid data."""
    fields: dict[str, object] = {
        "at": at,
        "call_id": event.call_id,
        "data": event.data,
        "kind": event.kind,
        "previous": previous,
        "sequence": sequence,
        "session_id": event.session_id,
    }
    try:
        before, behind = _around_hash(fields)
    except NotJsonError as fault:
        raise BadLineError(str(fault)) from None
    except LimitExceededError:
        raise BadLineError("its data is nested too deep") from None
    digest = sha256_of(before + behind)
    line = before + _member(digest) + behind + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise BadLineError(f"it would take {len(line)} bytes, more than {MAX_LINE_BYTES}")
    return _record({**fields, "hash": digest}), line


def time_text(moment: datetime | None = None) -> str:
    """Return a time in UTC, by default the present one, in the form of `AuditRecord.at`."""
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_line(line: bytes) -> AuditRecord:
    """Return the record in a line, with or without its line break.

    Raises:
        BadLineError: the line is not a record in canonical form.
        ChangedRecordError: the hash does not match the fields.
    """
    text = line.removesuffix(b"\n")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise BadLineError("it is not JSON") from None
    if not isinstance(value, dict) or value.keys() != _FIELDS or not _fits(value):
        raise BadLineError("it does not have the fields of a record")
    try:
        before, behind = _around_hash(value)
    except (NotJsonError, LimitExceededError) as fault:
        raise BadLineError(f"it is not in canonical form: {fault}") from None
    record = _record(value)
    if before + _member(record.hash) + behind != text:
        raise BadLineError("it is not in canonical form")
    if sha256_of(before + behind) != record.hash:
        raise ChangedRecordError(record)
    return record


_BEFORE_HASH = ("at", "call_id", "data")  # in the order of canonical JSON
_BEHIND_HASH = ("kind", "previous", "sequence", "session_id")


def _around_hash(fields: Mapping[str, object]) -> tuple[bytes, bytes]:
    """Return the canonical JSON of a record before and after its hash. The hash covers both parts joined."""
    before = canonical_json({name: fields[name] for name in _BEFORE_HASH}, floats=False)
    behind = canonical_json({name: fields[name] for name in _BEHIND_HASH}, floats=False)
    return before[:-1] + b",", behind[1:]


def _member(digest: str) -> bytes:
    return b'"hash":' + canonical_json(digest) + b","


def _fits(value: dict[str, object]) -> bool:
    return (
        type(value["sequence"]) is int
        and isinstance(value["data"], dict)
        and all(isinstance(value[name], str) for name in _TEXTS)
        and all(value[name] is None or isinstance(value[name], str) for name in ("call_id", "previous", "session_id"))
    )


def _record(value: dict[str, object]) -> AuditRecord:
    return AuditRecord(**value)  # type: ignore[arg-type]  # the fields and their types have been checked


_BLOCK = 64 * 1024


def open_log(path: str) -> BinaryIO:
    """Open a log for reading. Links and special files are refused.

    Raises:
        AuditReadError: the path is a link or not a regular file.
        OSError: the file cannot be opened.
    """
    if os.path.islink(path):
        raise AuditReadError(path, "is a link; name the file itself")
    descriptor = os.open(path, READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise AuditReadError(path, "is not a plain file")
    return open(descriptor, "rb")


def read_tail(path: str | os.PathLike[str], count: int) -> list[AuditRecord | None]:
    """Return the last `count` records in order, without an incomplete line at the end. Raises AuditReadError."""
    log_path = os.path.abspath(path)
    try:
        with open_log(log_path) as stream:
            position = stream.seek(0, os.SEEK_END)
            tail = b""
            while position and tail.count(b"\n") <= count:
                step = min(_BLOCK, position)
                position = stream.seek(position - step)
                tail = stream.read(step) + tail
    except FileNotFoundError:
        raise AuditReadError(log_path, "there is no log here") from None
    except OSError as fault:
        raise AuditReadError(log_path, f"cannot be read: {fault.strerror or fault}") from fault
    lines = tail.split(b"\n")[:-1]
    return [_record_or_none(line) for line in lines[-count:]]


def read_all(path: str | os.PathLike[str]) -> Iterator[AuditRecord | None]:
    """Yield every record, None for a damaged line. Skips an incomplete line at the end. Raises AuditReadError."""
    return (record for record, _ in read_from(path, 0))


def read_from(path: str | os.PathLike[str], start: int) -> Iterator[tuple[AuditRecord | None, int]]:
    """Yield each record as `read_all` does, with the offset of the end of its line, from the offset `start` on.

    Raise AuditReadError also if no line begins at `start`.
    """
    log_path = os.path.abspath(path)
    try:
        with open_log(log_path) as stream:
            if start:
                stream.seek(start - 1)
                if stream.read(1) != b"\n":
                    raise AuditReadError(log_path, "no record begins at the place of this cursor")
            end = start
            while line := stream.readline(MAX_LINE_BYTES + 1):
                end += len(line)
                if line.endswith(b"\n") or len(line) > MAX_LINE_BYTES:
                    yield _record_or_none(line), end
    except FileNotFoundError:
        raise AuditReadError(log_path, "there is no log here") from None
    except OSError as fault:
        raise AuditReadError(log_path, f"cannot be read: {fault.strerror or fault}") from fault


def _record_or_none(line: bytes) -> AuditRecord | None:
    try:
        return read_line(line)
    except (BadLineError, ChangedRecordError):
        return None
