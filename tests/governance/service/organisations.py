"""An organisation with a store in SQLite, and calls of its people and machines, for tests of services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import newest
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.governance.service.bundle import OrganisationSigner
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.policy.roles import PersonRole
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKEN = "token-1"
ORIGIN = "acme.example"
KEY = new_private_key("ed25519")
SIGNER = OrganisationSigner(origin=ORIGIN, key=KEY)
ROLES = (*get_args(PersonRole), "machine")


def new_organisation(url: str) -> SharedDatabase:
    """Create a store, and return it as its tenant `default` sees it."""
    create_store(url, origin=ORIGIN, public_key=str(note_key(ORIGIN, KEY.public)))
    return SharedDatabase(url)


def call_of(
    database: SharedDatabase,
    role: PersonRole | Literal["machine"] = "administrator",
    *,
    tenant: str = "default",
    of: str | None = None,
    token: str = TOKEN,
) -> ServiceCall:
    """Return a call of an actor with a role; `of` is the actor's tenant if it is another one."""
    actor = Actor(user="ann", roles=(role,), tenant=of or tenant, identified_by="token", token_id=token)
    return ServiceCall(actor, database, tenant=tenant)


def logged(database: SharedDatabase, tenant: str = "default") -> list[tuple[str, Mapping[str, object]]]:
    """Return kind and data of the last records of the log of a tenant."""
    rows = SharedAuditRows(database.of_tenant(tenant))
    while continue_log(rows, LogSigner(name=ORIGIN, key=KEY)):
        pass
    return [(one.kind, one.data) for one in newest(rows, RecordFilter(), 1000)]
