"""What an administrator does on a page is the same as with a command: in the store, in the log, and if refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli.dispatch import run
from tests.http_server.organisation import in_file
from tests.http_server.pages.visitor import Visitor
from tests.http_server.samples import skill_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.http_server.organisation import ServedOrganisation

_POLICY = '[[rule]]\neffect = "deny"\ntool = "Bash"\n'
# What differs between two acts, and how the actor came in.
_MASKED = {"id", "at", "block", "generation", "created", "number", "client", "identified_by", "digest", "archives"}


@pytest.fixture
def organisation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedOrganisation]:
    with in_file(tmp_path) as served:
        (tmp_path / "signing.key").write_bytes(served.private.pem())
        (tmp_path / "signing.key").chmod(0o600)
        monkeypatch.setenv("PROWESS_SIGNING_KEY", str(tmp_path / "signing.key"))
        monkeypatch.setenv("PROWESS_SERVER_TOKEN", served.token("administrator"))
        yield served


def masked(value: Any) -> Any:  # noqa: ANN401 -- JSON
    """Return JSON without what differs between two acts; names of the two acts are made equal."""
    if isinstance(value, dict):
        return {key: masked(one) for key, one in value.items() if key not in _MASKED}
    if isinstance(value, list):
        return [masked(one) for one in value]
    return value.replace("by-page", "by-command") if isinstance(value, str) else value


def acts(organisation: ServedOrganisation, kind: str) -> list[Any]:
    """Return the records of two acts, without what differs."""
    organisation.sequence()
    found = organisation.client("administrator").get("/api/v1/audit", params={"kind": kind}).json()["items"]
    return [masked({"kind": one["kind"], "data": one["data"]}) for one in found]


@pytest.mark.proves("governance.layers.managed")
def test_blocks_policies_and_deployments_are_the_same_by_page_and_by_command(
    organisation: ServedOrganisation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visitor, store = Visitor(organisation, "administrator"), ("--store", organisation.url)
    assert run(["block", "leaky-by-command", "--reason", "leaks", *store]) == 0
    visitor.send("/blocks", "/blocks", kind="name", value="leaky-by-page", reason="leaks")
    (tmp_path / "new.toml").write_text(_POLICY)
    assert run(["policy", "push", "by-command", str(tmp_path / "new.toml"), *store]) == 0
    visitor.send("/policies/new", "/policies/check", name="by-page", toml=_POLICY, act="push", accept="0")
    skill = tmp_path / "by-command"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: by-command\ndescription: Does it. Use when needed.\n---\nDo.\n")
    assert run(["deploy", str(skill), *store, "--environment", "test"]) == 0
    archive = ("x.tar.gz", skill_archive("by-page"), "application/gzip")
    visitor.upload("/deployments", "/deployments", archive, environments="test")
    api = organisation.client("administrator")
    for path in ("blocks", "policies"):
        one, other = api.get(f"/api/v1/{path}").json()["items"]
        assert masked(one) == masked(other), path
    one, other = api.get("/api/v1/deployments").json()["items"][0]["skills"]
    assert {**one, "name": "", "tree": ""} == {**other, "name": "", "tree": ""}
    for kind in ("governance.block", "governance.policy", "governance.deploy"):
        first, second = acts(organisation, kind)
        assert first == second, kind


@pytest.mark.parametrize("role", ["viewer", "approver"])
def test_a_role_that_may_not_is_refused_alike(
    organisation: ServedOrganisation, role: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    visitor = Visitor(organisation, role)
    page = visitor.send("/skills", "/blocks", kind="name", value="leaky-by-page", reason="leaks")
    assert page.status_code == 403
    monkeypatch.setenv("PROWESS_SERVER_TOKEN", organisation.token(role))
    assert run(["block", "by-command", "--reason", "leaks", "--store", organisation.url, "--json"]) == 3
    assert "this needs the role administrator" in capsys.readouterr().err
    assert "this needs the role administrator" in page.text
    first, second = acts(organisation, "governance.refused")
    assert first == second
    assert json.loads(organisation.client("administrator").get("/api/v1/blocks").text)["items"] == []
