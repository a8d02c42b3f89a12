"""The log of an organisation in PostgreSQL: a replay of a million records, and the sequencer beside its writers.

The store is filled through the product's own code: `SharedAuditLog.add_placed` puts generated records into the inbox,
and `continue_log` gives them their places and signs. The server does not sync to disk (`tests.postgresql`), which makes
writers faster than on a real disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.figures import Command, Figure, spent
from benchmarks.processes import PROWESS
from benchmarks.replaying import FACTS, POLICY, RECORDS, lines
from prowess.audit.record import AuditEvent
from prowess.audit.transparency.central_log import PlacedEvent, SharedAuditLog
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import create_store
from tests.postgresql import Postgresql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.corpora import Corpus

_BATCH = 2000
_WRITERS, _SECONDS = 8, 5
_SIGNER = LogSigner(name="acme", key=new_private_key("ed25519"))
_REPLAY = "`prowess policy replay --store` of 1 000 000 records in PostgreSQL"
_SEQUENCER = "records that the sequencer gives a place, against what eight writers add"
_WRITER = """
import sys, time
from prowess.audit import AuditEvent, SharedAuditLog
from prowess.store import SharedDatabase
log = SharedAuditLog(SharedDatabase(sys.argv[1]))
event = AuditEvent(kind="tool.started", session_id="s", data={"user": "ann", "skill": "s" * 500})
log.append(event)
print(flush=True)
sys.stdin.readline()
until, written = time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < until:
    log.append(event)
    written += 1
print(written)
"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure in a server of its own; the corpora are not used."""
    del corpora
    with tempfile.TemporaryDirectory(prefix="prowess-postgresql-") as place:
        os.chmod(place, 0o755)  # noqa: S103 -- the server runs as another user
        try:
            server = Postgresql(Path(place))
        except pytest.skip.Exception as fault:
            return [Figure(name=name, value=None, note=str(fault)) for name in (_SEQUENCER, _REPLAY)]
        try:
            return [_sequenced(_store(server)), _replayed(_store(server), max(2, rounds // 10))]
        finally:
            server.close()


def _store(server: Postgresql) -> str:
    url = server.url()
    create_store(url, origin=_SIGNER.name, public_key=str(note_key(_SIGNER.name, _SIGNER.key.public)))
    return url


def _sequenced(url: str) -> Figure:
    """Let writers fill the inbox, each record in a transaction of its own, then give all records their places."""
    command = [sys.executable, "-c", _WRITER, url, str(_SECONDS)]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(_WRITERS)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    written = sum(int(writer.communicate()[0]) for writer in writers) / _SECONDS
    rows = SharedAuditRows(SharedDatabase(url))
    waiting, begun = rows.waiting(), time.monotonic()
    while continue_log(rows, _SIGNER) is not None:
        pass
    placed = waiting / (time.monotonic() - begun)
    rows.database.close()
    note = f"records a second, elapsed time, one after the other: {placed:.0f} and {written:.0f}"
    return Figure(name=_SEQUENCER, value=placed / written, at_least=2, note=note)


def fill(url: str, records: int, facts: int) -> None:
    """Add generated records to the log of the tenant `default`."""
    database = SharedDatabase(url)
    log, rows, made = SharedAuditLog(database), SharedAuditRows(database), map(_placed, lines(records, facts))
    while batch := list(islice(made, _BATCH)):
        log.add_placed(batch)
        while continue_log(rows, _SIGNER) is not None:
            pass
    database.close()


def _placed(line: str) -> PlacedEvent:
    record = json.loads(line)
    event = AuditEvent(**{key: record[key] for key in ("kind", "session_id", "call_id", "data")})
    return PlacedEvent(id=f"{record['sequence']:012}", at=record["at"], event=event)


def _replayed(url: str, rounds: int) -> Figure:
    fill(url, RECORDS, FACTS)
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        policy = os.path.join(place, "new.toml")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        replay = Command(arguments=[PROWESS, "policy", "replay", policy, "--store", url, "--json"])
        taken = spent({"replay": replay}, rounds)["replay"]
    note = f"processor time of the whole process, verified against the checkpoint; elapsed {taken.wall:.1f} s"
    return Figure(name=_REPLAY, value=taken.processor, unit="s", at_most=10, note=note)
