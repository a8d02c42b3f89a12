"""Decisions, machines and sessions of the sample organisation, made through the services that people use."""

from __future__ import annotations

import asyncio
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from prowess.governance.machine.reports import MachineReport, ReportedCopy, SentRecords
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
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
    from prowess.store.shared.database import SharedDatabase

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


def add_decisions(database: SharedDatabase) -> None:
    """Add a policy, blocks, machines, sessions and tokens to the tenant `default`."""
    call = ServiceCall(_actor("ada", "administrator"), database, tenant="default", client="prowess/sample")
    PolicyService(call).put("organisation", NewPolicy(toml=POLICY))
    blocks = BlockService(call)
    blocks.add(NewBlock(match=BlockMatch(name="contract-summary"), reason="sends contracts to another company"))
    blocks.add(NewBlock(match=BlockMatch(source="https://skills.unknown.example"), reason="its owner is not known"))
    for user, role in (("ben", "approver"), ("chloe", "author"), ("build", "machine")):
        TokenService(call).add(TokenRequest(role=role, user=user, team="platform", expires="90d"))  # type: ignore[arg-type]  # roles
    for number, host in enumerate(HOSTS):
        _add_machine(database, number, host)
    sessions = SharedSessionStore(database.of_tenant("default"))
    with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop
        thread.submit(asyncio.run, _add_sessions(sessions)).result()


def _actor(user: str, role: str, token: str | None = None) -> Actor:
    return Actor(user=user, roles=(role,), tenant="default", identified_by="token", token_id=token)  # type: ignore[arg-type]  # roles


def _add_machine(database: SharedDatabase, number: int, host: str) -> None:
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
        bundle=None if number else generation_of(database.of_tenant("default")),
        inventory=copies,
        is_enrolment=True,
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
