"""Exceed one limit of a run. The first argument names an action; the second is a token for the command line.

`prowess.execution.self_check` checks the output. This program does not know the value of the limit.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

MEBIBYTE = 1 << 20
MANY = 5000


def _fill(path: str) -> None:
    written = 0
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while written < 64 * MEBIBYTE:
            written += file.write(bytes(MEBIBYTE))
    sys.stdout.write(str(written))


def _fill_with_files(directory: str) -> None:
    written = 0
    with contextlib.suppress(OSError):
        for number in range(64):
            with open(f"{directory}/{number}", "wb", buffering=0) as file:
                written += file.write(bytes(MEBIBYTE))
    sys.stdout.write(str(written))


def _daemon() -> None:
    """Leave a grandchild that holds the output open, in a session of its own."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(30)
        os._exit(0)
    sys.stdout.write("started")


def _forks() -> None:
    made = 0
    with contextlib.suppress(OSError):
        for _ in range(400):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            made += 1
    sys.stdout.write(str(made))


def _open_files() -> None:
    held: list[int] = []
    with contextlib.suppress(OSError):
        while len(held) < MANY:
            held.append(os.open("/dev/null", os.O_RDONLY))
    sys.stdout.write(str(len(held)))


def _memory() -> None:
    held = [bytearray(b"x") * (16 * MEBIBYTE) for _ in range(32)]
    sys.stdout.write(str(len(held)))


def _burn() -> None:
    while True:
        pass


ACTIONS = {
    "wall": lambda: time.sleep(30),
    "cpu": _burn,
    "output": lambda: sys.stdout.write("x" * (4 * MEBIBYTE)),
    "file": lambda: _fill("/tmp/file"),
    "tmp": lambda: _fill_with_files("/tmp"),
    "out": lambda: _fill_with_files("/out"),
    "tree": _daemon,
    "forks": _forks,
    "open-files": _open_files,
    "memory": _memory,
}

ACTIONS[sys.argv[1]]()
