"""`make admin` serves an organisation with sample data, and leaves nothing."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_sample_organisation_is_served_until_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [sys.executable, "-m", "tools.serve_sample", "--sqlite", "--sessions", "2", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        told = dict(line.split() for line in (process.stdout.readline(), process.stdout.readline()))
        while not process.stderr.readline().startswith("Serving at "):
            assert process.poll() is None
        bearer = {"authorization": f"Bearer {told['token']}"}
        with urlopen(Request(f"{told['address']}skills", headers=bearer), timeout=30) as answer:  # noqa: S310 -- http
            assert b"csv-report" in answer.read()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert list(tmp_path.iterdir()) == []
