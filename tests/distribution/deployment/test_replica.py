"""Deployed skills of an organisation in sessions with its store."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from prowess import SyncSession
from prowess.catalog import Catalog
from prowess.distribution import deployed_skills
from prowess.distribution.deployment.replica import ReplicaDeployment
from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.errors import DistributionError, SkillNotFoundError
from prowess.governance.service.deployments import DeploymentService, NewDeployment, RevokedSkills
from prowess.store import SharedSessionStore
from prowess.store.shared.release_files import SharedReleaseFiles
from tests.governance.service.organisations import KEY, call_of, new_organisation
from tests.http_server.samples import skill_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from prowess.store import SharedDatabase

_BOUND = 20.0


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    opened = new_organisation(f"sqlite:///{tmp_path / 'organisation.db'}")
    yield opened
    opened.close()


def deployments(database: SharedDatabase, tenant: str = "*") -> DeploymentService:
    call = call_of(database, tenant=tenant)
    return DeploymentService(call, StoreReleases(call, KEY))


def until(seen: Callable[[], bool]) -> None:
    end = time.monotonic() + _BOUND
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.02)


def _is_there(session: SyncSession, name: str) -> bool:
    try:
        session.load(name)
    except SkillNotFoundError:
        return False
    return True


def _location(session: SyncSession, name: str) -> str:
    """Return where the skill is that a session loads; "" if it is replaced just now."""
    try:
        return str(session.load(name).active_skills[0].location)
    except SkillNotFoundError:
        return ""


def test_a_running_session_has_deployed_skills_as_enterprise_skills_and_follows_releases(
    database: SharedDatabase, tmp_path: Path
) -> None:
    deployments(database).add(NewDeployment(archives=(skill_archive("report"),)))
    deployments(database, "default").add(NewDeployment(archives=(skill_archive("own"),)))
    own = tmp_path / "project" / "report"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\nname: report\ndescription: Another one. Use it.\n---\nOther.\n")
    replica = ReplicaDeployment(database, None, print)
    replica.start()
    try:
        catalog = Catalog(tmp_path / "project", deployed=replica.directories)
        session = SyncSession(catalog)
        found = {entry.name: entry.layer.value for entry in session.catalog.entries()}
        assert found == {"report": "enterprise", "own": "enterprise"}
        assert session.load("report").active_skills[0].properties["description"].startswith("Does it.")
        deployments(database).revoke(RevokedSkills(skills=("report",)))
        until(lambda: str(own) in _location(SyncSession(catalog), "report"))
        deployments(database, "default").revoke(RevokedSkills(skills=("own",)))
        until(lambda: not _is_there(session, "own"))
    finally:
        replica.close()


def test_a_program_gets_deployed_skills_for_the_sessions_of_a_store(database: SharedDatabase, tmp_path: Path) -> None:
    archives = (skill_archive("report"),)
    deployments(database).add(NewDeployment(archives=archives, environments=("production",)))
    (tmp_path / "skills").mkdir()
    with SharedSessionStore(database) as store:
        with deployed_skills(store) as elsewhere:
            assert not Catalog(tmp_path / "skills", deployed=elsewhere.directories).entries()
        with deployed_skills(store, environment="production") as deployed:
            catalog = Catalog(tmp_path / "skills", deployed=deployed.directories)
            with SyncSession(catalog, store=store) as session:
                assert session.load("report").active_skills[0].name == "report"
                assert catalog.get("report").layer.value == "enterprise"
                deployments(database).revoke(RevokedSkills(skills=("report",)))
                until(lambda: not _is_there(session, "report"))
    assert "prowess-deployed" not in {thread.name for thread in threading.enumerate()}


def test_a_release_that_was_changed_in_the_store_is_refused(database: SharedDatabase) -> None:
    deployments(database).add(NewDeployment(archives=(skill_archive("report"),)))
    files = SharedReleaseFiles(database.of_tenant("*"))
    present = files.read("metadata/1.targets.json") or b""
    files.publish({"metadata/1.targets.json": present.replace(b"report", b"repost")}, {})
    with pytest.raises(DistributionError, match="refused"):
        ReplicaDeployment(database, None, print)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs owners")
def test_deployed_skills_that_another_user_could_change_are_not_loaded(database: SharedDatabase) -> None:
    deployments(database).add(NewDeployment(archives=(skill_archive("report"),)))
    replica = ReplicaDeployment(database, None, print)
    directory = os.path.realpath(os.path.join(replica.directories[0], "report"))
    os.chmod(directory, 0o777)
    assert not Catalog(deployed=replica.directories).entries()
