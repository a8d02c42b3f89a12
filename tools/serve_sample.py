"""Serve an organisation with sample data: `make admin`.

    python -m tools.serve_sample [--port 8420] [--sqlite] [--sessions 200]

Starts PostgreSQL in a temporary directory, or makes an SQLite file if PostgreSQL is not on this machine, fills the
store, runs `prowess admin serve`, and prints the address and a token. While it runs, sample calls go on, so that the
page of activity is live. Ctrl-C ends everything, and nothing is left.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.governance.organisation import found_organisation, organisation_key
from prowess.store import SharedDatabase
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.tenants import EVERY
from tests.postgresql import Postgresql
from tools.sample_decisions import add_decisions
from tools.sample_organisation import add_records, sample_events

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS_BETWEEN_CALLS = 1.5


def main() -> int:
    """Serve until Ctrl-C, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.serve_sample", description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8420)
    parser.add_argument("--sqlite", action="store_true", help="an SQLite file, also if PostgreSQL is here")
    parser.add_argument("--sessions", type=int, default=200, help="sessions of the last week in the log")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prowess-admin-")))
        os.environ["PROWESS_HOME"] = str(home / "home")
        url = f"sqlite:///{home}/organisation.db" if options.sqlite else None
        url = url or stack.enter_context(_postgresql(f"sqlite:///{home}/organisation.db"))
        token = found_organisation(url, "acme.example", "ada").administrator.text
        database = SharedDatabase(url, EVERY)
        stack.callback(database.close)
        add_records(database.of_tenant("default"), options.sessions)
        add_decisions(database, organisation_key(OrganisationStore(url).organisation()))
        server = stack.enter_context(_server(url, options.port))
        print(
            f"address  http://127.0.0.1:{options.port}/", f"token    {token}", "Ctrl-C ends it.", sep="\n", flush=True
        )
        with suppress(KeyboardInterrupt):
            _go_on(SharedAuditLog(database.of_tenant("default")), server)
        return server.poll() or 0


@contextmanager
def _postgresql(otherwise: str) -> Iterator[str]:
    """Give the URL of an empty database, or `otherwise` if PostgreSQL is not on this machine."""
    with tempfile.TemporaryDirectory(prefix="prowess-postgresql-") as place:
        os.chmod(place, 0o755)  # noqa: S103 -- the server runs as another user
        try:
            postgresql = Postgresql(Path(place))
        except pytest.skip.Exception:
            print("PostgreSQL is not on this machine, so the store is an SQLite file", file=sys.stderr)
            yield otherwise
            return
        try:
            yield postgresql.url()
        finally:
            postgresql.close()


@contextmanager
def _server(url: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "prowess", "admin", "serve", "--store", url, "--http", f"127.0.0.1:{port}"]
    server = subprocess.Popen(command)
    try:
        yield server
    finally:
        server.terminate()
        server.wait()


def _go_on(log: SharedAuditLog, server: subprocess.Popen[bytes]) -> None:
    """Record sample calls until the server ends."""
    for seed in itertools.count(100):
        for event in sample_events(20, seed):
            with suppress(subprocess.TimeoutExpired):
                server.wait(_SECONDS_BETWEEN_CALLS)
                return
            log.append(event)


if __name__ == "__main__":
    sys.exit(main())
