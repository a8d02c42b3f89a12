"""`prowess audit`: what was done, and whether the log of it is whole."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.places import audit_path
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.audit.record import read_tail
from prowess.audit.verification import UnfinishedCalls, verify_log
from prowess.cli import exit_codes, output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.audit.record import AuditRecord
    from prowess.audit.verification import Verification

_WIDTH = 80
_SECONDS_FROM = 10_000  # milliseconds; below, they are the better unit
_HASH = re.compile(r"(sha256:)?[0-9a-fA-F]{64}")

_log_option = click.option(
    "--log",
    metavar="PATH",
    help="The log file; by default audit/audit.jsonl in PROWESS_HOME.",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.group(name="audit")
def command() -> None:
    """Show or verify the audit log.

    Example: prowess audit verify
    """


@command.command(name="show")
@_log_option
@click.option(
    "--tail", default=20, show_default=True, metavar="N", type=click.IntRange(min=1), help="How many records."
)
@_json_option
def show(log: str | None, tail: int, *, as_json: bool) -> int:
    """Print the last records.

    Example: prowess audit show --tail 50
    """
    path = log or audit_path()
    records = read_tail(path, tail)
    if as_json:
        output.document({"log": os.path.abspath(path), "records": records})
        return exit_codes.OK
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
    return exit_codes.OK


@command.command(name="verify")
@_log_option
@click.option("--head", metavar="HASH", help="A head kept elsewhere: it must be the hash of a record of this log.")
@_json_option
def verify(log: str | None, head: str | None, *, as_json: bool) -> int:
    """Check that no record was changed, removed, moved, inserted or cut off.

    Exits with 1 where one was. Example: prowess audit verify --head sha256:5b1f...
    """
    if head is not None and not _HASH.fullmatch(head):
        raise click.BadParameter("give the 64 hexadecimal digits that `audit verify` printed", param_hint="--head")
    verdict = verify_log(log or audit_path(), head)
    if as_json:
        output.document(to_builtins(verdict))
    else:
        for line in _report(verdict):
            output.line(line)
    return exit_codes.OK if verdict.ok else exit_codes.FAILED


def _row(record: AuditRecord | None, *, unfinished: bool) -> str:
    if record is None:
        return "     ?  not a record; run `prowess audit verify`"
    at = record.at[:19].replace("T", " ")
    lead = f"{record.sequence:>6}  {printable_line(at)}Z  {printable_line(record.kind):<13}  "
    about, outcome = _gist(record)
    if unfinished:
        outcome = "never finished, or at work"
    width = get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize  # a pipe has no edge
    room = width - len(lead) - len(outcome) - 2
    if len(about) > room:
        about = f"{about[: max(room - 1, 0)]}…"  # how it ended is what a reader looks for, so that is never cut
    return f"{lead}{about}{'  ' if about and outcome else ''}{outcome}".rstrip()


def _gist(record: AuditRecord) -> tuple[str, str]:
    """Return what a reader looks for first, and how it ended; all of it is in `--json`."""
    data = record.data
    about = [data.get("tool"), data.get("skill"), data.get("rule")]
    ended = [data.get("code", data.get("outcome"))]  # a code says that it failed, and how
    if record.kind == "tool.finished":
        ended.append(_duration(data.get("duration_ms")))
    if not any((*about, *ended)):
        about = [f"{name}={value}" for name, value in data.items()]
    return _joined(about), _joined(ended)


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
        yield from _wrapped(f"note: {began}, {first}: the process was killed, or is at work")
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


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable_line(text), _WIDTH, subsequent_indent="  ", break_long_words=False)
