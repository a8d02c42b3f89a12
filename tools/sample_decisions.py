"""Decisions, machines and sessions of the sample organisation, made through the services that people use."""

from __future__ import annotations

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.distribution.publishing.packing import PackedFile, pack, read_skill_files
from prowess.governance.machine.reports import MachineReport, ReportedCopy, SentRecords
from prowess.governance.service.approval_items import NewApproval, NewVote
from prowess.governance.service.approvals import ApprovalService
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
from prowess.governance.service.deployments import DeploymentService, NewDeployment
from prowess.governance.service.listing import ListQuery
from prowess.governance.service.machines import MachineService
from prowess.governance.service.policies import NewPolicy, PolicyService
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.governance.service.tokens import TokenRequest, TokenService
from prowess.runtime.state import ActiveSkill, SessionState, to_json
from prowess.store import SessionRow
from prowess.store.shared.decisions import generation_of
from prowess.store.shared.sessions import SharedSessionStore
from tools.sample_organisation import HOSTS, SKILLS, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.signing.keys import PrivateKey
    from prowess.store.shared.database import SharedDatabase

CHANGED_SKILL = "csv-report"
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "skills"
POLICY = """\
[[rule]]
id = "reviewed-only"
effect = "deny"
tool = "skills.load"
match = { skill.name = "contract-summary" }
reason = "legal has not reviewed this skill"

[[rule]]
id = "ask-for-scripts"
effect = "ask"
tool = "skills.run_script"
match = { who.environment = "production" }

[[rule]]
effect = "deny"
tool = "Bash"
match = { command = "git push:*" }
mode = "monitor"

[[approval]]
id = "scripts"
for = ["scripts", "network-tools"]
count = 2
expires = "90d"
"""


def add_decisions(database: SharedDatabase, key: PrivateKey) -> None:
    """Add releases, approvals, a policy, blocks, machines, sessions and tokens to the tenant `default`.

    `key` is the key of the organisation, which signs the releases.
    """
    call = ServiceCall(_actor("ada", "administrator"), database, tenant="default", client="prowess/sample")
    deployments = DeploymentService(call, StoreReleases(call, key))
    for archives in _archives():
        deployments.add(NewDeployment(archives=archives))
    PolicyService(call).put("organisation", NewPolicy(toml=POLICY))
    _add_approvals(database, deployments)
    blocks = BlockService(call)
    blocks.add(NewBlock(match=BlockMatch(name="contract-summary"), reason="sends contracts to another company"))
    blocks.add(NewBlock(match=BlockMatch(source="https://skills.unknown.example"), reason="its owner is not known"))
    for user, role in (("ben", "approver"), ("chloe", "author"), ("build", "machine")):
        TokenService(call).add(TokenRequest(role=role, user=user, team="platform", expires="90d"))  # type: ignore[arg-type]  # roles
    for number, host in enumerate(HOSTS):
        _add_machine(database, number, host)
    _add_machine(database, 0, HOSTS[0], generation_of(database.of_tenant("default")))
    sessions = SharedSessionStore(database.of_tenant("default"))
    with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop
        thread.submit(asyncio.run, _add_sessions(sessions)).result()


def _archives() -> Iterator[tuple[bytes, ...]]:
    """Yield the archives of two releases: of a skill of the examples, and of it with changes."""
    files = read_skill_files(str(_EXAMPLES / CHANGED_SKILL)).files
    others = [pack(read_skill_files(str(_EXAMPLES / name)).files) for name in ("release-notes", "log-triage")]
    yield (pack(files), *others)
    changed = [
        PackedFile(path=file.path, executable=file.executable, data=_changed(file.data))
        if file.path in {"SKILL.md", "scripts/report.py"}
        else file
        for file in files
        if file.path != "references/CHARTS.md"
    ]
    yield (pack(changed),)


def _changed(data: bytes) -> bytes:
    """Return a file with other words, and the same name of the skill; SKILL.md gets tags."""
    changed = data.replace(b"report", b"summary", 2).replace(b"csv-summary", b"csv-report")
    return changed.replace(b'  category: "data"\n', b'  category: "data"\n  tags: "data, reports"\n')


def _add_approvals(database: SharedDatabase, deployments: DeploymentService) -> None:
    """Approve the older release of a skill by two people, and ask about the newer one."""
    newer, older = deployments.list(ListQuery()).items
    trees = [next(one.tree for one in release.skills if one.name == CHANGED_SKILL) for release in (older, newer)]
    author = ServiceCall(_actor("chloe", "author"), database, tenant="default")
    for tree in trees:
        question = NewApproval(
            skill=CHANGED_SKILL, digest=tree, reason="the monthly figures", capabilities=("scripts", "file-write")
        )
        asked = ApprovalService(author).add(question)
        for voter in ("ben", "dmitri") if tree == trees[0] else ():
            call = ServiceCall(_actor(voter, "approver"), database, tenant="default")
            ApprovalService(call).vote(asked.id, NewVote(vote="approve", reason="read and tried", digest=tree))


def _actor(user: str, role: str, token: str | None = None) -> Actor:
    return Actor(user=user, roles=(role,), tenant="default", identified_by="token", token_id=token)  # type: ignore[arg-type]  # roles


def _add_machine(database: SharedDatabase, number: int, host: str, bundle: int | None = None) -> None:
    machine = ServiceCall(_actor(host, "machine", f"token-{number}"), database, tenant="default")
    copies = tuple(
        ReportedCopy(
            name=skill,
            layer="enterprise" if skill == "deploy-service" else "project",
            place=f"/srv/skills/{skill}",
            digest=digest_of(skill if number else f"older {skill}"),
            source=f"https://skills.acme.example/{skill}",
            capabilities=("scripts", "file-write") if skill in {"csv-report", "deploy-service"} else (),
            approval="approved" if skill == "csv-report" else "missing" if skill == "deploy-service" else None,
            findings="warning" if skill == "incident-review" else None,
        )
        for skill in SKILLS[: 6 - number]
    )
    report = MachineReport(
        id=str(uuid.UUID(int=0x019AD3C26F0E7C3A9B1D2F4E5A6B7C00 + number)),
        name=host,
        team="platform",
        environment="production" if host.startswith("build") else "development",
        bundle=bundle,
        inventory=copies,
        is_enrolment=bundle is None,
        fault="the bundle is older than 24 hours" if host == HOSTS[-1] else None,
    )
    MachineService(machine).collect(SentRecords(machine=report))


async def _add_sessions(store: SharedSessionStore) -> None:
    for number in range(6):
        name = SKILLS[number % 3]
        skill = ActiveSkill(
            name=name,
            key=name,
            location=f"/srv/skills/{name}/SKILL.md",
            root_dir=f"/srv/skills/{name}",
            digest=digest_of(name),
            content_digest=digest_of(name),
            document_digest=digest_of(name),
        )
        state = to_json(SessionState(active=(skill,) if number else ()))
        at = time.time() - 700 * number
        await store.create(
            SessionRow(session_id=f"session-{number:04}", version=number + 1, state=state, touched_at=at)
        )
