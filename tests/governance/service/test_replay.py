"""The replay of a store: the answer of the same records in a file, verified, with names of users; and the push gate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from benchmarks.replaying import lines
from prowess.audit.record import AuditEvent
from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import newest
from prowess.errors import LimitExceededError, PolicyDeniedError, PolicyError, UnavailableError
from prowess.governance.replay.recorded_calls import replay_records
from prowess.governance.service.analytics import AnalyticsService, UsageQuery
from prowess.governance.service.call_limit import CallLimit
from prowess.governance.service.policies import NewPolicy, PolicyService, PushQuery
from prowess.governance.service.replay import ReplayRequest, ReplayService
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.policy.policy_in_force import policy_of_text
from tests.governance.service.organisation_in_tests import OrganisationInTests

if TYPE_CHECKING:
    from pathlib import Path

_USER = json.loads(next(lines(1, 60)))["data"]["user"]
_RULES = """
default = "allow"
[[rule]]
id = "skill-1"
effect = "deny"
tool = "skills.*"
match = { skill.name = "skill-1*" }
[[rule]]
id = "one-user"
effect = "ask"
tool = "*"
match = { who.user = "{user}" }
[[rule]]
effect = "deny"
tool = "Bash"
match = { command = "rm:*" }
""".replace("{user}", _USER)


def _event(line: str) -> AuditEvent:
    record = json.loads(line)
    names = {"kind": "kind", "session_id": "session_id", "call_id": "call_id", "data": "data"}
    return AuditEvent(**{name: record[key] for name, key in names.items()})


@pytest.fixture
def acme(tmp_path: Path) -> OrganisationInTests:
    made = OrganisationInTests(tmp_path)
    made.record(*map(_event, lines(600, 60)))
    return made


def test_a_store_has_the_same_answer_as_the_same_records_in_a_file(acme: OrganisationInTests, tmp_path: Path) -> None:
    (tmp_path / "records").write_text("".join(f"{line}\n" for line in lines(600, 60)), encoding="utf-8")
    of_file = replay_records(policy_of_text("new.toml", _RULES), str(tmp_path / "records"))
    of_store = ReplayService(acme.call()).replay(ReplayRequest(toml=_RULES, name="new.toml"))
    assert of_store == replace(of_file, verified=True)
    assert {one.rule for one in of_store.by_rule} >= {"skill-1", "one-user"}
    assert any(user.user == _USER and user.ask for user in of_store.by_user)
    assert of_store.unknown  # commands are not recorded


def test_a_replay_ends_at_the_limit_of_its_call_and_when_the_client_has_gone(acme: OrganisationInTests) -> None:
    call, request = acme.call(), ReplayRequest(toml=_RULES)
    call.limit = CallLimit(0)
    with pytest.raises(LimitExceededError, match="choose fewer records"):
        ReplayService(call).replay(request)
    with pytest.raises(LimitExceededError):
        PolicyService(call).put("new", NewPolicy(toml=_RULES), accept=ReplayService(call).gate(10**6))
    call.limit = CallLimit(60)
    call.limit.client_has_gone()
    with pytest.raises(UnavailableError, match="it has gone"):
        ReplayService(call).replay(request)
    with pytest.raises(UnavailableError, match="it has gone"):
        AnalyticsService(call).report(UsageQuery())


def test_a_span_of_time_is_replayed_and_verified(acme: OrganisationInTests) -> None:
    with acme.database._connections.engine().begin() as db:
        db.execute(text("UPDATE audit_records SET at = '2020-01-01T00:00:00.000000Z' WHERE sequence <= 300"))
    service = ReplayService(acme.call())
    # The signed time in the bodies counts, whatever the column says.
    found = service.replay(ReplayRequest(toml=_RULES, since="2021-01-01"))
    assert (found.records, found.verified) == (600, True)
    assert service.replay(ReplayRequest(toml=_RULES, until="2019-01-01")).records == 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit_records SET body = replace(CAST(body AS TEXT), '\"acme\"', '\"evil\"') WHERE sequence = 5",
        "UPDATE audit_records SET body = x'7b7d' WHERE sequence = 600",
        "UPDATE audit_records SET leaf = x'00', body = NULL WHERE sequence = 300",
        "DELETE FROM audit_records WHERE sequence = 400",
        "DELETE FROM audit_records WHERE sequence > 590",
        "UPDATE audit_logs SET size = 599",
        "UPDATE organisations SET public_key = 'acme+00000000+AAAA'",
    ],
)
def test_changed_records_are_not_verified(acme: OrganisationInTests, change: str) -> None:
    with acme.database._connections.engine().begin() as db:
        db.execute(text(change))
    assert not ReplayService(acme.call()).replay(ReplayRequest(toml=_RULES)).verified


def test_a_push_that_newly_denies_is_refused_unless_that_is_accepted(acme: OrganisationInTests) -> None:
    service, policies = ReplayService(acme.call()), PolicyService(acme.call())
    denied = service.replay(ReplayRequest(toml=_RULES)).newly_denied
    assert denied
    with pytest.raises(PolicyDeniedError, match=f"newly deny {denied} calls .*--accept {denied}"):
        policies.put("main", NewPolicy(toml=_RULES), accept=service.gate())
    with pytest.raises(PolicyDeniedError):
        policies.put("main", NewPolicy(toml=_RULES), accept=service.gate(denied - 1))
    acme.continue_log()
    refused = [one for one in newest(acme.rows, RecordFilter(), 10) if one.kind == "governance.refused"]
    assert [one.data["rule"] for one in refused] == ["policy.push", "policy.push"]
    assert policies.put("main", NewPolicy(toml=_RULES), accept=service.gate(denied)).number == 1
    assert policies.put("open", NewPolicy(toml='default = "allow"\n'), accept=service.gate()).number == 1


def test_a_replay_names_the_faults_of_a_policy_and_needs_a_role(acme: OrganisationInTests) -> None:
    with pytest.raises(PolicyError, match=r"^mine:1: .*defualt"):
        ReplayService(acme.call()).replay(ReplayRequest(toml="defualt = 1\n", name="mine"))
    with pytest.raises(PolicyDeniedError):
        ReplayService(acme.call("author")).replay(ReplayRequest(toml=_RULES))


def test_a_policy_of_the_organisation_is_tried_on_the_calls_of_every_tenant(acme: OrganisationInTests) -> None:
    actor = Actor(user="ada", roles=("administrator",), tenant="*", identified_by="token")
    service = ReplayService(ServiceCall(actor, acme.database))
    assert service.replay(ReplayRequest(toml=_RULES)).records == 600
    with pytest.raises(PolicyDeniedError, match="newly deny"):
        PolicyService(ServiceCall(actor, acme.database)).push("main", NewPolicy(toml=_RULES), PushQuery())
