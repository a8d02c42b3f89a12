"""Appending: private, locked, constant in time, and safe against writers that die and disks that fill up."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from prowess._internal.files.file_lock import locked
from prowess.audit import AuditEvent, JsonlAuditLog, read_tail, verify_log
from prowess.audit import log as audit_log
from prowess.audit.log import read_head
from prowess.audit.record import seal
from prowess.errors import AuditError


def event(number: int = 0, /, **data: object) -> AuditEvent:
    return AuditEvent(kind="tool.started", session_id="s", call_id=str(number), data={"tool": "skills.load", **data})


def log_in(directory: Path) -> JsonlAuditLog:
    return JsonlAuditLog(directory / "audit" / "audit.jsonl", "second")


def filled(directory: Path, count: int) -> JsonlAuditLog:
    log = log_in(directory)
    for number in range(count):
        log.append(event(number))
    return log


def content(log: JsonlAuditLog) -> bytes:
    return Path(log.path).read_bytes()


def test_each_record_names_the_one_before(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    first, second = log.append(event(1)), log.append(event(2, size=7))
    assert (first.sequence, first.previous, second.sequence, second.previous) == (1, None, 2, first.hash)
    assert read_tail(log.path, 5) == [first, second]
    assert second.at.endswith("Z")
    assert second.data == {"tool": "skills.load", "size": 7}


def test_a_line_can_be_checked_with_nothing_but_json_and_sha256(tmp_path: Path) -> None:
    log = filled(tmp_path, 2)
    for line in content(log).decode().splitlines():
        record = json.loads(line)
        digest = record.pop("hash")
        text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert digest == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_new_writer_continues_the_chain(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    assert log_in(tmp_path).append(event()).sequence == 4
    assert verify_log(tmp_path / "audit" / "audit.jsonl").ok


def test_file_and_directory_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        log = filled(tmp_path, 1)
    finally:
        os.umask(before)
    directory = tmp_path / "audit"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in directory.iterdir()} == {
        "audit.jsonl": 0o600,
        "head.json": 0o600,
    }
    assert log.path == str(directory / "audit.jsonl")


def test_a_link_in_the_place_of_the_log_is_refused(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    os.rename(log.path, tmp_path / "elsewhere.jsonl")
    os.symlink(tmp_path / "elsewhere.jsonl", log.path)
    before = (tmp_path / "elsewhere.jsonl").read_bytes()
    with pytest.raises(AuditError, match="is a link"):
        log.append(event())
    with pytest.raises(AuditError, match="is a link"):
        verify_log(log.path)
    with pytest.raises(AuditError, match="is a link"):
        read_tail(log.path, 1)
    assert (tmp_path / "elsewhere.jsonl").read_bytes() == before


def test_a_second_name_of_the_log_is_refused(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    os.link(log.path, tmp_path / "other")
    with pytest.raises(AuditError, match="second hard link"):
        log.append(event())


def test_a_pipe_in_the_place_of_the_log_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    os.mkdir(tmp_path / "audit", 0o700)
    os.mkfifo(log.path, 0o600)
    for act in (lambda: log.append(event()), lambda: verify_log(log.path), lambda: read_tail(log.path, 1)):
        with pytest.raises(AuditError, match="plain file"):
            act()


@pytest.mark.parametrize("name", ["audit", "audit/audit.jsonl"])
def test_what_others_may_read_or_write_is_refused_with_the_remedy(tmp_path: Path, name: str) -> None:
    log = filled(tmp_path, 1)
    (tmp_path / name).chmod(0o755 if name == "audit" else 0o640)
    with pytest.raises(AuditError, match=f"chmod [67]00 {tmp_path / name}"):
        log.append(event())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_somebody_else_is_refused(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    os.chown(log.path, 65534, 65534)
    with pytest.raises(AuditError, match="another user"):
        log.append(event())


def test_a_file_in_the_place_of_the_directory_is_an_audit_error(tmp_path: Path) -> None:
    (tmp_path / "audit").touch()
    with pytest.raises(AuditError, match="cannot be written"):
        log_in(tmp_path).append(event())


@pytest.mark.parametrize("data", [{"x": 0.5}, {"x": 2**60}, {"x": {1}}, {"x": "\ud800"}, {"x": "y" * 5_000_000}])
def test_what_a_record_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, data: dict[str, object]) -> None:
    log = filled(tmp_path, 1)
    with pytest.raises(AuditError, match="cannot be recorded"):
        log.append(event(**data))
    assert verify_log(log.path).records == 1


def test_data_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    value: object = 1
    for _ in range(50):
        value = [value]
    with pytest.raises(AuditError, match="too deep"):
        log_in(tmp_path).append(event(value=value))


def test_events_of_the_log_itself_cannot_be_forged(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="reserved for the log itself"):
        log_in(tmp_path).append(AuditEvent(kind="log.recovered"))


# ── locking ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_wait_for_another_writer_is_bounded(tmp_path: Path) -> None:
    path = filled(tmp_path, 1).path
    with locked(path), pytest.raises(AuditError, match=r"locked by another process for more than 0\.05 s"):
        JsonlAuditLog(path, wait_seconds=0.05).append(event())


def test_threads_share_one_log(tmp_path: Path) -> None:
    log = log_in(tmp_path)

    def work() -> None:
        for number in range(50):
            log.append(event(number))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    verdict = verify_log(log.path)
    assert (verdict.ok, verdict.records) == (True, 200)


_RECORDS = int(os.environ.get("PROWESS_AUDIT_RECORDS", "2500"))  # of each process; `make stress` writes 10 000
_WRITE = """
import sys
from prowess.audit import AuditEvent, JsonlAuditLog
log = JsonlAuditLog(sys.argv[1], "second")
print("ready", flush=True)
for number in range(int(sys.argv[2])):
    data = {"tool": "skills.run_script", "arguments": {"path": 17, "args": 9, "text": 4}}
    log.append(AuditEvent(kind="tool.started", session_id=sys.argv[3], call_id=str(number), data=data))
