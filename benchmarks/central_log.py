"""The log of an organisation in PostgreSQL: a replay of a million records, and the sequencer beside its writers.

The million records are sealed here, in the same form as the sequencer's, and written by the statements with which it
writes; only the inbox is left out. The server does not sync to disk (`tests.postgresql`), which makes writers faster
than on a real disk.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.figures import Command, Figure, spent
from benchmarks.processes import PROWESS
from benchmarks.replaying import FACTS, KINDS, POLICY, RECORDS, drawn_data
from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.audit.transparency.checkpoint import signed_checkpoint
from prowess.audit.transparency.merkle import leaf_hash, root_of
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.audit.transparency.tiles import TileTree, extended
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import LogEnd, LogRow, SharedAuditRows
from prowess.store.shared.organisation import create_store
from tests.postgresql import Postgresql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpora import Corpus
    from prowess.store.shared.audit_rows import Sequencing

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
    """Write generated records as the log of the tenant `default`, with a signed checkpoint."""
    database = SharedDatabase(url)
    rows, draw, origin = SharedAuditRows(database), random.Random(7), f"{_SIGNER.name}/default"  # noqa: S311 -- no secret
    pseudonym = cache(lambda user: rows.pseudonym(user, f"person-{user.removeprefix('user-'):>016}"))
    kept = [_named(drawn_data(draw), pseudonym) for _ in range(facts)]
    previous: str | None = None
    for first in range(1, records + 1, _BATCH):
        made: list[LogRow] = []
        for number in range(first, min(first + _BATCH, records + 1)):
            row, previous = _sealed(number, previous, draw.choice(kept), draw.choice(KINDS))
            made.append(row)
        rows.sequence(partial(_put, made, previous, origin))
    database.close()


def _named(data: dict[str, object], pseudonym: Callable[[str], str]) -> tuple[str, bytes]:
    """Return the pseudonym of the user, and the data with it in canonical form."""
    person = pseudonym(str(data["user"]))
    return person, canonical_json({**data, "user": person})


def _sealed(number: int, previous: str | None, data: tuple[str, bytes], kind: str) -> tuple[LogRow, str]:
    """Return a row, and the hash of its record, as `prowess.audit.record.seal` makes them."""
    at = f"2026-11-{1 + number * 27 // RECORDS:02}T{number % 24:02}:00:00.000000Z"
    before = b'{"at":"%b","call_id":"%d","data":%b,' % (at.encode(), number, data[1])
    named = b"null" if previous is None else b'"%b"' % previous.encode()
    behind = b'"kind":"%b","previous":%b,"sequence":%d,"session_id":"s%d"}' % (
        kind.encode(),
        named,
        number,
        number % 997,
    )
    digest = sha256_of(before + behind)
    body = b'%b"hash":"%b",%b' % (before, digest.encode(), behind)
    row = LogRow(sequence=number, id=f"{number:012}", at=at, person=data[0], leaf=leaf_hash(body), body=body)
    return row, digest


def _put(made: list[LogRow], last: str | None, origin: str, step: Sequencing) -> None:
    changed, size = extended(step.tile, made[0].sequence - 1, [row.leaf for row in made]), made[-1].sequence

    def read(level: int, number: int) -> bytes:
        return changed.get((level, number)) or step.tile(level, number)

    signed = signed_checkpoint(origin, size, root_of(TileTree(read, origin), size), _SIGNER.name, _SIGNER.key)
    step.put(made, changed, LogEnd(size=size, last=last, checkpoint=str(signed)))


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
