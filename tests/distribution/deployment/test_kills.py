"""`prowess sync` and `deploy` killed at system calls: the old release or the new one, and the next run completes."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.distribution.deployment.deployments import Deployment
from tests.distribution.kills import ALL, USERS, Place, opened_place
from tests.distribution.making import make_skill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Files = dict[str, tuple[bytes, bool]]

pytestmark = pytest.mark.unmeasured  # processes under strace, killed or at once, write no usable coverage

_FEW = 2


@pytest.fixture
def place() -> Iterator[Place]:
    with opened_place() as found:
        yield found


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("case", ["next", "first", "repair"] if ALL else ["next"])
def test_a_killed_sync_leaves_the_old_release_or_the_new_one_and_the_next_completes_it(
    place: Place, case: str, user: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment(place.used, capfd)
    deployment.deploy("mail", "pdf", "xlsx")
    host = place.used / "host"
    if case != "first":
        deployment.sync("host")
    old = deployment.skills("host")
    if case == "repair":
        (host / "releases/1/pdf/SKILL.md").write_text("changed", encoding="utf-8")
        (host / "releases/1/xlsx/scripts/run.sh").unlink()
        old = deployment.skills("host")
    else:
        deployment.deploy("pdf", body="Better.")
        deployment.signed_by(["revoke", "xlsx", "--to", str(deployment.directory)], "alice", "bob")
    place.keep(user)
    sync = ("sync", "--from", str(deployment.directory), "--root", str(deployment.root), "--into", str(host))
    kills = place.kills(*sync, few=_FEW)
    new, paths = deployment.skills("host"), _paths(host)
    assert case != "next" or sorted(os.listdir(host / "releases" / "1")) == ["mail"]
    for point in kills:
        assert deployment.skills("host") in (old, new), point
        assert case == "first" or (host / "skills").is_dir(), point
        place.run(*sync)
        assert deployment.skills("host") == new, point
        assert _paths(host) == paths, point


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("case", ["deploy", "sign", "revoke", "rollback"] if ALL else ["deploy"])
def test_a_killed_deploy_leaves_the_old_release_or_the_new_one_and_the_next_completes_it(
    place: Place, case: str, user: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment(place.used, capfd)
    deployment.deploy("mail", "pdf")
    deployment.deploy("mail", body="Better.")
    to, keys = str(deployment.directory), ("--key", deployment.key("alice"), "--key", deployment.key("bob"))
    if case == "sign":
        deployment.deploy("pdf", "xlsx", body="New.", signers=("alice",), code=3)
    changed = [str(make_skill(place.used / "skills", name, body="New.")) for name in ("pdf", "xlsx")]
    command = {
        "deploy": ("deploy", *changed, "--to", to, *keys),
        "sign": ("deploy", "--to", to, *keys[2:]),
        "revoke": ("revoke", "pdf", "--to", to, *keys),
        "rollback": ("rollback", "1", "--deployment", to, *keys),
    }[case]
    place.keep(user)
    old = _skills_of_a_new_host(deployment)
    kills = place.kills(*command, few=_FEW)
    new, paths = _skills_of_a_new_host(deployment), _paths(deployment.directory)
    assert new != old
    for point in kills:
        found = _skills_of_a_new_host(deployment)
        assert found in (old, new), point
        # What is published has nothing more to sign, and a revoked skill is not deployed.
        place.run(*command, code=1 if found == new and case in {"sign", "revoke"} else 0)
        assert _skills_of_a_new_host(deployment) == new, point
        assert _paths(deployment.directory) == paths, point


def _skills_of_a_new_host(deployment: Deployment) -> Files:
    """Let a host that has nothing follow the deployment: it accepts only metadata that fits and archives that exist."""
    deployment.sync("new-host")
    found = deployment.skills("new-host")
    shutil.rmtree(deployment.place / "new-host")
    return found


def _paths(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}
