"""Of the calls that begin after a revoking command has returned, none passes: by files, and by servers with one store.

`PROWESS_REVOCATIONS` and `PROWESS_REVOKED_CALLS` are the numbers of blocks, and of calls that begin after one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from tests.governance.test_replicas import server_with
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.postgresql import Postgresql

pytestmark = pytest.mark.unmeasured
_REVOCATIONS = int(os.environ.get("PROWESS_REVOCATIONS", "2"))
_CALLS = int(os.environ.get("PROWESS_REVOKED_CALLS", "40"))
_SECONDS = 60


class _Worker:
    """One process of `revocation_workers`, and its calls: when each began, and whether it passed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.calls: list[tuple[int, bool]] = []
        assert process.stdout is not None
        self._lines = process.stdout
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._lines:
            begun, passed = line.split()
            self.calls.append((int(begun), passed == "1"))

    def since(self, moment: int) -> list[bool]:
        """Return of each finished call that began after a moment whether it passed."""
        found: list[bool] = []
        for begun, passed in reversed(self.calls):
            if begun <= moment:
                break
            found.append(passed)
        return found


@contextmanager
def _worker(place: Path, *arguments: str) -> Iterator[_Worker]:
    command = [sys.executable, "-m", "tests.governance.revocation_workers", str(place / "skills"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        try:
            yield _Worker(process)
        finally:
            process.kill()


def _wait(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < until, "a worker does not go on"
        time.sleep(0.005)


def test_no_call_passes_that_began_after_the_skill_was_revoked(
    postgresql: Postgresql, tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_skill(tmp_path / "skills", "deploy")
    url = postgresql.store_url()

    def done(*words: str) -> str:
        assert run([*words, "--json"]) == 0
        return str(json.loads(capsys.readouterr().out)["id"])

    with ExitStack() as stack:
        urls = [stack.enter_context(server_with(tmp_path, tmp_path / f"home{number}", url)) for number in range(2)]
        workers = [stack.enter_context(_worker(tmp_path, *more)) for more in ((), (), urls[:1], urls[1:])]
        refused, passed, each = 0, 0, -(-_CALLS // (_REVOCATIONS * len(workers)))
        moment = 0
        for _ in range(_REVOCATIONS):
            _wait(lambda: all(any(worker.since(moment)) for worker in workers))  # noqa: B023 -- called at once
            blocks = [
                (done("block", "deploy", "--reason", "leaks", *where), where)
                for where in (("--scope", "user"), ("--store", url))
            ]
            moment = time.monotonic_ns()
            _wait(lambda: all(len(worker.since(moment)) >= each for worker in workers))  # noqa: B023 -- as above
            last = time.monotonic_ns()
            _wait(lambda: all(worker.since(last) for worker in workers))  # noqa: B023 -- no call is under way now
            results = [found for worker in workers for found in worker.since(moment)]
            passed, refused = passed + sum(results), refused + len(results) - sum(results)
            for block, where in blocks:
                done("unblock", block, *(where if "--store" in where else ()))
            moment = time.monotonic_ns()
    assert (passed, refused >= _CALLS) == (0, True), refused
    sys.stderr.write(f"{_REVOCATIONS} revocations, {refused} calls refused after them, {passed} passed\n")
