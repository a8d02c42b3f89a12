"""The machines of a tenant: what they reported, and the records that they send to the central log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from prowess.governance.service.inventory import ReportedCopy  # noqa: TC001 -- decoding needs it
from prowess.governance.service.listing import ListPage, ListQuery

if TYPE_CHECKING:
    from prowess.governance.service.service_call import ServiceCall

MACHINE_ID = "^[0-9a-f-]{36}$"
MOST_RECORDS = 500
_Text = Annotated[str, Meta(min_length=1, max_length=256)]
LogFindingKind = Literal["machine_log_changed", "machine_log_cut", "machine_log_restarted", "machine_log_gap"]


class MachineReport(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a machine tells about itself. `bundle` is the version that holds there, `release` that of its skills.

    `inventory` is None if it did not change since the last report. `is_enrolment`: root has just enrolled the machine.
    """

    id: Annotated[str, Meta(pattern=MACHINE_ID)]
    name: _Text
    team: _Text | None = None
    environment: _Text | None = None
    bundle: int | None = None
    release: int | None = None
    fault: Annotated[str, Meta(max_length=4096)] | None = None
    inventory: Annotated[tuple[ReportedCopy, ...], Meta(max_length=10_000)] | None = None
    is_enrolment: bool = False


class SentRecords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Records of a machine's log, as lines in their order, and its report. Either may be left out."""

    machine: MachineReport
    records: Annotated[tuple[str, ...], Meta(max_length=MOST_RECORDS)] = ()


class Collected(Struct, frozen=True, kw_only=True):
    """The answer: the number of the last record of the machine that is in the central log, and its hash.

    `version` is that of the present bundle.
    """

    acknowledged: int
    hash: str | None
    version: int


class LogFinding(Struct, frozen=True, kw_only=True):
    """Something wrong with the log of a machine. `record` is the number of the record in that log; `at` in UTC."""

    kind: LogFindingKind
    message: str
    record: int
    at: str


class Machine(Struct, frozen=True, kw_only=True):
    """An enrolled machine. Times are in seconds since the epoch.

    `bundle` is the version that holds there; `current` states whether it is the present one. `records` counts the
    records of its log that are in the central log, and `findings` is what is wrong with it.
    """

    id: str
    tenant: str
    name: str
    team: str | None = None
    environment: str | None = None
    enrolled_at: float
    seen_at: float
    bundle: int | None = None
    current: bool = False
    release: int | None = None
    fault: str | None = None
    records: int = 0
    findings: tuple[LogFinding, ...] = ()
    copies: int = 0


class MachineQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which machines are wanted: of a team, an environment or a name; `behind` for those without the present bundle."""

    team: str | None = None
    environment: str | None = None
    name: str | None = None
    behind: bool | None = None


class MachineService:
    """The machines of the tenant of a call; with the tenant `*`, those of all tenants."""

    def __init__(self, call: ServiceCall) -> None:
        self._call = call

    def list(self, query: MachineQuery) -> ListPage[Machine]:
        """Return machines in the order of their enrolment. Raises StoreError."""
        raise NotImplementedError

    def get(self, machine_id: str) -> Machine | None:
        """Return the machine with this id, None if there is none. Raises StoreError."""
        raise NotImplementedError

    def remove(self, machine_id: str) -> bool:
        """Forget a machine; False if there is none. It comes back if it still has a token and is in contact.

        Raises:
            PolicyDeniedError: no role of the actor permits it.
            AuditError: the act cannot be recorded.
            StoreError: the store cannot be used.
        """
        raise NotImplementedError

    def collect(self, sent: SentRecords) -> Collected:
        """Take the report and records of a machine (`POST /api/v1/audit/records`). On return they are durable.

        A record that is here already is not taken twice, so a machine may send one again. Records that do not continue
        the chain of the machine's log are taken too, and are a finding.

        Raises:
            PolicyDeniedError: the actor is no machine, or the machine was enrolled with another token.
            AuditError: the records cannot be recorded.
            StoreError: the store cannot be used.
        """
        raise NotImplementedError

    def seen(self, machine_id: str) -> None:
        """Note that a machine was in contact, at most every ten seconds. Raises StoreError."""
        raise NotImplementedError
