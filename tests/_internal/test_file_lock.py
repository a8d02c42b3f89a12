"""A lock excludes threads and processes, waits for a bounded time, and ends with its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.files.file_lock import descriptor_locked, locked

if TYPE_CHECKING:
    from pathlib import Path

_HOLD = """
import sys, time
from prowess._internal.files.file_lock import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(30)
"""


def test_a_second_holder_waits_only_so_long(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    begun = time.monotonic()
    with locked(path), pytest.raises(TimeoutError, match=r"more than 0\.05 s"), locked(path, wait_seconds=0.05):
        pass
    assert time.monotonic() - begun < 20
    with locked(path, wait_seconds=0):
        pass


def test_threads_take_turns(tmp_path: Path) -> None:
    path, inside, seen = str(tmp_path / "lock"), [], []

    def work() -> None:
        for _ in range(20):
            with locked(path):
                inside.append(1)
                seen.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert seen == [1] * 80


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with subprocess.Popen([sys.executable, "-c", _HOLD, path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TimeoutError), locked(path, wait_seconds=0):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
    with locked(path, wait_seconds=5):
        pass


def test_shared_holders_share_and_exclude_the_exclusive_one(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    (tmp_path / "lock").touch()
    first, second = os.open(path, os.O_RDONLY), os.open(path, os.O_RDONLY)
    try:
        with (
            descriptor_locked(first, shared=True),
            descriptor_locked(second, shared=True, wait_seconds=0),
            pytest.raises(TimeoutError),
            locked(path, wait_seconds=0),
        ):
            pass
    finally:
        os.close(first)
        os.close(second)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"), locked(str(tmp_path / "lock")):
        pass
    assert not (tmp_path / "elsewhere").exists()
