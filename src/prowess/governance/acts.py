"""Acts of governance, each with a record in the audit log before it takes effect.

    with act(audit, "block", {"id": …}):
        write_the_block()

The record `governance.block` is written first. If it cannot be written, nothing is changed. If the act then fails,
`governance.failed` follows.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from prowess._internal.process_user import login
from prowess.audit.caller import Caller, with_keys
from prowess.audit.record import AuditEvent
from prowess.errors import AuditError, PolicyDeniedError
from prowess.policy.decision import rule_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from prowess.audit.record import AuditLog
    from prowess.policy.policy import Policy
    from prowess.policy.roles import Operation

FAILED, REFUSED = "governance.failed", "governance.refused"


class ActRecorder(Protocol):
    """Records the acts of somebody: of this process's user (`LocalActs`), or of an actor in a store."""

    def act(self, name: str, data: Mapping[str, object]) -> AbstractContextManager[None]:
        """Return the block that is run after the act was recorded. Raises AuditError if it cannot be."""
        ...

    def refused(self, operation: Operation, rule: str, reason: str) -> PolicyDeniedError:
        """Record that roles do not permit an act, and return the error. Raises AuditError if it cannot be recorded."""
        ...


class LocalActs:
    """An `ActRecorder` of this process's user. Without `audit` nothing is recorded."""

    def __init__(self, audit: AuditLog | None) -> None:
        self._audit = audit

    def act(self, name: str, data: Mapping[str, object]) -> AbstractContextManager[None]:
        """Return the block that is run after the act was recorded."""
        return act(self._audit, name, data)

    def refused(self, operation: Operation, rule: str, reason: str) -> PolicyDeniedError:
        """Record that roles do not permit an act, and return the error."""
        return refused(self._audit, operation, rule, reason)


def person() -> str:
    """Return the user of this process, for the statements that this user makes."""
    return login() or f"uid {Caller.here().uid}"


@contextmanager
def act(audit: AuditLog | None, name: str, data: Mapping[str, object]) -> Iterator[None]:
    """Record an act of this process's user, then let the block do it. Without `audit` it is not recorded.

    Raises:
        AuditError: the act cannot be recorded; the block was not run.
    """
    _record(audit, f"governance.{name}", data)
    try:
        yield
    except BaseException as fault:
        with suppress(AuditError):  # the failure that is raised matters more
            _record(audit, FAILED, {**data, "act": name, "error": type(fault).__name__})
        raise


def require_role(policy: Policy, operation: Operation, audit: AuditLog | None) -> None:
    """Check that the roles of this process's user permit an act. A refusal is recorded (`governance.refused`).

    Raises:
        PolicyDeniedError: they do not permit it.
        AuditError: the refusal cannot be recorded.
    """
    if (denied := policy.role_denial(operation)) is not None:
        raise refused(audit, operation, rule_of(denied), denied.reason)


def refused(audit: AuditLog | None, operation: Operation, rule: str, reason: str) -> PolicyDeniedError:
    """Record that roles do not permit an act, and return the error. Raises AuditError if it cannot be recorded."""
    _record(audit, REFUSED, {"operation": operation, "rule": rule, "code": PolicyDeniedError.code})
    return PolicyDeniedError(rule, reason)


def _record(audit: AuditLog | None, kind: str, data: Mapping[str, object]) -> None:
    if audit is not None:
        audit.append(with_keys(AuditEvent(kind=kind, data=data), Caller.here()))
