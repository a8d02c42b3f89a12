"""The log of an organisation as its service gives it: pages, proofs that hold, and exports that verify."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from msgspec import ValidationError, convert, to_builtins
from msgspec.json import decode, encode

from prowess.audit.record import AuditEvent
from prowess.audit.transparency.checkpoint import is_signed, read_checkpoint
from prowess.audit.transparency.export_verification import verify_export
from prowess.audit.transparency.merkle import consistency_holds, inclusion_holds, leaf_hash
from prowess.errors import ConfigurationError, PolicyDeniedError
from prowess.governance.service.analytics import AnalyticsService, UsageQuery
from prowess.governance.service.audit import AuditPage, AuditQuery, AuditSelection, AuditService, ProofOfRecord
from prowess.governance.service.listing import NoSuchItemError
from prowess.governance.usage import UsageReport
from prowess.signing.signed_note import read_note_key
from tests.governance.service.organisation_in_tests import PUBLIC_KEY, OrganisationInTests

if TYPE_CHECKING:
    from pathlib import Path


def _event(number: int) -> AuditEvent:
    data = {"user": f"user-{number % 3}", "skill": "deploy" if number % 2 else "report", "tool": "skills.load"}
    return AuditEvent(kind="skill.loaded", session_id="s", data=data)


@pytest.fixture
def acme(tmp_path: Path) -> OrganisationInTests:
    made = OrganisationInTests(tmp_path)
    made.record(*map(_event, range(10)))
    return made


def _all(service: AuditService, query: AuditQuery) -> list[list[int]]:
    pages: list[list[int]] = []
    cursor: str | None = None
    while True:
        found = service.list(convert(to_builtins(query) | {"cursor": cursor}, AuditQuery))
        pages.append([record.sequence for record in found.items])
        cursor = found.next
        if cursor is None:
            return pages


def test_pages_go_from_the_oldest_on_or_from_the_newest_back(acme: OrganisationInTests) -> None:
    service = AuditService(acme.call())
    assert _all(service, AuditQuery(limit=4)) == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert _all(service, AuditQuery(limit=4, order="newest")) == [[10, 9, 8, 7], [6, 5, 4, 3], [2, 1]]
    assert _all(service, AuditQuery(limit=3, skill=("deploy",))) == [[2, 4, 6], [8, 10]]
    assert _all(service, AuditQuery(limit=2, order="newest", user=("user-1",))) == [[8, 5], [2]]
    assert _all(service, AuditQuery(until="2020-01-01")) == [[]]
    page = service.list(AuditQuery(limit=1))
    assert decode(encode(page), type=AuditPage) == page


@pytest.mark.parametrize("wrong", [{"since": "yesterday"}, {"cursor": "x"}, {"cursor": "-1", "order": "newest"}])
def test_a_wrong_time_or_cursor_is_named(acme: OrganisationInTests, wrong: dict[str, str]) -> None:
    with pytest.raises((ConfigurationError, ValidationError), match=next(iter(wrong))):
        AuditService(acme.call()).list(convert(wrong, AuditQuery))


def test_a_record_is_proved_by_its_path_to_the_signed_checkpoint(acme: OrganisationInTests) -> None:
    service, key = AuditService(acme.call()), read_note_key(PUBLIC_KEY)
    state = service.checkpoint()
    assert (state.size, state.waiting, state.public_key, state.origin) == (10, 0, PUBLIC_KEY, "acme/default")
    for number in range(1, 11):
        found = decode(encode(service.get(number)), type=ProofOfRecord)
        signed = read_checkpoint(found.checkpoint)
        assert found.line is not None
        assert found.record is not None
        leaf, path = leaf_hash(found.line.encode()), [base64.b64decode(one) for one in found.path]
        assert is_signed(signed, key)
        assert inclusion_holds(leaf, number - 1, signed.size, path, signed.root)
        assert (found.record.sequence, found.record.data["user"]) == (number, f"user-{(number - 1) % 3}")
    for number in (0, -1, 11, 2**70):
        with pytest.raises(NoSuchItemError, match=str(number)):
            service.get(number)


def test_the_log_is_proved_to_continue_an_earlier_checkpoint(acme: OrganisationInTests) -> None:
    service = AuditService(acme.call())
    before = read_checkpoint(service.checkpoint().checkpoint)
    acme.record(_event(10))
    proof = service.consistency(10)
    now = read_checkpoint(proof.checkpoint)
    path = [base64.b64decode(one) for one in proof.path]
    assert consistency_holds(before.size, before.root, now.size, now.root, path)
    for old, new in ((12, None), (-1, None), (5, 3), (0, 12)):
        with pytest.raises(NoSuchItemError):
            service.consistency(old, new)


def test_an_export_of_the_service_verifies(acme: OrganisationInTests, tmp_path: Path) -> None:
    for selection, count in ((AuditSelection(), 10), (AuditSelection(user=("user-1",)), 3)):
        found = AuditService(acme.call()).export(selection)
        (tmp_path / "export").write_bytes(b"".join(found.all_lines()))
        verdict = verify_export(str(tmp_path / "export"), read_note_key(PUBLIC_KEY))
        assert (verdict.ok, verdict.records, verdict.complete) == (True, count, found.complete)


@pytest.mark.proves("governance.journey.compliance.monitored")
def test_the_administrator_of_a_skill_sees_its_activations_across_teams(acme: OrganisationInTests) -> None:
    for team, count in (("blue", 2), ("red", 3)):
        facts = {"skill": "data-handling", "team": team, "tool": "skills.load"}
        acme.record(*(AuditEvent(kind="skill.loaded", data={**facts, "user": f"{team}-{n}"}) for n in range(count)))
    rows = AnalyticsService(acme.call()).report(UsageQuery(by=("skill", "team"))).rows
    seen = {row["team"]: row["activations"] for row in rows if row["skill"] == "data-handling"}
    assert seen == {"blue": 2, "red": 3}
    found = AuditService(acme.call()).list(convert({"skill": ["data-handling"]}, AuditQuery)).items
    assert {one.data["user"] for one in found} == {"blue-0", "blue-1", "red-0", "red-1", "red-2"}
    with pytest.raises(PolicyDeniedError):
        AnalyticsService(acme.call("user")).report(UsageQuery(by=("skill", "team")))


def test_a_report_of_the_service_counts_the_records(acme: OrganisationInTests) -> None:
    report = AnalyticsService(acme.call(), ["deploy", "unused"]).report(UsageQuery(by=("skill",)))
    assert [(row["skill"], row["activations"]) for row in report.rows] == [("deploy", 5), ("report", 5)]
    assert [one.skill for one in report.never_chosen] == ["unused"]
    assert decode(encode(report), type=UsageReport) == report
    with pytest.raises(ConfigurationError, match="did you mean 'skill'"):
        AnalyticsService(acme.call()).report(UsageQuery(by=("skil",)))


@pytest.mark.parametrize("role", ["viewer", "user", "author", "machine"])
def test_only_approvers_and_administrators_read_records(acme: OrganisationInTests, role: str) -> None:
    call = acme.call(role)  # type: ignore[arg-type]  # a role
    service = AuditService(call)
    for work in (
        lambda: service.list(AuditQuery()),
        lambda: service.get(1),
        service.checkpoint,
        lambda: service.consistency(1),
        lambda: service.export(AuditSelection()),
        lambda: AnalyticsService(call).report(UsageQuery()),
    ):
        with pytest.raises(PolicyDeniedError, match="needs the role approver or administrator"):
            work()
    assert AuditService(acme.call("approver")).list(AuditQuery()).items
