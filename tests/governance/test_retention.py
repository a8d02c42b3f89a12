"""`audit.retain` removes the bodies of old records: hashes stay, every proof holds, and the removal is recorded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from prowess.audit.record import AuditEvent, time_text
from prowess.audit.transparency.export_verification import verify_export
from prowess.audit.transparency.sequencer import LogSigner, event_bytes
from prowess.errors import PolicyError
from prowess.governance.retention import apply_retention
from prowess.governance.service.audit import AuditQuery, AuditSelection, AuditService
from prowess.governance.service.policies import NewPolicy, PolicyService
from prowess.policy.policy_file import policy_file_of
from prowess.signing.signed_note import read_note_key
from prowess.store.shared.audit_rows import InboxRow
from tests.governance.service.organisation_in_tests import KEY, PUBLIC_KEY, OrganisationInTests

if TYPE_CHECKING:
    from pathlib import Path

_NOW = datetime.now(UTC)
_SIGNER = LogSigner(name="acme", key=KEY)


@pytest.fixture
def acme(tmp_path: Path) -> OrganisationInTests:
    """An organisation with a record of each of the last ten days."""
    made = OrganisationInTests(tmp_path)
    body = event_bytes(AuditEvent(kind="tool.started", data={"tool": "Read"}))
    made.rows.add(
        [
            InboxRow(id=f"{9 - days}", at=time_text(_NOW - timedelta(days=days)), person=None, body=body)
            for days in range(10)
        ]
    )
    made.continue_log()
    return made


def _retain(acme: OrganisationInTests, name: str, time: str) -> None:
    text = f'default = "allow"\n[audit]\nretain = "{time}"\n'
    PolicyService(acme.call()).put(name, NewPolicy(toml=text))


def test_old_bodies_are_removed_once_and_every_proof_holds(acme: OrganisationInTests, tmp_path: Path) -> None:
    before = AuditService(acme.call()).checkpoint().checkpoint
    assert apply_retention(acme.rows, _SIGNER) == 0  # no policy sets a time
    _retain(acme, "main", "4d")
    assert apply_retention(acme.rows, _SIGNER) == 5
    assert apply_retention(acme.rows, _SIGNER) == 0
    service = AuditService(acme.call())
    (erased,) = service.list(AuditQuery(kind=("audit.erased",))).items
    assert (erased.data["records"], erased.data["rule"]) == (5, "audit.retain")
    assert erased.data["policy"] == "store:default/main.toml"
    assert service.get(5).line is None
    assert service.get(6).line is not None
    service.save(AuditSelection(), str(tmp_path / "export"))
    verdict = verify_export(str(tmp_path / "export"), read_note_key(PUBLIC_KEY))
    assert (verdict.ok, verdict.erased) == (True, 5)
    assert service.consistency(10).old == 10
    assert before != service.checkpoint().checkpoint
    assert apply_retention(acme.rows, _SIGNER, _NOW + timedelta(days=40)) > 5  # not the record of the erasure
    assert service.list(AuditQuery(kind=("audit.erased",))).items[0] == erased


def test_the_longest_time_of_all_policies_wins(acme: OrganisationInTests) -> None:
    _retain(acme, "short", "1d")
    _retain(acme, "long", "30d")
    assert apply_retention(acme.rows, _SIGNER) == 0


@pytest.mark.parametrize("time", ["1h", "0d", "40000d", "soon", "12"])
def test_a_time_below_a_day_or_without_a_unit_is_refused(time: str) -> None:
    with pytest.raises(PolicyError, match=r"p.toml:2: audit.retain: must be a time from a day"):
        policy_file_of("p.toml", f'[audit]\nretain = "{time}"\n'.encode())
