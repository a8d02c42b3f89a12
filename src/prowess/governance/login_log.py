"""Audit records of logins: `governance.login`, `governance.login-failed`, `governance.logout`. Secrets are in none.

A record is durable before its login holds. Failures of people who are not known are in the log of the organisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from prowess.audit.caller import Caller, with_keys
from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog

if TYPE_CHECKING:
    from prowess.store.shared.database import SharedDatabase

LoginMeans = Literal["token", "oidc"]
_MOST_CLIENT = 200


class LoginOrigin:
    """Where a login comes from: the address of the browser, and the name of its program."""

    def __init__(self, address: str, client: str | None) -> None:
        self.address, self.client = address, None if client is None else client[:_MOST_CLIENT]


class LoginLog:
    """Records logins in the logs of the tenants of a store. Blocking; every function raises AuditError."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database = database

    def began(self, who: Caller, means: LoginMeans, at: LoginOrigin, *, issuer: str | None = None) -> None:
        """Record that a person logs in."""
        self._record("governance.login", who, at, {"means": means, "issuer": issuer})

    def failed(self, means: LoginMeans, reason: str, detail: str, at: LoginOrigin, who: Caller | None = None) -> None:
        """Record that a login was refused; `who` is None if that is not known."""
        other = Caller(tenant=self._database.tenant)
        self._record("governance.login-failed", who or other, at, {"means": means, "reason": reason, "detail": detail})

    def ended(self, who: Caller, at: LoginOrigin) -> None:
        """Record that a person logs out."""
        self._record("governance.logout", who, at, {})

    def _record(self, kind: str, who: Caller, at: LoginOrigin, data: dict[str, str | None]) -> None:
        log = SharedAuditLog(self._database.of_tenant(who.tenant or self._database.tenant))
        known = {"address": at.address, "client": at.client, **data}
        log.append(with_keys(AuditEvent(kind=kind, data=known), who))
