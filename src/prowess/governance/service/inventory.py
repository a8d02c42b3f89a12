"""Every copy of every skill on every machine of a tenant, as the machines reported them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.service.listing import ListPage, ListQuery

if TYPE_CHECKING:
    from prowess.governance.service.service_call import ServiceCall


class SkillCopy(Struct, frozen=True, kw_only=True):
    """One copy of a skill on a machine. `findings` is the worst severity of its scan, None if it was not scanned."""

    tenant: str
    machine: str
    host: str
    team: str | None = None
    environment: str | None = None
    name: str
    layer: str
    place: str
    digest: str | None = None
    source: str | None = None
    capabilities: tuple[str, ...] | None = None
    approval: str | None = None
    findings: str | None = None
    seen_at: float


class InventoryQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which copies are wanted. Every filter is an exact value; `machine` is an id or a name."""

    skill: str | None = None
    machine: str | None = None
    layer: str | None = None
    digest: str | None = None
    source: str | None = None
    team: str | None = None
    environment: str | None = None
    capability: str | None = None
    approval: str | None = None


class InventoryService:
    """The copies on the machines of the tenant of a call; with the tenant `*`, on those of all tenants."""

    def __init__(self, call: ServiceCall) -> None:
        self._call = call

    def list(self, query: InventoryQuery) -> ListPage[SkillCopy]:
        """Return copies by machine and name. Raises StoreError."""
        raise NotImplementedError
