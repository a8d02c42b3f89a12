"""What bash really starts: lines run one by one under one strace, with stubs for every program.

The directory on the PATH holds one small program under many names, the working directory a few files for globs to
find, and the environment nothing else. Each line has a `bash -c` of its own; what it calls is read from the trace, so
no stub has to write anything. Failed attempts count as well: a program that is missing here may exist elsewhere.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NEEDED = ("strace", "bash")
FILES = ("a", "ab", "b.md", "-x", "-v", "push", "sub/git", "git", "2", "x=y")
_DRIVER = """\
i=0
while IFS= read -r -d '' line <&3; do
  "$BASH" --norc --noprofile -c -- "$line" "line-$i" </dev/null >/dev/null 2>&1
  i=$((i+1))
done 3<"$1"
"""
_EXECVE = re.compile(r'^\d+ +execve\("(?P<path>[^"]*)", \[(?P<argv>[^\]]*)\]')
_MARK = re.compile(r"line-\d+")
_SECONDS = 600


class TracedBash:
    """Runs batches of lines in `place`, an empty directory of its own."""

    def __init__(self, place: Path, programs: Iterable[str]) -> None:
        self._place = place
        self._bin, self._work = place / "bin", place / "work"
        self._bin.mkdir()
        (self._work / "sub").mkdir(parents=True)
        (place / "home").mkdir()
        for name in FILES:
            (self._work / name).write_bytes(b"")
        stub = place / "stub"
        shutil.copy(shutil.which("true") or "/bin/true", stub)
        for name in programs:
            os.link(stub, self._bin / name)
        os.link(stub, self._work / "sub" / "stub")
        self._bash = shutil.which("bash") or "/bin/bash"

    def started(self, lines: Sequence[str]) -> list[list[tuple[str, ...]]]:
        """Return for each line the argument vectors with which bash started something, in the order of the trace."""
        listed, trace = self._place / "lines", self._place / "trace"
        listed.write_bytes(b"".join(line.encode() + b"\0" for line in lines))
        (self._place / "driver").write_text(_DRIVER, encoding="utf-8")
        command = [
            "strace",
            "-f",
            "-qq",
            "-xx",
            "-s",
            "70000",
            "-e",
            "trace=execve",
            "-e",
            "signal=none",
            "-o",
            str(trace),
        ]
        bash = [self._bash, "--norc", "--noprofile", str(self._place / "driver"), str(listed)]
        subprocess.run(
            [*command, "--seccomp-bpf", *bash],
            cwd=self._work,
            env={"PATH": str(self._bin), "HOME": str(self._place / "home"), "LC_ALL": "C.UTF-8"},
            executable=shutil.which("strace"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
            preexec_fn=_limit,
        )
        return [[self._checked(path, argv) for path, argv in calls] for calls in _split(trace, len(lines))]

    def _checked(self, path: str, argv: tuple[str, ...]) -> tuple[str, ...]:
        """The vector; where the file that was started is not the one of that name, the name says so."""
        if path in {argv[0], str(self._bin / argv[0])}:
            return argv
        return (f"{path} as {argv[0]}", *argv[1:])


def can_trace() -> str | None:
    """Return why lines cannot be traced on this machine, or None."""
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} missing"
    ran = subprocess.run(["strace", "-f", "--seccomp-bpf", "-qq", "true"], capture_output=True, check=False, timeout=20)
    return None if ran.returncode == 0 else "strace may not trace here"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))  # the trace itself is a file
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _split(trace: Path, count: int) -> list[list[tuple[str, tuple[str, ...]]]]:
    found: list[list[tuple[str, tuple[str, ...]]]] = [[] for _ in range(count)]
    at = -1
    for line in trace.read_text(encoding="ascii").splitlines():
        match = _EXECVE.match(line)
        if match is None:
            continue
        argv = tuple(_text(part) for part in re.findall(r'"([^"]*)"', match["argv"]))
        if len(argv) == 7 and argv[3:5] == ("-c", "--") and _MARK.fullmatch(argv[6]):
            assert argv[6] == f"line-{at + 1}"
            at += 1
        elif at >= 0:
            found[at].append((_text(match["path"]), argv))
    assert at == count - 1, f"only {at + 1} of {count} lines were run"
    return found


def _text(hexadecimal: str) -> str:
    return bytes.fromhex(hexadecimal.replace("\\x", "")).decode("utf-8", "surrogateescape")
