"""Deployments that were not verified for longer than `max_age` of the policy: `too_old` when `sync` runs, and without.

The enterprise layer of these tests is the directory of a host, so they need its owner to be root.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from anyio import to_thread

from prowess import Session
from prowess._internal.places import prowess_home
from prowess.catalog import Catalog
from prowess.catalog.layers import Layer
from prowess.catalog.sources import enterprise
from prowess.catalog.sources.enterprise import EnterpriseSource
from prowess.cli.dispatch import run
from prowess.errors import PolicyDeniedError, SkillNotFoundError
from tests.distribution.deployment.deployments import Deployment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG_AGO = "2026-01-01T00:00:00+00:00"
_of_root = pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="an enterprise skill belongs to root"
)


@pytest.fixture
def deployment(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Deployment:
    """Return a deployment without a release."""
    return Deployment(tmp_path, capfd)


@pytest.fixture
def host(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return ROOT of a host with one deployed skill, which is the enterprise layer of this machine."""
    deployment.deploy("pdf")
    deployment.sync("host")
    monkeypatch.setattr(enterprise, "ENTERPRISE_ROOT", str(deployment.place / "host" / "skills"))
    return deployment.place / "host"


def _policy(effect: str) -> None:
    os.makedirs(prowess_home(), mode=0o700, exist_ok=True)
    with open(os.path.join(prowess_home(), "policy.toml"), "w", encoding="utf-8") as file:
        file.write(f'default = "allow"\n[packages]\nmax_age = "2d"\ntoo_old = "{effect}"\n')


def _verified(host: Path, when: str) -> None:
    state = host / "deployment" / "state.json"
    state.write_text(json.dumps({**json.loads(state.read_bytes()), "verified": when}))


def _listed(capfd: pytest.CaptureFixture[str]) -> tuple[str | None, list[str]]:
    """Return the effect of the policy on `pdf`, and the codes of the notices."""
    capfd.readouterr()
    assert run(["list", "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    (row,) = (row for row in printed["skills"] if row["name"] == "pdf")
    return row["policy"]["effect"], [notice["code"] for notice in printed["notices"]]


@_of_root
@pytest.mark.proves("governance.deploy.offline")
@pytest.mark.parametrize(("effect", "code", "told"), [("keep", 0, False), ("warn", 0, True), ("hide", 3, True)])
def test_a_host_follows_the_policy_if_its_sync_is_dead(
    host: Path, capfd: pytest.CaptureFixture[str], effect: str, code: int, *, told: bool
) -> None:
    _policy(effect)
    assert _listed(capfd) == ("allow", [])
    assert run(["load", "pdf"]) == 0
    _verified(host, LONG_AGO)
    assert _listed(capfd) == ("deny" if effect == "hide" else "allow", ["deployment_too_old"] * told)
    assert run(["load", "pdf"]) == code
    reason = f"{host} was last verified {LONG_AGO}"
    assert (reason in capfd.readouterr().err) is told
    assert run(["list"]) == 0
    assert (reason in capfd.readouterr().err) is told


DAMAGES: tuple[Callable[[Path], object], ...] = (
    lambda state: state.unlink(),
    lambda state: state.write_text("{"),
    lambda state: state.write_text('{"verified": "yesterday"}'),
    lambda state: state.write_text('{"verified": "2999-01-01T00:00:00+00:00"}'),
    lambda state: state.write_text('{"verified": "2999-01-01T00:00:00"}'),
    lambda state: state.chmod(0o666),
    lambda state: state.parent.chmod(0o777),
    lambda state: os.chown(state, 12345, 12345),
    lambda state: state.rename(state.with_name("other")).parent.joinpath("state.json").symlink_to("other"),
    lambda state: shutil.rmtree(state.parent),
)


@_of_root
def test_a_state_that_cannot_be_trusted_is_too_old(host: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _policy("hide")
    folder, kept = host / "deployment", host / "kept"
    shutil.copytree(folder, kept)
    for damage in DAMAGES:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        damage(folder / "state.json")
        assert _listed(capfd) == ("deny", ["deployment_too_old"])
    assert run(["load", "pdf"]) == 3


@_of_root
@pytest.mark.anyio
async def test_a_running_session_hides_a_deployment_that_becomes_too_old(host: Path) -> None:
    _policy("hide")
    async with Session(Catalog.discover()) as session:
        await session.load(["pdf"])
        assert "pdf" in session.completions()
        _verified(host, LONG_AGO)
        assert "pdf" not in session.completions()
        for call in (session.load(["pdf"]), session.read("references/größe.md", skill="pdf")):
            with pytest.raises(PolicyDeniedError, match="last verified"):
                await call


@pytest.mark.proves("governance.deploy.offline")
@pytest.mark.parametrize(("effect", "kept"), [("keep", True), ("warn", True), ("hide", False)])
def test_a_release_that_is_too_old_follows_the_policy(deployment: Deployment, effect: str, *, kept: bool) -> None:
    deployment.deploy("pdf")
    deployment.sync("host")
    link = deployment.place / "host" / "skills"
    away = deployment.directory.rename(deployment.place / "away")
    offline = ["sync", "--from", str(deployment.directory), "--into", str(deployment.place / "host")]
    _policy(effect)
    assert "max_age" not in deployment.run(offline, 4)["reason"]
    _verified(deployment.place / "host", LONG_AGO)
    report = deployment.run(offline, 4)
    assert (report["state"], report["since"]) == ("stale", LONG_AGO)
    assert ("max_age" in report["reason"]) is (effect != "keep")
    assert link.exists() is kept
    away.rename(deployment.directory)
    assert deployment.sync("host")["state"] == "current"
    assert (link / "pdf" / "SKILL.md").is_file()


@pytest.mark.anyio
async def test_a_session_that_began_before_loses_a_hidden_release_too(deployment: Deployment) -> None:
    await to_thread.run_sync(lambda: (deployment.deploy("pdf"), deployment.sync("host")))
    root = deployment.place / "host" / "skills"
    async with Session(Catalog(EnterpriseSource(str(root), layer=Layer.ENTERPRISE, owner=os.getuid()))) as session:
        await session.load(["pdf"])
        await to_thread.run_sync(lambda: _hide(deployment))
        with pytest.raises(SkillNotFoundError):
            await session.load(["pdf"])


def _hide(deployment: Deployment) -> None:
    """Make the release of the host too old, and the source unreachable."""
    _policy("hide")
    _verified(deployment.place / "host", LONG_AGO)
    deployment.sync("host", 4, source=str(deployment.place / "away"))
