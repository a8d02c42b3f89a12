"""Kills a command at one of its system calls that change files, with strace.

The calls of an undisturbed run are counted first. Then the command is run again for each of them, and killed just
before the call. Every command is a process of its own, so what it leaves is what a user would find.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CALLS = (
    *("mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "chmod", "fchmod"),
    *("fchmodat", "symlink", "symlinkat", "link", "linkat", "write", "pwrite64", "ftruncate", "fsync", "fdatasync"),
    *("openat", "copy_file_range", "sendfile", "utimensat"),
)
_LINE = re.compile(r"(?:\d+\s+)?([a-z_0-9]+)\((.*)")
_CHANGES = re.compile(r"O_CREAT|O_TRUNC")
KILLED = -9
_SECONDS = 60

# Runs one command as the user NUMBER. What it needs is imported before, because the user may not be able to read it.
_AS_USER = """
import os, pkgutil, sys
from importlib import import_module
from prowess.cli.dispatch import run
import prowess.distribution.installation, prowess.distribution.sources, prowess.lockfile
import prowess.cli.commands.{command}, prowess.cli.commands.install
for room in (prowess.distribution.installation, prowess.distribution.sources, prowess.lockfile):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        import_module(module.name)
import ctypes, encodings.idna, json, grp, pwd
os.setgroups([])
os.setresgid({user}, {user}, {user})
os.setresuid({user}, {user}, {user})
sys.exit(run(sys.argv[1:]))
"""

Point = tuple[str, int]  # a system call, and which one of its kind, counted from 1


def require_strace() -> None:
    """Skip the test if processes cannot be traced here."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    probe = ["strace", "-f", "-qq", "-e", "trace=mkdir", "-o", os.devnull, "true"]
    if subprocess.run(probe, capture_output=True, check=False, timeout=_SECONDS).returncode:
        pytest.skip("processes cannot be traced here")


class Killed:
    """A command line of `prowess` that can be killed. `user` is the number of the user who runs it."""

    def __init__(
        self, arguments: Sequence[str], directory: Path, environment: Mapping[str, str], *, user: int | None = None
    ) -> None:
        if user is None:
            self._command = [str(Path(sys.executable).with_name("prowess")), *arguments]
        else:
            script = _AS_USER.format(user=user, command=arguments[0].replace("-", "_"))
            self._command = [sys.executable, "-c", script, *arguments]
        self._directory, self._user = directory, user
        # No byte code is written, and hashes are the same in each run, so each run makes the same calls.
        self._environment = {**environment, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}

    def points(self, log: Path) -> list[Point]:
        """Run the command to its end, and return its calls that change files, in order."""
        ran = self._traced("-e", f"trace={','.join(CALLS)}", "-o", str(log))
        assert ran.returncode == 0, ran
        counts: Counter[str] = Counter()
        found: list[Point] = []
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            match = _LINE.match(line)
            if match is None:
                continue
            call, arguments = match.groups()
            counts[call] += 1
            is_output = call == "write" and arguments.startswith(("1,", "2,"))
            if not is_output and (call != "openat" or _CHANGES.search(arguments)):
                found.append((call, counts[call]))
        return found

    def kill_at(self, point: Point) -> None:
        """Run the command, and kill it just before one of its calls, if this run makes that call."""
        call, number = point
        ran = self._traced("-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}", "-o", os.devnull)
        # Names of temporary files and the number of writes differ a little between runs, so the last calls of a kind
        # may not come; then the command ends as it should.
        assert ran.returncode in {KILLED, 0}, (point, ran)

    def run(self, *arguments: str) -> str:
        """Run another command line as the same user, undisturbed. Return its output."""
        head = self._command[: 1 if self._user is None else 3]
        ran = subprocess.run(
            [*head, *arguments],
            cwd=self._directory,
            env=self._environment,
            capture_output=True,
            check=False,
            text=True,
            timeout=_SECONDS,
        )
        assert ran.returncode == 0, ran
        return ran.stdout

    def _traced(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["strace", "-f", "-qq", *options, *self._command],
            cwd=self._directory,
            env=self._environment,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
