"""`prowess sync` killed at its system calls: a host has the old release or the new one, and the next run completes it.

`PROWESS_KILLS=all` kills at every call; by default a few are tried, and those after the link was turned.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from prowess.cli import output
from tests.distribution.deployment.deployments import Deployment
from tests.distribution.kills import Killed, require_strace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_ALL = os.environ.get("PROWESS_KILLS") == "all"
_FEW = 4


def test_a_killed_sync_leaves_the_old_release_or_the_new_one_and_the_next_completes_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], own_home: Path
) -> None:
    require_strace()
    deployment = Deployment(tmp_path, capfd)
    deployment.deploy("mail", "pdf", "xlsx")
    deployment.sync("host")
    host, kept = tmp_path / "host", tmp_path / "kept"
    old = deployment.skills("host")
    deployment.deploy("pdf", body="Better.")
    deployment.signed_by(["revoke", "xlsx", "--to", str(deployment.directory)], "alice", "bob")
    shutil.copytree(host, kept, symlinks=True)
    sync = ("sync", "--from", str(deployment.directory), "--into", str(host))
    command = Killed(sync, tmp_path, {**os.environ, "HOME": str(own_home)})
    points = command.points(tmp_path / "log")
    new, paths = deployment.skills("host"), _paths(host)
    assert sorted(os.listdir(host / "releases" / "1")) == ["mail"]
    turned = max(at for at, (call, _) in enumerate(points) if call == "symlink") + 1
    after = [point for point in points[turned + 1 :] if point[0] == "rename"]
    with capfd.disabled():
        output.note(f"\nsync: {len(points)} calls")
    for point in points if _ALL else [*points[:: max(len(points) // _FEW, 1)], *after]:
        shutil.rmtree(host)
        shutil.copytree(kept, host, symlinks=True)
        command.kill_at(point)
        assert deployment.skills("host") in (old, new), point
        command.run(*sync)
        assert deployment.skills("host") == new, point
        assert _paths(host) == paths, point


def _paths(host: Path) -> set[str]:
    return {str(path.relative_to(host)) for path in host.rglob("*")}
