"""The connection to the machine's audit service in a forked process."""

from __future__ import annotations

import subprocess
import sys

import pytest

_FORKED = """
import os
from prowess.tools.audit_sink import MACHINE_LOG
MACHINE_LOG._lock.acquire()
if not os.fork():
    os._exit(int(MACHINE_LOG._lock.locked()))
raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent() -> None:
    assert subprocess.run([sys.executable, "-c", _FORKED], timeout=30, check=False).returncode == 0