log.close()
"""


@pytest.mark.unmeasured
def test_two_processes_append_thousands_of_records_each_without_a_fault(tmp_path: Path) -> None:
    path = str(tmp_path / "audit" / "audit.jsonl")
    writers = [subprocess.Popen([sys.executable, "-c", _WRITE, path, str(_RECORDS), who]) for who in "ab"]
    assert [writer.wait(600) for writer in writers] == [0, 0]
    verdict = verify_log(path)
    assert (verdict.ok, verdict.records, verdict.notices) == (True, 2 * _RECORDS, ())
    own = {"a": 0, "b": 0}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        assert record["call_id"] == str(own[record["session_id"]])  # each writer's records stand in its order
        own[record["session_id"]] += 1
    assert own == {"a": _RECORDS, "b": _RECORDS}


def test_writers_that_are_killed_at_random_leave_a_chain_that_verifies(tmp_path: Path) -> None:
    path = str(tmp_path / "audit" / "audit.jsonl")
    chance = random.Random(7)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", _WRITE, path, "1000000", "k"], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0.0, 0.06))
            writer.send_signal(signal.SIGKILL)
            writer.wait(10)
        if os.path.exists(path) and os.path.getsize(path):
            assert verify_log(path).faults == ()
    JsonlAuditLog(path, "second").append(event())
    verdict = verify_log(path)
    assert verdict.ok
    assert verdict.records > 8


# ── what a killed writer leaves ──────────────────────────────────────────────────────────────────────────


class _KilledError(BaseException):
    pass


def _killed_before_the_head(log: JsonlAuditLog, monkeypatch: pytest.MonkeyPatch, count: int = 1) -> None:
    """Write records as a writer that is killed before it replaces the head."""

    def killed(*_: object) -> None:
        raise _KilledError

    with monkeypatch.context() as patch:
        patch.setattr("prowess.audit.log.HeadFile.write", killed)
        with pytest.raises(_KilledError):
            log.append_group([event(7)] * count)


def _added(log: JsonlAuditLog, count: int) -> None:
    """Write records as a program that knows the form of the log, and not what a writer does with the head."""
    head = Path(log.path).with_name("head.json")
    before = head.read_bytes()
    for number in range(count):
        log.append(event(number))
    head.write_bytes(before)


def test_a_record_whose_head_was_not_written_is_legal_and_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path, 3)
    _killed_before_the_head(log, monkeypatch)
    verdict = verify_log(log.path)
    assert (verdict.ok, [notice.kind for notice in verdict.notices]) == (True, ["ahead"])
    Path(log.path).with_name(".head.json.0123456789ab.tmp").touch()  # the draft of the head that was not written
    foreign = [".notes.tmp", ".other.json.0123456789ab.tmp"]  # of another program, in whose directory the log is
    for name in foreign:
        Path(log.path).with_name(name).touch()
    log.append(event())
    assert sorted(os.listdir(Path(log.path).parent)) == [*foreign, "audit.jsonl", "head.json"]
    kinds = [record.kind for record in read_tail(log.path, 3) if record is not None]
    assert kinds == ["tool.started", "log.recovered", "tool.started"]
    verdict = verify_log(log.path)
    assert (verdict.ok, verdict.records) == (True, 6)
    assert [(notice.kind, notice.record) for notice in verdict.notices] == [("recovered", 5)]


def test_half_a_line_is_removed_and_recorded(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    with open(log.path, "ab") as stream:
        stream.write(b'{"at":"2026')
    verdict = verify_log(log.path)
    assert (verdict.ok, [notice.kind for notice in verdict.notices]) == (True, ["torn"])
    log.append(event())
    recovered = read_tail(log.path, 2)[0]
    assert recovered is not None
    assert recovered.kind == "log.recovered"
    assert recovered.data["removed_bytes"] == 11
    assert recovered.data["adopted_records"] == 0
    assert str(recovered.data["removed_sha256"]).startswith("sha256:")
    assert verify_log(log.path).ok


def test_the_first_record_of_all_may_be_half_written(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    os.truncate(log.path, 5)
    (tmp_path / "audit" / "head.json").write_bytes(b'{"count":0,"hash":null,"size":0}\n')
    assert verify_log(log.path).ok
    log.append(event())
    assert verify_log(log.path).records == 2


def test_an_empty_log_without_a_head_is_begun_anew(tmp_path: Path) -> None:
    os.mkdir(tmp_path / "audit", 0o700)
    (tmp_path / "audit" / "audit.jsonl").touch(0o600)
    assert log_in(tmp_path).append(event()).sequence == 1


@pytest.mark.proves("governance.audit.head")
@pytest.mark.parametrize("count", [1, 2, 40])
def test_records_that_no_writer_announced_are_a_fault_until_a_person_accepts_them(tmp_path: Path, count: int) -> None:
    log = filled(tmp_path, 3)
    _added(log, count)
    before = content(log)
    for other in (log, log_in(tmp_path)):
        with pytest.raises(AuditError, match=r"no writer announced .* after record 3; run `prowess audit verify`"):
            other.append(event())
    assert content(log) == before
    assert [(fault.kind, fault.record) for fault in verify_log(log.path).faults] == [("added", 4)]
    assert log_in(tmp_path).accept() == count
    accepted = read_tail(log.path, 1)[0]
    assert accepted is not None
    assert (accepted.kind, accepted.data["adopted_records"]) == ("log.accepted", count)
    assert accepted.data["uid"] == os.getuid()
    verdict = verify_log(log.path)
    assert verdict.ok
    assert [(notice.kind, notice.record) for notice in verdict.notices] == [("accepted", 4 + count)]
    assert log.append(event()).sequence == 5 + count
    assert log.accept() == 0


def test_a_log_recovers_after_several_writers_of_groups_were_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of head.json has room for a whole group and the records about its recoveries."""
    log = filled(tmp_path, 3)
    for count in (audit_log.MAX_GROUP, 1, 1):
        _killed_before_the_head(log, monkeypatch, count)
    assert log_in(tmp_path).append(event()).sequence > audit_log.MAX_GROUP
    assert verify_log(log.path).ok


