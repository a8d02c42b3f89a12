"""Three hosts as processes that follow a deployment: each change is on all of them within a second."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.distribution.deployment.deployments import Deployment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


HOSTS = ("one", "two", "three")
_MOST_SECONDS = 20.0  # of patience with a busy machine


@pytest.fixture
def hosts(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Deployment]:
    """Return a deployment with one release that three running hosts have."""
    deployment = Deployment(tmp_path, capfd)
    deployment.deploy("pdf", "xlsx")
    command = [sys.executable, "-m", "prowess", "sync", "--from", str(deployment.directory), "--watch", "0.5", "--json"]
    running = []
    for host in HOSTS:
        more = ["--root", str(deployment.root), "--into", str(tmp_path / host), "--host", host]
        with (tmp_path / f"{host}.jsonl").open("w") as out:
            running.append(subprocess.Popen([*command, *more], stdout=out, start_new_session=True))
    try:
        _wait_for(deployment, ["pdf", "xlsx"])
        yield deployment
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        codes = [process.wait(_MOST_SECONDS) for process in running]
    assert set(codes) == {128 + signal.SIGTERM}


def _wait_for(deployment: Deployment, names: list[str], before: list[str] | None = None) -> None:
    """Wait until every host has these skills. Until then, each has all the former ones."""
    end = time.monotonic() + _MOST_SECONDS
    places = [deployment.place / host / "skills" for host in HOSTS]
    while (found := [sorted(os.listdir(place)) if place.is_dir() else None for place in places]) != [names] * 3:
        assert all(one in (names, before) for one in found), "a host has a part of a release"
        assert time.monotonic() < end, "a host did not take the release"
        time.sleep(0.02)


@pytest.mark.proves("governance.deploy.revoke", "governance.deploy.sync")
def test_each_change_reaches_all_hosts(hosts: Deployment) -> None:
    to = ["--to", str(hosts.directory)]
    hosts.deploy("mail", "pdf", body="Better.")
    _wait_for(hosts, ["mail", "pdf", "xlsx"], ["pdf", "xlsx"])
    assert all(b"Better." in hosts.skills(host)["pdf/SKILL.md"][0] for host in HOSTS)
    hosts.signed_by(["revoke", "pdf", *to], "alice", "carol")
    _wait_for(hosts, ["mail", "xlsx"], ["mail", "pdf", "xlsx"])
    hosts.signed_by(["rollback", "1", "--deployment", str(hosts.directory)], "bob", "carol")
    _wait_for(hosts, ["pdf", "xlsx"], ["mail", "xlsx"])
    end = time.monotonic() + _MOST_SECONDS
    while not all(row["current"] for row in hosts.run(["hosts", "--from", str(hosts.directory)])["hosts"]):
        assert time.monotonic() < end, "a host did not report the release"
    for host in HOSTS:
        lines = (hosts.place / f"{host}.jsonl").read_text().splitlines()
        assert [json.loads(line)["release"] for line in lines] == [1, 2, 3, 4]
