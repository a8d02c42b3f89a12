"""`prowess audit` with `--store URL`: the log of a tenant in a shared store."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from prowess._internal.places import prowess_home
from prowess._internal.text.terminal_text import counted
from prowess.audit.transparency.checkpoint import is_signed
from prowess.audit.transparency.merkle import consistency_holds, consistency_proof
from prowess.cli import output
from prowess.cli.key_files import read_signing_key
from prowess.cli.options import together
from prowess.errors import MissingExtraError, SignatureError
from prowess.governance.organisation import organisation_key
from prowess.signing.signed_note import note_key, read_note_key
from prowess.store.tenants import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.audit.selection import RecordFilter, RecordPage
    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.audit.transparency.sequencer import LogSigner
    from prowess.signing.signed_note import NoteKey
    from prowess.store.shared.audit_rows import SharedAuditRows
    from prowess.store.shared.organisation import Organisation

_SECONDS = 1.0  # between two checkpoints
_store_option = click.option(
    "--store", "url", metavar="URL", help="Use the log in this shared store instead of a file."
)
store_options = together(
    _store_option,
    click.option("--tenant", metavar="NAME", help="The tenant of the shared store; defaults to `default`."),
)
store_or_tenant_options = together(
    _store_option,
    click.option("--tenant", metavar="NAME", help="Records of this tenant; with --store, the tenant of the store."),
)


def require_alone(url: str | None, tenant: str | None, **others: object) -> None:
    """Refuse options that do not fit together."""
    if url is None and tenant is not None:
        raise click.UsageError("--tenant needs --store")
    for name, value in others.items():
        if url is not None and value is not None:
            raise click.UsageError(f"--store excludes --{name.replace('_', '-')}")


@contextmanager
def central_log(url: str, tenant: str | None) -> Iterator[SharedAuditRows]:
    """Open the log of a tenant. Raises StoreError or MissingExtraError."""
    try:
        # Imported here, not at the top, because SQLAlchemy takes long and most logs are files.
        from prowess.store.shared.audit_rows import SharedAuditRows
        from prowess.store.shared.database import SharedDatabase
    except ImportError as fault:
        raise MissingExtraError("a shared store", "postgresql", str(fault)) from None
    database = SharedDatabase(url, DEFAULT if tenant is None else tenant)
    try:
        yield SharedAuditRows(database)
    finally:
        database.close()


def organisation_of(url: str) -> Organisation:
    """Return the organisation of a store. Raises StoreError."""
    from prowess.store.shared.organisation import OrganisationStore  # Imported here: see `central_log`.

    store = OrganisationStore(url)
    try:
        return store.organisation()
    finally:
        store.database.close()


def stated_key(url: str) -> NoteKey:
    """Return the public key that a store states. Whoever changes the store can change it too."""
    return read_note_key(organisation_of(url).public_key)


def signer_of(url: str, key_file: str | None) -> LogSigner:
    """Return the key of the organisation: from a file, or the one that this machine keeps.

    Raises:
        SignatureError: it is not on this machine, or it is another key.
    """
    from prowess.audit.transparency.sequencer import LogSigner  # Imported here: see `central_log`.

    organisation, kept = organisation_of(url), os.path.join(prowess_home(), "audit", "checkpoints")
    if key_file is None:
        return LogSigner(name=organisation.origin, key=organisation_key(organisation), kept=kept)
    key = read_signing_key(key_file)
    if str(note_key(organisation.origin, key.public)) != organisation.public_key:
        raise SignatureError(key_file, f"it is not the key of {organisation.origin}: {organisation.public_key}")
    return LogSigner(name=organisation.origin, key=key, kept=kept)


def brought_up(rows: SharedAuditRows, url: str, key_file: str | None) -> Checkpoint:
    """Give waiting records their places if the key of the organisation is here. Return the last checkpoint."""
    from prowess.audit.transparency.central_log import checkpoint_of  # Imported here: see `central_log`.
    from prowess.audit.transparency.sequencer import continue_log

    try:
        signer = signer_of(url, key_file)
    except SignatureError as fault:
        if key_file is not None:
            raise
        if waiting := rows.waiting():
            output.note(f"{counted(waiting, 'record')} still without a place in the log: {fault.reason}")
    else:
        while continue_log(rows, signer) is not None:
            pass
    return checkpoint_of(rows)


def watch(rows: SharedAuditRows, url: str, key_file: str | None) -> None:
    """Sign a checkpoint in each second in which records came, and print it. Does not return."""
    from prowess.audit.transparency.sequencer import continue_log  # Imported here: see `central_log`.

    signer = signer_of(url, key_file)
    while True:
        begun = time.monotonic()
        signed: Checkpoint | None = None
        while (more := continue_log(rows, signer)) is not None:
            signed = more
        if signed is not None:
            output.raw(f"{signed}\n")
        time.sleep(max(0.0, _SECONDS - (time.monotonic() - begun)))


def newest_records(rows: SharedAuditRows, wanted: RecordFilter, count: int) -> RecordPage:
    """Return the last records that match, the newest first, and mention those that wait for a place."""
    from prowess.audit.transparency.central_log import newest_before  # Imported here: see `central_log`.

    if waiting := rows.waiting():
        output.note(f"{counted(waiting, 'record')} still without a place in the log; run `prowess audit checkpoint`")
    return newest_before(rows, wanted, count, None)


def page_of(rows: SharedAuditRows, wanted: RecordFilter, limit: int, cursor: str | None) -> RecordPage:
    """Return the first records that match after a cursor."""
    from prowess.audit.transparency.central_log import page_of_store  # Imported here: see `central_log`.

    return page_of_store(rows, wanted, limit, cursor)


def export_central(rows: SharedAuditRows, wanted: RecordFilter, out: str) -> tuple[int, Checkpoint]:
    """Write an export file. Return the number of records and the checkpoint."""
    from prowess.audit.transparency.central_log import export_rows  # Imported here: see `central_log`.

    return export_rows(rows, wanted, out)


def continued(rows: SharedAuditRows, key: NoteKey, kept: Checkpoint | None) -> tuple[Checkpoint, str | None]:
    """Return the last checkpoint, and why a witness cannot cosign it, None if it continues `kept`."""
    from prowess.audit.transparency.central_log import checkpoint_of  # Imported here: see `central_log`.
    from prowess.audit.transparency.tiles import TileTree

    found = checkpoint_of(rows)
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
    path = consistency_proof(TileTree(rows.tile, rows.database.url), kept.size, found.size)
    if not consistency_holds(kept.size, kept.root, found.size, found.root, path):
        return found, f"two_histories: the first {kept.size} records are not those of the checkpoint kept elsewhere"
    return found, None
