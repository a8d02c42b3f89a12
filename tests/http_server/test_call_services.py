"""Services of a call: the files of a released skill are found by the digest of its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.errors import DistributionError
from prowess.governance.service.deployments import DeploymentService, NewDeployment
from prowess.http_server.call_services import CallServices
from prowess.store.shared.release_files import SharedReleaseFiles
from tests.governance.service.organisations import KEY, call_of, new_organisation
from tests.governance.service.test_deployments import archive

if TYPE_CHECKING:
    from pathlib import Path


def test_no_release_is_verified_for_a_digest_that_nobody_deployed(tmp_path: Path) -> None:
    database = new_organisation(f"sqlite:///{tmp_path / 'organisation.db'}")
    call = call_of(database)
    deployments = DeploymentService(call, StoreReleases(call, KEY))
    older = deployments.add(NewDeployment(archives=(archive(tmp_path, "a"),))).skills[0]
    newer = deployments.add(NewDeployment(archives=(archive(tmp_path, "a", "Do more."),))).skills[0]
    services = CallServices(call, None)
    for skill, text in ((older, b"Do."), (newer, b"Do more.")):
        assert text in (services.contents(skill.tree) or {})["SKILL.md"]
        assert services.capabilities(skill.tree, ()) == ()
    files = SharedReleaseFiles(database)
    first = files.read("metadata/1.targets.json") or b""
    files.publish({"metadata/1.targets.json": first.replace(b'"version":1', b'"version":9')}, {})
    assert services.contents(f"sha256:{64 * '0'}") is None
    assert services.capabilities(f"sha256:{64 * '0'}", ()) is None
    assert b"Do more." in (services.contents(newer.tree) or {})["SKILL.md"]
    with pytest.raises(DistributionError):
        services.contents(older.tree)
    database.close()
