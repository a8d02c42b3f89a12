"""From a committed audit record to its row on the open page of activity, in Chromium.

The clock of this machine is read when the record is committed and when the row is in the document, so the figure is
elapsed time. It contains the wait for the next look at the store, which is 50 ms in the middle.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.figures import Figure
from prowess.audit import AuditEvent
from prowess.audit.transparency.central_log import SharedAuditLog
from prowess.governance.organisation import found_organisation
from prowess.store import SharedDatabase
from tests.postgresql import Postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.corpora import Corpus

_RECORDS = 20
_MOST_MILLISECONDS = 250
_NAME = "a committed record is a row on the open page (p50)"
_OBSERVE = """() => {
  window.arrived = {};
  new MutationObserver(changes => { for (const change of changes) for (const row of change.addedNodes)
    if (row.cells) window.arrived[row.cells[2].innerText] = Date.now();
  }).observe(document.querySelector('#rows'), {childList: true});
}"""


def run(corpora: Sequence[Corpus], rounds: int) -> list[Figure]:
    """Measure 20 records; the corpora and the number of rounds are not used."""
    del corpora, rounds
    program = shutil.which("chromium")
    if program is None:
        return [Figure(name=_NAME, value=None, unit="ms", note="needs Chromium")]
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="prowess-live-"))
        store = stack.enter_context(_empty_store(home))
        served = stack.enter_context(_served(store, home))
        waits = _waits(program, store, *served)
    kind = "PostgreSQL" if store.startswith("postgresql") else "SQLite"
    note = f"{_RECORDS} records in {kind}, one at a time; longest {max(waits):.0f} ms"
    value = round(statistics.median(waits), 1)
    return [Figure(name=_NAME, value=value, unit="ms", at_most=_MOST_MILLISECONDS, note=note)]


def _waits(program: str, store: str, address: str, token: str) -> list[float]:
    from playwright.sync_api import sync_playwright  # only this benchmark needs it

    log = SharedAuditLog(SharedDatabase(store, "default"))
    root = [] if os.geteuid() else ["--no-sandbox"]
    committed: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=root)
        page = browser.new_page()
        page.goto(f"{address}login")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        with page.expect_response("**/activity/live*"):
            page.goto(f"{address}activity?team=live")
        page.evaluate(_OBSERVE)
        for number in range(_RECORDS):
            skill = f"skill-{number}"
            log.append(AuditEvent(kind="skill.loaded", data={"skill": skill, "team": "live"}))
            committed[skill] = time.time() * 1000
            page.wait_for_function("name => window.arrived[name]", arg=skill)
            time.sleep(0.013 * (number % 9))  # so that records meet each moment between two looks
        arrived: dict[str, Any] = page.evaluate("window.arrived")
        browser.close()
    log.close()
    return [arrived[skill] - at for skill, at in committed.items()]


@contextmanager
def _empty_store(home: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="prowess-postgresql-") as place:
        os.chmod(place, 0o755)  # noqa: S103 -- the server runs as another user
        try:
            postgresql = Postgresql(Path(place))
        except pytest.skip.Exception:
            yield f"sqlite:///{home}/organisation.db"
            return
        try:
            yield postgresql.url()
        finally:
            postgresql.close()


@contextmanager
def _served(store: str, home: str) -> Iterator[tuple[str, str]]:
    before = os.environ.get("PROWESS_HOME")
    os.environ["PROWESS_HOME"] = home  # the key of the organisation is kept there
    token = found_organisation(store, "acme.example", "ada").administrator.text
    command = [sys.executable, "-m", "prowess", "admin", "serve", "--store", store, "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        line = ""
        while not line.startswith("Serving at "):
            line = server.stderr.readline()
        try:
            yield line.removeprefix("Serving at ").strip(), token
        finally:
            server.terminate()
            os.environ.pop("PROWESS_HOME")
            if before is not None:
                os.environ["PROWESS_HOME"] = before
