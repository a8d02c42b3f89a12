"""`deploy`, `revoke`, `rollback`, `hosts` and `inventory` with `--store`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from prowess._internal.uuid7 import uuid7
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.governance.machine.reports import MachineReport, ReportedCopy, SentRecords
from prowess.governance.organisation import add_token, found_organisation
from prowess.governance.service.machines import MachineService
from prowess.store import SharedDatabase
from tests.governance.service.organisations import call_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_COPY = ReportedCopy(
    name="report", layer="personal", place="/home/bob/skills/report", digest="sha256:1", capabilities=("network",)
)


@pytest.fixture
def url(tmp_path: Path) -> str:
    found = f"sqlite:///{tmp_path / 'organisation.db'}"
    found_organisation(found, "acme.example", "ann")
    return found


@pytest.fixture
def skill(tmp_path: Path) -> str:
    place = tmp_path / "made" / "report"
    place.mkdir(parents=True)
    (place / "SKILL.md").write_text("---\nname: report\ndescription: Reports. Use when asked.\n---\nDo.\n")
    return str(place)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def call(*arguments: str, code: int = exit_codes.OK) -> Any:  # noqa: ANN401 -- a document
        capsys.readouterr()
        assert run([*arguments, "--json"]) == code
        return json.loads(capsys.readouterr().out)

    return call


def enrolled(url: str, version: int | None = None, release: int | None = None, own: int | None = None) -> None:
    database = SharedDatabase(url)
    report = MachineReport(
        id=uuid7(),
        name="laptop",
        bundle=version,
        release=release,
        tenant_release=own,
        inventory=(_COPY,),
        is_enrolment=True,
    )
    MachineService(call_of(database, "machine")).collect(SentRecords(machine=report))
    database.close()


def test_the_documents_are_those_of_a_directory(url: str, skill: str, printed: Callable[..., Any]) -> None:
    store = ("--store", url)
    first = printed("deploy", skill, *store)
    assert (first["release"], first["state"], first["added"], first["missing"]) == (1, "published", ["report"], 0)
    assert [one["name"] for one in first["skills"]] == ["report"]
    assert printed("revoke", "report", *store)["removed"] == ["report"]
    assert printed("rollback", "1", *store)["added"] == ["report"]
    listed = printed("rollback", "--list", *store)["releases"]
    assert [(one["number"], len(one["skills"])) for one in listed] == [(3, 1), (2, 0), (1, 1)]
    printed("deploy", "--deprecate", "report", *store)
    assert printed("rollback", "--list", *store)["releases"][0]["skills"][0]["deprecated"]
    enrolled(url, release=4)
    hosts = printed("hosts", *store)
    assert (hosts["release"], [(one["host"], one["current"]) for one in hosts["hosts"]]) == (4, [("laptop", True)])


def test_a_tenant_sees_its_own_release_and_is_named(
    url: str, skill: str, printed: Callable[..., Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = add_token(url, tenant="default", role="administrator", user="bob")
    assert own is not None
    (tmp_path / "token").write_text(own.text)
    store = ("--store", url, "--token-file", str(tmp_path / "token"))
    for arguments in (("deploy", skill), ("revoke", "report"), ("rollback", "1")):
        assert run([*arguments, *store]) == exit_codes.OK
        assert "for the tenant default" in capsys.readouterr().out
    enrolled(url, release=9, own=3)
    hosts = printed("hosts", *store)
    assert (hosts["release"], [(one["release"], one["current"]) for one in hosts["hosts"]]) == (3, [(3, True)])


def test_a_deployment_waits_for_machines_and_says_which_are_late(
    url: str, skill: str, printed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed("deploy", skill, "--store", url, "--wait")["state"] == "published"
    monkeypatch.setattr("prowess.cli.organisation.waiting._WAIT_SECONDS", 0.0)
    enrolled(url, version=1)
    assert printed("revoke", "report", "--store", url, "--wait", code=exit_codes.FAILED)["state"] == "published"
    assert printed("block", "other", "--reason", "leaks", "--store", url, "--wait", code=exit_codes.FAILED)["id"]


def test_votes_wait_for_machines(
    url: str, skill: str, printed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("prowess.cli.organisation.waiting._WAIT_SECONDS", 0.0)
    (tmp_path / "policy.toml").write_text('default = "allow"\n[[approval]]\nfor = ["new-skills"]\nown = true\n')
    printed("policy", "push", "main", str(tmp_path / "policy.toml"), "--store", url)
    place = ("--root", os.path.dirname(skill), "--store", url, "--wait")
    voted = printed("approve", "report", *place)
    enrolled(url, version=1)
    assert printed("approvals", "revoke", voted["id"], *place, code=exit_codes.FAILED)["given"] == 0
    assert printed("approvals", "vote", voted["id"], *place, code=exit_codes.FAILED)["state"] == "approved"
    assert run(["approvals", "vote", voted["id"], "--wait"]) == exit_codes.USAGE


@pytest.mark.proves("governance.persona.inventory")
def test_every_copy_on_every_machine_is_listed_with_filters(url: str, printed: Callable[..., Any]) -> None:
    enrolled(url)
    enrolled(url)
    found = printed("inventory", "--store", url)["copies"]
    assert [(one["host"], one["name"], one["layer"]) for one in found] == [("laptop", "report", "personal")] * 2
    for option, wanted, other in (
        ("--skill", "report", "other"),
        ("--machine", found[0]["machine"], uuid7()),
        ("--capability", "network", "scripts"),
        ("--layer", "personal", "enterprise"),
    ):
        expected = 1 if option == "--machine" else 2
        assert len(printed("inventory", "--store", url, option, wanted)["copies"]) == expected
        assert not printed("inventory", "--store", url, option, other)["copies"]


def test_an_inventory_of_this_user_needs_no_store(skill: str, printed: Callable[..., Any]) -> None:
    home = os.path.join(os.environ["HOME"], ".agents", "skills")
    os.makedirs(home)
    os.symlink(skill, os.path.join(home, "report"))
    (found,) = printed("inventory", "--skill", "report")["copies"]
    assert found["digest"].startswith("sha256:")


@pytest.mark.parametrize(
    "arguments",
    [
        ("deploy", "--store", "URL"),
        ("deploy", "x", "--store", "URL", "--to", "d"),
        ("deploy", "x", "--to", "d", "--wait"),
        ("deploy", "--store", "URL", "--successor", "x"),
        ("deploy", "x", "--store", "URL", "--deprecate", "y"),
        ("deploy", "--store", "URL", "--deprecate", "y", "--environment", "z"),
        ("deploy", "x"),
        ("revoke", "x"),
        ("revoke", "x", "--store", "URL", "--key", "k"),
        ("hosts",),
        ("hosts", "--from", "d", "--store", "URL"),
        ("rollback", "--wait"),
        ("block", "x", "--reason", "y", "--wait"),
        ("inventory", "--machine", "x"),
    ],
)
def test_options_that_do_not_go_together_are_refused(url: str, arguments: tuple[str, ...]) -> None:
    assert run([url if one == "URL" else one for one in arguments]) == exit_codes.USAGE
