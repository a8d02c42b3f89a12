"""The demo succeeds, prints the lines that the README quotes, and fails with a reason if a part is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from prowess.execution import default_sandbox

pytestmark = pytest.mark.unmeasured

PROJECT = Path(__file__).resolve().parents[2]
DEMO = [sys.executable, str(PROJECT / "demo" / "run.py")]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    """Skip where no script can be run."""
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox can be started on this machine")


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)


def test_the_demo_proves_what_it_shows(own_home: Path) -> None:
    done = _run(DEMO)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert "\x1b" not in done.stdout
    assert len([line for line in lines if line.startswith("   ✓ ")]) == 10
    assert "\n10 of 10 steps passed in " in done.stdout
    for said in ("unsafe_path", "skill_not_active", "reached the listener", "ECONNREFUSED", "chain unbroken"):
        assert said in done.stdout
    assert "| West   |   29 | 28,229.10 | 41.4% |" in done.stdout
    _require_shown_as_it_is(done.stdout)
    chart = ET.parse(PROJECT / "demo" / "out" / "revenue-by-region.svg")  # noqa: S314 -- written by the demo
    assert chart.getroot().tag.endswith("svg")
    assert not (own_home / ".prowess").exists(), "the demo has a home of its own"


def _require_shown_as_it_is(printed: str) -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"## Demo\n.*?```text\n(.*?)```", readme, re.DOTALL)
    assert shown is not None
    lines = [_counts_left_out(line.partition(" …")[0].rstrip()) for line in shown[1].splitlines()]
    missing = [line for line in lines if line not in _counts_left_out(printed)]
    assert missing == [], "the README shows what the demo no longer prints"
    assert len(lines) > 20


def _counts_left_out(text: str) -> str:
    """Take out what depends on where the project lies (a path costs tokens) and on how many records a call leaves."""
    return re.sub(r" *\b\d+ (tokens|records|guarantees)\b|(?<=record )\d+|(?<=line )\d+", r"\1", text)


def test_without_bubblewrap_the_demo_stops_and_says_what_to_install() -> None:
    program = next(path for path in ("/usr/bin/bwrap", "/usr/local/bin/bwrap") if os.path.exists(path))
    hidden = [program, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", os.path.realpath(program), "--"]
    done = _run([*hidden, *DEMO])
    assert done.returncode == 1, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "✗ Scripts cannot be run on this machine: sandbox 'bubblewrap' is not available, nothing was run" in said
    assert "apt-get install bubblewrap" in said
    assert done.stdout.splitlines()[-1] == "Step 2 failed. 1 of 10 steps passed."
    assert "Traceback" not in done.stdout + done.stderr
