"""The audit service of a machine beside plain appending with a sync, and eight writers beside one chain under a lock.

Both sides of a figure wait for the same disk, so these figures are the least elapsed times of short turns, not
processor times.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.figures import Figure
from prowess.audit import AuditEvent
from prowess.errors import AuditError
from prowess.tools.audit_sink import MachineLog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.corpora import Corpus

_RECORDS, _WRITERS = 40, 8
_SERVICE = "from prowess.cli.main import main; main()"
_WRITER = """
import sys, time
from prowess.audit import AuditEvent, JsonlAuditLog
from prowess.tools.audit_sink import MachineLog
log = (MachineLog if sys.argv[1] == "machine" else JsonlAuditLog)(sys.argv[2])
event = AuditEvent(kind="tool.started", data={"skill": "s" * 500})
log.append(event)
print(flush=True)
sys.stdin.readline()
until, written = time.monotonic() + 1, 0
while time.monotonic() < until:
    log.append(event)
    written += 1
print(written)
"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure in a directory of this disk; the corpora are not used."""
    del corpora
    if sys.platform != "linux" or os.geteuid() != 0:
        missing = "needs Linux and root"
        return [Figure(name=name, value=None, note=missing) for name in (_ACKNOWLEDGED, _EIGHT)]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        socket = str(place / "audit.sock")
        service = subprocess.Popen(
            [sys.executable, "-c", _SERVICE, "machine", "run", "--state", str(place / "state"), "--socket", socket],
            stderr=subprocess.DEVNULL,
        )
        try:
            return _figures(place, socket, rounds)
        finally:
            service.terminate()
            service.wait()


_ACKNOWLEDGED = "a record acknowledged by the machine's audit service, against append and fsync"
_EIGHT = "records of eight writers at the machine's audit service, against one chain under a lock"


def _figures(place: Path, socket: str, rounds: int) -> list[Figure]:
    log, event = MachineLog(socket), AuditEvent(kind="tool.started", data={"skill": "s" * 500})
    until = time.monotonic() + 10
    while True:
        try:
            log.append(event)
            break
        except AuditError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
    line = b"x" * 1000 + b"\n"
    plain = os.open(place / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append() -> None:
        os.write(plain, line)
        os.fsync(plain)

    times = {"append": 1e9, "machine": 1e9}
    rates = {"chain": 0.0, "machine": 0.0}
    for _ in range(max(3, rounds // 4)):
        times["append"] = min(times["append"], _seconds(append))
        times["machine"] = min(times["machine"], _seconds(lambda: log.append(event)))
        rates["chain"] = max(rates["chain"], _rate("chain", str(place / "chain" / "audit.jsonl")))
        rates["machine"] = max(rates["machine"], _rate("machine", socket))
    os.close(plain)
    return [
        Figure(
            name=_ACKNOWLEDGED,
            value=times["machine"] / times["append"],
            at_most=4,
            note=f"least elapsed time of {_RECORDS} records one after another, in turns",
        ),
        Figure(
            name=_EIGHT,
            value=rates["machine"] / rates["chain"],
            at_least=4,
            note="most records in one second, in turns; both sync each record to disk",
        ),
    ]


def _seconds(write: Callable[[], object]) -> float:
    begun = time.monotonic()
    for _ in range(_RECORDS):
        write()
    return time.monotonic() - begun


def _rate(kind: str, path: str) -> float:
    command = [sys.executable, "-c", _WRITER, kind, path]
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
    return float(sum(int(writer.communicate()[0]) for writer in writers))
