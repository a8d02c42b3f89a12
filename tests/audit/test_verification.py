"""Verification finds every way to touch a log, and says where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.audit import AuditEvent, JsonlAuditLog, read_tail, verify_log
from prowess.audit.log import AuditHead, HeadFile
from prowess.audit.record import seal
from prowess.errors import AuditError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from prowess.audit import Verification

COUNT = 6


def test_beside_a_fault_nobody_is_told_that_a_writer_may_be_at_work(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.lines = [*log.lines, b"garbage\n"]
    verdict = log.verify()
    assert [fault.kind for fault in verdict.faults] == ["damaged"]
    assert verdict.notices == ()


class Log:
    """A log of six records, as its attacker holds it: lines that can be set."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "audit" / "audit.jsonl"
        log = JsonlAuditLog(self.path, "second")
        self.hashes = [log.append(_event(number)).hash for number in range(1, COUNT + 1)]

    @property
    def lines(self) -> list[bytes]:
        return self.path.read_bytes().splitlines(keepends=True)

    @lines.setter
    def lines(self, lines: list[bytes]) -> None:
        self.path.write_bytes(b"".join(lines))

    def verify(self, head: str | None = None) -> Verification:
        return verify_log(self.path, head)

    def faults(self) -> list[tuple[str, int | None]]:
        verdict = self.verify()
        assert verdict.ok is not bool(verdict.faults)
        return [(fault.kind, fault.record) for fault in verdict.faults]


def _event(number: int, tool: str = "skills.load") -> AuditEvent:
    return AuditEvent(kind="tool.started", session_id="s", call_id=str(number), data={"tool": tool})


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_an_untouched_log_verifies_and_names_its_head(log: Log) -> None:
    verdict = log.verify()
    assert (verdict.ok, verdict.records, verdict.head) == (True, COUNT, log.hashes[-1])
    assert (verdict.faults, verdict.notices, verdict.more) == ((), (), 0)


def test_a_changed_record_is_found(log: Log) -> None:
    lines = log.lines
    lines[2] = lines[2].replace(b"skills.load", b"skills.read")
    log.lines = lines
    assert log.faults() == [("changed", 3)]
    assert log.verify().faults[0].line == 3


def test_a_changed_record_with_a_new_hash_is_found_by_the_next_one(log: Log) -> None:
    lines = log.lines
    _, lines[2] = seal(_event(3, "other"), sequence=3, at="2026-01-01T00:00:00.000000Z", previous=log.hashes[1])
    log.lines = lines
    assert log.faults() == [("changed", 3)]


def test_a_replaced_first_record_is_found(log: Log) -> None:
    lines = log.lines
    _, lines[0] = seal(_event(1), sequence=1, at="2026-01-01T00:00:00.000000Z", previous=None)
    log.lines = lines
    assert log.faults() == [("changed", 1)]


def test_a_first_record_that_names_another_before_it_is_found(log: Log) -> None:
    _, line = seal(_event(1), sequence=1, at="2026-01-01T00:00:00.000000Z", previous=log.hashes[0])
    log.lines = [line]
    assert ("changed", 1) in log.faults()


def test_a_replaced_last_record_is_found_by_the_head(log: Log) -> None:
    lines = log.lines
    _, lines[5] = seal(_event(6, "other"), sequence=6, at="2026-01-01T00:00:00.000000Z", previous=log.hashes[4])
    log.lines = lines
    assert log.faults() == [("head", 6)]


@pytest.mark.parametrize("number", range(1, COUNT))
def test_a_deleted_record_is_found(log: Log, number: int) -> None:
    lines = log.lines
    del lines[number - 1]
    log.lines = lines
    assert log.faults() == [("missing", number)]
    assert f"record {number} is missing" in log.verify().faults[0].message


def test_a_deleted_run_of_records_is_one_fault(log: Log) -> None:
    lines = log.lines
    del lines[1:4]
    log.lines = lines
    assert log.faults() == [("missing", 2)]
    assert "records 2 to 4 are missing before line 2" in log.verify().faults[0].message


def test_swapped_records_are_found(log: Log) -> None:
    lines = log.lines
    lines[2], lines[3] = lines[3], lines[2]
    log.lines = lines
    assert log.faults() == [("moved", 3)]
    assert log.verify().faults[0].line == 4


def test_a_record_moved_away_is_found_among_others_that_are_missing(log: Log) -> None:
    lines = log.lines
    log.lines = [lines[0], lines[4], lines[2], lines[5]]
    assert log.faults() == [("missing", 2), ("missing", 4), ("moved", 3)]


def test_a_repeated_record_is_found(log: Log) -> None:
    lines = log.lines
    lines.insert(4, lines[1])
    log.lines = lines
    assert log.faults() == [("inserted", 2)]
    assert log.verify().faults[0].line == 5


