"""`prowess audit`: shows the audit log and verifies that it is complete and unchanged."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import textwrap
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from prowess._internal.places import audit_path
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.audit.caller import CALL_KEYS, CALLER_KEYS
from prowess.audit.chain_walk import UnfinishedCalls
from prowess.audit.log import JsonlAuditLog
from prowess.audit.record import read_tail
from prowess.audit.record_lines import audit_lines
from prowess.audit.record_table import rows
from prowess.audit.selection import page, select
from prowess.audit.verification import verify_log
from prowess.cli import exit_codes, output
from prowess.cli.audit.proofs import export, sign_checkpoint, verify_file, verify_organisation, witness_log
from prowess.cli.audit.record_options import log_option, record_filter, record_options, selection_of
from prowess.cli.options import json_option
from prowess.cli.options.organisation_options import (
    OrganisationOptions,
    note_tenant,
    opened_organisation,
    organisation_options,
    organisation_or_tenant_options,
)
from prowess.errors import AuditReadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prowess.audit.record import AuditRecord
    from prowess.audit.selection import RecordFilter
    from prowess.audit.verification import Verification
    from prowess.governance.service.audit import AuditPage, AuditSelection

_OF_CALLS, _REFUSING = ("tool.", "approval."), {"tool.refused", "approval.given", "approval.refused"}
_NOT_SHOWN = {*CALLER_KEYS, *CALL_KEYS, "requester"}
_ON_MACHINE = "machine."  # before the kinds of acts on a machine, in the log of an organisation
_GOVERNANCE, _ACTS, _ENDED = "governance.", ("operation", "act"), ("code", "error", "outcome")
MOST_ON_A_PAGE = 500
_TAIL = 20
_WIDTH = 80
_SECONDS_FROM = 10_000  # milliseconds; shorter durations are shown in milliseconds
_HASH = re.compile(r"(sha256:)?[0-9a-fA-F]{64}")


@click.group(name="audit")
def command() -> None:
    """Show, verify, sign and export the audit log, or accept records that a crash left at its end.

    Example: prowess audit verify
    """


@command.command(name="show")
@log_option
@organisation_or_tenant_options
@click.option(
    "--tail", metavar="N", type=click.IntRange(min=1), help="The last N records; 20 without --limit and --cursor."
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=1, max=MOST_ON_A_PAGE),
    help=f"The first N records, at most {MOST_ON_A_PAGE}; with --cursor, those after it.",
)
@click.option("--cursor", metavar="CURSOR", help="Continue behind a page: `next` of its JSON document.")
@record_options
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV for spreadsheets.")
@click.option("--lines", "as_lines", is_flag=True, help="Print lines that begin with [AUDIT], with times in UTC.")
@json_option
def show(
    *,
    log: str | None,
    of: OrganisationOptions,
    tail: int | None,
    limit: int | None,
    cursor: str | None,
    as_csv: bool,
    as_lines: bool,
    as_json: bool,
    **given: Any,  # noqa: ANN401 -- the values of `record_options`
) -> int:
    """Print the last records that match the options, or page by page from the first one.

    Options that select records may be repeated, except --since and --until.

    Example: prowess audit show --tail 50 --skill csv-report --since 2026-11-01
    """
    if as_csv + as_lines + as_json > 1:
        raise click.UsageError("--csv, --lines and --json exclude each other")
    if tail is not None and (limit is not None or cursor is not None):
        raise click.UsageError("--tail takes the last records, --limit and --cursor go on from the first; give one")
    of.require_alone(log=log)
    path, place, damaged = log or audit_path(), None, 0
    wanted = record_filter(given, None if of.given else of.tenant)
    following: str | None = None
    records: Sequence[AuditRecord | None]
    if of.given:
        place, found = _of_organisation(of, selection_of(given), tail, limit, cursor)
        records, damaged, following = found.items, found.damaged, found.next
    else:
        records, damaged, following = _selected(path, wanted, tail, limit, cursor)
    if damaged:
        output.note(
            f"{counted(damaged, 'record')} of the log cannot be read or was changed; run `prowess audit verify`"
        )
    if as_json:
        output.document({"log": place or os.path.abspath(path), "records": records, "next": following})
    elif as_csv:
        output.raw(_table([record for record in records if record is not None]))
    elif as_lines:
        for record in records:
            for line in () if record is None else audit_lines(record):
                output.line(line)
    elif records:
        _print(records)
    else:
        output.note("the log has no records" if wanted.leaves_all else "no record matches these options")
    if following is not None and not as_json:
        output.note(f"there are more records: --cursor {following}")
    return exit_codes.OK


def _selected(
    path: str, wanted: RecordFilter, tail: int | None, limit: int | None, cursor: str | None
) -> tuple[Sequence[AuditRecord | None], int, str | None]:
    """Return the records, the number of damaged lines among those read, and the cursor of the next page."""
    if limit is not None or cursor is not None:
        found = page(path, wanted, limit or MOST_ON_A_PAGE, cursor)
        return found.records, found.damaged, found.next
    if wanted.leaves_all:
        return read_tail(path, tail or _TAIL), 0, None
    chosen, damaged = select(path, wanted, tail or _TAIL)
    return chosen, damaged, None


def _of_organisation(
    of: OrganisationOptions, wanted: AuditSelection, tail: int | None, limit: int | None, cursor: str | None
) -> tuple[str, AuditPage]:
    """Return where the log is, and the records of a tenant."""
    with opened_organisation(of, "audit") as organisation:
        # Imported here because SQLAlchemy takes long.
        from prowess.cli.audit.central import newest_records, next_records

        if limit is not None or cursor is not None:
            found = next_records(organisation.audit, wanted, limit or MOST_ON_A_PAGE, cursor)
        else:
            if waiting := organisation.waiting:
                left = counted(waiting, "record")
                output.note(f"{left} still without a place in the log; run `prowess audit checkpoint`")
            found = newest_records(organisation.audit, wanted, tail or _TAIL)
        if not found.items:
            note_tenant(organisation)
        return organisation.place, found


def _table(records: list[AuditRecord]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows(records))
    return text.getvalue()


def _print(records: Sequence[AuditRecord | None]) -> None:
    open_calls = UnfinishedCalls()
    for record in records:
        if record is not None:
            open_calls.take(record)
    unfinished = set(open_calls.records())
    session: str | None = None
    for record in records:
        if record is not None and record.session_id != session:
            session = record.session_id
            output.line(f"session {printable_line(session or '-')}")
        output.line(_row(record, unfinished=record is not None and record.sequence in unfinished))


@command.command(name="verify")
@log_option
@click.option(
    "--head", metavar="HASH", help="A head hash that was kept elsewhere; it must be the hash of a record in this log."
)
@click.option("--export", "export_file", metavar="FILE", help="Verify this export instead of a log; needs --key.")
@organisation_options
@click.option("--key", metavar="KEY", help="The public key of the log: NAME+ID+BASE64, a file with it, or FILE.pub.")
@click.option("--checkpoint", metavar="FILE", help="A checkpoint that was kept elsewhere; the export must continue it.")
@click.option("--witness", metavar="KEY", help="The public key of a witness that must have cosigned.")
@json_option
def verify(
    *,
    log: str | None,
    head: str | None,
    export_file: str | None,
    of: OrganisationOptions,
    key: str | None,
    checkpoint: str | None,
    witness: str | None,
    as_json: bool,
) -> int:
    """Check that no record was changed, removed, moved or added.

    An export is verified with the public key of its log, without the log itself. With --store or --server,
    every record of the tenant is compared with the signed checkpoint; give --key, because whoever changes a store can
    change the key in it. Exits with 1 if a fault is found, and with 2 if FILE is no export.

    \b
    Example:
      prowess audit verify --head sha256:5b1f...
      prowess audit verify --export audit.export --key acme.example/log+530d903a+AekyeRrm...
    """  # noqa: D301 -- click needs the control character
    of.require_alone(log=log, head=head, export=export_file)
    if of.given:
        return verify_organisation(of, key, checkpoint, witness, as_json=as_json)
    if export_file is not None:
        if log is not None or head is not None:
            raise click.UsageError("--export excludes --log and --head")
        return verify_file(export_file, key, checkpoint, witness, as_json=as_json)
    if key is not None or checkpoint is not None or witness is not None:
        raise click.UsageError("--key, --checkpoint and --witness need --export, --store or --server")
    if head is not None and not _HASH.fullmatch(head):
        raise click.BadParameter("give the 64 hexadecimal digits that `audit verify` printed", param_hint="--head")
    verdict = verify_log(log or audit_path(), head)
    if as_json:
        output.document(to_builtins(verdict))
    else:
        for line in _report(verdict):
            output.line(line)
        for file in verdict.files:
            name, owner = os.path.basename(file.path), _owner(file.owner)
            output.note(printable_line(f"{name}: owner {owner}, mode {file.mode}, {counted(file.links, 'hard link')}"))
    return exit_codes.OK if verdict.ok else exit_codes.FAILED


command.add_command(export)
command.add_command(sign_checkpoint)
command.add_command(witness_log)


@command.command(name="accept")
@log_option
def accept(log: str | None) -> int:
    """Accept records at the end of the log that its head does not count.

    Another program, a loss of power or an old version can leave such records. The log refuses new records until a
    person accepts them. Inspect them first: `prowess audit verify` lists them and `prowess audit show` prints them. The
    log records their number and who accepted them.

    Example: prowess audit accept
    """
    path = log or audit_path()
    if not os.path.exists(path):
        raise AuditReadError(os.path.abspath(path), "there is no log here")
    accepted = JsonlAuditLog(path).accept()
    output.line(f"{counted(accepted, 'record')} accepted" if accepted else "no records to accept")
    return exit_codes.OK


def _row(record: AuditRecord | None, *, unfinished: bool) -> str:
    if record is None:
        return "     ?  not a record; run `prowess audit verify`"
    at = record.at[:19].replace("T", " ")
    lead = f"{record.sequence:>6}  {printable_line(at)}Z  {printable_line(record.kind):<13}  "
    about, outcome = (
        _gist_of_act(record) if record.kind.removeprefix(_ON_MACHINE).startswith(_GOVERNANCE) else _gist(record)
    )
    if unfinished:
        outcome = "unfinished or still running"
    width = get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize  # a pipe has no width
    room = width - len(lead) - len(outcome) - 2
    if len(about) > room:
        about = f"{about[: max(room - 1, 0)]}…"  # the outcome is never cut, because readers look for it first
    return f"{lead}{about}{'  ' if about and outcome else ''}{outcome}".rstrip()


def _gist(record: AuditRecord) -> tuple[str, str]:
    """Return the subject of a record, and its outcome. `--json` prints all data of a record."""
    data = record.data
    skill = data.get("skill")
    # Every record has the tool and the rule of its call. They are shown if the record is about the call itself.
    tool = data.get("tool") if record.kind.startswith(_OF_CALLS) else None
    rule = data.get("rule") if record.kind in _REFUSING else None
    about = [tool, ", ".join(map(str, skill)) if isinstance(skill, list) else skill, rule]
    ended = [data.get("code", data.get("outcome"))]  # a `code` is set if the call failed, and gives the reason
    if record.kind == "tool.finished":
        ended.append(_duration(data.get("duration_ms")))
    if not any((*about, *ended)):
        shown = {name: _plain(value) for name, value in data.items() if name not in _NOT_SHOWN}
        about = [f"{name}={plain}" for name, plain in shown.items() if plain]
    return _joined(about), _joined(ended)


def _gist_of_act(record: AuditRecord) -> tuple[str, str]:
    """Return who did what in a record of governance, then its other data, and the outcome."""
    data = record.data
    who = data.get("user") or "an unknown user"
    first = [value for name in _ACTS if (value := data.get(name)) is not None]
    left = {name: value for name, value in data.items() if name not in {*_NOT_SHOWN, *_ACTS, *_ENDED}}
    skill = data.get("skill")
    named = [skill] if isinstance(skill, str) else []
    about = [f"{name}={plain}" for name, value in left.items() if (plain := _plain(value))]
    return _joined([who, *first, *named, *about]), _joined([data.get(name) for name in _ENDED])


def _plain(value: object) -> str:
    """Return a list as `a, b`, an object as `key value, key value`, and nothing for null and empty values."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {plain}" for key, one in value.items() if (plain := _plain(one)))
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(_plain, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _joined(words: list[object]) -> str:
    return printable_line("  ".join(str(word) for word in words if word is not None))


def _duration(milliseconds: object) -> str:
    if isinstance(milliseconds, int) and milliseconds >= _SECONDS_FROM:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds} ms"


