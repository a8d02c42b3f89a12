"""A command of Prowess on a terminal, as a process of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_PROGRAM = "import sys; from prowess.cli.main import main; main()"


@contextmanager
def terminal_process(
    directory: Path,
    *arguments: str,
    columns: int = 80,
    piped: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start `prowess` with both streams on a terminal, with `piped` standard error alone; yield it and our end."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdin=theirs,
        stdout=subprocess.PIPE if piped else theirs,
        stderr=theirs,
        cwd=directory,
        env={**kept, "TERM": "xterm", **(environment or {})},
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait(timeout=20)
        if process.stdout is not None:
            process.stdout.close()
        os.close(ours)


def on_a_terminal(
    directory: Path, *arguments: str, columns: int = 80, environment: Mapping[str, str] | None = None
) -> str:
    """Return what a command prints on a terminal."""
    with terminal_process(directory, *arguments, columns=columns, environment=environment) as (process, ours):
        printed = rest_of(ours)
        process.wait(timeout=20)
    return printed


def rest_of(ours: int) -> str:
    """Return what comes until the other end is closed."""
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    return b"".join(parts).decode()
