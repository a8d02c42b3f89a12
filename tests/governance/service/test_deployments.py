"""Deployments in the store of an organisation: who may, what the policy says, and what hosts get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from prowess import Catalog
from prowess.catalog import DirectorySource, Layer
from prowess.distribution.deployment.host import DeploymentHost
from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.distribution.publishing.packing import pack, read_skill_files
from prowess.errors import DistributionError, InvalidSkillError, PolicyDeniedError, SkillError
from prowess.format.reading import read_skill
from prowess.governance.approving import VoteRefusedError
from prowess.governance.service.approval_items import NewApproval, NewVote
from prowess.governance.service.approvals import ApprovalService
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
from prowess.governance.service.bundle import FIRST_ROOT, bundle_of, release_file
from prowess.governance.service.deployments import (
    DeploymentService,
    DeprecatedSkill,
    NewDeployment,
    RevokedSkills,
)
from prowess.governance.service.listing import ListQuery
from prowess.governance.service.policies import NewPolicy, PolicyService
from prowess.store import SharedDatabase
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.shared.release_files import SharedReleaseFiles
from tests.governance.service.organisations import KEY, SIGNER, call_of, logged, new_organisation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from prowess.diagnostics import Diagnostic
    from prowess.policy.roles import PersonRole
    from tests.postgresql import Postgresql

ROLES_THAT_MAY_NOT = ["viewer", "user", "author", "approver", "machine"]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SharedDatabase]:
    opened = new_organisation(f"sqlite:///{tmp_path / 'organisation.db'}")
    yield opened
    opened.close()


def archive(tmp_path: Path, name: str, text: str = "Do.") -> bytes:
    place = tmp_path / "made" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it. Use when needed.\n---\n{text}\n")
    return pack(read_skill_files(str(place)).files)


def service(
    database: SharedDatabase, role: PersonRole | Literal["machine"] = "administrator", tenant: str = "*"
) -> DeploymentService:
    call = call_of(database, role, tenant=tenant)
    return DeploymentService(call, StoreReleases(call, KEY))


class Source:
    """The deployment as a machine reads it."""

    shown, contacted = "the store", ()

    def __init__(self, database: SharedDatabase, tenant: str = "default") -> None:
        self._call = call_of(database, "machine", tenant=tenant)

    def read(self, path: str, most: int) -> bytes | None:
        found = release_file(self._call, path)
        assert found is None or len(found) <= most
        return found

    def close(self) -> None:
        pass


def synced(database: SharedDatabase, tmp_path: Path, environment: str | None = None) -> list[str]:
    host = DeploymentHost(str(tmp_path / f"host-{environment}"), environment)
    root = SharedReleaseFiles(database, "*").read(FIRST_ROOT)
    report = host.sync(Source(database), root)
    assert report.state == "current", report
    return [skill.name for skill in report.skills]


def test_hosts_follow_deploy_revoke_and_roll_back(database: SharedDatabase, tmp_path: Path) -> None:
    first = service(database).add(NewDeployment(archives=(archive(tmp_path, "a"), archive(tmp_path, "b"))))
    assert (first.release, first.state, first.added, first.missing) == (1, "published", ("a", "b"), 0)
    assert synced(database, tmp_path) == ["a", "b"]
    second = service(database).add(NewDeployment(archives=(archive(tmp_path, "a", "Do more."),)))
    assert (second.replaced, second.added) == (("a",), ())
    assert service(database).revoke(RevokedSkills(skills=("b",))).removed == ("b",)
    assert synced(database, tmp_path) == ["a"]
    assert service(database).roll_back(1).added == ("b",)
    assert synced(database, tmp_path) == ["a", "b"]
    listed = service(database, "viewer").list(ListQuery()).items
    assert [(one.number, one.present) for one in listed] == [(4, True), (3, False), (2, False), (1, False)]
    assert service(database).add(NewDeployment(archives=(archive(tmp_path, "b"),))).state == "unchanged"
    acts = [kind for kind, _ in logged(database, "*") if kind.startswith("governance.")]
    assert acts == [f"governance.{act}" for act in ("deploy", "deploy", "revoke", "rollback", "deploy")]


@pytest.mark.parametrize("tenant", ["*", "default"])
def test_nobody_deploys_and_approves_the_same_files_if_a_rule_wants_others(
    database: SharedDatabase, tmp_path: Path, tenant: str
) -> None:
    PolicyService(call_of(database)).put("base", NewPolicy(toml='[[approval]]\nfor = ["new-skills"]\n'))
    approvals = ApprovalService(call_of(database, "approver"))  # of the same person as the deployments
    deployed = service(database, tenant=tenant).add(NewDeployment(archives=(archive(tmp_path, "a"),))).skills[0]
    asked = approvals.add(NewApproval(skill="a", digest=deployed.tree, to_vote=True))
    with pytest.raises(VoteRefusedError, match=r"ann is an author of 'a' \(this person deployed it\)"):
        approvals.vote(asked.id, NewVote(vote="approve"))
    made = archive(tmp_path, "b")
    tree = str(read_skill(str(tmp_path / "made" / "b")).digest)
    asked = approvals.add(NewApproval(skill="b", digest=tree, to_vote=True))
    assert approvals.vote(asked.id, NewVote(vote="approve")).state == "approved"
    new = NewDeployment(archives=(made,))
    with pytest.raises(PolicyDeniedError, match=r"ann has approved 'b', and .* wants the approval of others"):
        service(database, tenant=tenant).add(new)
    assert [skill.name for skill in service(database, tenant=tenant).list(ListQuery()).items[0].skills] == ["a"]
    approvals.revoke(asked.id)
    assert service(database, tenant=tenant).add(new).added == ("b",)


@pytest.mark.proves("governance.tenants.enterprise")
def test_skills_of_the_organisation_reach_every_tenant(postgresql: Postgresql, tmp_path: Path) -> None:
    url = postgresql.store_url()
    organisation = OrganisationStore(url)
    organisation.add_tenant("acme")
    whole = organisation.database
    service(whole).add(NewDeployment(archives=(archive(tmp_path, "everywhere"),)))
    for tenant in ("default", "acme"):
        database = SharedDatabase(url, tenant)
        host = DeploymentHost(str(tmp_path / f"host-{tenant}"))
        report = host.sync(Source(database, tenant), SharedReleaseFiles(whole, "*").read(FIRST_ROOT))
        assert report.state == "current", report
        layer = DirectorySource(str(tmp_path / f"host-{tenant}" / "skills"), layer=Layer.ENTERPRISE)
        assert [entry.name for entry in Catalog(layer, tenant=tenant).entries()] == ["everywhere"]
        database.close()
    whole.close()


def test_each_release_is_a_new_version_of_the_bundle(database: SharedDatabase, tmp_path: Path) -> None:
    before = bundle_of(call_of(database, "machine"), SIGNER)
    service(database).add(NewDeployment(archives=(archive(tmp_path, "a"),)))
    after = bundle_of(call_of(database, "machine"), SIGNER)
    assert before is not None
    assert after is not None
    assert after.version > before.version
    assert b"root.json" in after.data
    StoreReleases(call_of(database, tenant="*"), KEY).refresh()
    assert bundle_of(call_of(database, "machine"), SIGNER, after.etag) is None
    assert synced(database, tmp_path) == ["a"]


def test_skills_for_an_environment_reach_only_its_machines(database: SharedDatabase, tmp_path: Path) -> None:
    service(database).add(NewDeployment(archives=(archive(tmp_path, "a"),)))
    service(database).add(NewDeployment(archives=(archive(tmp_path, "b"),), environments=("production",)))
    assert synced(database, tmp_path) == ["a"]
    assert synced(database, tmp_path, "production") == ["a", "b"]
    assert synced(database, tmp_path, "test") == ["a"]


def test_a_deprecated_skill_stays_and_names_its_successor(database: SharedDatabase, tmp_path: Path) -> None:
    service(database).add(NewDeployment(archives=(archive(tmp_path, "a"), archive(tmp_path, "b"))))
    with pytest.raises(DistributionError, match="c is not deployed"):
        service(database).deprecate(DeprecatedSkill(skill="a", successor="c"))
    service(database).deprecate(DeprecatedSkill(skill="a", successor="b"))
    (a, b) = service(database).get(2).skills
    assert (a.deprecated, a.successor, b.deprecated) == (True, "b", False)
    assert synced(database, tmp_path) == ["a", "b"]


@pytest.mark.parametrize("role", ROLES_THAT_MAY_NOT)
def test_only_administrators_deploy(
    database: SharedDatabase, tmp_path: Path, role: PersonRole | Literal["machine"]
) -> None:
    new = NewDeployment(archives=(archive(tmp_path, "a"),))
    changes: tuple[Callable[[DeploymentService], object], ...] = (
        lambda one: one.add(new),
        lambda one: one.revoke(RevokedSkills(skills=("a",))),
        lambda one: one.roll_back(),
        lambda one: one.deprecate(DeprecatedSkill(skill="a")),
    )
    for change in changes:
        with pytest.raises(PolicyDeniedError, match="needs the role administrator"):
            change(service(database, role))
    assert not service(database).list(ListQuery()).items


def test_the_policy_the_blocks_and_the_checks_decide_too(database: SharedDatabase, tmp_path: Path) -> None:
    new = NewDeployment(archives=(archive(tmp_path, "a"),))
    block = BlockService(call_of(database, tenant="*")).add(NewBlock(match=BlockMatch(name="a"), reason="stolen"))
    with pytest.raises(PolicyDeniedError, match="stolen"):
        service(database).add(new)
    BlockService(call_of(database, tenant="*")).remove(block.id)
    toml = '[[rule]]\neffect = "deny"\ntool = "packages.deploy"\nreason = "not today"\n'
    PolicyService(call_of(database, tenant="*")).put("base", NewPolicy(toml=toml))
    with pytest.raises(PolicyDeniedError, match="not today"):
        service(database).add(new)
    PolicyService(call_of(database, tenant="*")).remove("base")

    def faulty(directories: Sequence[str]) -> Sequence[Diagnostic]:
        raise InvalidSkillError(())

    call = call_of(database, tenant="*")
    with pytest.raises(InvalidSkillError):
        DeploymentService(call, StoreReleases(call, KEY, faulty)).add(new)
    assert service(database).add(new).state == "published"
    assert [kind for kind, data in logged(database, "*") if data.get("tool") == "packages.deploy"]


@pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b\x08 damaged", b"PK\x03\x04"])
def test_bytes_that_are_no_skill_are_refused(database: SharedDatabase, data: bytes) -> None:
    with pytest.raises(SkillError):
        service(database).add(NewDeployment(archives=(data,)))
    assert not service(database).list(ListQuery()).items


def test_without_the_key_nothing_is_signed(database: SharedDatabase, tmp_path: Path) -> None:
    call = call_of(database, tenant="*")
    with pytest.raises(DistributionError, match="key is not here"):
        DeploymentService(call, StoreReleases(call, None)).add(NewDeployment(archives=(archive(tmp_path, "a"),)))
