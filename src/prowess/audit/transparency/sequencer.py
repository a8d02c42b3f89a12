"""The sequencer: gives records of the inbox their places in the log of a tenant, and signs the result.

Any number of processes may call `continue_log`; one at a time does the work. Records, tree and checkpoint are written
in one transaction, so a checkpoint is never published for records that are not there, and never signed twice over
different ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.places import ensure_private_directory
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess._internal.uuid7 import uuid7
from prowess.audit.record import AuditEvent, read_line, seal, time_text
from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint, signed_checkpoint
from prowess.audit.transparency.erased import ERASED_KIND
from prowess.audit.transparency.merkle import inclusion_holds, inclusion_proof, leaf_hash, root_of
from prowess.audit.transparency.store_comparison import difference
from prowess.audit.transparency.tiles import TileTree, extended
from prowess.errors import AuditError, AuditReadError, SignatureError
from prowess.signing.signed_note import note_key
from prowess.store.shared.audit_rows import ERASURE, InboxRow, LogEnd, LogRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.audit.record import AuditRecord
    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.signing.keys import PrivateKey
    from prowess.store.shared.audit_rows import Sequencing, SharedAuditRows

BATCH = 5000
OWN_KINDS = ("log.", ERASED_KIND)  # events that only the log itself writes
_COLLECTED = "log.machine_"  # these come from the collector of machines' logs, by the inbox


class LogSigner(Struct, frozen=True, kw_only=True):
    """The key of an organisation with its name. It signs the log `NAME/TENANT` of each tenant.

    The last checkpoint that was signed on this machine is kept in the directory `kept`, if there is one, so that a log
    that was replaced by an older one is not signed.
    """

    name: str
    key: PrivateKey
    kept: str | None = None

    def last(self, origin: str) -> str | None:
        """Return the path of the checkpoint that was signed last."""
        return None if self.kept is None else os.path.join(self.kept, hashlib.sha256(origin.encode()).hexdigest()[:32])


def continue_log(rows: SharedAuditRows, signer: LogSigner) -> Checkpoint | None:
    """Move up to `BATCH` records from the inbox into the log. Return its new checkpoint, None if nothing was moved.

    Raises:
        StoreError: the store cannot be used.
        AuditError: the end of the log in the store was changed, so nothing was signed.
        SignatureError: the key or the name of the tenant cannot be used.
    """

    def work(step: Sequencing) -> Checkpoint | None:
        taken = step.take(BATCH)
        return _append(step, taken, f"{signer.name}/{rows.tenant}", signer) if taken else None

    signed = rows.sequence(work)
    if signed is not None:
        _keep(signed, signer)
    return signed


def erase(
    rows: SharedAuditRows, signer: LogSigner, *, by: Mapping[str, object], user: str | None, before: str | None
) -> int | None:
    """Remove the bodies of the records of a user, with the name of the user, or of those from before a time.

    The hashes stay, so every proof still holds, and a record in the log states how many bodies were removed and by
    whom (`by`). Return the number; None if another process was continuing the log, so that nothing was done.

    Raises:
        StoreError, SignatureError: as `continue_log`.
        AuditError: the log was changed, or a record of it says another time or user than the store; nothing is removed.
    """

    def work(step: Sequencing) -> tuple[int, Checkpoint | None]:
        origin = f"{signer.name}/{rows.tenant}"
        person = None if user is None else step.forget(user)  # first: then no writer adds records about the person
        if user is not None and person is None:
            return 0, None
        while waiting := step.take(BATCH):  # waiting records may be about this user too
            _append(step, waiting, origin, signer)
        _check(step, origin, signer)  # before the last record may lose its body
        count = _remove_bodies(step, origin, person=person, before=before)
        data = {"records": count, "person": person, "before": before}
        event = AuditEvent(kind=ERASED_KIND, data={**data, **by})
        row = InboxRow(id=f"{ERASURE}{uuid7()}", at=time_text(), person=None, body=event_bytes(event))
        return count, _append(step, [row], origin, signer, is_own=True)

    erased = rows.sequence(work)
    if erased is None:
        return None
    count, signed = erased
    if signed is not None:
        _keep(signed, signer)
    return count


def _remove_bodies(step: Sequencing, origin: str, *, person: str | None, before: str | None) -> int:
    count, last = 0, 0
    while page := step.erasable(last, person=person, before=before):
        for row in page:
            if (name := difference(row)) is not None:
                reason = f"nothing was erased: the column {name!r} of record {row.sequence} was changed in the store"
                raise AuditError(origin, f"{reason}; run `audit verify`")
        count, last = count + step.erase([row.sequence for row in page]), page[-1].sequence
    return count


def _keep(signed: Checkpoint, signer: LogSigner) -> None:
    """Remember on this machine the checkpoint that was signed last, so that an older state is not continued."""
    if (path := signer.last(signed.origin)) is not None:
        ensure_private_directory(os.path.dirname(path))
        write_atomically(path, str(signed).encode(), sync=False)


def event_bytes(event: AuditEvent) -> bytes:
    """Return an event as it is stored in the inbox. Raises NotJsonError or LimitExceededError."""
    return canonical_json([event.kind, event.session_id, event.call_id, event.data], floats=False)


def event_of(body: bytes) -> AuditEvent:
    """Return the event that `event_bytes` wrote. Raises ValueError, TypeError or RecursionError."""
    kind, session, call, data = json.loads(body)
    return AuditEvent(kind=kind, session_id=session, call_id=call, data=data)


def _append(
    step: Sequencing, taken: Sequence[InboxRow], origin: str, signer: LogSigner, *, is_own: bool = False
) -> Checkpoint:
    end = (step.end() if is_own else _check(step, origin, signer)) or LogEnd(size=0, last=None, checkpoint="")
    last = end.last
    records: list[LogRow] = []
    for number, row in enumerate(taken, end.size + 1):
        record, line = _sealed(row, number, last, is_own=is_own)
        last, body = record.hash, line[:-1]
        records.append(
            LogRow(sequence=number, id=row.id, at=row.at, person=row.person, leaf=leaf_hash(body), body=body)
        )
    changed = extended(step.tile, end.size, [record.leaf for record in records])
    size = end.size + len(records)

    def read(level: int, number: int) -> bytes:
        return changed.get((level, number)) or step.tile(level, number)

    checkpoint = signed_checkpoint(origin, size, root_of(TileTree(read, origin), size), signer.name, signer.key)
    step.put(records, changed, LogEnd(size=size, last=last, checkpoint=str(checkpoint)))
    return checkpoint


def _check(step: Sequencing, origin: str, signer: LogSigner) -> LogEnd | None:
    """Return the end of the log, None if it is empty.

    Refuse to continue a log whose end is not the one that this key signed: a second history would be signed.
    """
    if (end := step.end()) is None or not end.checkpoint:
        return end
    try:
        before = read_checkpoint(end.checkpoint)
        signed = before.origin == origin and is_signed(before, note_key(signer.name, signer.key.public))
        fits = before.size == end.size and root_of(TileTree(step.tile, origin), end.size) == before.root
        fits = fits and _is_last(step, end, TileTree(step.tile, origin), before.root)
    except (SignatureError, AuditReadError):
        signed = fits = False
    if not signed or not fits:
        raise AuditError(origin, "the end of the log in the store is not the one that was signed; run `audit verify`")
    path = signer.last(origin)
    if path is None or not os.path.exists(path):
        return end
    with open(path, encoding="utf-8") as file:
        kept = read_checkpoint(file.read())
    if kept.size > end.size or root_of(TileTree(step.tile, origin), kept.size) != kept.root:
        reason = f"it does not continue the checkpoint with {kept.size} records that this machine signed"
        advice = f"was a backup restored? To continue it all the same, move {path} away and keep it"
        raise AuditError(origin, f"{reason}; {advice}")
    return end


def _is_last(step: Sequencing, end: LogEnd, tree: TileTree, root: bytes) -> bool:
    """Whether the hash that the next record will name is that of the last signed record, which is never erased."""
    body = step.body(end.size)
    if body is None:
        return False
    place = end.size - 1
    proved = inclusion_holds(leaf_hash(body), place, end.size, inclusion_proof(tree, place, end.size), root)
    return proved and read_line(body).hash == end.last


def _sealed(row: InboxRow, number: int, previous: str | None, *, is_own: bool) -> tuple[AuditRecord, bytes]:
    """Return the record and its line. A body that is no event is recorded by its digest: it must not stop the log.

    So is an event of the log's own kinds in the inbox, where whoever may write in the store can put it.
    """
    try:
        event = event_of(row.body) if is_own else _event_of_writer(row.body)
        return seal(event, sequence=number, at=row.at, previous=previous)
    except (ValueError, TypeError, AttributeError, RecursionError):
        event = AuditEvent(kind="log.unreadable", data={"sha256": sha256_of(row.body), "bytes": len(row.body)})
        return seal(event, sequence=number, at=row.at, previous=previous)


def _event_of_writer(body: bytes) -> AuditEvent:
    """Return the event that a writer put into the inbox. Raises as `event_of`, and for the log's own kinds."""
    event = event_of(body)
    if event.kind.startswith(OWN_KINDS) and not event.kind.startswith(_COLLECTED):
        raise ValueError(event.kind)
    return event
