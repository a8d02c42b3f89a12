"""`prowess machine`: the service of this machine, its enrolment, and its state."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.enrolment import Enrolment, enrolment, render_enrolment
from prowess._internal.files.file_lock import locked
from prowess._internal.own_command import own_command
from prowess._internal.places import BUNDLE_FOLDER, ENROLMENT_FILE, MACHINE_STATE
from prowess._internal.text.terminal_text import printable_line
from prowess.audit.log import JsonlAuditLog
from prowess.audit.machine_wire import AUDIT_SOCKET
from prowess.cli import exit_codes, output
from prowess.cli.key_files import read_token
from prowess.cli.options import json_option
from prowess.cli.organisation.units import machine_unit
from prowess.errors import AuditError, PolicyError
from prowess.policy.machine.offline import SEE_STATUS, confirmed_at
from prowess.policy.policy_in_force import PolicyInForce
from prowess.tools.audit_sink import MachineLog

if TYPE_CHECKING:
    from collections.abc import Iterator

_GIVEN = ("tenant", "team", "environment")
_LOGS = {"file": "session", "machine": "machine", "central": "organisation"}
_RIGHTS = 0o755  # every user reads the files of the machine; the log has a private directory


@click.group(name="machine")
def command() -> None:
    """Enroll this machine, run its service, or show its state.

    \b
    Example:
      prowess machine status
    """  # noqa: D301 -- click needs the control character


command.add_command(machine_unit)


@command.command(name="run")
@click.option(
    "--state", default=MACHINE_STATE, show_default=True, metavar="DIR", help="Where the machine's files are kept."
)
@click.option(
    "--socket", "socket_path", default=AUDIT_SOCKET, show_default=True, metavar="PATH", help="Where records are taken."
)
@click.option(
    "--every",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.05),
    metavar="SECONDS",
    help="How often an enrolled machine asks its server.",
)
@click.option(
    "--inventory-every",
    default=900.0,
    show_default=True,
    type=click.FloatRange(1),
    metavar="SECONDS",
    help="How often the copies of skills of all users are listed.",
)
def run(*, state: str, socket_path: str, every: float, inventory_every: float) -> int:
    """Take the audit records of all users of this machine, and keep the bundle of an enrolled machine up to date.

    Root runs it, once on a machine, until SIGTERM or Ctrl-C.

    Records go to DIR/audit/audit.jsonl, which users can neither read nor change. Sessions send them if the policy has
    `audit.sink = "machine"` or `"central"`. They use the default socket only, and only if root has made it.

    \b
    Example:
      sudo prowess machine run
    """  # noqa: D301 -- click needs the control character
    # Imported here because `machine status` must run where there are no Unix sockets.
    from prowess.governance.machine.audit_service import MachineAuditService

    os.makedirs(state, mode=_RIGHTS, exist_ok=True)
    log = JsonlAuditLog(os.path.join(state, "audit", "audit.jsonl"), adopts_unannounced=True)
    enrolled = _enrolled()
    given = {} if enrolled is None else {name: getattr(enrolled, name) for name in _GIVEN}
    facts = {name: value for name, value in given.items() if value is not None}
    with _alone(state), _asked_to_end() as wake, ExitStack() as stack:
        collector = None
        if enrolled is not None and os.path.abspath(state) == MACHINE_STATE:
            from prowess.distribution.machine.enrolled_service import EnrolledService  # needs the extra `install`

            found = EnrolledService(
                enrolled,
                state,
                log.path,
                seconds=every,
                tell=lambda text: output.note(printable_line(text)),
                list_copies=(*own_command(), "inventory", "--json"),
                inventory_seconds=inventory_every,
            )
            collector = found.collector
            stack.callback(found.close)
        service = MachineAuditService(log, socket_path, facts, collector)
        output.note(printable_line(f"audit records are taken at {service.path} and kept in {log.path}"))
        if collector is not None:
            found.start()
        service.run(wake)
    return exit_codes.OK


@command.command(name="enroll")
@click.argument("url", metavar="URL")
@click.option(
    "--token-file",
    required=True,
    metavar="FILE",
    help="A token of the role machine.",
)
@click.option("--key", metavar="KEY", help="The public key of the organisation; else the one that the server states.")
@click.option("--team", metavar="NAME", help="The team of this machine.")
@click.option("--environment", metavar="NAME", help="The environment of this machine, such as production.")
@json_option
def enroll(
    *, url: str, token_file: str, key: str | None, team: str | None, environment: str | None, as_json: bool
) -> int:
    """Enroll this machine at the server of an organisation, whose policy holds here from then on. Run it as root.

    The key of the organisation is remembered: only bundles that it has signed are used. Without --key, the first
    connection is trusted; compare the printed key with the one of `prowess admin init`.

    \b
    Example:
      sudo prowess machine enroll https://prowess.example.com --token-file token --environment production
    """  # noqa: D301 -- click needs the control character
    from prowess.distribution.machine.client import TOKEN_FILE, MachineClient  # needs the extra `install`
    from prowess.distribution.machine.enrolled_service import first_report
    from prowess.governance.machine.kept_bundle import KeptBundle
    from prowess.governance.machine.reports import SentRecords
    from prowess.signing.signed_note import read_note_key

    token = read_token(token_file)
    with closing(MachineClient(url, token)) as server:
        data, stated = server.fetch()
        if key is None and stated is None:
            raise click.UsageError("the server states no key; give the one of `prowess admin init` with --key")
        organisation = read_note_key(key or stated or "")
        if hasattr(os, "geteuid") and os.geteuid() != 0:
            raise click.UsageError("only root can enroll this machine; run the command as root, for example with sudo")
        os.makedirs(MACHINE_STATE, mode=_RIGHTS, exist_ok=True)
        kept = KeptBundle(MACHINE_STATE, organisation)
        bundle, _ = kept.take(data or b"", anew=True)
        kept.confirm()
        found = Enrolment(
            url=server.shown, key=str(organisation), tenant=bundle.tenant, team=team, environment=environment
        )
        server.send(SentRecords(machine=first_report(found, MACHINE_STATE, bundle.version)))
    os.makedirs(os.path.dirname(ENROLMENT_FILE), mode=_RIGHTS, exist_ok=True)
    write_atomically(TOKEN_FILE, f"{token}\n".encode(), 0o600)
    write_atomically(ENROLMENT_FILE, render_enrolment(found), 0o644)  # last: from now on it must hold
    if as_json:
        output.document({"url": found.url, "tenant": found.tenant, "key": found.key, "version": bundle.version})
        return exit_codes.OK
    output.line(f"this machine is enrolled at {found.url}, tenant {found.tenant}; key {found.key}")
    output.note("run `prowess machine run` as a service, which keeps the bundle up to date")
    return exit_codes.OK


@command.command(name="status")
@json_option
def status(*, as_json: bool) -> int:
    """Show whether the policy holds on this machine. Exits with 1 if calls are refused because it does not.

    \b
    Example:
      prowess machine status --json
    """  # noqa: D301 -- click needs the control character
    policy = PolicyInForce().now()
    reason = audit_fault()
    needed = policy.audit_sink != "file"
    holds = policy.fault is None and not (needed and reason)
    bundle = _bundle()
    if as_json:
        audit = {"sink": policy.audit_sink, "socket": AUDIT_SOCKET, "running": reason is None, "reason": reason}
        document = {"holds": holds, "policy": {"fault": policy.fault}, "audit": audit, "enrolment": bundle}
        output.document(document)
        return exit_codes.OK if holds else exit_codes.FAILED
    if policy.fault is not None:
        output.error(printable_line(policy.fault.replace(SEE_STATUS, "")))
    if bundle is not None:
        output.line(
            printable_line(f"enrolled at {bundle['url']}, tenant {bundle['tenant']}, version {bundle['version']}")
        )
        output.line(f"confirmed by the server {bundle['confirmed'] or 'at an unknown time'}")
        if bundle["fault"] is not None:
            output.line(printable_line(f"the last look failed: {bundle['fault']}"))
    output.line(f"audit records go to the {_LOGS[policy.audit_sink]}'s log (audit.sink = {policy.audit_sink})")
    service = "the audit service of this machine runs" if reason is None else reason.replace(SEE_STATUS, "")
    output.line(printable_line(service))
    return exit_codes.OK if holds else exit_codes.FAILED


def _enrolled() -> Enrolment | None:
    try:
        return enrolment()
    except ValueError as fault:
        raise PolicyError((str(fault),)) from None


def _bundle() -> dict[str, object] | None:
    """Return the facts about the bundle of this machine; None if it is not enrolled."""
    try:
        enrolled = enrolment()
    except ValueError:  # the fault of the policy
        return None
    if enrolled is None:
        return None
    confirmed, version, fault = confirmed_at(), None, None
    with suppress(OSError, ValueError):
        version = int(os.path.basename(os.readlink(BUNDLE_FOLDER)))
    with suppress(OSError), open(os.path.join(MACHINE_STATE, "fault"), encoding="utf-8") as file:
        fault = file.read()
    since = None if confirmed is None else datetime.fromtimestamp(confirmed, UTC).isoformat(timespec="seconds")
    given = {name: getattr(enrolled, name) for name in _GIVEN}
    return {"url": enrolled.url, **given, "version": version, "confirmed": since, "fault": fault}


def audit_fault() -> str | None:
    """Return why sessions of this machine cannot use its audit service; None if they can."""
    try:
        MachineLog(wait_seconds=2).check()
    except AuditError as fault:
        return fault.reason
    return None


@contextmanager
def _alone(state: str) -> Iterator[None]:
    """Hold the lock of the machine's files. Raises AuditError if another service has it."""
    path = os.path.join(state, "machine.lock")
    held = False
    try:
        with locked(path, wait_seconds=0):
            held = True
            yield
    except TimeoutError:
        if held:
            raise
        raise AuditError(state, "another `prowess machine run` uses this directory; end that one first") from None


@contextmanager
def _asked_to_end() -> Iterator[int]:
    """Yield a descriptor that becomes readable when a signal asks the process to end.

    An exception could interrupt a write, which the next start would have to recover.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: os.write(writer, b".")) for number in numbers}
    try:
        yield reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)
