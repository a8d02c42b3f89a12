"""The organisation of a session whose store is shared: its decisions, their generation in each call, and its log."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anyio import to_thread

from prowess import audit, governance
from prowess.errors import SkillApprovalRequiredError, StoreError
from prowess.policy.organisation.known_generation import knowing
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from prowess.audit.record import AuditLog
    from prowess.errors import SkillError
    from prowess.governance.call_requests import CallRequests
    from prowess.governance.shared_approval_requests import RefusedSkills
    from prowess.policy.organisation.organisation_rules import OrganisationSource
    from prowess.store import SessionStore, SharedDatabase


@runtime_checkable
class TenantStore(Protocol):
    """A store of one tenant of an organisation, whose decisions bind the sessions in it."""

    @property
    def database(self) -> SharedDatabase:
        """The database of the organisation, as the tenant sees it."""
        ...


class SessionOrganisation:
    """The decisions of an organisation, and the log and the requests of its tenant, for sessions with one shared store.

    All are None for a session with a store of one machine. `tenant` is None too for a store of the whole organisation.
    """

    def __init__(
        self,
        source: OrganisationSource | None = None,
        log: AuditLog | None = None,
        requests: CallRequests | None = None,
        refused: RefusedSkills | None = None,
        tenant: str | None = None,
    ) -> None:
        self.tenant = tenant
        self.source, self.log, self.requests, self._refused = source, log, requests, refused

    async def note(self, error: SkillError | None) -> None:
        """Leave the question of a call that failed for want of an approval, so that people find it."""
        if self._refused is not None and isinstance(error, SkillApprovalRequiredError) and error.digest is not None:
            await to_thread.run_sync(self._refused.note, error.request, error.skill, error.digest)

    async def during_call(self, seen: int | None) -> AbstractContextManager[None]:
        """Return the block in which a call knows the generation.

        `seen` is the one that was read with the session's row in this call; None costs a query.
        """
        if self.source is None:
            return nullcontext()
        if seen is not None:
            return knowing(self.source, seen)
        try:
            return knowing(self.source, await to_thread.run_sync(self.source.generation))
        except StoreError as fault:
            return knowing(self.source, fault)


def organisation_of(store: SessionStore | None) -> SessionOrganisation:
    """Return the organisation of a store."""
    if store is None or not isinstance(store, TenantStore):
        return SessionOrganisation()
    # These names are imported when they are used: they need SQLAlchemy, which a shared store has imported already.
    return SessionOrganisation(
        governance.SharedDecisions(store.database),
        audit.SharedAuditLog(store.database),
        governance.SharedCallRequests(store.database),
        governance.RefusedSkills(store.database),
        None if store.database.tenant == EVERY else store.database.tenant,
    )
