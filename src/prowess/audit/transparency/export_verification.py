"""Verification of an export file: with the key of its log and nothing else.

If the root over the lines is the one that was signed, every record is as it was. Otherwise the numbers and hashes of
the records show which of them were changed, removed, moved or added.
"""

from __future__ import annotations

import base64
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct, field

from prowess.audit.chain_walk import AuditFinding, ChainWalk
from prowess.audit.record import MAX_LINE_BYTES
from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint
from prowess.audit.transparency.erased import ERASED_BEGIN, erased_by, read_erased
from prowess.audit.transparency.export import MAX_HEADER_BYTES, read_header, read_proved
from prowess.audit.transparency.merkle import CompactRange, inclusion_holds, leaf_hash
from prowess.errors import SignatureError
from prowess.signing.signed_note import verified_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.audit.transparency.export import ExportHeader
    from prowess.signing.signed_note import NoteKey

_LONGEST_LINE = 2 * MAX_LINE_BYTES  # a record and its path
_BLOCK = 1024


class ExportVerification(Struct, frozen=True, kw_only=True):
    """The result of verifying one export.

    Kinds of faults: `key` (signed by another key), `checkpoint` (changed, or not signed by the witness), `changed`,
    `missing`, `moved`, `inserted`, `cut`, `old_checkpoint` (it does not cover all records), `restored` (the log is
    older than the checkpoint kept elsewhere), `two_histories` (the log does not continue the checkpoint kept
    elsewhere), `not_compared` (a filtered export cannot be compared with that checkpoint). `record` counts from 1, None
    if it is not known. `root` is in base64, `checkpoint` the signed note.
    `erased` counts records whose body was removed, as records in the log state.
    `cosigned` is the POSIX time of the cosignature of the witness, None if none was asked for.
    """

    ok: bool
    path: str = field(name="export")
    origin: str | None
    size: int | None
    root: str | None
    checkpoint: str | None
    complete: bool
    records: int
    erased: int
    cosigned: int | None
    faults: tuple[AuditFinding, ...]
    more: int