@pytest.mark.parametrize("count", [1, 40])
def test_the_log_of_one_service_adopts_whole_records_that_a_loss_of_power_left(tmp_path: Path, count: int) -> None:
    log = filled(tmp_path, 3)
    _added(log, count)
    with open(log.path, "ab") as stream:
        stream.write(b'{"at":')
    service = JsonlAuditLog(log.path, adopts_unannounced=True)
    assert service.append(event()).sequence == 5 + count
    recovered = read_tail(log.path, 2)[0]
    assert recovered is not None
    assert recovered.kind == "log.recovered"
    assert recovered.data.items() >= {"adopted_records": count, "unannounced": True, "removed_bytes": 6}.items()
    assert verify_log(log.path).ok
    with open(log.path, "ab") as stream:
        stream.write(content(log).splitlines(keepends=True)[0])  # a record that does not continue the chain
    with pytest.raises(AuditError, match="is not a record of this log"):
        service.append(event())


@pytest.mark.proves("governance.audit.head")
def test_a_record_behind_an_announced_one_is_not_taken_over_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path, 3)
    _killed_before_the_head(log, monkeypatch)
    last = json.loads(content(log).splitlines()[-1])
    _, line = seal(event(), sequence=5, at="2026-01-01T00:00:00.000000Z", previous=last["hash"])
    with open(log.path, "ab") as stream:
        stream.write(line)
    before = content(log)
    with pytest.raises(AuditError, match="no writer announced 2 records after record 3"):
        log.append(event())
    assert content(log) == before
    assert not verify_log(log.path).ok
    assert log.accept() == 2


