"""An organisation in a new SQLite store, for tests of the services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.audit.record import AuditEvent
    from prowess.governance.service.service_call import ActorRole

KEY = new_private_key("ed25519")
PUBLIC_KEY = str(note_key("acme", KEY.public))


class OrganisationInTests:
    """A store with the tenant `default`."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path / 'organisation.db'}"
        create_store(self.url, origin="acme", public_key=PUBLIC_KEY)
        self.database = SharedDatabase(self.url)
        self.rows = SharedAuditRows(self.database)

    def call(self, role: ActorRole = "administrator", user: str = "ada") -> ServiceCall:
        """Return a call of a person with this role."""
        return ServiceCall(Actor(user=user, roles=(role,), tenant="default", identified_by="token"), self.database)

    def record(self, *events: AuditEvent) -> None:
        """Record events, and give them their places."""
        log = SharedAuditLog(self.database)
        for event in events:
            log.append(event)
        self.continue_log()

    def continue_log(self) -> None:
        """Give waiting records their places."""
        while continue_log(self.rows, LogSigner(name="acme", key=KEY)) is not None:
            pass
