"""The machines of a tenant: what they reported, and the records that they send to the central log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import DecodeError, Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from prowess.errors import PolicyDeniedError
from prowess.governance.machine.collected_log import (
    CollectedLog,
    LogFinding,
    continued,
)
from prowess.governance.machine.collected_records import finding_event, machine_event, record_id
from prowess.governance.machine.reports import Collected, MachineReport, SentRecords
from prowess.governance.service.bundle import present_version
from prowess.governance.service.listing import ListPage, ListQuery, NoSuchItemError, page_of
from prowess.store.protocols import MachineRow
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.machines import SharedMachineStore
from prowess.store.shared.tokens import SharedTokenStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.governance.service.service_call import ServiceCall

ENROLLED = "machine.enrolled"
_PAGE = 200


class MachineState(Struct, frozen=True, kw_only=True):
    """What the store keeps of the last report besides the columns of its table."""

    token: str | None = None
    release: int | None = None
    tenant_release: int | None = None
    fault: str | None = None
    copies: int = 0


class Machine(Struct, frozen=True, kw_only=True):
    """An enrolled machine. Times are in seconds since the epoch.

    `bundle` is the version that holds there; `current` states whether it is the present one. `records` is the number of
    the last record of its log that is in the central log, and `findings` is what is wrong with that log. `release` is
    that of the organisation's deployed skills, `tenant_release` that of the tenant's own.
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
    tenant_release: int | None = None
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

    def fits(self, machine: Machine) -> bool:
        """Whether a machine is wanted."""
        texts = all(
            wanted is None or wanted == getattr(machine, name)
            for name, wanted in (("team", self.team), ("environment", self.environment), ("name", self.name))
        )
        return texts and (self.behind is None or self.behind != machine.current)


