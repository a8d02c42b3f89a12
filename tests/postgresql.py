"""A real PostgreSQL for tests: one server for each worker that needs it, in a temporary directory, on a socket only.

`tools/setup.sh` installs Debian's package, or unpacks it into `.cache/postgresql` if it may install nothing. No cluster
of the system is used or left. The server ends with the process that started it, also if that is killed.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest

from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from collections.abc import Iterator

_UNPACKED = Path(os.environ.get("PROWESS_POSTGRESQL") or Path(__file__).parents[1] / ".cache" / "postgresql")
_NOBODY = "nobody"
_SECONDS = 60
SUPERUSER = "owner"  # what the URLs name; the product has to give its rights up
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",  # nothing here survives the machine
    "shared_buffers": "16MB",
    "max_connections": "100",
    "log_min_messages": "fatal",
    "lc_messages": "C",
}


class Postgresql:
    """A running server. `url()` is a new, empty database on it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._programs, libraries = _found()
        self._as_user = [] if os.geteuid() else ["--reuid", _NOBODY, "--clear-groups"]
        self._environment = {"PATH": os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C", **libraries}
        self._numbers = count()
        self._template: str | None = None
        if not os.geteuid():
            os.chown(place, pwd.getpwnam(_NOBODY).pw_uid, -1)
        arguments = ["--no-sync", "--no-locale", "--encoding=UTF8", "--auth=trust", f"--username={SUPERUSER}"]
        self._finish("initdb", *arguments, f"--pgdata={place / 'data'}")
        self._server = self._started()

    def url(self, user: str = SUPERUSER) -> str:
        """Create an empty database and return its URL."""
        name = f"test{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}", "postgres")
        return self.url_of(name, user)

    def store_url(self) -> str:
        """Return the URL of a new shared store with the tenant `default`."""
        if self._template is None:
            self._template = self.url()
            create_store(self._template, origin="test", public_key="test")
        name = f"test{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {database_of(self._template)}", "postgres")
        return self.url_of(name)

    def url_of(self, database: str, user: str = SUPERUSER) -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.place), safe='')}"

    def run(self, sql: str, database: str) -> str:
        """Run SQL as the superuser and return what `psql` prints: rows, with tabs between the columns."""
        return self._finish(
            "psql",
            "-XqAt",
            "-F\t",
            "-vON_ERROR_STOP=1",
            f"-h{self.place}",
            f"-U{SUPERUSER}",
            f"-d{database}",
            f"-c{sql}",
        )

    def stop(self) -> None:
        """Stop as `pg_ctl -m immediate` does: every connection breaks, and nothing is written."""
        until = time.monotonic() + _SECONDS
        while self._server.poll() is None:
            assert time.monotonic() < until, "PostgreSQL does not stop"
            # Once more if a child hangs: the server kills it after 5 seconds, but may look only after a minute.
            self._server.send_signal(signal.SIGQUIT)
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(1)

    def start(self) -> None:
        """Start again after `stop`; connections are accepted when this returns."""
        self._server = self._started()

    def close(self) -> None:
        if self._server.poll() is None:
            self.stop()

    def _finish(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            self._command(program, *arguments),
            env=self._environment,
            cwd=self.place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _started(self) -> subprocess.Popen[bytes]:
        settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
        place = [f"-D{self.place / 'data'}", f"-cunix_socket_directories={self.place}"]
        state = self.place / "data" / "postmaster.pid"
        state.unlink(missing_ok=True)  # of a server that was stopped at once
        with (self.place / "log").open("ab") as log:
            server = subprocess.Popen(
                self._command("postgres", *place, *settings),
                env=self._environment,
                cwd=self.place,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _SECONDS
        while not _is_ready(state):
            assert server.poll() is None, (self.place / "log").read_text()
            assert time.monotonic() < until, "PostgreSQL does not start"
            time.sleep(0.02)
        return server

    def _command(self, program: str, *arguments: str) -> list[str]:
        # The signal ends a server whose worker was killed.
        return ["setpriv", "--pdeathsig", "QUIT", *self._as_user, str(self._programs / program), *arguments]


def database_of(url: str) -> str:
    """Return the name of the database in a URL."""
    return urlsplit(url).path.removeprefix("/")


def _is_ready(state: Path) -> bool:
    """The last line of the file names the state of the server."""
    with suppress(FileNotFoundError):
        return state.read_text().rstrip().endswith("ready")
    return False


def _found() -> tuple[Path, dict[str, str]]:
    """Return the directory of the newest programs, and variables for them; skip if there are none."""
    for root in (Path("/"), _UNPACKED):
        programs = sorted((root / "usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
        if programs and shutil.which("setpriv"):
            if root == Path("/"):
                return programs[-1].parent, {}
            libraries = [str(path) for path in (root / "usr/lib").glob("*-linux-*") if path.is_dir()]
            return programs[-1].parent, {"LD_LIBRARY_PATH": ":".join(libraries)}
    pytest.skip("PostgreSQL is not on this machine; `make setup` gets it")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgresql]:
    """Return the server of this worker; it starts within two seconds."""
    # Not in the directory of pytest, which another user cannot enter. Paths of sockets have at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="prowess-postgresql-") as place:
        os.chmod(place, 0o755)
        server = Postgresql(Path(place))
        try:
            yield server
        finally:
            server.close()