@pytest.mark.proves("governance.audit.head")
def test_a_writer_that_is_killed_while_it_recovers_leaves_what_can_be_recovered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path, 3)
    for _ in range(5):
        _killed_before_the_head(log, monkeypatch)
        assert verify_log(log.path).ok
    assert log.append(event()).sequence == 10
    verdict = verify_log(log.path)
    assert verdict.ok
    assert [notice.kind for notice in verdict.notices] == ["recovered"] * 5


@pytest.mark.parametrize("step", ["_announce", "write_all"])
def test_a_writer_that_is_killed_before_its_record_leaves_nothing(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path, 3)
    real = getattr(audit_log, step)

    def killed(*given: object) -> None:
        if step == "_announce":
            real(*given)
        raise _KilledError

    with monkeypatch.context() as patch:
        patch.setattr(audit_log, step, killed)
        with pytest.raises(_KilledError):
            log.append(event())
    assert verify_log(log.path).ok
    assert log_in(tmp_path).append(event()).sequence == 4
    assert verify_log(log.path).notices == ()


def test_what_cannot_be_accepted_stays_where_it_is(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    with open(log.path, "ab") as stream:
        stream.write(b"{}\n")
    before = content(log)
    with pytest.raises(AuditError, match="not a record of this log"):
        log.accept()
    os.truncate(log.path, len(before) - 10)
    with pytest.raises(AuditError, match="bytes are missing"):
        log.accept()


@pytest.mark.parametrize("tail", [b"{}\n", b"\n", b"not json\nhalf"])
def test_what_no_writer_can_have_left_stops_the_log(tmp_path: Path, tail: bytes) -> None:
    log = filled(tmp_path, 3)
    with open(log.path, "ab") as stream:
        stream.write(tail)
    with pytest.raises(AuditError, match="not a record of this log; run `prowess audit verify`"):
        log.append(event())
    assert not verify_log(log.path).ok


def test_a_repeated_line_behind_the_head_stops_the_log(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    data = content(log)
    with open(log.path, "ab") as stream:
        stream.write(data.splitlines(keepends=True)[-1])
    with pytest.raises(AuditError, match="not a record of this log"):
        log.append(event())


@pytest.mark.parametrize(
    ("sequence", "previous"),
    [(4, None), (4, "sha256:" + "0" * 64), (4, "second"), (5, "third"), (3, "third")],
)
def test_a_well_formed_record_that_does_not_follow_the_last_is_not_adopted(
    tmp_path: Path, sequence: int, previous: str | None
) -> None:
    """Its own hash holds and it says `sequence`; only a writer that saw the last record knows the last hash."""
    log = filled(tmp_path, 3)
    hashes = dict(
        zip(("first", "second", "third"), (json.loads(line)["hash"] for line in content(log).splitlines()), strict=True)
    )
    before = content(log)
    _, line = seal(
        event(), sequence=sequence, at="2026-01-01T00:00:00.000000Z", previous=hashes.get(previous or "", previous)
    )
    with open(log.path, "ab") as stream:
        stream.write(line)
    with pytest.raises(AuditError, match="not a record of this log; run `prowess audit verify`"):
        log.append(event())
    assert content(log) == before + line
    assert not verify_log(log.path).ok


def test_a_tail_forged_behind_a_genuine_record_is_not_adopted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(tmp_path, 3)
    _killed_before_the_head(log, monkeypatch)
    count = len(content(log).splitlines())
    _, line = seal(event(), sequence=count + 1, at="2026-01-01T00:00:00.000000Z", previous="sha256:" + "0" * 64)
    with open(log.path, "ab") as stream:
        stream.write(line)
    with pytest.raises(AuditError, match=f"after record {count} is not a record"):
        log.append(event())


def test_far_too_much_behind_the_head_is_not_read(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    os.truncate(log.path, 10**9)  # a hole, which takes no space
    with pytest.raises(AuditError, match="too much"):
        log.append(event())


def test_a_log_that_lost_its_tail_is_not_continued(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    os.truncate(log.path, os.path.getsize(log.path) - 10)
    with pytest.raises(AuditError, match="10 bytes are missing from its end"):
        log.append(event())


@pytest.mark.parametrize("head", [None, b"", b"{}", b"null", b'{"count":1,"hash":null,"size":1}\n', b"[" * 4000])
def test_a_log_without_a_good_head_is_not_continued(tmp_path: Path, head: bytes | None) -> None:
    log = filled(tmp_path, 1)
    path = tmp_path / "audit" / "head.json"
    path.unlink()
    if head is not None:
        path.write_bytes(head)
    with pytest.raises(AuditError, match=r"head\.json .*; run `prowess audit verify`"):
        log.append(event())


def test_a_log_that_is_replaced_while_a_writer_waits_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(tmp_path, 1)
    monkeypatch.setattr("prowess.audit.log.os.path.samestat", lambda *_: False)
    with pytest.raises(AuditError, match="replaced just now"):
        log.append(event())


# ── disks that fill up ───────────────────────────────────────────────────────────────────────────────────


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    before = content(log)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))  # less than a record: it is cut short
    try:
        with pytest.raises(AuditError, match="cannot be written"):
            log.append(event())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert content(log) == before
    assert log.append(event()).sequence == 4
    assert verify_log(log.path).notices == ()


def test_a_head_that_cannot_be_written_takes_its_record_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(tmp_path, 3)
    before = content(log)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("prowess.audit.log.write_atomically", full)
        with pytest.raises(AuditError, match="No space left"):
            log.append(event())
    assert content(log) == before
    head = read_head(log.path)
    assert head is not None
    assert head.count == 3


def test_a_head_is_read_again_where_another_writer_was_here(tmp_path: Path) -> None:
    log, other = filled(tmp_path, 3), log_in(tmp_path)
    assert [log.append(event()).sequence, other.append(event()).sequence, log.append(event()).sequence] == [4, 5, 6]
    head = Path(log.path).with_name("head.json")
    was = head.read_bytes()
    head.write_bytes(was.replace(b'"count":6', b'"count":7'))
    assert log.append(event()).sequence == 8  # believed, and found by a verification
    assert not verify_log(log.path).ok


# ── on the disk ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the calls that put data on the disk."""
    seen: list[int] = []
    real = os.fsync

    def counting(descriptor: int) -> None:
        seen.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", counting)
    return seen


def test_by_record_means_one_sync_a_record(tmp_path: Path, syncs: list[int]) -> None:
    log = JsonlAuditLog(tmp_path / "audit" / "audit.jsonl", "record")
    for _ in range(3):
        log.append(event())
    log.close()
    assert len(syncs) == 3


def test_by_second_means_at_most_one_a_second_and_one_at_the_end(tmp_path: Path, syncs: list[int]) -> None:
    log = log_in(tmp_path)
    for _ in range(5):
        log.append(event())
    assert len(syncs) == 0
    log.close()
    log.close()
    assert len(syncs) == 1
    log._synced_at -= 1.5
    log.append(event())
    assert len(syncs) == 2


def test_the_cost_of_an_append_does_not_grow_with_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(tmp_path, 300)
    read: list[int] = []
    real = os.read

    def counting(descriptor: int, size: int) -> bytes:
        data = real(descriptor, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "read", counting)
    log.append(event())
    assert sum(read) < 200  # the head alone
