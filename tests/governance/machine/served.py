"""The real server of an organisation, `prowess admin serve`, as a process that can be stopped and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from typing import TYPE_CHECKING, Any, Self

from prowess.governance.organisation import add_token
from tests.governance.machine.machines import BOUND, PROWESS

if TYPE_CHECKING:
    from pathlib import Path


class ServedStore:
    """A new store at `url`, its key in `home`, and its server at one address while it runs."""

    def __init__(self, url: str, home: Path) -> None:
        self.store, self._home = url, home
        self.made = self.admin("init", "--origin", "acme.example")
        self.machine_token = self.token("machine")
        self._process: subprocess.Popen[str] | None = None
        self._address = "127.0.0.1:0"

    def admin(self, *arguments: str) -> dict[str, Any]:
        """Run `prowess admin … --json` and return what it prints."""
        command = [*PROWESS, "admin", *arguments, "--store", self.store, "--json"]
        ran = subprocess.run(command, capture_output=True, text=True, check=True, env=self._environment)
        found = json.loads(ran.stdout)
        assert isinstance(found, dict)
        return found

    def token(self, role: str, tenant: str = "default") -> str:
        """Return the text of a new token."""
        made = add_token(self.store, tenant=tenant, role=role, user=role)
        assert made is not None
        return made.text

    @property
    def url(self) -> str:
        """The address of the server, the same after a restart."""
        return f"http://{self._address}"

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PROWESS_HOME": str(self._home)}

    def start(self) -> None:
        """Start the server, and return when it serves."""
        command = [*PROWESS, "admin", "serve", "--store", self.store, "--http", self._address]
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=self._environment)
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        assert line.startswith("Serving at http://"), line
        self._address = line.split("//")[1].strip().rstrip("/")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the server."""
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.wait(BOUND)
        assert self._process.stderr is not None
        self._process.stderr.close()
        self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *details: object) -> None:
        self.stop()

    def deploy(self, archive: bytes, query: str = "tenant=*") -> None:
        """Deploy a skill as the administrator."""
        self._answer("POST", f"/deployments?{query}", archive, "application/octet-stream")

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 -- a document
        """Call the interface as the administrator."""
        return self._answer(method, path, None if body is None else json.dumps(body).encode(), "application/json")

    def _answer(self, method: str, path: str, data: bytes | None, kind: str) -> Any:  # noqa: ANN401 -- a document
        asked = urllib.request.Request(  # noqa: S310 -- the address of this test
            f"{self.url}/api/v1{path}",
            method=method,
            data=data,
            headers={"authorization": f"Bearer {self.made['token']}", "content-type": kind},
        )
        with urllib.request.urlopen(asked, timeout=BOUND) as answer:  # noqa: S310 -- as above
            return json.loads(answer.read() or b"null")

    def records(self, kind: str, count: int = 1) -> list[dict[str, Any]]:
        """Return the records of one kind in the log, when there are at least `count`."""
        end = time.monotonic() + BOUND
        while True:
            found = self.call("GET", f"/audit?kind={kind}&limit=500&tenant=default")["items"]
            if len(found) >= count:
                return list(found)
            assert time.monotonic() < end, (kind, found)
            time.sleep(0.1)

    def machine(self) -> dict[str, Any]:
        """Return the one enrolled machine."""
        (found,) = self.call("GET", "/machines?tenant=default")["items"]
        assert isinstance(found, dict)
        return found
