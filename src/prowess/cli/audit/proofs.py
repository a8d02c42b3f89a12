"""`prowess audit export`, `checkpoint` and `witness`, and `audit verify --export`."""

from __future__ import annotations

import base64
import os
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins
from msgspec.structs import replace

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.places import audit_path
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.audit.caller import Caller
from prowess.audit.chain_walk import MAX_FINDINGS
from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint
from prowess.audit.transparency.export import NotAnExportError, read_header_of
from prowess.audit.transparency.export_verification import verify_export
from prowess.audit.transparency.log_tree import export_log, read_tree, sign_tree
from prowess.cli import exit_codes, output
from prowess.cli.audit.record_options import log_option, record_filter, record_options, selection_of
from prowess.cli.key_files import key_file_bytes, read_signing_key
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import (
    OrganisationOptions,
    opened_organisation,
    organisation_options,
    organisation_or_tenant_options,
)
from prowess.errors import SignatureError
from prowess.signing.keys import read_public_key
from prowess.signing.signed_note import cosign_note, is_note_key, note_key, read_note, read_note_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.audit.chain_walk import AuditFinding
    from prowess.audit.transparency.checkpoint import Checkpoint
    from prowess.audit.transparency.export_verification import ExportVerification
    from prowess.cli.organisation.local import LocalOrganisation
    from prowess.distribution.organisation_server.client import RemoteOrganisation
    from prowess.signing.signed_note import NoteKey, NoteKind

_key_option = click.option(
    "--key", "key_file", metavar="FILE", help="The private Ed25519 key that signs; a store has a default key."
)
_origin_option = click.option(
    "--origin",
    metavar="NAME",
    help="Name of the log in the checkpoint, such as acme.example/laptop-7; defaults to the host.",
)


@click.command(name="export")
@log_option
@organisation_or_tenant_options
@record_options
@_key_option
@_origin_option
@click.option("--out", required=True, metavar="FILE", help="The export file; an existing one is replaced.")
@json_option
def export(
    *,
    log: str | None,
    of: OrganisationOptions,
    key_file: str | None,
    origin: str | None,
    out: str,
    as_json: bool,
    **given: Any,  # noqa: ANN401 -- the values of `record_options`
) -> int:
    """Write records into a file that others can verify with the public key alone.

    A log in a file is verified first. The export begins with a signed checkpoint. With options that select records,
    each record has a proof that it is in the log, and the export does not prove that no other record fits.

    \b
    Example:
      prowess key new audit.key --type ed25519
      prowess audit export --key audit.key --out audit.export
      prowess audit export --store postgresql:///prowess --tenant acme --user ann --out ann.export
    """  # noqa: D301 -- click needs the control character
    of.require_alone(log=log, origin=origin)
    wanted = record_filter(given, None if of.given else of.tenant)
    if of.given:
        with opened_organisation(of, "audit") as organisation:
            _continue_log(organisation, key_file)
            organisation.audit.save(selection_of(given), out)
            public = organisation.audit.checkpoint().public_key
        header = read_header_of(out)
        checkpoint = read_checkpoint(header.checkpoint)
        records = checkpoint.size if header.records is None else header.records
    else:
        key = read_signing_key(_required(key_file))
        tree = read_tree(log or audit_path(), wanted)
        with usage_errors():
            checkpoint = sign_tree(tree, _name(origin), key)
        records = export_log(tree, checkpoint, out, complete=wanted.leaves_all)
        public = str(note_key(checkpoint.origin, key.public))
    if as_json:
        output.document({"export": out, "records": records, "complete": wanted.leaves_all, **_row(checkpoint, public)})
    else:
        whole = "" if wanted.leaves_all else f" of {checkpoint.size}"
        output.line(f"{output.shown_path(out)}: {counted(records, 'record')}{whole}")
        output.line(f"verify: prowess audit verify --export {output.shown_path(out)} --key {printable_line(public)}")
    return exit_codes.OK


