"""Verify an audit log in one pass, and report every break of the hash chain with its record.

The hash of a record covers its fields and the hash of the previous record. A change, deletion, move or insertion
therefore breaks the chain at that place. If records are cut from the end, the chain stays intact, but `head.json`
counts more records. The chain does not protect against a person who may write to the directory, because that person can
write a new chain and a new head. A copy of the head in another place protects against a new chain.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct, field

from prowess._internal.files.file_lock import descriptor_locked
from prowess._internal.places import OTHERS, exposed
from prowess.audit.chain_walk import MAX_FINDINGS, AuditFinding, ChainWalk
from prowess.audit.log import AuditHead, BadHeadError, announced, head_path, read_head
from prowess.audit.record import open_log
from prowess.errors import AuditReadError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.audit.record import AuditRecord


class LogFile(Struct, frozen=True, kw_only=True):
    """One file of a log: the numeric `owner`, the `mode` in octal digits, and the number of hard `links`."""

    path: str
    owner: int
    mode: str
    links: int


class Verification(Struct, frozen=True, kw_only=True):
    """The result of verifying one log.

    `ok` is true if there are no faults. Notices are facts that a person should know but that do not break the chain.
    `head` is the hash of the last record; keep a copy in another place to prove later that no earlier record has
    changed. `kept_at` is the number of the record with the given head. `unfinished` are the numbers of records that
    started a call without an end in the log, at most 100: the process was killed, or is still working. `unfinished` is
    empty if there are faults. `files` are the log and its head with owner and mode.
    """

    ok: bool
    path: str = field(name="log")
    records: int
    head: str | None
    kept_at: int | None
    faults: tuple[AuditFinding, ...]
    notices: tuple[AuditFinding, ...]
    more: int
    unfinished: tuple[int, ...] = ()
    files: tuple[LogFile, ...] = ()


def verify_log(
    path: str | os.PathLike[str], head: str | None = None, seen: Callable[[AuditRecord], None] | None = None
) -> Verification:
    """Verify the whole log at `path`. `head` is a hash from a copy of the head, with or without `sha256:`.

    `seen` is called with each unchanged record, in the order of the file. The log is verified as it was at one moment;
    writers may continue meanwhile.

    Raises:
        AuditReadError: there is no log, or it cannot be read.
    """
    log_path = os.path.abspath(path)
    walk = ChainWalk(None if head is None else f"sha256:{head.lower().removeprefix('sha256:')}")
    with log_snapshot(log_path) as (stream, size, found, expected):
        if isinstance(found, str):
            lost = (
                "records cut from the end cannot be detected"
                if size
                else "nothing was recorded yet, or everything was removed"
            )
            walk.fault("head", f"{found}: {lost}")
        for record, _ in walk.read(stream, size, None if isinstance(found, str) else found):
            if seen is not None and record is not None:
                seen(record)
        if not isinstance(found, str):
            walk.compare_with_head(found, expected)
    walk.finish()
    files = _files(log_path, walk)
    return Verification(
        ok=not walk.faults,
        path=log_path,
        records=walk.records,
        head=walk.last,
        kept_at=walk.kept_at,
        faults=tuple(sorted(walk.faults, key=lambda fault: fault.line or walk.lines + 1)),
        notices=tuple(notice for notice in walk.notices if not (walk.faults and notice.kind == "ahead")),
        more=walk.more,
        # If there is a fault, the end of a call may be among the lost records.
        unfinished=() if walk.faults else walk.unfinished.records()[:MAX_FINDINGS],
        files=files,
    )


@contextmanager
def log_snapshot(path: str) -> Iterator[tuple[BinaryIO | None, int, AuditHead | str, frozenset[AuditHead]]]:
    """Yield the log, the bytes to read, its head (or why it is invalid), and the announced heads, as of one moment."""
    with ExitStack() as stack:
        try:
            stream = _open(path)
            lock = ExitStack()
            if stream is not None:
                stack.enter_context(stream)
                lock.enter_context(descriptor_locked(stream.fileno(), shared=True))
            with lock:
                size = 0 if stream is None else os.fstat(stream.fileno()).st_size
                head = _head(path)
                expected = frozenset[AuditHead]() if isinstance(head, str) else announced(path)
        except TimeoutError as fault:
            raise AuditReadError(path, f"{fault}; try again") from fault
        except OSError as fault:
            raise AuditReadError(path, f"cannot be read: {fault.strerror or fault}") from fault
        if stream is None and head == _NO_HEAD:
            raise AuditReadError(path, "there is no log here")
        yield stream, size, head, expected


_NO_HEAD = "head.json is missing"


def _head(path: str) -> AuditHead | str:
    try:
        return read_head(path) or _NO_HEAD
    except BadHeadError as fault:
        return str(fault)


def _open(path: str) -> BinaryIO | None:
    try:
        return open_log(path)
    except FileNotFoundError:
        return None


def _files(log_path: str, walk: ChainWalk) -> tuple[LogFile, ...]:
    """Return the files of the log, and add a notice for each file that other users could change."""
    files: list[LogFile] = []
    for path in (log_path, head_path(log_path)):
        try:
            found = os.lstat(path)
        except OSError:
            continue
        links = found.st_nlink
        files.append(LogFile(path=path, owner=found.st_uid, mode=f"{found.st_mode & 0o7777:04o}", links=links))
        second = f"{path} has {links} hard links; it can be changed through the others" if links > 1 else None
        for why in filter(None, (exposed(found, path, bits=OTHERS), second)):
            walk.notice("exposed", why)
    return tuple(files)
