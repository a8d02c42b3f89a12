"""Kills a command at its system calls that change files, with strace.

The calls of an undisturbed run are counted first. Then the command is run again for each of them, from the same state,
and killed just before the call. Every command is a process of its own, so what it leaves is what a user would find.

`PROWESS_KILLS=all` kills at every call, as root and as another user, and writes the numbers to the file PROWESS_KILLED.
By default a few calls of each command are tried.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest

from tests.fork_server import Ran, run_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL = os.environ.get("PROWESS_KILLS") == "all"
_COUNTED = os.environ.get("PROWESS_KILLED")
_NOBODY = 65534
USERS = [None, _NOBODY] if ALL and sys.platform == "linux" and os.geteuid() == 0 else [None]
_CALLS = (
    *("mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "chmod", "fchmod"),
    *("fchmodat", "symlink", "symlinkat", "link", "linkat", "write", "writev", "pwrite64", "truncate", "ftruncate"),
    *("fsync", "fdatasync", "open", "openat", "creat", "copy_file_range", "sendfile", "utimensat", "chown", "fchown"),
    *("lchown", "fchownat", "setxattr", "fsetxattr", "fallocate", "mknod", "mknodat"),
)
_LINE = re.compile(r"(\d+) +([a-z_0-9]+)\((.*)")
_CREATES = re.compile(r"O_CREAT|O_TRUNC")
_RANDOM = re.compile(r"[0-9a-f]{12,16}|stage-\w{8}|person/\w{8,11}|\)? += (\?|-?\d+).*")  # temporary names, results

Point = tuple[str, int]  # a system call, and which one of its kind, counted from 1


class Place:
    """A directory that is restored before each run, because stores and states have absolute paths."""

    def __init__(self, directory: Path) -> None:
        self._kept, self.used = directory / "kept", directory / "used"
        self.home = self.used / "home"
        (self.used / "person").mkdir(parents=True)
        self.environment = {key: value for key, value in os.environ.items() if key != "CI"}
        self.environment |= {"PROWESS_HOME": str(self.home), "HOME": str(self.used / "person")}
        self.environment |= {"XDG_CACHE_HOME": str(self.used / "person/.cache"), "TMPDIR": str(self.used / "person")}
        self._user: int | None = None

    def keep(self, user: int | None) -> None:
        """Keep the present state for `restore`. It belongs to `user`, who runs all commands from now on."""
        self._user = user
        for path in (self.used, *self.used.rglob("*")):
            if user is not None:
                os.chown(path, user, user, follow_symlinks=False)
        _copy(self.used, self._kept)

    def restore(self) -> None:
        """Make everything as it was kept."""
        _remove(self.used)
        _copy(self._kept, self.used)

    def run(self, *arguments: str, directory: Path | None = None, code: int = 0) -> str:
        """Run a command line, and return its output."""
        ran = self._ran(arguments, directory)
        assert ran.code == code, ran
        return ran.out

    def kills(self, *arguments: str, directory: Path | None = None, few: int, code: int = 0) -> Kills:
        """Run a command to its end. Iterating over the result restores this place, and kills the command each time."""
        run_at_once([arguments], directory or self.used, self.environment)  # imports what the next runs need
        self.restore()
        return Kills(self, arguments, directory, few=few, code=code)

    def traced(self, arguments: tuple[str, ...], directory: Path | None, *options: str) -> tuple[Ran, list[str]]:
        """Run a command under strace. Return its end, and the lines of strace."""
        log = self.used.parent / "log"
        log.unlink(missing_ok=True)
        ran = self._ran(arguments, directory, *options, "-o", str(log))
        return ran, log.read_text(encoding="utf-8", errors="replace").splitlines()

    def _ran(self, arguments: tuple[str, ...], directory: Path | None, *trace: str) -> Ran:
        return run_at_once([arguments], directory or self.used, self.environment, user=self._user, trace=trace)[0]

    @property
    def user(self) -> int:
        """The number of the user who runs the commands."""
        return os.geteuid() if self._user is None else self._user


class Kills:
    """The calls of one command that change files. Iterating kills the command at each of them, or at a few."""

    def __init__(
        self, place: Place, arguments: tuple[str, ...], directory: Path | None, *, few: int, code: int
    ) -> None:
        self._place, self._arguments, self._directory, self._few = place, arguments, directory, few
        ran, lines = place.traced(arguments, directory, "-e", f"trace={','.join(_CALLS)}")
        assert ran.code == code, ran
        self._code = code
        counts: Counter[tuple[str, str]] = Counter()
        self.points: list[Point] = []
        self._lines: list[str] = []
        for line in lines:
            if (match := _LINE.match(line)) is None:
                continue
            process, call, rest = match.groups()
            counts[process, call] += 1  # strace counts the calls of each process and thread
            if _changes_files(call, rest):
                self.points.append((call, counts[process, call]))
                self._lines.append(_without_random(rest))

    def __iter__(self) -> Iterator[Point]:
        step = 1 if ALL else max(len(self.points) // self._few, 1)
        killed = exact = 0
        chosen = list(zip(self.points, self._lines, strict=True))[step // 2 :: step]
        for (call, number), expected in chosen:
            self._place.restore()
            inject = f"inject={call}:signal=KILL:when={number}"
            ran, lines = self._place.traced(self._arguments, self._directory, "-e", f"trace={call}", "-e", inject)
            # The order in which directories are read differs between runs, so the last calls of a kind may not come;
            # then the command ends as it should.
            assert ran.code in {-signal.SIGKILL, self._code}, (call, number, ran)
            if ran.code != self._code:
                killed += 1
                last = [match for match in map(_LINE.match, lines) if match is not None][-1]
                exact += _without_random(last[3]) == expected and _changes_files(call, last[3])
            yield call, number
        assert killed == len(chosen), (killed, len(chosen))
        if _COUNTED:
            with open(_COUNTED, "a", encoding="utf-8") as file:
                counted = (
                    f"{killed} killed of {len(chosen)} tried of {len(self.points)} calls, {exact} at the same call"
                )
                file.write(f"{' '.join(self._arguments)} (user {self._place.user}): {counted}\n")


def _changes_files(call: str, rest: str) -> bool:
    if call in {"open", "openat"}:
        return _CREATES.search(rest) is not None
    return not (call in {"write", "writev"} and rest.startswith(("1,", "2,")))


def _without_random(rest: str) -> str:
    return _RANDOM.sub("*", rest)


@contextmanager
def opened_place() -> Iterator[Place]:
    """A place that other users can enter. The test is skipped if processes cannot be traced here."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    directory = Path(mkdtemp())  # other users cannot enter the directories of pytest
    directory.chmod(0o755)
    before = Path.cwd()
    try:
        place = Place(directory)
        try:
            place.traced(("--version",), None)
        except PermissionError:
            pytest.skip("processes cannot be traced here")
        yield place
    finally:
        os.chdir(before)
        _remove(directory)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, symlinks=True)
    if os.geteuid() == 0:
        for path in (source, *source.rglob("*")):
            state = path.lstat()
            os.chown(target / path.relative_to(source), state.st_uid, state.st_gid, follow_symlinks=False)


def _remove(directory: Path) -> None:
    for parent, _, _ in os.walk(directory):
        os.chmod(parent, 0o700)
    shutil.rmtree(directory, ignore_errors=True)
