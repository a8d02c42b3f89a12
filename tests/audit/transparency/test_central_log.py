"""The log of a tenant in a shared store: nothing acknowledged is lost or doubled, and every tampering is named.

PROWESS_SEQUENCER_KILLS is the number of sequencers that are killed.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

import anyio
import pytest
from sqlalchemy import text

from prowess import Session
from prowess.audit import AuditEvent, SharedAuditLog
from prowess.audit.record import time_text
from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.arriving_records import latest_records
from prowess.audit.transparency.central_log import checkpoint_of, export_lines, newest, newest_before, page_of_store
from prowess.audit.transparency.export import write_export
from prowess.audit.transparency.export_verification import verify_export
from prowess.audit.transparency.log_walk import LogWalk
from prowess.audit.transparency.sequencer import LogSigner, continue_log, erase, event_bytes
from prowess.audit.transparency.store_comparison import store_faults
from prowess.errors import AuditError, AuditReadError
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import InboxRow, SharedAuditRows
from prowess.store.shared.organisation import OrganisationStore, create_store
from tests.forked import end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from prowess.audit.transparency.export_verification import ExportVerification
    from tests.postgresql import Postgresql

KILLS = int(os.environ.get("PROWESS_SEQUENCER_KILLS", "5"))
SIGNER = LogSigner(name="acme", key=new_private_key("ed25519"))
KEY = note_key("acme", SIGNER.key.public)
ALL = RecordFilter()


class Log(NamedTuple):
    url: str
    rows: SharedAuditRows
    log: SharedAuditLog
    place: Path

    def add(self, *numbers: int, user: str = "ann") -> None:
        for number in numbers:
            self.log.append(AuditEvent(kind="skill.loaded", session_id="s", data={"n": number, "user": user}))

    def change(self, statement: str) -> None:
        def work(db: Connection) -> None:
            db.execute(text(statement))

        self.rows.database.run(work)

    def export(self, wanted: RecordFilter, out: str) -> None:
        found = export_lines(self.rows, wanted)
        write_export(out, found.header, found.lines)

    def verified(self, wanted: RecordFilter = ALL, **more: object) -> ExportVerification:
        out = str(self.place / "export")
        self.export(wanted, out)
        return verify_export(out, KEY, **more)  # type: ignore[arg-type]  # the options of verify_export


@pytest.fixture(scope="module")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "shared.db"
    create_store(f"sqlite:///{path}", origin="acme", public_key=str(KEY))
    return path


@pytest.fixture(params=["file", "server"])
def central(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Log]:
    if request.param == "server":
        server: Postgresql = request.getfixturevalue("postgresql")
        url = server.store_url()
    else:
        url = f"sqlite:///{tmp_path}/shared.db"
        shutil.copy(request.getfixturevalue("empty_file"), tmp_path / "shared.db")
    database = SharedDatabase(url)
    yield Log(url, SharedAuditRows(database), SharedAuditLog(database), tmp_path)
    database.close()


def test_records_get_places_in_order_and_an_export_proves_them(central: Log) -> None:
    with pytest.raises(AuditReadError, match="no record of tenant 'default' has a place yet; nothing was recorded"):
        checkpoint_of(central.rows)
    central.add(*range(5))
    with pytest.raises(AuditReadError, match="audit checkpoint"):
        checkpoint_of(central.rows)
    first = continue_log(central.rows, SIGNER)
    assert first is not None
    assert (first.origin, first.size, continue_log(central.rows, SIGNER)) == ("acme/default", 5, None)
    central.add(*range(5, 300), user="bob")
    assert continue_log(central.rows, SIGNER) is not None
    assert [record.data["n"] for record in newest(central.rows, ALL, 999)] == list(range(300))
    assert [record.sequence for record in newest(central.rows, RecordFilter(facts={"user": ("ann",)}), 2)] == [4, 5]
    whole, some = central.verified(kept=first), central.verified(RecordFilter(facts={"user": ("ann",)}))
    assert (whole.ok, whole.records, whole.complete) == (True, 300, True)
    assert (some.ok, some.records, some.size, some.complete) == (True, 5, 300, False)


def test_a_user_is_erased_and_every_proof_still_holds(central: Log) -> None:
    central.add(*range(10))
    central.add(*range(10, 20), user="bob")
    before = continue_log(central.rows, SIGNER)
    proved = central.place / "proved"
    central.export(RecordFilter(facts={"user": ("ann",)}), str(proved))
    central.add(20)  # waits, and is about the user too
    assert b"ann" not in (central.place / "proved").read_bytes()
    assert erase(central.rows, SIGNER, by={"user": "root"}, user="ann", before=None) == 11
    verdict = central.verified(kept=before)
    assert (verdict.ok, verdict.records, verdict.erased) == (True, 22, 11)
    assert verify_export(str(proved), KEY).ok
    last = newest(central.rows, ALL, 1)[0]
    assert (last.kind, last.data["records"], last.data["user"]) == ("audit.erased", 11, "root")
    assert list(central.rows.people().values()) == ["bob"]
    assert erase(central.rows, SIGNER, by={}, user="ann", before=None) == 0
    assert erase(central.rows, SIGNER, by={}, user=None, before="9999") == 10  # old records, and none about erasures
    assert central.verified(kept=before).erased == 21
    central.add(21, user="ann")  # a new pseudonym: the old one is nobody
    assert continue_log(central.rows, SIGNER) is not None


def test_another_process_notices_an_erasure_at_its_next_record(central: Log) -> None:
    other = SharedAuditLog(central.rows.database)  # it knows the pseudonym from before
    other.append(AuditEvent(kind="x", data={"user": "ann"}))
    assert erase(central.rows, SIGNER, by={}, user="ann", before=None) == 1
    other.append(AuditEvent(kind="y", data={"user": "ann"}))
    continue_log(central.rows, SIGNER)
    assert [record.kind for record in newest(central.rows, RecordFilter(facts={"user": ("ann",)}), 9)] == ["y"]
    assert erase(central.rows, SIGNER, by={}, user="ann", before=None) == 1


def test_an_erasure_finds_every_record_that_writers_add_meanwhile(central: Log) -> None:
    done, threads = threading.Event(), []

    def write(log: SharedAuditLog) -> None:
        while not done.wait(0.002):  # SQLite gives its lock to no one in turn
            log.append(AuditEvent(kind="x", data={"user": "ann"}))

    for _ in range(2):
        threads.append(threading.Thread(target=write, args=(SharedAuditLog(central.rows.database),)))
        threads[-1].start()
    try:
        erased = sum(erase(central.rows, SIGNER, by={}, user="ann", before=None) or 0 for _ in range(5))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    erased += erase(central.rows, SIGNER, by={}, user="ann", before=None) or 0
    kinds = [record.kind for record in newest(central.rows, ALL, 10**6)]
    assert erased
    assert set(kinds) == {"audit.erased"}


def test_the_checkpoint_of_an_erasure_is_kept_and_an_older_backup_is_not_continued(central: Log) -> None:
    if not central.url.startswith("sqlite"):
        pytest.skip("the file is its own backup")
    signer = LogSigner(name=SIGNER.name, key=SIGNER.key, kept=str(central.place / "kept"))
    central.add(1, 2)
    continue_log(central.rows, signer)
    path = central.place / "shared.db"
    central.rows.database.close()
    backup = path.read_bytes()
    again = SharedAuditRows(SharedDatabase(central.url))
    assert erase(again, signer, by={}, user="ann", before=None) == 2
    again.database.close()
    path.write_bytes(backup)
    restored = SharedAuditRows(SharedDatabase(central.url))
    SharedAuditLog(restored.database).append(AuditEvent(kind="x"))
    with pytest.raises(AuditError, match="does not continue the checkpoint with 3 records"):
        continue_log(restored, signer)
    restored.database.close()


def test_pages_are_bounded_by_bytes_too(central: Log) -> None:
    long = "x" * 3_000_000
    for number in range(7):
        central.log.append(AuditEvent(kind="x", data={"n": number, "text": long}))
    assert [len(arrived) for arrived in central.rows.arrived(0, 500)] == [3, 0]
    sizes = []
    while (checkpoint := continue_log(central.rows, SIGNER)) is not None:
        sizes.append(checkpoint.size)
    assert sizes == [3, 6, 7]
    assert [len(page) for page in central.rows.pages(1, 7)] == [3, 3, 1]
    assert [len(page) for page in central.rows.bodies(1, 7)] == [3, 3, 1]
    assert [row.sequence for row in central.rows.backwards(2, 7)] == [7, 6, 5, 4, 3, 2]
    for list_page, numbers in ((page_of_store, [1, 2]), (newest_before, [7, 6])):
        page = list_page(central.rows, ALL, 500, None)
        assert ([record.sequence for record in page.records], page.next) == (numbers, str(numbers[-1]))
    assert [record.data["n"] for record in newest(central.rows, ALL, 5)] == [2, 3, 4, 5, 6]
    assert len(latest_records(central.rows, ALL, 100)[0]) == 2
    for wanted, records in ((ALL, 7), (RecordFilter(kinds=("x",)), 7)):
        verdict = central.verified(wanted)
        assert (verdict.ok, verdict.records) == (True, records)
    assert list(store_faults(central.rows, 7)) == []
    assert erase(central.rows, SIGNER, by={}, user=None, before="9999") == 7


TAMPERING = {
    "change": (
        "UPDATE audit_records SET body = (SELECT body FROM audit_records WHERE sequence = 7) WHERE sequence = 5",
        "inserted",
    ),
    "delete": ("DELETE FROM audit_records WHERE sequence = 5", "missing"),
    "cut": ("DELETE FROM audit_records WHERE sequence > 15", "cut"),
    "erase without a record": ("UPDATE audit_records SET body = NULL WHERE sequence = 5", "missing"),
}


def _change_as_owner(central: Log, statement: str, postgresql: Postgresql) -> None:
    """Change rows. Connections of the product to PostgreSQL may not delete records, and change only their bodies."""
    if central.url.startswith("sqlite"):
        central.change(statement)
    else:
        postgresql.run(statement, central.url.partition("?")[0].rpartition("/")[2])


@pytest.mark.parametrize("kind", TAMPERING)
def test_tampering_with_the_store_is_found_and_named(central: Log, kind: str, postgresql: Postgresql) -> None:
    central.add(*range(20))
    continue_log(central.rows, SIGNER)
    statement, name = TAMPERING[kind]
    if central.url.startswith("sqlite") or kind in {"change", "erase without a record"}:
        central.change(statement)
    else:
        _change_as_owner(central, statement, postgresql)
    verdict = central.verified()
    assert not verdict.ok
    assert name in {fault.kind for fault in verdict.faults}


def test_an_erasure_that_somebody_put_into_the_inbox_is_not_signed_as_one(central: Log) -> None:
    central.add(*range(20))
    continue_log(central.rows, SIGNER)
    central.change("UPDATE audit_records SET body = NULL WHERE sequence = 10")
    for number, kind in enumerate(("audit.erased", "log.accepted", "log.machine_cut")):
        body = event_bytes(AuditEvent(kind=kind, data={"records": 1}))
        central.rows.add([InboxRow(id=f"erasure-{number}", at=time_text(), person=None, body=body)])
    continue_log(central.rows, SIGNER)
    kinds = [record.kind for record in newest(central.rows, ALL, 3)]
    assert kinds == ["log.unreadable", "log.unreadable", "log.machine_cut"]
    assert [fault.kind for fault in central.verified().faults] == ["missing"]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE audit_records SET at = '2020' WHERE sequence = 2", "record 2: the column 'at'"),
        ("UPDATE audit_records SET person = NULL WHERE sequence = 2", "record 2: the column 'person'"),
        ("UPDATE audit_tiles SET hashes = (SELECT leaf FROM audit_records WHERE sequence = 2)", "tile 0 of level 0"),
    ],
)
def test_a_changed_time_person_or_tile_beside_the_records_is_named(
    central: Log, statement: str, named: str, postgresql: Postgresql
) -> None:
    central.add(1, 2, 3)
    continue_log(central.rows, SIGNER)
    assert list(store_faults(central.rows, 3)) == []
    _change_as_owner(central, statement, postgresql)
    (found,) = store_faults(central.rows, 3)
    assert (found.kind, found.message.startswith(named)) == ("changed", True)


def test_a_record_is_found_and_kept_by_the_time_that_was_signed(central: Log, postgresql: Postgresql) -> None:
    central.add(1, 2, 3)
    continue_log(central.rows, SIGNER)
    _change_as_owner(central, "UPDATE audit_records SET at = '2020' WHERE sequence = 3", postgresql)
    assert [number for _, number in LogWalk(central.rows, since="2021")] == [1, 2, 3]
    assert list(LogWalk(central.rows, until="2021")) == []
    with pytest.raises(AuditError, match="nothing was erased: the column 'at' of record 3 was changed in the store"):
        erase(central.rows, SIGNER, by={}, user=None, before="2021")
    assert central.verified().erased == 0


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_tiles SET hashes = (SELECT leaf FROM audit_records WHERE sequence = 3) WHERE number = 0",
        "UPDATE audit_logs SET size = 2",
        "UPDATE audit_logs SET last = 'sha256:0'",
        "UPDATE audit_records SET body = (SELECT body FROM audit_records WHERE sequence = 2) WHERE sequence = 3",
        "UPDATE audit_records SET body = NULL WHERE sequence = 3",
        "UPDATE audit_logs SET checkpoint = (SELECT body FROM audit_records WHERE sequence = 1)",
    ],
)
def test_a_changed_end_of_the_log_is_not_signed(central: Log, statement: str) -> None:
    central.add(1, 2, 3)
    continue_log(central.rows, SIGNER)
    central.change(statement)
    central.add(4)
    with pytest.raises(AuditError, match="not the one that was signed"):
        continue_log(central.rows, SIGNER)
    assert central.rows.waiting() == 1


def test_a_restored_backup_and_a_second_history_do_not_fit_a_kept_checkpoint(central: Log) -> None:
    if not central.url.startswith("sqlite"):
        pytest.skip("the file is its own backup")
    central.add(1, 2)
    continue_log(central.rows, SIGNER)
    path = central.place / "shared.db"
    central.rows.database.close()
    backup = path.read_bytes()
    for numbers, kind in (((3,), "restored"), ((3, 4, 5), "two_histories")):
        kept = None
        for added in ((7, 8), numbers):
            path.write_bytes(backup)
            database = SharedDatabase(central.url)
            again = Log(central.url, SharedAuditRows(database), SharedAuditLog(database), central.place)
            again.add(*added)
            kept = kept or continue_log(again.rows, SIGNER)
            continue_log(again.rows, SIGNER)
            verdict = again.verified(kept=kept)
            database.close()
        assert [fault.kind for fault in verdict.faults] == [kind]


def test_what_is_no_event_and_what_comes_twice_do_not_stop_the_log(central: Log) -> None:
    row = InboxRow(id="a", at="2026-11-29T10:00:00.000000Z", person=None, body=b"no event")
    central.rows.add([row, row])
    continue_log(central.rows, SIGNER)
    central.rows.add([row])  # its writer did not hear that it was there
    assert central.rows.sequence(lambda step: step.take(9)) == []
    found = newest(central.rows, ALL, 9)
    assert [(record.kind, record.data["bytes"]) for record in found] == [("log.unreadable", 8)]
    with pytest.raises(AuditError, match="reserved"):
        central.log.append(AuditEvent(kind="audit.erased", data={"records": 9}))
    with pytest.raises(AuditError, match="half of a surrogate pair"):
        central.log.append(AuditEvent(kind="x", data={"text": "\ud800"}))


def test_a_session_is_recorded_in_the_store(central: Log) -> None:
    async def calls() -> None:
        async with Session("examples/skills", audit=central.log) as session:
            await session.load("csv-report")

    anyio.run(calls)
    continue_log(central.rows, SIGNER)
    assert [record.kind for record in newest(central.rows, ALL, 9)] == ["tool.started", "skill.loaded", "tool.finished"]


def test_tenants_have_logs_of_their_own(postgresql: Postgresql) -> None:
    url = postgresql.store_url()
    organisation = OrganisationStore(url)
    organisation.add_tenant("acme")
    organisation.database.close()
    made = {tenant: SharedDatabase(url, tenant) for tenant in ("default", "acme")}
    for number, database in enumerate(made.values(), 1):
        for _ in range(number):
            SharedAuditLog(database).append(AuditEvent(kind="x", data={"user": "ann"}))
        found = continue_log(SharedAuditRows(database), SIGNER)
        assert found is not None
        assert (found.origin, found.size) == (f"acme/{database.tenant}", number)
    everybody = SharedDatabase(url, "*")  # the organisation continues the logs of its tenants
    SharedAuditLog(made["acme"]).append(AuditEvent(kind="y"))
    again = continue_log(SharedAuditRows(everybody, "acme"), SIGNER)
    assert again is not None
    assert again.size == 3
    foreign = SharedAuditRows(made["default"], "acme")  # a query with the wrong tenant finds no row
    assert (foreign.end(), foreign.people(), list(foreign.records(1, 9))) == (None, {}, [])
    for database in (*made.values(), everybody):
        database.close()


def _sequencer(url: str) -> int:
    """Start a process that continues the log; return its id."""
    if child := os.fork():
        return child
    rows = SharedAuditRows(SharedDatabase(url))
    while True:
        if continue_log(rows, SIGNER) is None:
            time.sleep(0.002)
        if os.getppid() == 1:
            end(0)


def _kill(victim: int) -> None:
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)


def test_sequencers_are_killed_and_no_acknowledged_record_is_lost_or_doubled(central: Log) -> None:
    chosen, acknowledged, done = random.Random(5), set[int](), threading.Event()

    def write(number: int) -> None:
        while not done.is_set():
            central.add(number)
            acknowledged.add(number)
            number += 2

    running = [_sequencer(central.url), _sequencer(central.url)]
    writers = [threading.Thread(target=write, args=(first,)) for first in (0, 1)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(KILLS):
            time.sleep(chosen.uniform(0.02, 0.15))
            _kill(running.pop(0))
            running.append(_sequencer(central.url))
    finally:
        done.set()
        for writer in writers:
            writer.join()
        for victim in running:
            _kill(victim)
    while continue_log(central.rows, SIGNER) is not None or central.rows.waiting():
        pass
    numbers = [record.data["n"] for record in newest(central.rows, ALL, 10**6)]
    assert central.verified().ok
    assert len(numbers) == len(set(numbers))
    assert set(numbers) >= acknowledged
    assert len(acknowledged) > KILLS
