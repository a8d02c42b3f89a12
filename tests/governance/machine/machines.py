"""A machine of its own for tests: mount namespaces in which `/etc`, `/run` and `/var/lib` belong to the test.

Commands use the same paths as on a real machine, as root and as another user. It needs root.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

USER = 65534
PROWESS = [sys.executable, "-P", "-c", "from prowess.cli.main import main; main()"]
BOUND = 30
LIST = json.dumps({"id": "1", "tool": "skills.list", "arguments": {}}) + "\n"
_TOOLS = ("unshare", "nsenter", "setpriv", "mount")
_MOUNTS = """
set -e
mkdir -p "$1/upper" "$1/work"
mount -t tmpfs none "$1"
mkdir -p "$1/upper" "$1/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc
mount -t tmpfs -o mode=755 none /run
mount -t tmpfs -o mode=755 none /var/lib
mkdir -m 1777 /run/people
echo ready
exec sleep infinity
"""


class Machine:
    """A machine, as long as its namespaces live."""

    def __init__(self, holder: int) -> None:
        self._enter = ["nsenter", f"--target={holder}", "--mount"]
        self.root = Path(f"/proc/{holder}/root")

    def command(self, arguments: list[str], user: int | None = None) -> list[str]:
        """Return the command line that runs `arguments` on this machine."""
        as_user = [] if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        return [*self._enter, *as_user, *arguments]

    def environment(self, user: int | None = None, further: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the variables of a user. The home of each user is empty at first."""
        home = f"/run/people/{user or 0}"
        known = {key: value for key, value in os.environ.items() if not key.startswith("PROWESS")}
        return {**known, "HOME": home, "XDG_CACHE_HOME": f"{home}/.cache", **(further or {})}

    def run(
        self,
        *arguments: str,
        user: int | None = None,
        code: int | None = 0,
        lines: str | None = None,
        variables: Mapping[str, str] | None = None,
        program: list[str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `prowess` (or `program`) on this machine and return its end."""
        ran = subprocess.run(
            self.command([*(program or PROWESS), *arguments], user),
            input=lines or "",
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            timeout=BOUND,
            env=self.environment(user, variables),
        )
        assert code is None or ran.returncode == code, ran
        return ran

    def document(self, *arguments: str, user: int | None = None, code: int = 0) -> dict[str, Any]:
        """Run a command with `--json` and return what it prints."""
        found = json.loads(self.run(*arguments, "--json", user=user, code=code).stdout)
        assert isinstance(found, dict)
        return found

    @contextmanager
    def service(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Run `prowess machine run` for the block. It takes records when the block begins."""
        process = subprocess.Popen(
            self.command([*PROWESS, "machine", "run", *arguments]),
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env=self.environment(),
        )
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            if "audit records are taken" not in line:
                process.terminate()
                pytest.fail(line + process.communicate(timeout=BOUND)[1])
            socket = self.root / "run/prowess/audit.sock"
            until = time.monotonic() + BOUND
            while not socket.exists() and time.monotonic() < until:
                time.sleep(0.005)
            yield process
        finally:
            process.terminate()
            process.wait(BOUND)
            process.stderr.close()

    @contextmanager
    def session(self, user: int | None = None) -> Iterator[Callable[[], dict[str, Any]]]:
        """Run `prowess session` for the block. The result lists the skills and returns the answer."""
        process = subprocess.Popen(
            self.command([*PROWESS, "session", "--root", "/run/people"], user),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd="/",
            env=self.environment(user),
        )
        source, answers = process.stdin, process.stdout
        assert source is not None
        assert answers is not None

        def called() -> dict[str, Any]:
            source.write(LIST)
            source.flush()
            answer = json.loads(answers.readline())
            assert isinstance(answer, dict)
            return answer

        try:
            yield called
        finally:
            source.close()
            process.wait(BOUND)
            answers.close()

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file of root, with the directories above it."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.draft")
        draft.write_text(text)
        draft.chmod(mode)
        draft.replace(file)

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the machine's log, after it was verified."""
        log = "/var/lib/prowess/audit/audit.jsonl"
        assert self.document("audit", "verify", "--log", log)["ok"]
        return list(self.document("audit", "show", "--tail", "1000000", "--log", log)["records"])


@contextmanager
def machine_in(directory: Path) -> Iterator[Machine]:
    """Start a machine, with its files below `directory`. Skip the test without root."""
    if sys.platform != "linux" or os.geteuid() != 0 or not all(map(shutil.which, _TOOLS)):
        pytest.skip("needs root, unshare and nsenter")
    own = directory / "machine"
    own.mkdir()
    holder = subprocess.Popen(
        ["unshare", "--mount", "--propagation=private", "sh", "-c", _MOUNTS, "sh", str(own)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stderr is not None
    try:
        if holder.stdout.readline() != "ready\n":
            pytest.skip(f"no mount namespaces: {holder.stderr.read()}")
        yield Machine(holder.pid)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        holder.stderr.close()
