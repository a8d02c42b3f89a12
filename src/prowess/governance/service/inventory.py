"""Every copy of every skill on every machine of a tenant, as the machines reported them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import DecodeError, Struct
from msgspec.json import decode

from prowess.governance.machine.reports import ReportedCopy
from prowess.governance.service.listing import ListPage, ListQuery, page_of
from prowess.store.shared.machines import SharedMachineStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.governance.service.service_call import ServiceCall
    from prowess.store.protocols import MachineRow
    from prowess.store.shared.database import SharedDatabase


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

    def fits(self, copy: SkillCopy) -> bool:
        """Whether a copy is wanted."""
        values = (
            (self.skill, (copy.name,)),
            (self.machine, (copy.machine, copy.host)),
            (self.layer, (copy.layer,)),
            (self.digest, (copy.digest,)),
            (self.source, (copy.source,)),
            (self.team, (copy.team,)),
            (self.environment, (copy.environment,)),
            (self.capability, copy.capabilities or ()),
            (self.approval, (copy.approval,)),
        )
        return all(wanted is None or wanted in found for wanted, found in values)


class InventoryService:
    """The copies on the machines of the tenant of a call; with the tenant `*`, on those of all tenants."""

    def __init__(self, call: ServiceCall) -> None:
        self._call = call

    def list(self, query: InventoryQuery) -> ListPage[SkillCopy]:
        """Return copies by machine, name and place.

        Raises:
            PolicyDeniedError: the actor may not see what other people have.
            StoreError: the store cannot be used.
        """
        self._call.require("audit")
        return page_of(filter(query.fits, copies_of(self._call.database)), query, _key)


def copies_of(database: SharedDatabase) -> Iterator[SkillCopy]:
    """Yield every copy on every machine of the tenant of a database, without a check of roles. Raises StoreError."""
    for row in SharedMachineStore(database).machines():
        for copy in _reported(row):
            yield SkillCopy(
                tenant=row.tenant,
                machine=row.id,
                host=row.name,
                team=row.team,
                environment=row.environment,
                name=copy.name,
                layer=copy.layer,
                place=copy.place,
                digest=copy.digest,
                source=copy.source,
                capabilities=copy.capabilities,
                approval=copy.approval,
                findings=copy.findings,
                seen_at=row.seen_at,
            )


def _reported(row: MachineRow) -> tuple[ReportedCopy, ...]:
    try:
        return () if row.inventory is None else decode(row.inventory, type=tuple[ReportedCopy, ...])
    except DecodeError:  # the next report replaces it
        return ()


def _key(copy: SkillCopy) -> str:
    """Return a unique text that sorts by machine, name and place, as a cursor that can be in a URL."""
    return "/".join(quote(text, safe="") for text in (copy.tenant, copy.machine, copy.name, copy.layer, copy.place))
