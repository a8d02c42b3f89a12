"""Exports: verified by their file and a key alone. Every byte counts, and each kind of tampering is named.

PROWESS_TAMPERING_PLACES is the number of places at which each kind of tampering is tried.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from prowess.audit.record import AuditEvent, read_line, seal
from prowess.audit.transparency.checkpoint import signed_checkpoint
from prowess.audit.transparency.export import NotAnExportError
from prowess.audit.transparency.export_verification import ExportVerification, verify_export
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import cosign_note, note_key
from tests.audit.exports import checkpoint_of, complete_export, filtered_export, key, log_lines, public

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from prowess.audit.transparency.checkpoint import Checkpoint

COUNT = 320  # more than one block of 256
PLACES = int(os.environ.get("PROWESS_TAMPERING_PLACES", "3"))
LINES = log_lines(COUNT)


def test_a_complete_export_is_verified_with_the_key_alone(tmp_path: Path) -> None:
    verdict = verify_export(complete_export(tmp_path / "e", LINES), public())
    assert (verdict.ok, verdict.records, verdict.size, verdict.complete) == (True, COUNT, COUNT, True)
    assert verdict.origin == "acme.example/log"


@pytest.mark.parametrize("count", [0, 1, 2, 255, 256, 257])
def test_exports_of_any_size_are_verified(tmp_path: Path, count: int) -> None:
    lines = LINES[:count]
    assert verify_export(complete_export(tmp_path / "e", lines), public()).ok
    kept = checkpoint_of(lines[: count // 2])
    assert verify_export(complete_export(tmp_path / "e", lines), public(), kept=kept).ok
    assert verify_export(filtered_export(tmp_path / "f", lines, range(0, count, 2)), public()).ok


def test_a_filtered_export_proves_its_records_and_no_completeness(tmp_path: Path) -> None:
    verdict = verify_export(filtered_export(tmp_path / "e", LINES, [0, 17, 200, COUNT - 1]), public())
    assert (verdict.ok, verdict.records, verdict.size, verdict.complete) == (True, 4, COUNT, False)


@pytest.mark.parametrize("complete", [True, False])
def test_every_byte_counts(tmp_path: Path, *, complete: bool) -> None:
    path, lines = tmp_path / "e", log_lines(3)
    if complete:
        complete_export(path, lines)
    else:
        filtered_export(path, lines, [0, 2])
    data = path.read_bytes()
    assert _faults(path) == []
    for at in range(0, len(data), max(1, 30 // PLACES)):
        for changed in (data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], data[:at] + data[at + 1 :]):
            path.write_bytes(changed)
            assert _faults(path) != [], at
    path.write_bytes(data + b"\n")
    assert _faults(path) != []


def _faults(path: Path) -> list[str]:
    try:
        return _kinds(verify_export(str(path), public()))
    except NotAnExportError:
        return ["no export"]


def _rewritten(lines: Sequence[bytes], place: int) -> list[bytes]:
    """Return a log in which one record was changed and all hashes computed anew."""
    made: list[bytes] = []
    previous: str | None = None
    for index, line in enumerate(lines):
        record = read_line(line)
        data = {**record.data, "skill": "other"} if index == place else record.data
        event = AuditEvent(kind=record.kind, session_id=record.session_id, call_id=record.call_id, data=data)
        sealed, anew = seal(event, sequence=record.sequence, at=record.at, previous=previous)
        previous = sealed.hash
        made.append(anew)
    return made


def _foreign(place: int) -> Checkpoint:
    del place
    return checkpoint_of(LINES, by=new_private_key("ed25519"))


# Each kind: (the lines, the checkpoint of the header, the checkpoint kept elsewhere) for a place, and the kinds that
# name it, the first one for most places.
SIGNED = checkpoint_of(LINES)
KINDS: dict[str, tuple[Callable[[int], tuple[Sequence[bytes], Checkpoint, Checkpoint | None]], str]] = {
    "change": (
        lambda p: ([*LINES[:p], LINES[p].replace(b'"skill":"s', b'"skill":"t'), *LINES[p + 1 :]], SIGNED, None),
        "changed",
    ),
    "change and new hashes": (lambda p: (_rewritten(LINES, p), SIGNED, None), "changed"),
    "delete": (lambda p: ([*LINES[:p], *LINES[p + 1 :]], SIGNED, None), "missing"),
    "swap": (lambda p: ([*LINES[:p], LINES[p + 1], LINES[p], *LINES[p + 2 :]], SIGNED, None), "moved"),
    "insert": (lambda p: ([*LINES[: p + 1], LINES[p], *LINES[p + 1 :]], SIGNED, None), "inserted"),
    "insert what is no record": (lambda p: ([*LINES[:p], b'{"kind":"x"}\n', *LINES[p:]], SIGNED, None), "inserted"),
    "cut": (lambda p: (LINES[:p], SIGNED, None), "cut"),
    "foreign key": (lambda p: (LINES, _foreign(p), None), "key"),
    "old checkpoint": (lambda p: (LINES, checkpoint_of(LINES[:p]), None), "old_checkpoint"),
    "restored backup": (lambda p: (LINES[:p], checkpoint_of(LINES[:p]), SIGNED), "restored"),
    "two histories": (lambda p: (_forked(p), checkpoint_of(_forked(p)), SIGNED), "two_histories"),
    "deleted log": (
        lambda p: (log_lines(p, forked_at=0), checkpoint_of(log_lines(p, forked_at=0)), SIGNED),
        "restored",
    ),
}


def _forked(place: int) -> list[bytes]:
    return log_lines(COUNT + 5, forked_at=place)


@pytest.mark.parametrize("kind", KINDS)
def test_tampering_is_found_and_named(tmp_path: Path, kind: str) -> None:
    tamper, name = KINDS[kind]
    for number in range(PLACES):
        place = 1 + number * (COUNT - 3) // max(1, PLACES - 1)
        lines, checkpoint, kept = tamper(place)
        verdict = verify_export(complete_export(tmp_path / "e", lines, checkpoint), public(), kept=kept)
        assert not verdict.ok
        assert name in {fault.kind for fault in verdict.faults}, (kind, place, verdict.faults)
        if kind in {"change", "delete", "insert", "cut"}:
            assert place + 1 in {fault.record for fault in verdict.faults}


@pytest.mark.parametrize("kind", ["change", "delete", "swap", "insert", "cut"])
def test_tampering_with_a_filtered_export_is_found_and_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "e"
    for number in range(PLACES):
        place = 1 + number * 36 // max(1, PLACES - 1)
        filtered_export(path, LINES, range(0, COUNT, 8))
        header, *rows = path.read_bytes().splitlines(keepends=True)
        changed, name = {
            "change": (
                [*rows[:place], rows[place].replace(b'"skill":"s', b'"skill":"t'), *rows[place + 1 :]],
                "changed",
            ),
            "delete": ([*rows[:place], *rows[place + 1 :]], "missing"),
            "swap": ([*rows[:place], rows[place + 1], rows[place], *rows[place + 2 :]], "moved"),
            "insert": ([*rows[:place], rows[place], *rows[place:]], "inserted"),
            "cut": (rows[:place], "cut"),
        }[kind]
        path.write_bytes(header + b"".join(changed))
        verdict = verify_export(str(path), public())
        assert not verdict.ok
        assert verdict.faults[0].kind == name


def test_a_filtered_export_is_not_compared_with_an_older_checkpoint(tmp_path: Path) -> None:
    path = filtered_export(tmp_path / "e", LINES, [3, 5])
    verdict = verify_export(path, public(), kept=checkpoint_of(LINES[:100]))
    assert (_kinds(verdict), verdict.ok) == (["not_compared"], False)
    assert verify_export(path, public(), kept=checkpoint_of(LINES)).ok


def test_a_witness_is_demanded_of_the_checkpoint_that_was_kept(tmp_path: Path) -> None:
    witness = note_key("w.example", key("w").public, "cosignature")
    path = complete_export(tmp_path / "e", LINES)
    assert _kinds(verify_export(path, public(), witness=witness)) == ["checkpoint"]
    kept = checkpoint_of(LINES[:100])
    assert _kinds(verify_export(path, public(), kept=kept, witness=witness)) == ["checkpoint"]
    cosigned = type(kept)(
        origin=kept.origin,
        size=kept.size,
        root=kept.root,
        note=cosign_note(kept.note, "w.example", key("w"), 1_700_000_000),
    )
    verdict = verify_export(path, public(), kept=cosigned, witness=witness)
    assert (verdict.ok, verdict.cosigned) == (True, 1_700_000_000)


def _kinds(verdict: ExportVerification) -> list[str]:
    return [fault.kind for fault in verdict.faults]


@pytest.mark.parametrize(
    "data", [b"", b"x", b"{}\n", b'{"prowess_export":2,"checkpoint":"","complete":true}\n', b"\xff\n"]
)
def test_another_file_is_no_export(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "e"
    path.write_bytes(data)
    with pytest.raises(NotAnExportError):
        verify_export(str(path), public())


def test_a_checkpoint_of_another_log_is_not_taken_for_one_of_this_log(tmp_path: Path) -> None:
    """One key may sign several logs."""
    lines = LINES[:3]
    other = signed_checkpoint("acme.example/other", 2, b"\0" * 32, "acme.example/log", key("acme.example/log"))
    assert _kinds(verify_export(complete_export(tmp_path / "e", lines), public(), kept=other)) == ["key"]
    assert verify_export(complete_export(tmp_path / "e", lines), public(), kept=checkpoint_of(lines)).ok
