"""Approvals in the store of an organisation: `--store URL`, tokens, and running sessions."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from prowess import Catalog, SyncSession
from prowess._internal.process_user import groups_of_user, login
from prowess.audit.caller import Caller
from prowess.audit.log import JsonlAuditLog
from prowess.cli.dispatch import run
from prowess.cli.organisation.store_call import store_call
from prowess.errors import StoreError
from prowess.governance.organisation import new_token
from prowess.governance.shared_decisions import SharedDecisions
from prowess.governance.store_approvals import StoreApprovals
from prowess.policy.approvals.statements import Voter, VoteStatement
from prowess.policy.policy_in_force import PolicyInForce
from prowess.store import SharedDatabase, SharedVoteStore, open_store
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.shared.tokens import SharedTokenStore
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.postgresql import Postgresql

pytestmark = pytest.mark.unmeasured


@pytest.fixture
def url(tmp_path: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A store, and a policy of this user that demands two approvals of scripts."""
    (own_home / ".prowess").mkdir(mode=0o700)
    demand = 'default = "allow"\n[[approval]]\nfor = ["scripts"]\ncount = 2\nroles = ["approver"]\n'
    (own_home / ".prowess" / "policy.toml").write_text(demand, encoding="utf-8")
    url = f"sqlite:///{tmp_path}/shared.db"
    assert run(["admin", "init", "--store", url, "--json"]) == 0
    capsys.readouterr()
    write_skill(tmp_path / "skills", "deploy", files={"scripts/a.sh": "printf done\n"})
    return url


@pytest.fixture
def ask(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, Any]]:
    """Run a command on the store as the owner of a token with this role."""

    def asked(user: str, role: str, *words: str) -> tuple[int, Any]:
        added = ["admin", "token", "add", "--store", url, "--tenant", "default", "--role", role, "--user", user]
        assert run([*added, "--json"]) == 0
        monkeypatch.setenv("PROWESS_SERVER_TOKEN", json.loads(capsys.readouterr().out)["token"])
        code = run([*words, "--root", str(tmp_path / "skills"), "--store", url, "--json"])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if shown.out else shown.err

    return asked


@pytest.mark.proves("governance.approval.digest")
def test_votes_in_the_store_count_in_a_running_session_until_they_are_revoked(
    url: str, tmp_path: Path, ask: Callable[..., tuple[int, Any]]
) -> None:
    with open_store(url) as store, SyncSession(Catalog(tmp_path / "skills"), store=store) as session:

        def detail() -> Any:  # noqa: ANN401 -- JSON
            return session.call("skills.load", {"names": ["deploy"]}).error_detail

        refused = detail()
        assert (refused["code"], refused["needed"]) == ("approval_required", 2)
        assert f"--store {url}`" in refused["how"]
        assert ask("ada", "approver", "approve", "deploy")[1]["state"] == "waiting"
        code, error = ask("ada", "approver", "approve", "deploy")  # with another token
        assert (code, "ada has approved 'deploy' already" in error) == (1, True)
        assert detail()["given"] == 1
        assert ask("bob", "approver", "approvals", "vote", refused["request"])[1]["state"] == "approved"
        assert detail() is None
        assert session.call("skills.read", {"skill": "deploy", "path": "SKILL.md"}).success
        assert ask("eve", "approver", "approvals", "revoke", refused["request"])[1]["given"] == 0
        read = session.call("skills.read", {"skill": "deploy", "path": "SKILL.md"})
        assert (read.error_detail or {})["code"] == "approval_required"


@pytest.mark.parametrize(
    ("role", "code", "said"),
    [
        ("viewer", 3, "has the role viewer; this needs the role approver"),
        ("administrator", 3, "asks for approver"),
        ("machine", 3, "has the role machine; this needs the role approver"),
    ],
)
def test_the_role_of_a_token_decides(role: str, code: int, said: str, ask: Callable[..., tuple[int, Any]]) -> None:
    found, error = ask("ada", role, "approve", "deploy")
    assert (found, said in error) == (code, True)


