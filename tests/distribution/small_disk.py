"""A small file system that can be full or read-only. Mounting needs root; without it, a test is skipped."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = 4096


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """Mount a file system of 256 KiB at the new directory `place`. The working directory is restored at the end."""
    place.mkdir()
    before = Path.cwd()
    with _mounted("-t", "tmpfs", "-o", "size=256k,nr_inodes=300", "tmpfs", at=place):
        try:
            yield place
        finally:
            os.chdir(before)  # a file system in use cannot be unmounted


@contextmanager
def read_only(place: Path) -> Iterator[None]:
    """Let nobody write below `place`."""
    with _mounted("--bind", str(place), at=place):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True, timeout=30)
        yield


@contextmanager
def filled(disk: Path, free: int = 0) -> Iterator[None]:
    """Fill a small disk, but for `free` blocks."""
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(b"x" * _BLOCK)
        file.truncate(max(file.tell() - free * _BLOCK, 0))
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def _mounted(*options: str, at: Path) -> Iterator[None]:
    command = ["mount", *options, str(at)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(at)], check=True, timeout=30)