def test_a_forged_record_between_two_is_found(log: Log) -> None:
    lines = log.lines
    _, forged = seal(_event(4, "forged"), sequence=4, at="2026-01-01T00:00:00.000000Z", previous=log.hashes[2])
    lines.insert(3, forged)
    log.lines = lines
    assert log.faults() == [("inserted", 4), ("changed", 4)]


def test_a_forged_record_that_renumbers_its_followers_is_found(log: Log) -> None:
    lines = log.lines
    _, forged = seal(_event(4, "forged"), sequence=4, at="2026-01-01T00:00:00.000000Z", previous=log.hashes[2])
    moved = [line.replace(b'"sequence":%d' % n, b'"sequence":%d' % (n + 1)) for n, line in enumerate(lines, 1) if n > 3]
    log.lines = [*lines[:3], forged, *moved]
    assert log.faults()[0] == ("changed", 5)


@pytest.mark.parametrize("keep", range(COUNT))
def test_a_cut_tail_is_found(log: Log, keep: int) -> None:
    log.lines = log.lines[:keep]
    assert log.faults() == [("cut", keep + 1)]
    assert f"{COUNT - keep} record" in log.verify().faults[0].message


def test_a_tail_cut_inside_a_record_is_found(log: Log) -> None:
    data = log.path.read_bytes()
    log.path.write_bytes(data[:-20])
    assert log.faults() == [("cut", COUNT)]
    assert [notice.kind for notice in log.verify().notices] == ["torn"]


def test_a_tail_that_is_cut_and_grown_again_is_found(log: Log) -> None:
    lines, last = log.lines[:4], log.hashes[3]
    for number in (5, 6, 7):
        record, line = seal(_event(number), sequence=number, at="2026-01-01T00:00:00.000000Z", previous=last)
        lines.append(line)
        last = record.hash
    log.lines = lines
    assert log.faults() == [("head", 6)]


def test_a_log_that_is_removed_whole_is_found(log: Log) -> None:
    log.path.unlink()
    assert log.faults() == [("cut", 1)]


def test_a_head_that_is_removed_is_found(log: Log) -> None:
    log.path.with_name("head.json").unlink()
    assert log.faults() == [("head", None)]
    log.path.write_bytes(b"")
    assert "everything was removed" in log.verify().faults[0].message


def test_a_head_that_is_set_back_is_found_from_two_records_on(log: Log) -> None:
    size = len(b"".join(log.lines[:4]))
    HeadFile(str(log.path)).write(AuditHead(count=4, hash=log.hashes[3], size=size))
    assert log.faults() == [("added", 5)]


def test_a_head_with_a_wrong_length_is_found(log: Log) -> None:
    HeadFile(str(log.path)).write(AuditHead(count=6, hash=log.hashes[5], size=7))
    assert log.faults() == [("head", 6)]


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"{}\n",
        b"[1]\n",
        b"\xff\xfe\n",
        b'{"a":' * 5000 + b"\n",
        b"1" * 5000 + b"\n",
        b'{"at":1,"call_id":null,"data":{},"hash":"x","kind":"k","previous":null,"sequence":1,"session_id":null}\n',
        b'{"at":"","call_id":null,"data":{"x":0.5},"hash":"x","kind":"k","previous":null,"sequence":1,"session_id":null}\n',
        b'{"at":"","call_id":null,"data":{},"hash":"x","kind":"k","previous":null,"sequence":true,"session_id":null}\n',
    ],
)
def test_a_line_that_is_no_record_is_found_and_the_rest_still_checked(log: Log, line: bytes) -> None:
    lines = log.lines
    lines[1] = line
    lines[4] = lines[4].replace(b"skills.load", b"skills.read")
    log.lines = lines
    assert log.faults() == [("damaged", 2), ("changed", 5)]
    assert read_tail(log.path, COUNT)[1] is None


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"kind":', b'"kind": '), (b'"call_id"', b'"at":"","call_id"'), (b"}\n", b"}\r\n"), (b"skills", b"\\u0073kills")],
)
def test_another_spelling_of_the_same_record_is_found(log: Log, old: bytes, new: bytes) -> None:
    lines = log.lines
    lines[1] = lines[1].replace(old, new)
    log.lines = lines
    assert log.faults() == [("damaged", 2)]


def test_a_line_without_end_is_found_and_does_not_fill_the_memory(log: Log) -> None:
    log.lines = [*log.lines[:5], b"x" * 9_000_000, b"\n"]
    assert ("damaged", 6) in log.faults()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Log, bytes, bytes]:
    """Return a log to be spoiled over and over, its bytes, and those of its head."""
    log = Log(tmp_path_factory.mktemp("shared"))
    return log, log.path.read_bytes(), log.path.with_name("head.json").read_bytes()


