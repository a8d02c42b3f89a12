"""The skills of a tenant: those that are deployed, that machines have, and that the log mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.service.listing import ListPage, ListQuery

if TYPE_CHECKING:
    from prowess.governance.service.deployments import Deployment
    from prowess.governance.service.inventory import SkillCopy
    from prowess.governance.service.service_call import ServiceCall


class SkillVersion(Struct, frozen=True, kw_only=True):
    """One content of a skill. `digest` is that of its tree; `machines` counts the machines that have it."""

    digest: str
    version: str | None = None
    deployed: bool = False
    deprecated: bool = False
    successor: str | None = None
    layers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    capabilities: tuple[str, ...] | None = None
    approval: str | None = None
    findings: str | None = None
    machines: int = 0


class SkillSummary(Struct, frozen=True, kw_only=True):
    """A skill by its name. `winner` is the digest that sessions choose on most machines: that of the highest layer.

    `blocked` is the reason of a block by name or digest.
    """

    name: str
    versions: tuple[SkillVersion, ...]
    winner: str | None = None
    deployed: bool = False
    blocked: str | None = None
    machines: int = 0


class SkillDetail(Struct, frozen=True, kw_only=True):
    """A skill with its copies on machines."""

    skill: SkillSummary
    copies: tuple[SkillCopy, ...]


class SkillQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which skills are wanted. `text` is a part of the name."""

    text: str | None = None
    deployed: bool | None = None


class SkillService:
    """The skills of the tenant of a call. `deployments` are the present releases of the tenant and the organisation."""

    def __init__(self, call: ServiceCall, deployments: tuple[Deployment, ...] = ()) -> None:
        self._call, self._deployments = call, deployments

    def list(self, query: SkillQuery) -> ListPage[SkillSummary]:
        """Return skills by name. Raises StoreError."""
        raise NotImplementedError

    def get(self, name: str) -> SkillDetail | None:
        """Return a skill with its copies, None if nobody has it. Raises StoreError."""
        raise NotImplementedError
