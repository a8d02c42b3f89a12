"""One call of a person, a program or a machine to the store of an organisation: who asks, and in which tenant.

    call.require("block")
    with call.act("block", {"match": {"name": "deploy"}}):
        add_the_block()

A call sees the rows of its tenant. Every refusal and every act is in the audit log of this tenant; an act that cannot
be recorded is not done.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, Self

from msgspec import Struct

from prowess.audit.caller import Caller, with_keys
from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.errors import AuditError, PolicyDeniedError
from prowess.governance.acts import FAILED, REFUSED
from prowess.governance.service.call_limit import CallLimit
from prowess.policy.roles import PERMITTED, PersonRole
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prowess.audit.caller import IdentifiedBy
    from prowess.policy.roles import Operation
    from prowess.store import Token
    from prowess.store.shared.database import SharedDatabase

ActorRole = PersonRole | Literal["machine"]


class Actor(Struct, frozen=True, kw_only=True):
    """Who asks, as verified. `tenant` is where the actor belongs, `*` for the organisation: it may act in every one."""

    user: str
    roles: tuple[ActorRole, ...]
    tenant: str
    identified_by: IdentifiedBy
    team: str | None = None
    token_id: str | None = None

    @classmethod
    def of_token(cls, token: Token) -> Self:
        """Return the owner of a token of the store, which is valid."""
        return cls(
            user=token.user,
            roles=(token.role,),  # type: ignore[arg-type]  # the roles of tokens are checked when they are made
            tenant=token.tenant,
            team=token.team,
            identified_by="token",
            token_id=token.id,
        )

    @property
    def is_machine(self) -> bool:
        """Whether it is an enrolled machine, which fetches its bundle and sends records, and nothing else."""
        return "machine" in self.roles

    def may(self, operation: Operation) -> bool:
        """Return whether one of the roles permits the operation."""
        return any(operation in PERMITTED[role] for role in self.roles if role != "machine")


class ServiceCall:
    """One call of `actor`, which sees the rows of `tenant` in `database`. `client` is what the caller's program says.

    `limit` ends a call that reads a whole log; without one it takes as long as it takes.

    Raises:
        PolicyDeniedError: the actor belongs to another tenant. What tells an outsider must not differ from "not found".
    """

    def __init__(
        self,
        actor: Actor,
        database: SharedDatabase,
        *,
        tenant: str | None = None,
        client: str | None = None,
        limit: CallLimit | None = None,
    ) -> None:
        self.limit = CallLimit() if limit is None else limit
        self.tenant = actor.tenant if tenant is None else tenant
        if actor.tenant not in {self.tenant, EVERY}:
            raise PolicyDeniedError("tenant", f"{actor.user} does not belong to the tenant {self.tenant!r}")
        self.actor = actor
        self.database = database.of_tenant(self.tenant)
        self.log = SharedAuditLog(self.database)
        self.caller = Caller(
            user=actor.user,
            identified_by=actor.identified_by,
            team=actor.team,
            roles=actor.roles,
            tenant=self.tenant,
            client=client,
        )

    def require(self, operation: Operation) -> None:
        """Check that a role of the actor permits the operation. A refusal is recorded.

        Raises:
            PolicyDeniedError: no role does.
            AuditError: the refusal cannot be recorded.
        """
        if not self.actor.may(operation):
            able = " or ".join(role for role, permitted in PERMITTED.items() if operation in permitted)
            raise self._refused(operation, f"the role {able}")

    def require_person(self) -> None:
        """Check that the actor has a role of people, as `require` does."""
        if not any(role != "machine" for role in self.actor.roles):
            raise self._refused("see", "a role of people")

    def require_machine(self) -> None:
        """Check that the actor is an enrolled machine of a tenant, as `require` does."""
        if not self.actor.is_machine or self.tenant == EVERY:
            raise self._refused("machine", "the role machine in a tenant")

    def _refused(self, operation: str, needed: str) -> PolicyDeniedError:
        held = " and ".join(self.actor.roles) or "no role"
        reason = f"{self.actor.user} has the role {held}; this needs {needed}"
        return self.refused(operation, f"roles.{operation}", reason)

    def refused(self, operation: str, rule: str, reason: str) -> PolicyDeniedError:
        """Record that an act is not permitted, and return the error. Raises AuditError if it cannot be recorded."""
        self.record(REFUSED, {"operation": operation, "rule": rule, "code": PolicyDeniedError.code})
        return PolicyDeniedError(rule, reason)

    @contextmanager
    def act(self, name: str, data: Mapping[str, object]) -> Iterator[None]:
        """Record an act as `governance.NAME`, then let the block do it. If the block fails, that is recorded too.

        Raises:
            AuditError: the act cannot be recorded; the block was not run.
        """
        self.record(f"governance.{name}", data)
        try:
            yield
        except BaseException as fault:
            with suppress(AuditError):  # the failure that is raised matters more
                self.record(FAILED, {**data, "act": name, "error": type(fault).__name__})
            raise

    def record(self, kind: str, data: Mapping[str, object]) -> None:
        """Record an event of this call. Raises AuditError."""
        self.log.append(with_keys(AuditEvent(kind=kind, data=data), self.caller))
