"""An organisation with sample data, for `make admin` and for the tests of the pages.

    python -m tools.sample_organisation

Starts PostgreSQL in a temporary directory, or uses an SQLite file if PostgreSQL is not on this machine, fills the store
through the services, starts `prowess admin serve`, and prints the address and a token. Ends with Ctrl-C.
"""

from __future__ import annotations

import hashlib
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from prowess._internal.uuid7 import uuid7
from prowess.audit.record import AuditEvent, time_text
from prowess.audit.transparency.sequencer import event_bytes
from prowess.store.shared.audit_rows import InboxRow, SharedAuditRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.store.shared.database import SharedDatabase

SKILLS = ("csv-report", "release-notes", "incident-review", "invoice-check", "deploy-service", "contract-summary")
_TEAMS = {"ada": "platform", "ben": "platform", "chloe": "finance", "dmitri": "finance", "emre": "legal"}
_AGENTS = ("claude-code", "ci-agent", "support-bot")
HOSTS = ("build-01", "build-02", "laptop-ada")
_REFUSALS = (
    ("policy_denied", "reviewed-only", "only reviewed skills are used here"),
    ("approval_required", "scripts", "2 of 2 votes are missing"),
    ("tool_not_allowed", None, "the skill allows Read and Grep"),
)


class SampleCall(Struct, frozen=True, kw_only=True):
    """Whose call of which skill a record is about."""

    skill: str
    user: str
    agent: str
    host: str
    session: str

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of every record of the call."""
        return {
            "skill": self.skill,
            "digest": digest_of(self.skill),
            "layer": "enterprise" if self.skill == "deploy-service" else "project",
            "source": f"https://skills.acme.example/{self.skill}",
            "user": self.user,
            "team": _TEAMS[self.user],
            "roles": ["user"],
            "agent": self.agent,
            "host": self.host,
            "client": "claude-code/2.3",
            "environment": "production" if self.agent == "ci-agent" else "development",
        }


def digest_of(text: str) -> str:
    """Return a digest that stands for the contents of a skill."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def sample_events(count: int, seed: int = 7) -> Iterator[AuditEvent]:
    """Yield the events of `count` sessions."""
    draw = random.Random(seed)  # noqa: S311 -- sample data is the same each time
    for number in range(count):
        call = SampleCall(
            skill=draw.choices(SKILLS, weights=(9, 6, 4, 4, 2, 1))[0],
            user=draw.choice(tuple(_TEAMS)),
            agent=draw.choice(_AGENTS),
            host=draw.choice(HOSTS),
            session=f"session-{number:04}",
        )
        yield from _session(call, draw)


def _session(call: SampleCall, draw: random.Random) -> Iterator[AuditEvent]:
    def event(kind: str, call_id: str = "", **data: object) -> AuditEvent:
        known = call_id or uuid7()
        return AuditEvent(kind=kind, session_id=call.session, call_id=known, data={**call.facts, **data})

    if call.skill == "contract-summary" or draw.random() < 0.1:  # noqa: PLR2004 -- a share
        code, rule, reason = draw.choice(_REFUSALS)
        yield event("tool.refused", tool="skills.load", code=code, rule=rule, reason=reason)
        return
    yield event("skill.loaded", trigger=draw.choice(("model", "user")), tokens=draw.randrange(300, 2600))
    for _ in range(draw.randrange(1, 4)):
        tool = draw.choice(("skills.read", "skills.run_script", "Bash"))
        call_id = uuid7()
        yield event("tool.started", call_id, tool=tool)
        worked = draw.random() < 0.9  # noqa: PLR2004 -- a share
        if tool == "skills.run_script":
            command = f"python3 scripts/{call.skill.partition('-')[0]}.py --month 11"
            yield event("script.finished", call_id, command=command, exit_code=0 if worked else 1, duration_ms=820)
        outcome, duration = "success" if worked else "failure", draw.randrange(12, 2400)
        yield event("tool.finished", call_id, tool=tool, outcome=outcome, duration_ms=duration, tokens=90)
    if draw.random() < 0.3:  # noqa: PLR2004 -- a share
        yield event("skill.unloaded")


def add_records(database: SharedDatabase, count: int) -> None:
    """Add the records of `count` sessions in the last week to the inbox of the tenant of a database."""
    rows = SharedAuditRows(database)
    people = {user: rows.pseudonym(user, f"person-{hashlib.sha256(user.encode()).hexdigest()[:16]}") for user in _TEAMS}
    at, step = datetime.now(UTC) - timedelta(days=7), timedelta(days=7) / (count + 1)
    found, session = [], None
    for event in sample_events(count):
        if event.session_id != session:
            at, session = at.replace(second=0) + step, event.session_id
        at += timedelta(seconds=3)
        person = people[str(event.data["user"])]
        data = {key: value for key, value in {**event.data, "user": person}.items() if value is not None}
        body = event_bytes(AuditEvent(kind=event.kind, session_id=session, call_id=event.call_id, data=data))
        found.append(InboxRow(id=uuid7(), at=time_text(at), person=person, body=body))
    rows.add(found)