@click.command(name="checkpoint")
@log_option
@organisation_options
@_key_option
@_origin_option
@click.option("--watch", "watching", is_flag=True, help="With --store: sign each second in which records came.")
@json_option
def sign_checkpoint(
    *,
    log: str | None,
    of: OrganisationOptions,
    key_file: str | None,
    origin: str | None,
    watching: bool,
    as_json: bool,
) -> int:
    """Sign the present state of the log: the number of records and one hash over them.

    Keep the checkpoint in another place. A log that was changed, cut or replaced after it does not fit it any more.

    In a store, records that wait get their places first, if the key of the organisation is on this machine. Several
    processes may do that at once, also with --watch: they take turns.

    \b
    Example:
      prowess audit checkpoint --key audit.key
      prowess audit checkpoint --store postgresql:///prowess --watch
    """  # noqa: D301 -- click needs the control character
    of.require_alone(log=log, origin=origin)
    if watching and (of.store_url is None or as_json):
        raise click.UsageError("--watch needs --store, and excludes --json")
    if of.given:
        with opened_organisation(of, "audit") as organisation:
            if watching and of.store_url is not None:
                _watch(of.store_url, of.tenant, key_file)
            _continue_log(organisation, key_file)
            state = organisation.audit.checkpoint()
        signed, public = read_checkpoint(state.checkpoint), state.public_key
    else:
        key = read_signing_key(_required(key_file))
        tree = read_tree(log or audit_path(), RecordFilter())
        with usage_errors():
            signed = sign_tree(tree, _name(origin), key)
        public = str(note_key(signed.origin, key.public))
    if as_json:
        output.document(_row(signed, public))
    else:
        output.raw(str(signed))
    return exit_codes.OK


@click.command(name="witness")
@click.option("--export", "file", metavar="FILE", help="A complete export of the log.")
@organisation_options
@click.option("--log-key", required=True, metavar="KEY", help="The public key of the log, as `audit verify` takes it.")
@click.option("--key", "key_file", required=True, metavar="FILE", help="Your private Ed25519 key.")
@click.option("--name", metavar="NAME", help="Your name as a witness; defaults to the host.")
@click.option("--state", required=True, metavar="FILE", help="Where you keep the checkpoint that you cosigned last.")
@json_option
def witness_log(
    *,
    file: str | None,
    of: OrganisationOptions,
    log_key: str,
    key_file: str,
    name: str | None,
    state: str,
    as_json: bool,
) -> int:
    """Cosign the checkpoint of a log, if the log continues the one that you cosigned last.

    A witness is another person or machine than the one that keeps the log. Its cosignature states that the log has one
    history as far as the witness has seen. Nothing is cosigned, and the exit code is 1, if the log was cut, changed or
    replaced since.

    \b
    Example:
      prowess audit witness --export audit.export --log-key log.pub --key witness.key --state acme.checkpoint
      prowess audit witness --store postgresql:///prowess --log-key log.pub --key witness.key --state seen
    """  # noqa: D301 -- click needs the control character
    of.require_alone(export=file)
    if not of.given and file is None:
        raise click.UsageError("give --export FILE, --store URL or --server URL")
    size: int | None
    key = read_signing_key(key_file)
    with usage_errors():
        me = note_key(_name(name), key.public, "cosignature")
    if of.given:
        log = public_key(log_key, "--log-key", None)
        with opened_organisation(of, "audit") as organisation:
            # Imported here because SQLAlchemy takes long.
            from prowess.cli.audit.central import is_continued

            checkpoint, fault = is_continued(organisation.audit, log, _seen(state, log))
        signed, size, told = str(checkpoint), checkpoint.size, [] if fault is None else [fault]
    else:
        with usage_errors():
            log = public_key(log_key, "--log-key", read_header_of(str(file)).checkpoint)
            verdict = verify_export(str(file), log, kept=_seen(state, log))
        if not verdict.complete:
            raise click.UsageError(
                f"{printable_line(str(file))} has selected records; a witness needs an export of all"
            )
        signed, size, told = str(verdict.checkpoint), verdict.size, [] if verdict.ok else list(report(verdict))
    cosigned = None
    if not told:
        cosigned = str(cosign_note(read_note(signed), me.name, key, int(time.time())))
        write_atomically(os.path.abspath(state), cosigned.encode())
    if as_json:
        row = {"ok": not told, "size": size, "checkpoint": cosigned, "public_key": str(me), "faults": told}
        output.document(row)
    elif cosigned is None:
        for line in told:
            output.line(printable_line(line))
    else:
        output.raw(cosigned)
        output.note(f"cosigned; verify with --witness {me}")
    return exit_codes.FAILED if told else exit_codes.OK


