"""The host in another language: a Node program of at most 60 lines, run against the real command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prowess.execution import default_sandbox

EXAMPLES = Path(__file__).parents[2] / "examples"
HOST = EXAMPLES / "node-host" / "host.mjs"
NODE = shutil.which("node")


def test_the_host_is_at_most_sixty_lines() -> None:
    assert len(HOST.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.proves("tooling.cli.session")
@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_node_program_lists_loads_reads_runs_decides_and_sees_events(tmp_path: Path, own_home: Path) -> None:
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox can start here")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "prowess"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m prowess "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    (work / "march.csv").write_text("region,revenue\nNorth,119.60\nSouth,59.80\n", encoding="utf-8")

    ran = subprocess.run(
        [str(NODE), str(HOST), str(EXAMPLES / "skills"), str(work / "march.csv")],
        env={**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert "csv-report" in lines[0]
    done = [line for line in lines if line.startswith(("load:", "read:", "run:", "unload:", "write:", "decided:"))]
    assert done[:4] == ["load: ok", "read: ok", "run: ok", "unload: ok"]
    assert done[4:7] == ["decided: allow Write report.md", "write: ok", "decided: deny Write other.md"]
    assert done[7].startswith("write: denied by approval")
    assert "179.40" in ran.stdout
    assert "179.40" in (work / "report.md").read_text(encoding="utf-8")
    assert not (work / "other.md").exists()
    before = [line.strip() for line in lines[: lines.index("load: ok")]]
    assert 'event 2: skill.loading The "csv-report" skill is loading' in before
    assert "event 3: skill.activating Activating 'csv-report' skill…" in before
    assert lines[-1].strip().endswith("session.closed")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_node_program_says_what_is_wrong_and_does_not_wait(tmp_path: Path) -> None:
    def host(*arguments: str, path: str) -> subprocess.CompletedProcess[str]:
        command = [str(NODE), str(HOST), *arguments]
        return subprocess.run(
            command, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=60, check=False
        )

    absent = host("skills", "x.csv", path=str(tmp_path))
    assert (absent.returncode, "prowess cannot be started" in absent.stderr) == (1, True)
    assert (unused := host(path=str(tmp_path))).returncode == 2
    assert unused.stderr.startswith("usage:")
