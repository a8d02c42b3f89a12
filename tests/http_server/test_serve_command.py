"""`prowess admin serve` as a process: it says where it serves, signs the log, and ends in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.governance.organisation import key_path
from prowess.store.shared.organisation import OrganisationStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECONDS = 30


@contextmanager
def served(url: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """Run the command, and give its process, the address that it prints, and the lines before."""
    command = [sys.executable, "-m", "prowess", "admin", "serve", "--store", url, "--http", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            before: list[str] = []
            while not (line := process.stderr.readline()).startswith("Serving at "):
                assert line, before
                before.append(line)
            yield process, line.removeprefix("Serving at ").strip().rstrip("/"), before
        finally:
            process.kill()


def asked(url: str, token: str | None = None, body: object = None) -> Any:  # noqa: ANN401 -- JSON
    headers = {} if token is None else {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=SECONDS) as answer:  # noqa: S310 -- http
            return json.load(answer)
    except urllib.error.HTTPError as fault:
        with fault:
            return {"status": fault.code, **json.load(fault)}


@pytest.fixture
def store(tmp_path: Path, own_home: Path, capfd: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return the URL of a new store, and a token of the organisation's administrator."""
    del own_home
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    assert run(["admin", "init", "--store", url, "--json"]) == exit_codes.OK
    return url, json.loads(capfd.readouterr().out)["token"]


def test_it_serves_signs_the_log_each_second_and_ends_at_sigterm(store: tuple[str, str]) -> None:
    url, token = store
    with served(url) as (process, address, before):
        assert before == []
        made = asked(f"{address}/api/v1/blocks?tenant=default", token, {"match": {"name": "leaky"}, "reason": "leaks"})
        assert (made["match"], made["tenant"]) == ({"name": "leaky"}, "default")
        end = time.monotonic() + SECONDS
        while "size" not in (state := asked(f"{address}/api/v1/audit/checkpoint?tenant=default", token)):
            assert (state["status"], time.monotonic() < end) == (404, True)
            time.sleep(0.1)
        assert (state["size"], state["waiting"]) == (1, 0)
        stream = urllib.request.Request(f"{address}/api/v1/events", headers={"authorization": f"Bearer {token}"})  # noqa: S310 -- http
        with urllib.request.urlopen(stream, timeout=SECONDS):  # noqa: S310 -- http
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == exit_codes.SIGNALLED + signal.SIGTERM
        assert (process.stderr and process.stderr.read(), process.stdout and process.stdout.read()) == ("", "")


@pytest.mark.unmeasured
def test_without_the_key_it_says_so_and_serves_without_signing(store: tuple[str, str]) -> None:
    url, token = store
    opened = OrganisationStore(url)
    os.unlink(key_path(opened.organisation()))
    opened.database.close()
    with served(url) as (_, address, before):
        assert "records wait without a place" in "".join(before)
        assert asked(f"{address}/readyz")["status"] == "ready"
        assert asked(f"{address}/api/v1/me", token)["tenant"] == "*"
        assert asked(f"{address}/api/v1/bundle?tenant=default", token)["status"] == 503


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--http", "0.0.0.0:0"), "other machines can reach"),
        (("--http", "nowhere"), "is not an address"),
        (("--store", "sqlite:///none.db"), "is no shared store"),
    ],
)
def test_another_address_and_a_missing_store_are_refused(
    store: tuple[str, str], capfd: pytest.CaptureFixture[str], options: tuple[str, ...], part: str
) -> None:
    assert run(["admin", "serve", "--store", store[0], "--http", "127.0.0.1:0", *options]) != exit_codes.OK
    assert part in capfd.readouterr().err
