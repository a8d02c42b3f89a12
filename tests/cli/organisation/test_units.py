"""Units of systemd that the commands print: systemd reads them, and they run this installation."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from prowess._internal.own_command import own_command
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.store.shared.organisation import create_store

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


def printed(capsys: Capture, *words: str) -> str:
    assert run(list(words)) == exit_codes.OK
    return capsys.readouterr().out


def _require_valid(unit: str, place: Path) -> None:
    """Let systemd read the unit, where it is installed. It must find no unknown key and no faulty value."""
    assert "@" not in unit.replace("User=root", "")
    path = place / "tried.service"
    path.write_text(unit, encoding="utf-8")
    if (analyze := shutil.which("systemd-analyze")) is None:
        return
    verify = [analyze, "verify", "--man=no", str(path)]
    ran = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=60)
    assert [line for line in ran.stderr.splitlines() if "tried.service" in line] == []


def test_the_unit_of_a_machine_runs_its_service(capsys: Capture, tmp_path: Path) -> None:
    unit = printed(capsys, "machine", "unit")
    assert f"ExecStart={' '.join(own_command())} machine run" in unit.splitlines()
    _require_valid(unit, tmp_path)


def test_the_unit_of_a_server_quotes_what_systemd_would_read_otherwise(capsys: Capture, tmp_path: Path) -> None:
    place = tmp_path / "50% of $HOME"
    place.mkdir()
    url = f"sqlite:///{place}/store.db"
    create_store(url, origin="acme", public_key="key")
    unit = printed(capsys, "admin", "unit", "--store", url, "--public-url", "https://a.example", "--user", "root")
    written = f"{tmp_path}/50%% of $$HOME"
    assert f'admin serve --store "sqlite:///{written}/store.db" --public-url https://a.example' in unit
    assert f'ReadWritePaths="{tmp_path}/50%% of $HOME"' in unit.splitlines()
    _require_valid(unit, tmp_path)
    assert run(["admin", "unit", "--store", url, "--user", "a b"]) == exit_codes.USAGE