def test_another_role_than_that_of_the_token_is_refused(ask: Callable[..., tuple[int, Any]]) -> None:
    found, error = ask("ada", "viewer", "approve", "deploy", "--role", "approver")
    assert (found, "ada has the role viewer" in error) == (3, True)
    found, error = ask("ada", "administrator", "approve", "deploy", "--role", "approver")
    assert (found, "ada has the role administrator and may not answer" in error) == (3, True)
    assert ask("ada", "approver", "approve", "deploy", "--role", "approver")[1]["given"] == 1


def test_a_token_for_the_name_of_this_login_has_none_of_its_groups(
    own_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ask: Callable[..., tuple[int, Any]]
) -> None:
    me, policy = login() or "", own_home / ".prowess" / "policy.toml"
    groups = json.dumps(sorted(groups_of_user(me)))
    with policy.open("a", encoding="utf-8") as file:
        file.write(f'[roles]\nothers = "viewer"\nadministrator = {{ groups = {groups} }}\n')
    found, error = ask(me, "approver", "approve", "deploy")
    assert (found, f"{me} has the role viewer and may not answer" in error) == (3, True)


def test_a_command_with_a_token_and_no_tenant_acts_in_that_of_the_token(
    postgresql: Postgresql, tmp_path: Path, own_home: Path
) -> None:
    url, file = postgresql.store_url(), tmp_path / "token"
    organisation = OrganisationStore(url)
    organisation.add_tenant("acme")
    tokens = SharedTokenStore(organisation.database)
    for tenant, acts_in in (("acme", "acme"), ("*", "default")):
        made = new_token(tokens, tenant=tenant, role="approver", user="ada", team=None, seconds=None)
        assert made is not None
        file.write_text(made.text, encoding="utf-8")
        call = store_call(url, None, str(file))
        assert call.tenant == acts_in
        call.database.close()
    organisation.database.close()


def test_a_program_does_not_choose_the_tenant_or_the_proof_of_its_records(url: str, tmp_path: Path) -> None:
    log = JsonlAuditLog(tmp_path / "log" / "audit.jsonl")
    caller = Caller(user="al", identified_by="token", roles=("administrator",), tenant="other")
    with (
        open_store(url) as store,
        SyncSession(Catalog(tmp_path / "skills"), store=store, audit=log, caller=caller) as session,
    ):
        session.call("skills.list", {})
    records = [json.loads(line) for line in (tmp_path / "log" / "audit.jsonl").read_text("utf-8").splitlines()]
    found = {(one["data"]["identified_by"], one["data"]["tenant"]) for one in records if one["data"]["user"] == "al"}
    assert found == {("host", "default")}


def test_an_unknown_token_and_a_store_of_one_machine_are_refused(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text("unknown\n", encoding="utf-8")
    words = ["approve", "deploy", "--root", str(tmp_path / "skills"), "--token-file", str(tmp_path / "token")]
    assert run([*words, "--store", url]) == 3
    assert "it is unknown or has expired" in capsys.readouterr().err
    assert run([*words, "--store", "sqlite:///other.db"]) == 2
    assert "prowess admin init" in capsys.readouterr().err


def test_writers_at_once_lose_no_vote_and_a_damaged_vote_denies(url: str, tmp_path: Path) -> None:
    def vote(user: str) -> VoteStatement:
        tree = "sha256:" + 64 * "0"
        voter, now = Voter(user=user), datetime.now(UTC)
        return VoteStatement(
            vote="approve", skill="a", tree=tree, shown=tree, rule="r", role="approver", voter=voter, at=now
        )

    database = SharedDatabase(url)
    approvals, source = StoreApprovals(SharedVoteStore(database), database.url), SharedDecisions(database)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda user: approvals.add(lambda _: vote(user)), "0123"))
    assert sorted(one.voter.user for one in source.rules().approvals.statements) == ["0", "1", "2", "3"]
    with database._connections.engine().begin() as db:
        db.execute(text("DELETE FROM votes WHERE number = 2"))
    approvals.add(lambda _: vote("4"))  # a missing row hinders no later vote
    assert len(source.rules().approvals.statements) == 4
    assert SharedVoteStore(database).add_vote("{}", number=6)
    with pytest.raises(StoreError, match="a vote is damaged"):
        source.rules()
    assert "a vote is damaged" in str(PolicyInForce(organisations=[source]).now().fault)
    database.close()