def _seen(state: str, key: NoteKey) -> Checkpoint | None:
    return kept_checkpoint(state, key, "--state") if os.path.lexists(state) else None


def _continue_log(organisation: LocalOrganisation | RemoteOrganisation, key_file: str | None) -> None:
    if key_file is not None and organisation.is_remote:
        raise click.UsageError("--server excludes --key: the server signs its log")
    organisation.continue_log(key_file)


def _watch(url: str, tenant: str | None, key_file: str | None) -> None:
    from prowess.cli.audit.central import central_log, watch  # Imported here because SQLAlchemy takes long.

    with central_log(url, tenant) as rows:
        watch(rows, url, key_file)


def verify_organisation(
    of: OrganisationOptions, key: str | None, checkpoint: str | None, witness: str | None, *, as_json: bool
) -> int:
    """Verify the log of a tenant up to its last checkpoint, and print the result."""
    with TemporaryDirectory(prefix="prowess-") as place:
        out = os.path.join(place, "export")
        with opened_organisation(of, "audit") as organisation:
            # Imported here because SQLAlchemy takes long.
            from prowess.distribution.organisation_server.client import RemoteAudit
            from prowess.governance.service.audit import AuditSelection

            organisation.audit.save(AuditSelection(), out)
            beside = () if isinstance(organisation.audit, RemoteAudit) else tuple(organisation.audit.store_faults())
            shown = organisation.place
            if key is None:
                key = organisation.audit.checkpoint().public_key
                output.note(
                    f"verified with the key that {'the store' if of.store_url else 'the server'} states, "
                    f"{printable_line(key)}; --key takes one that you have from elsewhere"
                )
        return verify_file(out, key, checkpoint, witness, as_json=as_json, shown=shown, beside=beside)


def verify_file(
    path: str,
    key: str | None,
    checkpoint: str | None,
    witness: str | None,
    *,
    as_json: bool,
    shown: str | None = None,
    beside: Sequence[AuditFinding] = (),
) -> int:
    """Verify an export file, and print the result. `shown` is its name in the result, `beside` are further faults."""
    if key is None:
        raise click.UsageError("--export needs --key, the public key of the log")
    with usage_errors():
        signed = read_header_of(path).checkpoint
        log = public_key(key, "--key", signed)
        kept = None if checkpoint is None else kept_checkpoint(checkpoint, log, "--checkpoint")
        by = None if witness is None else public_key(witness, "--witness", str(kept or signed))
    if by is not None and by.kind != "cosignature":
        raise click.BadParameter("this is the key of a log, not of a witness", param_hint="--witness")
    with usage_errors():
        verdict = replace(verify_export(path, log, kept=kept, witness=by), path=shown or path)
    if beside:
        faults = (*verdict.faults, *beside)
        more = verdict.more + max(0, len(faults) - MAX_FINDINGS)
        verdict = replace(verdict, ok=False, faults=faults[:MAX_FINDINGS], more=more)
    if as_json:
        output.document(to_builtins(verdict))
    else:
        for line in report(verdict):
            output.line(line)
    return exit_codes.OK if verdict.ok else exit_codes.FAILED


