"""Registries, deployments and hosts on a full or read-only disk: one sentence with exit code 4, and nothing is lost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.distribution.deployment.deployments import Deployment
from tests.distribution.making import files_of, make_skill
from tests.distribution.small_disk import filled, read_only, small_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST = 40  # free blocks with which each command here succeeds


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as place:
        yield place


class Attempts:
    """Repeats a command on a disk that is full, with a few more free blocks each time, until it succeeds."""

    def __init__(self, disk: Path, changed: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self._disk, self._changed, self._capfd = disk, changed, capfd

    def fail(self, command: list[str], outcome: str, seen: Callable[[], object], *, step: int = 1) -> None:
        """Run the command. `seen` is what readers see, the same after each failure."""
        before = seen()
        with read_only(self._disk):
            error = self._error(command)
        assert error.startswith(f"error: store {self._changed}: ")
        assert error.endswith(f": Read-only file system; {outcome}; make it writable, then run this again\n")
        assert seen() == before
        for free in range(0, _MOST, step):
            with filled(self._disk, free):
                error = self._error(command)
            if not error:
                assert free > 0
                return
            text = f"No space left on device; {outcome}; free some space, then run this again\n"
            assert error == f"error: store {self._changed}: {text}"
            assert seen() == before
        pytest.fail(f"{command} needs more than {_MOST} blocks")

    def _error(self, command: list[str]) -> str:
        self._capfd.readouterr()
        code = run(command)
        error = self._capfd.readouterr().err
        assert (code, error.count("\n")) in {(exit_codes.OK, 0), (exit_codes.UNAVAILABLE, 1)}, (code, error)
        return error


def test_a_full_disk_of_a_registry_publishes_nothing(
    tmp_path: Path, disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    registry = disk / "registry"
    command = ["publish", str(tmp_path / "skills"), "--to", str(registry)]
    make_skill(tmp_path / "skills", "pdf")
    assert run(command) == exit_codes.OK
    first = files_of(registry)
    make_skill(tmp_path / "skills", "pdf", "1.1.0")
    make_skill(tmp_path / "skills", "xlsx")
    index = registry / ".well-known/agent-skills/index.json"
    Attempts(disk, registry, capfd).fail(command, "nothing was changed", index.read_bytes)
    assert index.read_bytes().count(b'"url"') > first[index.relative_to(registry).as_posix()][0].count(b'"url"')
    artifacts = sorted(os.listdir(index.parent / "artifacts"))
    assert artifacts == ["pdf-1.0.0.tar.gz", "pdf-1.1.0.tar.gz", "xlsx-1.0.0.tar.gz"]


def test_a_full_disk_of_a_deployment_publishes_nothing(
    tmp_path: Path, disk: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment(disk, capfd)
    deployment.deploy("mail")
    deployment.place = tmp_path
    keys = [part for who in ("alice", "bob") for part in ("--key", deployment.key(who))]
    skills = [str(make_skill(tmp_path / "skills", name, body="New.")) for name in ("mail", "pdf")]
    command = ["deploy", *skills, "--to", str(deployment.directory), *keys]

    def seen() -> object:
        return deployment.sync("host")["release"], deployment.skills("host")

    Attempts(disk, deployment.directory, capfd).fail(command, "the present release was kept", seen)
    deployment.sync("host")
    assert deployment.skills("host") == files_of(tmp_path / "skills")


def test_a_full_disk_of_a_host_keeps_its_release(tmp_path: Path, disk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    deployment = Deployment(tmp_path, capfd)
    deployment.deploy("mail", "pdf", "xlsx")
    host = disk / "host"
    deployment.sync("disk/host")
    deployment.deploy("pdf", body="Better.")
    command = ["sync", "--from", str(deployment.directory), "--into", str(host)]
    Attempts(disk, host, capfd).fail(
        command, "no part of a release was used", lambda: deployment.skills("disk/host"), step=2
    )
    assert deployment.skills("disk/host") == files_of(tmp_path / "skills")
    assert not [name for name in os.listdir(host / "deployment") if name.startswith("stage-")]


def test_a_home_that_cannot_be_written_changes_no_host_and_no_deployment(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment(tmp_path, capfd)
    deployment.deploy("mail")
    deployment.sync("host")
    deployment.deploy("pdf")
    home = Path(prowess_home())
    told = f"store {home}: Read-only file system; nothing was changed; make it writable, then run this again"
    with read_only(home):
        report = deployment.sync("host", exit_codes.UNAVAILABLE)
        assert (report["state"], report["changed"], report["release"], report["reason"]) == ("stale", False, 1, told)
        assert deployment.deploy("xlsx", code=exit_codes.UNAVAILABLE) == f"error: {told}\n"
    assert os.listdir(tmp_path / "host" / "skills") == ["mail"]
    assert deployment.sync("host")["release"] == 2
