"""Machines of an organisation: their reports, their records in the central log, and logs that were tampered with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess._internal.uuid7 import uuid7
from prowess.audit.log import JsonlAuditLog
from prowess.audit.record import AuditEvent
from prowess.errors import PolicyDeniedError
from prowess.governance.machine.collected_log import LogPlace
from prowess.governance.machine.reports import MachineReport, SentRecords
from prowess.governance.organisation import new_token
from prowess.governance.service.listing import NoSuchItemError
from prowess.governance.service.machines import MachineQuery, MachineService
from prowess.store.shared.tokens import SharedTokenStore
from tests.governance.service.organisations import ROLES, call_of, logged, new_organisation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prowess.store import SharedDatabase

MACHINE = uuid7()
TOKEN = "token-1"
REPORT = MachineReport(id=MACHINE, name="laptop", team="data", environment="production")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    opened = new_organisation(f"sqlite:///{tmp_path / 'organisation.db'}")
    yield opened
    opened.close()


class Log:
    """The log of a machine, and what of it is sent."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700)
        self.path = directory / "audit.jsonl"
        self.log = JsonlAuditLog(self.path)

    def add(self, *names: str) -> None:
        for name in names:
            self.log.append(AuditEvent(kind="tool.started", data={"skill": name, "user": "bob", "tenant": "forged"}))

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self.path.read_text().splitlines())


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "log")


def send(database: SharedDatabase, *lines: str, end: LogPlace | None = None, token: str = TOKEN) -> LogPlace:
    service = MachineService(call_of(database, "machine", token=token))
    return service.collect(SentRecords(machine=REPORT, records=lines, end=end)).acknowledged


def findings(database: SharedDatabase) -> list[str]:
    (machine,) = MachineService(call_of(database)).list(MachineQuery()).items
    named = [kind.removeprefix("log.machine_") for kind, _ in logged(database) if kind.startswith("log.machine_")]
    assert named == [one.kind for one in machine.findings]
    return named


def skills(database: SharedDatabase) -> list[object]:
    return [data["skill"] for kind, data in logged(database) if kind == "tool.started"]


def test_records_of_a_machine_are_in_the_log_of_its_tenant_once_and_in_order(
    database: SharedDatabase, log: Log
) -> None:
    log.add("a", "b", "c")
    assert send(database, *log.lines[:2]).sequence == 2
    place = send(database, *log.lines)  # the answer to the first two was lost
    assert (place.sequence, place.hash) == (3, log.log.append(AuditEvent(kind="x")).previous)
    assert skills(database) == ["a", "b", "c"]
    data = next(data for kind, data in logged(database) if kind == "tool.started")
    facts = {name: data[name] for name in ("user", "tenant", "machine", "machine_record")}
    assert facts == {"user": "bob", "tenant": "default", "machine": MACHINE, "machine_record": 1}
    assert findings(database) == []


def test_a_machine_cannot_record_acts_of_people_in_the_organisation(database: SharedDatabase, log: Log) -> None:
    said = {"user": "ada", "identified_by": "token", "host": "server", "vote": "approve"}
    for kind in ("governance.vote", "login.done", "machine.enrolled", "tool.started"):
        log.log.append(AuditEvent(kind=kind, data=said))
    send(database, *log.lines)
    found = {kind: data for kind, data in logged(database) if "machine_record" in data}
    assert list(found) == ["machine.governance.vote", "machine.login.done", "machine.machine.enrolled", "tool.started"]
    for data in found.values():
        facts = {name: data[name] for name in said}
        assert facts == {"user": "ada", "identified_by": "host", "host": "laptop", "vote": "approve"}


