"""Decisions in the store of an organisation bind the sessions in it, at their next call."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from prowess import Catalog, Session, SyncSession
from prowess.audit.selection import RecordFilter
from prowess.audit.transparency.central_log import newest
from prowess.audit.transparency.sequencer import LogSigner, continue_log
from prowess.cli.dispatch import run
from prowess.governance.service.blocks import BlockMatch, BlockService, NewBlock
from prowess.governance.service.policies import NewPolicy, PolicyService
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.governance.shared_decisions import SharedDecisions
from prowess.policy import Policy, PolicyInForce
from prowess.signing.keys import new_private_key
from prowess.signing.signed_note import note_key
from prowess.store import SharedDatabase, SharedSessionStore, open_store
from prowess.store.shared.audit_rows import SharedAuditRows
from prowess.store.shared.organisation import create_store
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgresql import Postgresql

pytestmark = pytest.mark.unmeasured
_KEY = new_private_key("ed25519")
_DENY = 'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "skills.*"\nmatch = { skill.name = "deploy" }\n'


@pytest.fixture
def skills(tmp_path: Path, own_home: Path) -> Path:
    for name in ("deploy", "helper"):
        write_skill(tmp_path / "skills", name, files={"scripts/a.sh": "printf done\n"})
    return tmp_path / "skills"


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "server":
        found: str = request.getfixturevalue("postgresql").store_url()
        return found
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    create_store(url, origin="acme", public_key=str(note_key("acme", _KEY.public)))
    return url


@pytest.fixture
def store(url: str) -> Iterator[SharedSessionStore]:
    with open_store(url) as opened:
        yield opened  # type: ignore[misc]  # the URL is one of a shared store


def _call(store: SharedSessionStore, tenant: str = "default") -> ServiceCall:
    actor = Actor(user="ada", roles=("administrator",), tenant=tenant, identified_by="token")
    return ServiceCall(actor, store.database)


def _block(store: SharedSessionStore, tenant: str = "default") -> str:
    return BlockService(_call(store, tenant)).add(NewBlock(match=BlockMatch(name="deploy"), reason="leaks")).id


def _code(session: SyncSession, name: str = "deploy") -> str | None:
    detail: Any = session.call("skills.load", {"names": [name]}).error_detail
    return None if detail is None else detail["code"]


@pytest.mark.parametrize("tenant", ["default", "*"])
def test_a_block_holds_from_the_next_call_on_and_ends_with_it(
    tenant: str, store: SharedSessionStore, skills: Path
) -> None:
    with SyncSession(Catalog(skills), store=store) as session:
        assert _code(session) is None
        block = _block(store, tenant)
        assert (_code(session), _code(session, "helper")) == ("policy_denied", None)
        assert not session.call("skills.read", {"skill": "deploy", "path": "SKILL.md"}).success
        assert "deploy" not in session.instructions()
        BlockService(_call(store, tenant)).remove(block)
        assert _code(session) is None


def test_a_policy_is_a_layer_that_no_other_loosens(store: SharedSessionStore, skills: Path, own_home: Path) -> None:
    (own_home / ".prowess").mkdir(mode=0o700, exist_ok=True)
    (own_home / ".prowess" / "policy.toml").write_text('default = "allow"\n', encoding="utf-8")
    with SyncSession(Catalog(skills), store=store, policy=Policy()) as session:
        assert _code(session) is None
        PolicyService(_call(store)).put("base", NewPolicy(toml=_DENY))
        denied: Any = session.call("skills.load", {"names": ["deploy"]}).error_detail
        assert (denied["code"], "store:default/base.toml:2" in denied["message"]) == ("policy_denied", True)
        PolicyService(_call(store, "*")).put("base", NewPolicy(toml='default = "allow"'))
        assert _code(session) == "policy_denied"
        PolicyService(_call(store)).remove("base")
        assert _code(session) is None


@pytest.mark.parametrize("given", [Policy.unrestricted_for_tests(), PolicyInForce(Policy.unrestricted_for_tests())])
def test_no_session_is_unrestricted_for_tests_in_a_store_with_decisions(
    given: Policy | PolicyInForce, store: SharedSessionStore, skills: Path
) -> None:
    with SyncSession(Catalog(skills), store=store, policy=given) as session:
        assert _code(session) is None
        _block(store)
        assert (_code(session), _code(session, "helper")) == ("policy_invalid", "policy_invalid")


def test_a_policy_of_the_store_is_satisfied_by_no_approvals_file(
    store: SharedSessionStore, skills: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tests.policy.test_no_bypass import _write_approvals

    PolicyService(_call(store)).put("base", NewPolicy(toml='default = "allow"\n[[approval]]\nfor = ["new-skills"]\n'))
    monkeypatch.chdir(tmp_path)
    for folder in (
        tmp_path,
        tmp_path / ".prowess",
        tmp_path / "store:default",
    ):
        _write_approvals(folder, skills / "deploy")
    with SyncSession(Catalog(skills), store=store) as session:
        assert _code(session) == "approval_required"


@pytest.mark.anyio
async def test_a_call_learns_the_generation_from_its_row(
    store: SharedSessionStore, skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, generation = [], SharedDecisions.generation

    def counted(source: SharedDecisions) -> int:
        asked.append(source)
        return generation(source)

    monkeypatch.setattr(SharedDecisions, "generation", counted)
    async with Session(Catalog(skills), store=store) as session:
        await session.load("helper")
        asked.clear()
        await session.load("helper")
        assert (await session.call("skills.read", {"skill": "helper", "path": "SKILL.md"})).success
        assert asked == []
        session.instructions()  # outside of a call there is no row
        assert len(asked) == 1


def test_the_central_log_has_each_record_before_the_tool_runs(
    url: str, store: SharedSessionStore, skills: Path
) -> None:
    PolicyService(_call(store)).put("audit", NewPolicy(toml='default = "allow"\n[audit]\nsink = "central"\n'))
    with SyncSession(Catalog(skills), store=store) as session:
        assert _code(session) is None
    rows = SharedAuditRows(store.database)
    continue_log(rows, LogSigner(name="acme", key=_KEY))
    kinds = [one.kind for one in newest(rows, RecordFilter(), 10) if one.data.get("tool") == "skills.load"]
    assert kinds == ["tool.started", "skill.loaded", "tool.finished"]
    elsewhere = PolicyInForce(organisations=[SharedDecisions(store.database)])
    with SyncSession(Catalog(skills), policy=elsewhere) as session:
        assert _code(session) == "unavailable"  # a session with another store, on a machine without the service


def test_refusals_belong_into_the_central_log_if_the_policy_of_the_organisation_was_never_read(tmp_path: Path) -> None:
    nowhere = SharedDatabase(f"sqlite:///{tmp_path / 'none.db'}")
    policy = PolicyInForce(organisations=[SharedDecisions(nowhere)]).now()
    assert (policy.store_fault is None, policy.audit_sink) == (False, "central")


def test_while_the_store_is_down_every_call_is_refused_and_no_restart_is_needed(
    postgresql: Postgresql, skills: Path
) -> None:
    """Five immediate stops while calls run."""
    codes: dict[str, set[str | None]] = {"deploy": set(), "helper": set()}
    latest: list[str | None] = []
    ended = threading.Event()
    with open_store(postgresql.store_url()) as opened, SyncSession(Catalog(skills), store=opened) as session:
        assert isinstance(opened, SharedSessionStore)
        _block(opened)

        def call() -> None:
            while not ended.is_set():
                for name, seen in codes.items():
                    seen.add(_code(session, name))
                latest.append(_code(session, "helper"))

        def wait(code: str | None) -> None:
            latest.clear()
            until = time.monotonic() + 60
            while code not in latest:
                assert time.monotonic() < until, f"no call ends with {code}"
                time.sleep(0.01)

        calls = threading.Thread(target=call)
        calls.start()
        try:
            for _ in range(5):
                wait(None)
                postgresql.stop()
                wait("store_unavailable")
                postgresql.start()
            wait(None)
        finally:
            ended.set()
            calls.join()
    assert codes == {
        "deploy": {"policy_denied", "store_unavailable"},
        "helper": {None, "store_unavailable"},
    }


def test_commands_show_and_remove_the_policies_of_a_store(
    url: str, store: SharedSessionStore, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PolicyService(_call(store, "*")).put("base", NewPolicy(toml=_DENY))
    assert run(["policy", "show", "--store", url, "--json"]) == 0
    assert [file["path"] for file in json.loads(capsys.readouterr().out)["files"]] == ["store:*/base.toml"]
    assert run(["policy", "list", "--store", url]) == 0
    assert "base  the organisation: version 1, 1 rule, by ada" in capsys.readouterr().out
    assert run(["policy", "remove", "base", "--store", url]) == 0
    assert run(["policy", "list", "--store", url, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2]) == {"policies": []}