def _report(verdict: Verification) -> Iterable[str]:
    for notice in verdict.notices:
        yield from _wrapped(f"note: {notice.message}")
    if verdict.unfinished:
        began = f"{counted(len(verdict.unfinished), 'call')} began and did not finish"
        first = f"the first at record {verdict.unfinished[0]}"
        yield from _wrapped(f"note: {began}, {first}: the process was killed or is still running")
    for fault in verdict.faults:
        place = "fault" if fault.line is None else f"line {fault.line}"
        yield from _wrapped(f"{place}: {fault.message}")
    if verdict.more:
        yield f"and {verdict.more} more"
    count = f"{verdict.records:,} record{'' if verdict.records == 1 else 's'}".replace(",", " ")
    if verdict.faults:
        yield f"{count}, {counted(len(verdict.faults), 'fault')}: the log was tampered with or damaged"
        return
    kept = "" if verdict.kept_at is None else f", and record {verdict.kept_at} is the head kept elsewhere"
    yield f"{count}, chain unbroken{kept}"
    if verdict.head is not None:
        yield f"head {verdict.head}"


def _owner(number: int) -> str:
    try:
        import pwd  # Imported here because the module exists only on Unix.

        return f"{pwd.getpwuid(number).pw_name} ({number})"
    except (ImportError, KeyError):
        return str(number)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable_line(text), _WIDTH, subsequent_indent="  ", break_long_words=False)
