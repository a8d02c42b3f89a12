"""`prowess machine`: the service of this machine, and what holds here."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from prowess._internal.files.file_lock import locked
from prowess._internal.text.terminal_text import printable_line
from prowess.audit.log import JsonlAuditLog
from prowess.audit.machine_wire import AUDIT_SOCKET
from prowess.cli import exit_codes, output
from prowess.errors import AuditError
from prowess.policy.policy_in_force import PolicyInForce
from prowess.tools.audit_sink import MachineLog

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE = "/var/lib/prowess"
_RIGHTS = 0o755  # every user reads what the machine keeps; the log has a private directory


@click.group(name="machine")
def command() -> None:
    """Run the service of this machine, or show what holds here.

    \b
    Example:
      prowess machine status
    """  # noqa: D301 -- click needs the control character


@command.command(name="run")
@click.option("--state", default=STATE, show_default=True, metavar="DIR", help="Where the machine's files are kept.")
@click.option(
    "--socket", "socket_path", default=AUDIT_SOCKET, show_default=True, metavar="PATH", help="Where records are taken."
)
def run(state: str, socket_path: str) -> int:
    """Take the audit records of all users of this machine, until SIGTERM or Ctrl-C. Root runs it, once on a machine.

    Records go to DIR/audit/audit.jsonl, which users can neither read nor change. Sessions send them if the policy has
    `audit.sink = "machine"`. They use the default socket only, and only if root has made it.

    \b
    Example:
      sudo prowess machine run
    """  # noqa: D301 -- click needs the control character
    # Imported here because `machine status` must run where there are no Unix sockets.
    from prowess.governance.machine.audit_service import AuditService

    os.makedirs(state, mode=_RIGHTS, exist_ok=True)
    log = JsonlAuditLog(os.path.join(state, "audit", "audit.jsonl"))
    service = AuditService(log, socket_path)
    with _alone(state), _asked_to_end() as wake:
        output.note(printable_line(f"audit records are taken at {service.path} and kept in {log.path}"))
        service.run(wake)
    return exit_codes.OK


@command.command(name="status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def status(*, as_json: bool) -> int:
    """Show whether the policy holds on this machine. Exits with 1 if calls are refused because it does not.

    \b
    Example:
      prowess machine status --json
    """  # noqa: D301 -- click needs the control character
    policy = PolicyInForce().now()
    reason = audit_fault()
    needed = policy.audit_sink == "machine"
    holds = policy.fault is None and not (needed and reason)
    if as_json:
        audit = {"sink": policy.audit_sink, "socket": AUDIT_SOCKET, "running": reason is None, "reason": reason}
        output.document({"holds": holds, "policy": {"fault": policy.fault}, "audit": audit})
        return exit_codes.OK if holds else exit_codes.FAILED
    if policy.fault is not None:
        output.error(printable_line(policy.fault))
    output.line(
        f"audit records go to the {'machine' if needed else 'session'}'s log (audit.sink = {policy.audit_sink})"
    )
    output.line("the audit service of this machine runs" if reason is None else printable_line(reason))
    return exit_codes.OK if holds else exit_codes.FAILED


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
