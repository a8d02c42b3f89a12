"""Three hosts as processes that follow a deployment: changes reach all of them, and attacks on the source none."""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from prowess.cli import output
from tests.distribution.deployment.deployments import Deployment, everything
from tests.distribution.deployment.test_attacks import ATTACKS, endless
from tests.distribution.serving import Answer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


HOSTS = ("one", "two", "three")
_MOST_SECONDS = 20.0  # of patience with a busy machine


@pytest.fixture
def deployment(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Deployment:
    """Return a deployment with one release."""
    deployment = Deployment(tmp_path, capfd)
    deployment.deploy("pdf", "xlsx")
    return deployment


@contextmanager
def _running(deployment: Deployment, source: str, *, watch: str, reports: bool) -> Iterator[None]:
    """Run three hosts that follow a source."""
    command = [sys.executable, "-m", "prowess", "sync", "--from", source, "--watch", watch, "--json"]
    running = []
    for host in HOSTS:
        more = ["--root", str(deployment.root), "--into", str(deployment.place / host)]
        with (deployment.place / f"{host}.jsonl").open("w") as out:
            more += ["--host", host] * reports
            running.append(subprocess.Popen([*command, *more], stdout=out, start_new_session=True))
    try:
        _wait_for(deployment, ["pdf", "xlsx"])
        yield
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        codes = [process.wait(_MOST_SECONDS) for process in running]
    assert set(codes) == {128 + signal.SIGTERM}


def _wait_for(deployment: Deployment, names: list[str]) -> float:
    """Wait until all hosts have these skills, and return the seconds."""
    began = time.monotonic()
    places = [deployment.place / host / "skills" for host in HOSTS]
    while not all(place.is_dir() and sorted(os.listdir(place)) == names for place in places):
        assert time.monotonic() < began + _MOST_SECONDS, "a host did not take the release"
        time.sleep(0.02)
    return time.monotonic() - began


def _lines(deployment: Deployment, host: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (deployment.place / f"{host}.jsonl").read_text().splitlines()]


@pytest.mark.proves("governance.deploy.revoke", "governance.deploy.sync")
def test_each_change_reaches_all_hosts(deployment: Deployment) -> None:
    to = ["--to", str(deployment.directory)]
    with _running(deployment, str(deployment.directory), watch="0.5", reports=True):
        deployment.deploy("mail")
        seconds = [_wait_for(deployment, ["mail", "pdf", "xlsx"])]
        deployment.signed_by(["revoke", "pdf", *to], "alice", "carol")
        seconds += [_wait_for(deployment, ["mail", "xlsx"])]
        deployment.signed_by(["rollback", "1", "--deployment", str(deployment.directory)], "bob", "carol")
        seconds += [_wait_for(deployment, ["pdf", "xlsx"])]
        end = time.monotonic() + _MOST_SECONDS
        while not all(
            row["current"] for row in deployment.run(["hosts", "--from", str(deployment.directory)])["hosts"]
        ):
            assert time.monotonic() < end, "a host did not report the release"
    with deployment.capfd.disabled():
        output.note(f"\ndeploy, revoke, rollback on three hosts after {', '.join(f'{one:.2f}' for one in seconds)} s")
    for host in HOSTS:
        assert [line["release"] for line in _lines(deployment, host)] == [1, 2, 3, 4]


def test_no_attack_changes_any_running_host(deployment: Deployment) -> None:
    old = deployment.answers()
    deployment.deploy("ods")
    good = deployment.answers()
    attacks = [
        ("old metadata", old, "older than that"),
        ("endless data", {**good, "/metadata/timestamp.json": Answer(send=endless)}, "more than the limit"),
    ]
    for attack, reason in ATTACKS:
        attacked = copy.copy(deployment)
        attacked.place = deployment.place / attack.__name__
        attacked.directory = attacked.place / "deployment"
        shutil.copytree(deployment.directory, attacked.directory)
        attack(attacked)
        attacks.append((attack.__name__, attacked.answers(), reason))
    with serving(old) as site, _running(deployment, site.url, watch="0.1", reports=False):
        site.answers = {**good}
        _wait_for(deployment, ["ods", "pdf", "xlsx"])
        _wait_for_state(deployment, "current")
        before = _files(deployment)
        for name, answers, reason in attacks:
            site.answers = {**answers}
            _wait_for_state(deployment, "refused", reason)
            assert _files(deployment) == before, name
            site.answers = {**good}
            _wait_for_state(deployment, "current")
    for host in HOSTS:
        found = [(line["release"], line["changed"]) for line in _lines(deployment, host)]
        assert set(found[found.index((2, True)) + 1 :]) == {(2, False)}


def _wait_for_state(deployment: Deployment, state: str, reason: str = "") -> None:
    """Wait until each host has printed this state last. A host that looks during a switch may print another reason."""
    end = time.monotonic() + _MOST_SECONDS
    while True:
        last = [_lines(deployment, host)[-1] for host in HOSTS]
        if all(line["state"] == state and reason in str(line["reason"]) for line in last):
            return
        assert time.monotonic() < end, last
        time.sleep(0.05)


def _files(deployment: Deployment) -> dict[str, object]:
    """Return the files of all hosts but their locks, stages and drafts, and states, which have the time of a look."""
    found = {path: one for host in HOSTS for path, one in everything(deployment.place / host).items()}
    return {
        path: one
        for path, one in found.items()
        if not any(part in path for part in ("/deployment/stage-", "/deployment/.state.json."))
        and not path.endswith(("/lock", "/state.json"))
    }
