"""Logs and exports that tests make, without files of a log."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from prowess.audit.record import AuditEvent, seal
from prowess.audit.transparency.checkpoint import Checkpoint, signed_checkpoint
from prowess.audit.transparency.export import FORMAT, ExportHeader, header_line, proved_lines
from prowess.audit.transparency.merkle import MemoryTree, leaf_hash, root_of
from prowess.signing.keys import PrivateKey, new_private_key
from prowess.signing.signed_note import NoteKey, note_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ORIGIN = "acme.example/log"


@cache
def key(name: str) -> PrivateKey:
    """Return the private key of a log or witness."""
    del name
    return new_private_key("ed25519")


def public(name: str = ORIGIN) -> NoteKey:
    """Return the key that verifies the checkpoints of a log."""
    return note_key(name, key(name).public)


def log_lines(count: int, *, forked_at: int | None = None) -> list[bytes]:
    """Return the lines of a log; from record `forked_at` on (from 0) its records differ from those of other logs."""
    lines: list[bytes] = []
    previous: str | None = None
    for index in range(count):
        other = forked_at is not None and index >= forked_at
        event = AuditEvent(kind="skill.loaded", session_id="s", data={"skill": f"s{index % 7}", "other": other})
        record, line = seal(event, sequence=index + 1, at=f"2026-11-29T10:00:00.{index:06}Z", previous=previous)
        previous = record.hash
        lines.append(line)
    return lines


def tree_of(lines: Sequence[bytes]) -> MemoryTree:
    """Return the tree over the lines of a log."""
    return MemoryTree([leaf_hash(line[:-1]) for line in lines])


def checkpoint_of(lines: Sequence[bytes], *, by: PrivateKey | None = None) -> Checkpoint:
    """Return the signed checkpoint of a log."""
    root = root_of(tree_of(lines), len(lines))
    return signed_checkpoint(ORIGIN, len(lines), root, ORIGIN, key(ORIGIN) if by is None else by)


def complete_export(path: Path, lines: Sequence[bytes], checkpoint: Checkpoint | None = None) -> str:
    """Write an export of a whole log, or of other lines with its checkpoint. Return the path."""
    header = ExportHeader(prowess_export=FORMAT, checkpoint=str(checkpoint or checkpoint_of(lines)), complete=True)
    path.write_bytes(header_line(header) + b"".join(lines))
    return str(path)


def filtered_export(path: Path, lines: Sequence[bytes], places: Sequence[int]) -> str:
    """Write an export of the records at these places. Return the path."""
    header = ExportHeader(
        prowess_export=FORMAT,
        checkpoint=str(checkpoint_of(lines)),
        complete=False,
        records=len(places),
        last=places[-1] if places else None,
    )
    chosen = proved_lines(tree_of(lines), len(lines), [(place, lines[place][:-1]) for place in places])
    path.write_bytes(header_line(header) + b"".join(chosen))
    return str(path)
