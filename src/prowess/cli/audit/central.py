"""The log of a tenant of an organisation, for `prowess audit`. Imported by commands when it is needed."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from prowess._internal.places import prowess_home
from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint
from prowess.audit.transparency.merkle import consistency_holds
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.cli import output
from prowess.cli.key_files import read_signing_key
from prowess.errors import SignatureError
from prowess.governance.organisation import organisation_key
from prowess.governance.service.audit import AuditPage, AuditQuery
from prowess.governance.service.listing import MOST_ITEMS
from prowess.signing.keys import strict_base64
from prowess.signing.signed_note import note_key
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.database import SharedDatabase
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.tenants import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.record import AuditRecord
    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.distribution.organisation_server.client import RemoteAudit
    from prowess.governance.service.audit import AuditSelection, AuditService
    from prowess.signing.signed_note import NoteKey
    from prowess.store.shared.organisation import Organisation

    AuditOfOrganisation = AuditService | RemoteAudit

_SECONDS = 1.0  # between two checkpoints


@contextmanager
def central_log(url: str, tenant: str | None) -> Iterator[SharedAuditRows]:
    """Open the log of a tenant. Raises StoreError."""
    database = SharedDatabase(url, DEFAULT if tenant is None else tenant)
    try:
        yield SharedAuditRows(database)
    finally:
        database.close()


def organisation_at(url: str) -> Organisation:
    """Return the organisation of a store. Raises StoreError."""
    store = OrganisationStore(url)
    try:
        return store.organisation()
    finally:
        store.database.close()


def signer_of(url: str, key_file: str | None) -> LogSigner:
    """Return the key of the organisation: from a file, or the one that this machine keeps.

    Raises:
        SignatureError: it is not on this machine, or it is another key.
    """
    organisation, kept = organisation_at(url), os.path.join(prowess_home(), "audit", "checkpoints")
    if key_file is None:
        return LogSigner(name=organisation.origin, key=organisation_key(organisation), kept=kept)
    key = read_signing_key(key_file)
    if str(note_key(organisation.origin, key.public)) != organisation.public_key:
        raise SignatureError(key_file, f"it is not the key of {organisation.origin}: {organisation.public_key}")
    return LogSigner(name=organisation.origin, key=key, kept=kept)


def watch(rows: SharedAuditRows, url: str, key_file: str | None) -> None:
    """Sign a checkpoint in each second in which records came, and print it. Does not return."""
    signer = signer_of(url, key_file)
    while True:
        begun = time.monotonic()
        signed: Checkpoint | None = None
        while (more := continue_log(rows, signer)) is not None:
            signed = more
        if signed is not None:
            output.raw(f"{signed}\n")
        time.sleep(max(0.0, _SECONDS - (time.monotonic() - begun)))


def is_continued(audit: AuditOfOrganisation, key: NoteKey, kept: Checkpoint | None) -> tuple[Checkpoint, str | None]:
    """Return the last checkpoint, and why a witness cannot cosign it, None if it continues `kept`."""
    found = read_checkpoint(audit.checkpoint().checkpoint)
    try:
        if not is_signed(found, key):
            return found, f"key: the checkpoint is not signed by {key}"
    except SignatureError as fault:
        return found, f"checkpoint: {fault.reason}"
    if kept is None:
        return found, None
    if kept.origin != found.origin:
        return found, f"key: the checkpoint is one of {found.origin}, not of {kept.origin}"
    if found.size < kept.size:
        return found, f"restored: the log has {found.size} records, and had {kept.size} before"
    path = [strict_base64(one, "the proof") for one in audit.consistency(kept.size, found.size).path]
    if not consistency_holds(kept.size, kept.root, found.size, found.root, path):
        return found, f"two_histories: the first {kept.size} records are not those of the checkpoint kept elsewhere"
    return found, None


def newest_records(audit: AuditOfOrganisation, selection: AuditSelection, count: int) -> AuditPage:
    """Return the last `count` records that match, in order."""
    found: list[AuditRecord] = []
    cursor: str | None = None
    damaged = 0
    while len(found) < count:
        limit = min(count - len(found), MOST_ITEMS)
        page = audit.list(_page(selection, order="newest", limit=limit, cursor=cursor))
        found += page.items
        damaged += page.damaged
        cursor = page.next
        if cursor is None:
            break
    return AuditPage(items=tuple(found[::-1]), damaged=damaged)


def next_records(audit: AuditOfOrganisation, selection: AuditSelection, limit: int, cursor: str | None) -> AuditPage:
    """Return the first records that match after a cursor."""
    return audit.list(_page(selection, order="oldest", limit=limit, cursor=cursor))


def _page(selection: AuditSelection, **page: object) -> AuditQuery:
    return AuditQuery(**asdict(selection), **page)  # type: ignore[arg-type]  # the fields of the one are in the other
