"""What an enrolled machine sends to the server of its organisation, and the answer."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from prowess.governance.machine.collected_log import LogPlace  # noqa: TC001 -- decoding needs it

MACHINE_ID = "^[0-9a-f-]{36}$"
MOST_RECORDS = 500  # in one sending
_Name = Annotated[str, Meta(min_length=1, max_length=256)]
_Version = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # a BIGINT of the store
_Text = Annotated[str, Meta(max_length=1024)]


class ReportedCopy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One copy of a skill on a machine. `approval` is `approved`, `missing`, or None if no rule asks for it."""

    name: _Text
    layer: _Text
    place: _Text
    digest: _Text | None = None
    source: _Text | None = None
    capabilities: tuple[_Text, ...] | None = None
    approval: _Text | None = None
    findings: _Text | None = None


class MachineReport(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a machine tells about itself. `bundle` is the version that holds there.

    `release` is that of the organisation's deployed skills there, `tenant_release` that of the tenant's own.
    `inventory` is None if it did not change since the last report. `is_enrolment`: root has just enrolled the machine.
    """

    id: Annotated[str, Meta(pattern=MACHINE_ID)]
    name: _Name
    team: _Name | None = None
    environment: _Name | None = None
    bundle: _Version | None = None
    release: _Version | None = None
    tenant_release: _Version | None = None
    fault: Annotated[str, Meta(max_length=4096)] | None = None
    inventory: Annotated[tuple[ReportedCopy, ...], Meta(max_length=10_000)] | None = None
    is_enrolment: bool = False


class SentRecords(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The report of a machine, with lines of its log in their order. `end` is the present end of that log."""

    machine: MachineReport
    records: Annotated[tuple[str, ...], Meta(max_length=MOST_RECORDS)] = ()
    end: LogPlace | None = None


class Collected(Struct, frozen=True, kw_only=True):
    """The answer: the place in the machine's log up to which its records are in the central log.

    `version` is that of the present bundle.
    """

    acknowledged: LogPlace
    version: int