def test_a_machine_is_listed_with_its_report_and_a_new_token_needs_a_new_enrolment(database: SharedDatabase) -> None:
    send(database)
    (found,) = MachineService(call_of(database)).list(MachineQuery(behind=True)).items
    assert (found.name, found.team, found.environment, found.current) == ("laptop", "data", "production", False)
    with pytest.raises(PolicyDeniedError, match="enrolled with another token"):
        send(database, token="token-2")
    assert "another token" in (MachineService(call_of(database)).get(MACHINE).fault or "")
    again = MachineReport(id=MACHINE, name="laptop", bundle=7, is_enrolment=True)
    MachineService(call_of(database, "machine", token="token-2")).collect(SentRecords(machine=again))
    found = MachineService(call_of(database)).get(MACHINE)
    assert (found.bundle, found.team, found.fault) == (7, None, None)
    assert [data["token"] for kind, data in logged(database) if kind == "machine.enrolled"] == [TOKEN, "token-2"]
    MachineService(call_of(database)).remove(MACHINE)
    with pytest.raises(NoSuchItemError):
        MachineService(call_of(database)).remove(MACHINE)
    assert not MachineService(call_of(database)).list(MachineQuery()).items


def test_a_token_takes_over_no_machine_whose_own_token_is_valid(database: SharedDatabase) -> None:
    tokens = SharedTokenStore(database)
    made = new_token(tokens, tenant="default", role="machine", user="m", team=None, seconds=None)
    assert made is not None
    send(database, token=made.token.id)
    other = MachineService(call_of(database, "machine", token="token-2"))
    again = SentRecords(machine=MachineReport(id=MACHINE, name="laptop", is_enrolment=True))
    for _ in range(2):
        with pytest.raises(PolicyDeniedError, match="has a valid token"):
            other.collect(again)
    with pytest.raises(PolicyDeniedError, match="another token"):
        send(database, token="token-2")
    assert [kind for kind, _ in logged(database)].count("governance.refused") == 2
    send(database, token=made.token.id)
    tokens.remove_token(made.token.id)
    other.collect(again)
    send(database, token="token-2")


@pytest.mark.parametrize("role", [role for role in ROLES if role != "machine"])
def test_only_machines_send_records(database: SharedDatabase, role: str) -> None:
    call = call_of(database, role)  # type: ignore[arg-type]  # a role
    with pytest.raises(PolicyDeniedError, match="needs the role machine"):
        MachineService(call).collect(SentRecords(machine=REPORT))
    with pytest.raises(PolicyDeniedError):
        MachineService(call_of(database, "machine")).list(MachineQuery())


def _restarted(log: Log) -> tuple[str, ...]:
    for path in (log.path, log.path.parent / "head.json"):
        os.unlink(path)
    log.log = JsonlAuditLog(log.path)
    log.add("x", "y", "z", "more")
    return log.lines


def _cut(log: Log) -> tuple[str, ...]:
    kept = log.lines[:1]
    for path in (log.path, log.path.parent / "head.json"):
        os.unlink(path)
    log.log = JsonlAuditLog(log.path)
    log.add("x", "y", "z")
    return (*kept, *log.lines[1:])


def _changed(log: Log) -> tuple[str, ...]:
    log.add("d")
    return (log.lines[3].replace('"d"', '"e"'),)


def _other_history(log: Log) -> tuple[str, ...]:
    found = _restarted(log)
    return found[3:]


def _gap(log: Log) -> tuple[str, ...]:
    log.add("d", "e")
    return log.lines[4:]


@pytest.mark.parametrize(
    ("tampered", "kinds"),
    [
        (_restarted, ["restarted"]),
        (_cut, ["cut", "changed"]),
        (_changed, ["changed"]),
        (_other_history, ["changed"]),
        (_gap, ["gap"]),
    ],
)
def test_a_log_that_does_not_continue_is_a_finding_that_is_named(
    database: SharedDatabase, log: Log, tampered: Callable[[Log], tuple[str, ...]], kinds: list[str]
) -> None:
    log.add("a", "b", "c")
    send(database, *log.lines)
    send(database, *tampered(log))
    assert findings(database) == kinds
    log.add("after")
    send(database, log.lines[-1])
    assert "after" in skills(database)


def test_a_log_that_ends_before_the_collected_record_was_cut_or_deleted(database: SharedDatabase, log: Log) -> None:
    log.add("a", "b", "c")
    send(database, *log.lines)
    first = LogPlace(sequence=1, hash="sha256:" + "0" * 64)
    for _ in range(2):  # it is named once
        assert send(database, end=first) == first
    assert findings(database) == ["cut"]
    send(database, end=LogPlace())
    assert findings(database) == ["cut", "deleted"]