def verify_export(
    path: str, key: NoteKey, *, kept: Checkpoint | None = None, witness: NoteKey | None = None
) -> ExportVerification:
    """Verify an export. `kept` is a checkpoint of the same log, verified already; the export must continue it.

    If `witness` is given, it must have cosigned `kept`, or, without it, the checkpoint of the export.

    Raises:
        NotAnExportError: the file is no export.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as stream:
        header = read_header(stream.readline(MAX_HEADER_BYTES))
        found = _Findings()
        checkpoint, cosigned = _checkpoint(header, key, kept, witness, found)
        if header.complete:
            records = _complete(stream, checkpoint, kept, found)
        else:
            records = _filtered(stream, header, checkpoint, found)
    if checkpoint is not None and kept is not None:
        _compare(checkpoint, kept, found, complete=header.complete)
    return ExportVerification(
        ok=not found.faults,
        path=path,
        origin=None if checkpoint is None else checkpoint.origin,
        size=None if checkpoint is None else checkpoint.size,
        root=None if checkpoint is None else base64.b64encode(checkpoint.root).decode(),
        checkpoint=None if checkpoint is None else str(checkpoint),
        complete=header.complete,
        records=records,
        erased=found.erased,
        cosigned=cosigned,
        faults=tuple(found.faults),
        more=found.more,
    )


class _Findings(ChainWalk):
    """The faults of an export. Its header is line 1."""

    def __init__(self) -> None:
        super().__init__(lines=1)
        self.kept_root: bytes | None = None  # of as many records as the checkpoint kept elsewhere counts
        self.erased = self.accounted = 0

    def leaf(self, line: bytes) -> bytes:
        """Return the hash of a line, and count erasures."""
        if line.startswith(ERASED_BEGIN) and (leaf := read_erased(line)) is not None:
            self.erased += 1
            return leaf
        self.accounted += erased_by(line)
        return leaf_hash(line[:-1])


def _checkpoint(
    header: ExportHeader, key: NoteKey, kept: Checkpoint | None, witness: NoteKey | None, found: _Findings
) -> tuple[Checkpoint | None, int | None]:
    """Return the checkpoint, also if it is not signed, and the time of the cosignature."""
    try:
        checkpoint = read_checkpoint(header.checkpoint)
    except SignatureError as fault:
        found.fault("checkpoint", f"the checkpoint was changed: {fault.reason}", line=1)
        return None, None
    cosigned: int | None = None
    try:
        if not is_signed(checkpoint, key):
            by = ", ".join(one.name for one in checkpoint.note.signatures)
            found.fault("key", f"the checkpoint of {checkpoint.origin} is signed by {by}, not by {key}", line=1)
        seen = checkpoint if kept is None else kept
        if witness is not None and (cosigned := verified_by(seen.note, witness)) is None:
            which = "checkpoint" if kept is None else "checkpoint kept elsewhere"
            found.fault("checkpoint", f"the {which} has no cosignature of {witness}", line=1)
    except SignatureError as fault:
        found.fault("checkpoint", f"the checkpoint was changed: the signature of {fault.what} does not fit", line=1)
    return checkpoint, cosigned


def _complete(stream: BinaryIO, checkpoint: Checkpoint | None, kept: Checkpoint | None, found: _Findings) -> int:
    """Compare the root of all lines with the signed one. Return the number of lines."""
    begin = stream.tell()
    tree = CompactRange()
    roots: dict[int, bytes] = {}
    wanted = sorted({one.size for one in (checkpoint, kept) if one is not None})
    torn = False
    for lines in _blocks(stream):
        leaves = [found.leaf(line) for line in lines]
        torn = not lines[-1].endswith(b"\n")
        at = 0
        for size in wanted:
            if tree.size <= size <= tree.size + len(leaves) - at and size not in roots:
                step = size - tree.size
                tree.extend(leaves[at : at + step])
                at += step
                roots[size] = tree.root()
        tree.extend(leaves[at:] if at else leaves)
    if not tree.size:
        roots[0] = tree.root()
    if kept is not None:
        found.kept_root = roots.get(kept.size)
    if found.erased > found.accounted:
        text = f"{found.erased} records have no body, and records about erasures account for {found.accounted}"
        found.fault("missing", text)
    if checkpoint is None or torn or tree.size != checkpoint.size or tree.root() != checkpoint.root:
        stream.seek(begin)
        _diagnose(stream, tree.size, checkpoint, roots, found)
    return tree.size


def _blocks(stream: BinaryIO) -> Iterator[list[bytes]]:
    lines = iter(partial(stream.readline, _LONGEST_LINE), b"")
    while block := list(islice(lines, _BLOCK)):
        yield block


def _diagnose(
    stream: BinaryIO, count: int, checkpoint: Checkpoint | None, roots: dict[int, bytes], found: _Findings
) -> None:
    """Find out which records do not fit, by their numbers and hashes."""
    before = len(found.faults)
    for lines in _blocks(stream):
        for line in lines:
            if read_erased(line) is None:
                found.take(line)
            else:
                found.lines += 1
                found.skip()
    found.finish()
    size = count if checkpoint is None else checkpoint.size
    for at, fault in enumerate(found.faults[before:], before):
        if fault.kind == "damaged":  # a line that no log writes
            kind = "inserted" if count > size else "changed"
            found.faults[at] = AuditFinding(kind=kind, message=fault.message, record=fault.record, line=fault.line)
    if checkpoint is None or len(found.faults) > before:
        return
    if count < size:
        text = f"the last {size - count} of {size} records are cut off"
        found.fault("cut", text, record=count + 1)
    elif count > size and roots.get(size) == checkpoint.root:
        text = f"records {size + 1} to {count} are not covered by the checkpoint, which counts {size}: it is an older"
        found.fault("old_checkpoint", f"{text} one, or records were added", record=size + 1)
    else:
        text = "the records continue each other, but they are not the ones that were signed: they were written anew"
        found.fault("changed", text)


def _filtered(stream: BinaryIO, header: ExportHeader, checkpoint: Checkpoint | None, found: _Findings) -> int:
    """Verify the path of each record. Return the number of records."""
    count, last = 0, -1
    stated = header.records or 0
    for lines in _blocks(stream):
        for line in lines:
            count += 1
            proved = read_proved(line)
            if proved is None:
                found.fault("changed", f"line {count + 1} is not as it was written", line=count + 1)
                continue
            index, path, record = proved
            if checkpoint is not None and not inclusion_holds(
                leaf_hash(record), index, checkpoint.size, path, checkpoint.root
            ):
                text = f"record {index + 1} was changed or is not in the log: its path does not lead to the signed root"
                found.fault("changed", text, record=index + 1, line=count + 1)
            if index == last:
                found.fault("inserted", f"record {index + 1} is repeated", record=index + 1, line=count + 1)
            elif index < last:
                found.fault("moved", f"record {index + 1} follows record {last + 1}", record=index + 1, line=count + 1)
            last = max(index, last)
    if count < stated:
        cut = header.last is not None and last < header.last
        text = f"{stated - count} of {stated} records are missing"
        found.fault("cut" if cut else "missing", text, record=last + 2 if cut else None)
    elif count > stated:
        found.fault("inserted", f"there are {count} records, and the header counts {stated}")
    elif count and last != header.last:
        found.fault("changed", f"the last record is {last + 1}, and the header names another", line=1)
    return count


def _compare(checkpoint: Checkpoint, kept: Checkpoint, found: _Findings, *, complete: bool) -> None:
    """Compare with a checkpoint that was kept elsewhere."""
    if checkpoint.origin != kept.origin:
        found.fault("key", f"the checkpoint is one of {checkpoint.origin}, and the one kept elsewhere of {kept.origin}")
        return
    if checkpoint.size < kept.size:
        text = f"the log has {checkpoint.size} records, and had {kept.size} before: an older state was restored"
        found.fault("restored", text, record=checkpoint.size + 1)
        return
    root = checkpoint.root if checkpoint.size == kept.size else found.kept_root
    if root is None and not complete:
        text = (
            f"a filtered export does not prove that the log continues the checkpoint with {kept.size} records that was"
        )
        found.fault("not_compared", f"{text} kept elsewhere; verify an export of all records, or the store")
    elif root is not None and root != kept.root:
        text = f"the first {kept.size} records are not those of the checkpoint kept elsewhere: there are two histories"
        found.fault("two_histories", text)
