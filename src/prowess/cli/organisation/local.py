"""The services of an organisation whose store this machine reaches itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from prowess._internal.places import audit_path
from prowess._internal.text.terminal_text import counted
from prowess.audit.log import JsonlAuditLog
from prowess.audit.transparency.sequencer import continue_log
from prowess.cli import output
from prowess.cli.audit.central import signer_of
from prowess.cli.packages.checked import check_errors
from prowess.distribution.deployment.store_releases import StoreReleases, deployed_names, present_deployments
from prowess.errors import PolicyDeniedError, SignatureError
from prowess.governance.acts import person, require_role
from prowess.governance.organisation import token_digest
from prowess.governance.retention import apply_retention
from prowess.governance.service.access import AccessService
from prowess.governance.service.analytics import AnalyticsService
from prowess.governance.service.audit import AuditService
from prowess.governance.service.blocks import BlockService
from prowess.governance.service.deployments import DeploymentService
from prowess.governance.service.inventory import InventoryService
from prowess.governance.service.machines import MachineService
from prowess.governance.service.policies import PolicyService
from prowess.governance.service.replay import ReplayService
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.policy.policy_in_force import PolicyInForce
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.database import SharedDatabase
from prowess.store.shared.tokens import SharedTokenStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.policy.roles import Operation


class LocalOrganisation:
    """The services of the store at `url`, for one tenant. `place` is its URL without credentials.

    Without `tenant` it is the one of the token, or `meant` for the organisation; the attribute `tenant` is the result.
    The attribute `meant` is None unless this was used.

    Who has the URL may do everything; the roles in the policy of this machine can limit that. With a token, the actor
    is its owner.

    Raises:
        PolicyDeniedError: the roles do not permit the operation, or the token is not valid here.
        StoreError: the store cannot be used.
    """

    is_remote: Final = False

    def __init__(self, url: str, tenant: str | None, token: str | None, operation: Operation, *, meant: str) -> None:
        require_role(PolicyInForce().require(), operation, JsonlAuditLog(audit_path()))
        database = SharedDatabase(url, EVERY)
        actor = Actor(user=person(), roles=("administrator",), tenant=EVERY, identified_by="system")
        if token is not None:
            actor = owner_of(database, token)
        self.meant = meant if tenant is None and actor.tenant == EVERY else None
        if tenant is None:
            tenant = meant if actor.tenant == EVERY else actor.tenant
        call = ServiceCall(actor, database, tenant=tenant, client="prowess")
        self.tenant = tenant
        self.place, self.close, self._url = database.url, database.close, url
        self._rows = SharedAuditRows(call.database)
        self.audit, self.replay = AuditService(call), ReplayService(call)
        self.analytics = AnalyticsService(call, deployed_names(call.database))
        self.blocks, self.policies = BlockService(call), PolicyService(call)
        self.machines, self.inventory = MachineService(call), InventoryService(call)
        self._call = call

    @property
    def access(self) -> AccessService:
        """Answers to questions about access. Raises StoreError."""
        return AccessService(self._call, present_deployments(self._call.database))

    @property
    def deployments(self) -> DeploymentService:
        """The deployed skills. Without the organisation's key, releases can be read and not made."""
        try:
            key = signer_of(self._url, None).key
        except SignatureError:
            key = None
        return DeploymentService(self._call, StoreReleases(self._call, key, check_errors))

    @property
    def waiting(self) -> int:
        """The number of records that have no place in the log yet. Raises StoreError."""
        return self._rows.waiting()

    def continue_log(self, key_file: str | None) -> None:
        """Give waiting records their places, and remove old bodies, with the key of the organisation.

        The key is in a file, or on this machine; without it, the waiting records are mentioned.

        Raises:
            SignatureError: the file holds another key.
            StoreError, AuditError: the log cannot be continued.
        """
        try:
            signer = signer_of(self._url, key_file)
        except SignatureError as fault:
            if key_file is not None:
                raise
            if waiting := self.waiting:
                output.note(f"{counted(waiting, 'record')} still without a place in the log: {fault.reason}")
            return
        while continue_log(self._rows, signer) is not None:
            pass
        apply_retention(self._rows, signer)


def owner_of(database: SharedDatabase, text: str) -> Actor:
    """Return the owner of a token. `database` is that of the organisation. Raises PolicyDeniedError."""
    token = SharedTokenStore(database).use_token(token_digest(text), time.time())
    if token is None:
        raise PolicyDeniedError("token", "it is unknown or has expired; `prowess admin token add` makes one")
    return Actor.of_token(token)
