"""The services of an organisation through its server: the same methods and types as `prowess.governance.service` has.

Every method raises as `ServerConnection.get` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from prowess.audit.transparency.export import write_whole
from prowess.distribution.organisation_server.approvals import RemoteApprovals
from prowess.governance.replay.replay import Replayed
from prowess.governance.service.access import AccessAnswer, AccessQuery
from prowess.governance.service.audit import (
    AuditPage,
    AuditQuery,
    AuditSelection,
    ConsistencyProof,
    LogState,
    ProofOfRecord,
)
from prowess.governance.service.blocks import NewBlock, SharedBlock
from prowess.governance.service.deployments import (
    Deployment,
    DeploymentResult,
    DeprecatedSkill,
    NewDeployment,
    RevokedSkills,
    WantedRelease,
)
from prowess.governance.service.inventory import InventoryQuery, SkillCopy
from prowess.governance.service.listing import ListPage, ListQuery
from prowess.governance.service.machines import Machine, MachineQuery
from prowess.governance.service.policies import NewPolicy, PolicySummary, PushedPolicy, PushQuery, StoredPolicy
from prowess.governance.usage import UsageReport

if TYPE_CHECKING:
    from prowess.distribution.organisation_server.connection import ServerConnection
    from prowess.governance.service.analytics import UsageQuery
    from prowess.governance.service.replay import ReplayRequest


class _RecordNumber(Struct):
    record: int


class _Sizes(Struct):
    old: int
    new: int | None


class _Me(Struct):
    tenant: str


def own_tenant(server: ServerConnection) -> str:
    """Return the tenant to which the token of a connection belongs; `*` is the organisation."""
    return server.get(_Me, "me").tenant


class RemoteAudit:
    """The audit log: `AuditService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: AuditQuery) -> AuditPage:
        """Return a page of records."""
        return self._server.get(AuditPage, "audit", query=query)

    def get(self, number: int) -> ProofOfRecord:
        """Return a record and its proof."""
        return self._server.get(ProofOfRecord, "audit", "proof", query=_RecordNumber(record=number))

    def checkpoint(self) -> LogState:
        """Return the last signed checkpoint."""
        return self._server.get(LogState, "audit", "checkpoint")

    def consistency(self, old: int, new: int | None = None) -> ConsistencyProof:
        """Return the proof that the log was continued."""
        return self._server.get(ConsistencyProof, "audit", "consistency", query=_Sizes(old=old, new=new))

    def save(self, selection: AuditSelection, path: str) -> None:
        """Write an export into a file. Raises OSError too."""
        write_whole(path, lambda file: self._server.save(file, "audit", "export", query=selection))


class RemoteAnalytics:
    """Reports: `AnalyticsService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def report(self, query: UsageQuery) -> UsageReport:
        """Return the report."""
        return self._server.get(UsageReport, "analytics", query=query)


class RemoteReplay:
    """Replays: `ReplayService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def replay(self, request: ReplayRequest) -> Replayed:
        """Decide the recorded calls again by a new policy alone."""
        return self._server.send(Replayed, "POST", "policies", "replay", body=request)


class RemoteAccess:
    """Questions about access: `AccessService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def explain(self, query: AccessQuery) -> AccessAnswer:
        """Explain a decision."""
        return self._server.get(AccessAnswer, "access", query=query)


class RemoteBlocks:
    """Blocks: `BlockService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: ListQuery) -> ListPage[SharedBlock]:
        """Return blocks, the oldest first."""
        return self._server.get(ListPage[SharedBlock], "blocks", query=query)

    def get(self, block_id: str) -> SharedBlock:
        """Return one block."""
        return self._server.get(SharedBlock, "blocks", block_id)

    def add(self, new: NewBlock) -> SharedBlock:
        """Block every skill with a fact."""
        return self._server.send(SharedBlock, "POST", "blocks", body=new)

    def remove(self, block_id: str) -> SharedBlock:
        """Lift a block."""
        return self._server.delete(SharedBlock, "blocks", block_id)


class RemotePolicies:
    """Policies: `PolicyService`. The server replays the calls of the last days before it takes a new policy."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: ListQuery) -> ListPage[PolicySummary]:
        """Return policies, the organisation's first."""
        return self._server.get(ListPage[PolicySummary], "policies", query=query)

    def get(self, name: str) -> StoredPolicy:
        """Return a policy with its text."""
        return self._server.get(StoredPolicy, "policies", name)

    def push(self, name: str, new: NewPolicy, query: PushQuery) -> PushedPolicy:
        """Add a policy, or replace it, unless it newly denies more recorded calls than accepted."""
        return self._server.send(PushedPolicy, "PUT", "policies", name, body=new, query=query)

    def remove(self, name: str) -> StoredPolicy:
        """Remove a policy."""
        return self._server.delete(StoredPolicy, "policies", name)


class _Environments(Struct):
    environment: tuple[str, ...]


class RemoteDeployments:
    """Deployed skills: `DeploymentService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: ListQuery) -> ListPage[Deployment]:
        """Return releases, the present one first."""
        return self._server.get(ListPage[Deployment], "deployments", query=query)

    def add(self, new: NewDeployment) -> DeploymentResult:
        """Deploy the skills of one archive."""
        (archive,) = new.archives
        query = _Environments(environment=new.environments)
        return self._server.upload(DeploymentResult, archive, "deployments", query=query)

    def revoke(self, revoked: RevokedSkills) -> DeploymentResult:
        """Take skills away from every machine."""
        return self._server.send(DeploymentResult, "POST", "deployments", "revoke", body=revoked)

    def deprecate(self, deprecated: DeprecatedSkill) -> DeploymentResult:
        """Mark a deployed skill as deprecated."""
        return self._server.send(DeploymentResult, "POST", "deployments", "deprecate", body=deprecated)

    def roll_back(self, number: int | None = None) -> DeploymentResult:
        """Go back to an earlier release."""
        return self._server.send(
            DeploymentResult, "POST", "deployments", "rollback", body=WantedRelease(release=number)
        )


class RemoteMachines:
    """Enrolled machines: `MachineService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: MachineQuery) -> ListPage[Machine]:
        """Return machines."""
        return self._server.get(ListPage[Machine], "machines", query=query)


class RemoteInventory:
    """Copies of skills on machines: `InventoryService`."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server

    def list(self, query: InventoryQuery) -> ListPage[SkillCopy]:
        """Return copies."""
        return self._server.get(ListPage[SkillCopy], "inventory", query=query)


class RemoteOrganisation:
    """The services of an organisation through its server. `place` is its URL.

    The server gives records their places in the log, so none is counted as waiting. `meant` is the tenant of the
    requests if none was named; else None.
    """

    is_remote: Final = True
    waiting = 0

    def __init__(self, server: ServerConnection, meant: str | None = None) -> None:
        self._server, self.place, self.meant = server, server.shown, meant
        self.close, self.approvals = server.close, RemoteApprovals(server)
        self.audit, self.analytics, self.replay = RemoteAudit(server), RemoteAnalytics(server), RemoteReplay(server)
        self.access, self.blocks, self.policies = RemoteAccess(server), RemoteBlocks(server), RemotePolicies(server)
        self.deployments, self.machines = RemoteDeployments(server), RemoteMachines(server)
        self.inventory = RemoteInventory(server)

    @property
    def tenant(self) -> str:
        """The tenant that is asked about: the one of the options, else that of the token."""
        return self._server.tenant or own_tenant(self._server)

    def continue_log(self, key_file: str | None) -> None:
        """Do nothing: the server continues its log."""
        del key_file