@given(data=st.data())
@settings(max_examples=200)
def test_no_byte_can_change_unseen(shared: tuple[Log, bytes, bytes], data: st.DataObject) -> None:
    log, good, good_head = shared
    log.path.write_bytes(good)
    log.path.with_name("head.json").write_bytes(good_head)
    assert log.verify().ok
    path = data.draw(st.sampled_from([log.path, log.path.with_name("head.json")]))
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    verdict = log.verify()
    assert not verdict.ok
    if path == log.path:
        number = bytes(content[:place]).count(b"\n") + 1
        assert any(fault.record is not None and abs(fault.record - number) <= 1 for fault in verdict.faults)


@given(order=st.permutations(range(COUNT)), keep=st.integers(0, COUNT))
def test_no_other_selection_or_order_of_the_records_verifies(
    shared: tuple[Log, bytes, bytes], order: list[int], keep: int
) -> None:
    log, good, good_head = shared
    log.path.with_name("head.json").write_bytes(good_head)
    lines = good.splitlines(keepends=True)
    chosen = order[:keep]
    log.lines = [lines[number] for number in chosen]
    assert log.verify().ok is (chosen == list(range(COUNT)))


def test_findings_are_bounded_and_the_rest_is_counted(log: Log) -> None:
    log.lines = [b"{}\n"] * 250
    verdict = log.verify()
    assert (len(verdict.faults), verdict.more) == (100, 151)


# ── a head kept elsewhere ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", range(1, COUNT + 1))
def test_any_earlier_head_proves_what_came_before_it(log: Log, number: int) -> None:
    kept = log.hashes[number - 1]
    for spelling in (kept, kept.removeprefix("sha256:"), kept.removeprefix("sha256:").upper()):
        verdict = log.verify(spelling)
        assert (verdict.ok, verdict.kept_at) == (True, number)


def test_a_chain_that_was_written_anew_fails_against_the_kept_head(log: Log) -> None:
    kept = log.hashes[-1]
    log.path.unlink()
    log.path.with_name("head.json").unlink()
    again = JsonlAuditLog(log.path, "second")
    for number in range(1, COUNT + 1):
        again.append(_event(number))
    assert log.verify().ok  # a bare chain proves no more than this
    verdict = log.verify(kept)
    assert [fault.kind for fault in verdict.faults] == ["kept_head"]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────


def test_no_log_is_an_error_and_not_a_clean_bill(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="there is no log here"):
        verify_log(tmp_path / "audit.jsonl")
    with pytest.raises(AuditError, match="there is no log here"):
        read_tail(tmp_path / "audit.jsonl", 1)


def test_what_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AuditError, match="plain file"):
        verify_log(tmp_path)
    with pytest.raises(AuditError, match="plain file"):
        read_tail(tmp_path, 1)
    (tmp_path / "file").touch()
    for read in (verify_log, lambda path: read_tail(path, 1)):
        with pytest.raises(AuditError, match="cannot be read"):
            read(tmp_path / "file" / "audit.jsonl")


def test_an_auditor_may_check_a_copy_with_other_modes(log: Log, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir(mode=0o755)
    for name in ("audit.jsonl", "head.json"):
        (copy / name).write_bytes(log.path.with_name(name).read_bytes())
        (copy / name).chmod(0o444)
    assert verify_log(copy / "audit.jsonl", log.hashes[-1]).ok


def test_the_wait_for_a_writer_is_bounded(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.audit.verification.descriptor_locked", _never)
    with pytest.raises(AuditError, match="try again"):
        log.verify()


def _never(*_: object, **__: object) -> AbstractContextManager[None]:
    raise TimeoutError("locked by another process for more than 10 s")


def test_a_log_that_is_written_meanwhile_verifies_at_each_moment(log: Log) -> None:
    writer = JsonlAuditLog(log.path, "second")
    for number in range(20):
        writer.append(_event(number))
        assert log.verify().notices == ()


def test_the_tail_of_a_long_log_is_read_from_its_end(tmp_path: Path) -> None:
    writer = JsonlAuditLog(tmp_path / "audit" / "audit.jsonl", "second")
    for number in range(400):
        writer.append(_event(number))
    assert Path(writer.path).stat().st_size > 64 * 1024
    assert [record.sequence for record in read_tail(writer.path, 350) if record is not None] == list(range(51, 401))
    assert len(read_tail(writer.path, 1000)) == 400


def test_every_line_is_one_json_object(log: Log) -> None:
    assert [json.loads(line)["sequence"] for line in log.lines] == list(range(1, COUNT + 1))
