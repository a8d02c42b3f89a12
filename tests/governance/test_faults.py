"""Replicas and sequencers are killed, and PostgreSQL is stopped, while scripts are called: the log stays one history.

PROWESS_FAULT_CALLS, PROWESS_FAULT_KILLS, PROWESS_FAULT_STOPS and PROWESS_FAULT_SEED are the numbers of successful
calls, of SIGKILLs and of immediate stops, and the seed of their order.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest

from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import checkpoint_of, newest
from prowess.audit.transparency.merkle import root_of
from prowess.audit.transparency.tiles import TileTree
from prowess.cli.dispatch import run
from prowess.errors import StoreError
from prowess.store import SharedDatabase
from prowess.store.shared.audit_rows import SharedAuditRows
from tests.governance.script_callers import SCRIPT, Outcomes, ScriptCaller
from tests.governance.supervised import Supervised
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.audit.record import AuditRecord
    from prowess.audit.transparency.checkpoint import Checkpoint
    from tests.postgresql import Postgresql

pytestmark = pytest.mark.unmeasured
CALLS = int(os.environ.get("PROWESS_FAULT_CALLS", "40"))
KILLS = int(os.environ.get("PROWESS_FAULT_KILLS", "2"))
STOPS = int(os.environ.get("PROWESS_FAULT_STOPS", "1"))
SEED = int(os.environ.get("PROWESS_FAULT_SEED", "5"))
_REPLICAS, _SEQUENCERS = (3, 2) if CALLS > 1000 else (2, 1)
_CLIENTS = ("one", "one", "two", "three")  # two have one session
_STARTING_SECONDS = 5  # of a server that does not find the database
_SIGNING_SECONDS = 60
_RAN, _NOT_RUN, _UNRECORDED = "The tool did run", "The tool was not run", "could not be recorded"
_POLICY = 'default = "allow"\n[audit]\nsink = "central"\n'
_OF_A_CALL = ("tool.started", "script.finished", "tool.finished")  # records of a successful one


class _Witness(threading.Thread):
    """Keeps each signed checkpoint that it sees."""

    def __init__(self, rows: SharedAuditRows, done: threading.Event) -> None:
        super().__init__(daemon=True)
        self._rows, self._done = rows, done
        self.kept: list[Checkpoint] = [checkpoint_of(rows)]

    def run(self) -> None:
        """Look until the calls are done and the sequencers have signed something."""
        ended: float | None = None
        while ended is None or (len(self.kept) == 1 and time.monotonic() < ended + _SIGNING_SECONDS):
            time.sleep(0.2)
            if ended is None and self._done.is_set():
                ended = time.monotonic()
            with suppress(StoreError):
                if (found := checkpoint_of(self._rows)).size != self.kept[-1].size:
                    self.kept.append(found)


class _Servers:
    """Replicas and sequencers of one store, each started again when it ends."""

    def __init__(self, place: Path, store: str, stack: ExitStack) -> None:
        prowess = [sys.executable, "-m", "prowess"]
        options = ["--only-root", "--root", str(place / "skills"), "--workspace", str(place / "work"), "--write"]
        ports = [_port() for _ in range(_REPLICAS)]
        commands = [
            *([*prowess, "serve", "--http", f"127.0.0.1:{port}", "--store", store, *options] for port in ports),
            *[[*prowess, "admin", "serve", "--http", "127.0.0.1:0", "--store", store]] * _SEQUENCERS,
        ]
        self.urls = [f"http://127.0.0.1:{port}/mcp" for port in ports]
        self.all = [stack.enter_context(Supervised(command, place)) for command in commands]
        self.wait()

    def wait(self) -> None:
        for server in self.all:
            server.wait()

    def clients(self, outcomes: Outcomes, stack: ExitStack) -> list[ScriptCaller]:
        """Return clients whose sessions have loaded the skill. They begin at different servers."""
        found = []
        for number, name in enumerate(_CLIENTS):
            first = number % len(self.urls)
            client = ScriptCaller(name, self.urls[first:] + self.urls[:first], outcomes)
            stack.enter_context(client.http)
            assert not client.ask("load", "skills_load", {"names": ["deploy"]})["result"]["isError"]
            found.append(client)
        return found


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code = run([*words, "--json"])
    told = capsys.readouterr()
    assert code == 0, told
    found = json.loads(told.out)
    assert isinstance(found, dict)
    return found


def _sequence(rows: SharedAuditRows, url: str) -> None:
    """Give every waiting record its place."""
    while rows.waiting():
        assert run(["audit", "checkpoint", "--store", url]) == 0


def _disturb(outcomes: Outcomes, servers: list[Supervised], postgresql: Postgresql) -> list[tuple[float, float]]:
    """Kill and stop, spread over the calls at random. Return from when to when the database was away."""
    chosen = random.Random(SEED)
    acts = chosen.sample(["kill"] * KILLS + ["stop"] * STOPS, KILLS + STOPS)
    places = sorted(chosen.uniform(0.02, 0.95) * CALLS for _ in acts)
    away: list[tuple[float, float]] = []
    for place, act in zip(places, acts, strict=True):
        while len(outcomes.acknowledged) < place and not outcomes.done.wait(0.01):
            pass
        time.sleep(chosen.uniform(0, 0.1))
        if act == "kill":
            while not chosen.choice(servers).kill():
                time.sleep(0.02)
            continue
        begun = time.monotonic()
        postgresql.stop()
        time.sleep(chosen.uniform(0, 1))
        postgresql.start()
        away.append((begun, time.monotonic()))
    return away


def test_killed_replicas_and_sequencers_and_a_stopped_database_leave_one_history(
    postgresql: Postgresql, tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, policy = postgresql.url(), tmp_path / "base.toml"
    key = _document(capsys, "admin", "init", "--store", url)["public_key"]
    policy.write_text(_POLICY, encoding="utf-8")
    _document(capsys, "policy", "push", "base", str(policy), "--store", url)
    write_skill(tmp_path / "skills", "deploy", files={"scripts/mark.sh": SCRIPT})
    (tmp_path / "work").mkdir()
    outcomes = Outcomes(CALLS)
    with ExitStack() as stack:
        rows = SharedAuditRows(SharedDatabase(url))
        stack.callback(rows.database.close)
        servers = _Servers(tmp_path, url, stack)
        clients = servers.clients(outcomes, stack)
        _sequence(rows, url)
        witness = _Witness(rows, outcomes.done)
        begun = time.monotonic()
        for thread in (witness, *clients):
            thread.start()
        away = _disturb(outcomes, servers.all, postgresql)
        for thread in (witness, *clients):
            thread.join()
        seconds = time.monotonic() - begun
        servers.wait()
        assert {client.active(one) for client in clients for one in servers.urls} == {("deploy",)}
        _sequence(rows, url)
        capsys.readouterr()
        tree = TileTree(rows.tile, url)
        assert [one.size for one in witness.kept if root_of(tree, one.size) != one.root] == []
        records = newest(rows, RecordFilter(), 10**9)
    kept = tmp_path / "checkpoint"
    kept.write_text(str(witness.kept[0]), encoding="utf-8")
    verdict = _document(capsys, "audit", "verify", "--store", url, "--key", key, "--checkpoint", str(kept))
    ran = Counter((tmp_path / "work/runs").read_text(encoding="utf-8").split())
    told = {
        "acknowledged": len(outcomes.acknowledged),
        "refused": len(outcomes.refused),
        "broken": len(outcomes.broken),
        "kills": [server.kills for server in servers.all],
        "away": [round(back - gone, 2) for gone, back in away],
        "scripts run": len(ran),
        "records": len(records),
        "checkpoints": len(witness.kept),
        "ends": [server.ends for server in servers.all],
        "seconds": round(seconds),
    }
    sys.stderr.write(f"{told}\n")
    assert outcomes.unexpected == []
    assert len(witness.kept) > 1
    assert (verdict["ok"], verdict["records"], verdict["faults"]) == (True, len(records), [])
    _compare(outcomes, ran, records)
    _require_no_help(servers.all, away)


def _compare(outcomes: Outcomes, ran: Counter[str], records: list[AuditRecord]) -> None:
    """Compare what clients heard, what ran, and what is in the log."""
    log = {
        kind: Counter(record.call_id or "" for record in records if record.kind == kind)
        for kind in (*_OF_A_CALL, "tool.refused")
    }
    # Nothing acknowledged is lost or doubled.
    for counts in (ran, *(log[kind] for kind in _OF_A_CALL)):
        assert {call: counts[call] for call in outcomes.acknowledged if counts[call] != 1} == {}
    # No tool ran without a record, and nothing is there twice.
    assert {call: log["tool.started"][call] for call in ran if log["tool.started"][call] != 1} == {}
    calls = outcomes.acknowledged | outcomes.refused.keys() | outcomes.broken
    assert {call for counts in (ran, *log.values()) for call in calls if counts[call] > 1} == set()
    assert ran.keys() <= calls
    # A refusal tells the truth about its call.
    for call, told in outcomes.refused.items():
        assert ran[call] == (_RAN in told), told
        assert _RAN in told or _NOT_RUN in told or _UNRECORDED in told or log["tool.refused"][call] == 1, told


def _require_no_help(servers: list[Supervised], away: list[tuple[float, float]]) -> None:
    """Check that the stops ended no server that served. One that is started meanwhile may give up."""
    for server in servers:
        assert server.starts == 1 + server.kills + len(server.ends)
        for end in server.ends:
            assert not end.served, end
            assert any(gone <= end.at <= back + _STARTING_SECONDS for gone, back in away), (end, away)