class MachineService:
    """The machines of the tenant of a call; with the tenant `*`, those of all tenants."""

    def __init__(self, call: ServiceCall) -> None:
        self._call = call
        self._store = SharedMachineStore(call.database)

    def list(self, query: MachineQuery) -> ListPage[Machine]:
        """Return machines in the order of their ids, which begin with the time of enrolment.

        Raises:
            PolicyDeniedError: the actor may not see machines.
            StoreError: the store cannot be used.
        """
        self._call.require("audit")
        return page_of(filter(query.fits, self._after(query.cursor or "")), query, lambda machine: machine.id)

    def get(self, machine_id: str) -> Machine:
        """Return the machine with this id. Raises as `list`, and NoSuchItemError."""
        self._call.require("audit")
        row = self._row(machine_id)
        return _machine(row, self._version(row.tenant))

    def _row(self, machine_id: str) -> MachineRow:
        row = None if "\x00" in machine_id else self._store.machine(machine_id)  # TEXT of PostgreSQL cannot hold NUL
        if row is None:
            raise NoSuchItemError("machine", machine_id)
        return row

    def remove(self, machine_id: str) -> None:
        """Forget a machine. It comes back if it still has a token and is in contact.

        Raises:
            NoSuchItemError: there is no machine with this id.
            PolicyDeniedError: no role of the actor permits it.
            AuditError: the act cannot be recorded.
            StoreError: the store cannot be used.
        """
        self._call.require("administer")
        self._row(machine_id)
        with self._call.act("machine-removed", {"machine": machine_id}):
            if not self._store.remove_machine(machine_id):  # somebody else was faster
                raise NoSuchItemError("machine", machine_id)

    def collect(self, sent: SentRecords) -> Collected:
        """Take the report and records of a machine (`POST /api/v1/audit/records`). On return they are durable.

        A record that is here already is not taken twice, so a machine may send one again. Records that do not continue
        the chain of the machine's log are taken too, and are a finding.

        Raises:
            PolicyDeniedError: the actor is no machine, or the machine was enrolled with another token. A new token
                needs an enrolment, and that the old one was removed or has expired.
            AuditError: the records cannot be recorded.
            StoreError: the store cannot be used.
        """
        self._call.require_machine()
        row = self._reported(sent.machine)
        rows, machine = SharedAuditRows(self._call.database), sent.machine.id
        before = _log_of(row)
        step = continued(before, sent.records, sent.end, lambda record: rows.has(record_id(machine, record)))
        tenant = self._call.tenant
        self._call.log.add_placed(
            [
                *(
                    machine_event(record, machine=machine, name=sent.machine.name, tenant=tenant)
                    for record in step.records
                ),
                *(
                    finding_event(one, number, machine, sent.machine.name, before.place)
                    for number, one in enumerate(step.findings)
                ),
            ]
        )
        after = step.after
        if after != before and not self._store.replace_log(machine, encode(after).decode(), expected=row.log):
            after = _log_of(self._store.machine(machine) or row)  # another process of the server has just collected
        return Collected(acknowledged=after.place, version=self._version(tenant))

    def _reported(self, report: MachineReport) -> MachineRow:
        """Store a report, and return the row of the machine."""
        actor, before = self._call.actor, self._store.machine(report.id)
        state = _state_of(before)
        is_new = before is None or report.is_enrolment
        if before is not None and state.token != actor.token_id:
            self._require_free(before, state, report)
        if is_new:
            told = {"machine": report.id, "name": report.name, "token": actor.token_id}
            self._call.record(ENROLLED, {**told, "team": report.team, "environment": report.environment})
        now = time.time()
        copies = state.copies if report.inventory is None else len(report.inventory)
        found = MachineState(
            token=actor.token_id,
            release=report.release,
            tenant_release=report.tenant_release,
            fault=report.fault,
            copies=copies,
        )
        kept = None if before is None else before.inventory
        row = MachineRow(
            tenant=self._call.tenant,
            id=report.id,
            name=report.name,
            team=report.team,
            environment=report.environment,
            enrolled_at=now if before is None or is_new else before.enrolled_at,
            seen_at=now,
            bundle=report.bundle,
            state=encode(found).decode(),
            log=None if before is None else before.log,
            inventory=kept if report.inventory is None else encode(report.inventory).decode(),
        )
        self._store.put_machine(row)
        return row

    def _mark(self, row: MachineRow, state: MachineState, fault: str) -> None:
        """Show people why a machine is refused. Its next report that is taken replaces this."""
        if state.fault != fault:
            self._store.put_machine(replace(row, state=encode(replace(state, fault=fault)).decode()))

    def _require_free(self, before: MachineRow, state: MachineState, report: MachineReport) -> None:
        """Check that a known machine may change its token. A refusal that is repeated is recorded once."""
        if not report.is_enrolment:
            reason = "it was enrolled with another token; run `prowess machine enroll` again"
        elif self._is_valid(state.token):
            reason = "another machine with this id has a valid token; remove that token first, or the machine"
        else:
            return
        fault = f"its records are refused: {reason}"
        refused = PolicyDeniedError("machine", f"the machine {report.name!r}: {reason}")
        if state.fault != fault:
            refused = self._call.refused("machine", refused.rule, refused.reason)
        self._mark(before, state, fault)
        raise refused

    def _is_valid(self, token_id: str | None) -> bool:
        token = None if token_id is None else SharedTokenStore(self._call.database).token(token_id)
        return token is not None and (token.expires_at is None or token.expires_at > time.time())

    def _after(self, cursor: str) -> Iterator[Machine]:
        versions: dict[str, int] = {}
        while rows := self._store.machines(cursor, _PAGE):
            for row in rows:
                if row.tenant not in versions:
                    versions[row.tenant] = self._version(row.tenant)
                yield _machine(row, versions[row.tenant])
            cursor = rows[-1].id

    def _version(self, tenant: str) -> int:
        return present_version(self._call.database.of_tenant(tenant))


def _machine(row: MachineRow, version: int) -> Machine:
    state, log = _state_of(row), _log_of(row)
    return Machine(
        id=row.id,
        tenant=row.tenant,
        name=row.name,
        team=row.team,
        environment=row.environment,
        enrolled_at=row.enrolled_at,
        seen_at=row.seen_at,
        bundle=row.bundle,
        current=row.bundle == version,
        release=state.release,
        tenant_release=state.tenant_release,
        fault=state.fault,
        records=log.place.sequence,
        findings=log.findings,
        copies=state.copies,
    )


def _state_of(row: MachineRow | None) -> MachineState:
    try:
        return MachineState() if row is None or row.state is None else decode(row.state, type=MachineState)
    except DecodeError:
        return MachineState()


def _log_of(row: MachineRow) -> CollectedLog:
    try:
        return CollectedLog() if row.log is None else decode(row.log, type=CollectedLog)
    except DecodeError:  # then its next records are a finding
        return CollectedLog()