def public_key(text: str, option: str, signed: str | None) -> NoteKey:
    """Read the key of a log or witness: as text, or from a file that contains the text or an Ed25519 key in PEM form.

    A key in PEM form has no name. It takes the one with which it signed the note `signed`.
    """
    try:
        if is_note_key(text):
            return read_note_key(text)
        data = key_file_bytes(text, 4096)
        if not data.lstrip().startswith((b"-----BEGIN", b"ssh-")):
            return read_note_key(data.decode("utf-8", "replace"))
        if signed is None:
            raise click.BadParameter(
                "with --store or --server, give the key as NAME+ID+BASE64 or a file with it", param_hint=option
            )
        key = read_public_key(data, text)
        kind: NoteKind = "cosignature" if option == "--witness" else "signature"
        note = read_note(signed)
        names = [note_key(one.name, key, kind) for one in note.signatures]
        found = [one for one, signature in zip(names, note.signatures, strict=True) if one.id == signature.id]
        return (found or names)[0]
    except SignatureError as fault:
        raise click.BadParameter(printable_line(f"{fault.what}: {fault.reason}"), param_hint=option) from None


def kept_checkpoint(path: str, key: NoteKey, option: str) -> Checkpoint:
    """Read a checkpoint from a file. It must be signed by the key of the log."""
    try:
        found = read_checkpoint(key_file_bytes(path).decode("utf-8", "replace"))
        reason = None if is_signed(found, key) else f"the key {key} did not sign this checkpoint of {found.origin}"
    except SignatureError as fault:
        reason = f"{fault.what}: {fault.reason}"
    if reason is not None:
        raise click.BadParameter(printable_line(f"{path}: {reason}"), param_hint=option)
    return found


def report(verdict: ExportVerification) -> Iterator[str]:
    """Yield the result for people."""
    for fault in verdict.faults:
        place = "" if fault.line is None or "line" in fault.message else f"line {fault.line}: "
        yield printable_line(f"{fault.kind}: {place}{fault.message}")
    if verdict.more:
        yield f"and {verdict.more} more"
    count = f"{verdict.records:,} record{'' if verdict.records == 1 else 's'}".replace(",", " ")
    if verdict.faults:
        yield f"{count}, {counted(len(verdict.faults), 'fault')}: the export does not prove these records"
        return
    of = printable_line(f"{verdict.origin}, {verdict.size} records, root {verdict.root}")
    yield f"{count}, as in the checkpoint of {of}"
    if verdict.erased:
        yield f"the bodies of {counted(verdict.erased, 'record')} were erased, as the log states"
    if verdict.cosigned is not None:
        at = datetime.fromtimestamp(verdict.cosigned, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        yield f"cosigned at {at}"
    if not verdict.complete:
        yield "each record is proved; completeness is not: other records may have been left out"


@contextmanager
def usage_errors() -> Iterator[None]:
    """Report a file that is no export, and a key or name that cannot be used, as errors of usage."""
    try:
        yield
    except NotAnExportError as fault:
        raise click.UsageError(f"the file is no export of an audit log: {fault}") from None
    except SignatureError as fault:
        raise click.UsageError(printable_line(f"{fault.what}: {fault.reason}")) from None


def _required(key_file: str | None) -> str:
    if key_file is None:
        raise click.UsageError("a log in a file needs --key FILE, a private Ed25519 key")
    return key_file


def _name(name: str | None) -> str:
    return name or Caller.here().host or "localhost"


def _row(checkpoint: Checkpoint, public: str) -> dict[str, object]:
    root = base64.b64encode(checkpoint.root).decode()
    of = {"origin": checkpoint.origin, "size": checkpoint.size, "root": root}
    return {**of, "checkpoint": str(checkpoint), "public_key": public}
