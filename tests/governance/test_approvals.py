"""Approvals of skills: `[[approval]]`, `prowess approve` and `prowess approvals`, and what running sessions do."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from prowess import Catalog, SyncSession
from prowess._internal.files import enrolment
from prowess._internal.files.enrolment import Enrolment
from prowess._internal.places import audit_path
from prowess.audit.record import read_tail
from prowess.cli.approvals import voting
from prowess.cli.dispatch import run
from prowess.errors import PolicyError
from prowess.governance.voters import present_voter
from prowess.policy import PolicyCall, read_policy_file
from prowess.policy.approvals.statements import Voter
from prowess.policy.decision import effect_of
from prowess.policy.expectations import check_expectations
from prowess.policy.policy_in_force import PolicyInForce, load_policy
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_DEMAND = 'default = "allow"\n[[approval]]\nfor = ["scripts"]\n'
_DIGEST = "sha256:" + 64 * "0"


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "deploy", files={"scripts/a.sh": "printf done\n"})
    write_skill(tmp_path / "skills", "notes")
    return tmp_path / "skills"


@pytest.fixture
def demand(own_home: Path) -> Callable[[str], Path]:
    """Write the user's policy file with an entry `[[approval]]`, and return the path of the approvals beside it."""
    home = own_home / ".prowess"
    home.mkdir(mode=0o700, exist_ok=True)

    def write(further: str = "", text: str = _DEMAND) -> Path:
        (home / "policy.toml").write_text(text + further, encoding="utf-8")
        return home / "approvals.json"

    return write


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let another person vote from here on."""

    def becomes(user: str, **facts: Any) -> None:  # noqa: ANN401 -- the fields of `Voter`
        monkeypatch.setattr(voting, "present_voter", lambda: Voter(user=user, **facts))

    return becomes


@pytest.fixture
def ask(skills: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any]]:
    """Run a command on these skills; return its exit code, and its JSON or the text of its error."""

    def asked(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = run([*words, "--root", str(skills), "--json"])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if shown.out else shown.err

    return asked


def _load(session: SyncSession, name: str = "deploy") -> Any:  # noqa: ANN401 -- the detail of the error, or None
    return session.call("skills.load", {"names": [name]}).error_detail


# ── policy files ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("", "3: approval.for: is missing; list some of scripts, network-tools, file-write, external-apis, new-skills"),
        ('for = "scripts"', "4: approval.for: must be a list of texts"),
        ('for = ["script"]', "4: approval.for: 'script' is not known; did you mean 'scripts'?"),
        (
            'for = ["scripts"]\nroles = ["aprover"]',
            "5: approval.roles: 'aprover' is not known; did you mean 'approver'?",
        ),
        ('for = ["scripts"]\nroles = []', "5: approval.roles: must be a list with some of viewer"),
        ('for = ["scripts"]\ncount = 0', "5: approval.count: must be a number of people, from 1 to 100"),
        ('for = ["scripts"]\ncount = true', "5: approval.count: must be a number of people"),
        ('for = ["scripts"]\ncount = 101', "5: approval.count: must be a number of people"),
        ('for = ["scripts"]\nexpires = "0d"', "5: approval.expires: must be after the vote"),
        ('for = ["scripts"]\nexpires = "soon"', "5: approval.expires: must be a number of seconds, minutes"),
        ('for = ["scripts"]\nown = "no"', "5: approval.own: must be true or false"),
        ('for = ["scripts"]\npeople = 2', "5: approval.people: is not a key of a policy file"),
        ('for = ["scripts"]\n[[approval]]\nfor = ["scripts"]', "6: approval.for: another entry has the name scripts"),
    ],
)
def test_bad_input_is_refused_with_place_and_remedy(entry: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f'default = "allow"\n\n[[approval]]\n{entry}\n', encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        read_policy_file(str(path))
    assert caught.value.problems[0].startswith(f"{path}:{said}")


@pytest.mark.parametrize(
    ("members", "is_possible"),
    [
        ('approver = { users = ["ada"] }', False),
        ('approver = { users = ["ada"] }\nadministrator = { users = ["ada", "bob"] }', True),
        ('approver = { groups = ["reviewers"] }', True),
        ('others = "approver"', True),
        ('viewer = { users = ["ada", "bob"] }', False),
    ],
)
def test_a_count_above_the_number_of_possible_approvers_is_a_fault(
    members: str, *, is_possible: bool, tmp_path: Path
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(f'{_DEMAND}count = 2\nroles = ["approver"]\n[roles]\n{members}\n', encoding="utf-8")
    if is_possible:
        assert read_policy_file(str(path)).approval_rules[0].count == 2
    else:
        with pytest.raises(PolicyError, match=f"^{path}:4: approval.count: is more than the number of people with"):
            read_policy_file(str(path))


def test_policy_show_and_test_know_approvals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "policy.toml"
    expectations = "".join(
        f'[[expect]]\ncall = {{ tool = "skills.load", arguments = {{ names = ["a"] }}, skill = {{ {skill} }} }}\n'
        f'effect = "{effect}"\n'
        for skill, effect in (
            ('capability = "scripts"', "deny"),
            ('capability = "file:read"', "allow"),
            ('capability = "scripts", approved = true', "allow"),
        )
    )
    path.write_text(f'{_DEMAND}count = 2\nexpires = "90d"\n{expectations}', encoding="utf-8")
    assert [one.holds for one in check_expectations(read_policy_file(str(path)), None)] == [True] * 3
    assert run(["policy", "show", "--policy", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "     2  approval for scripts: 2 people with the role approver or administrator, not the author" in shown
    assert run(["policy", "show", "--json", "--policy", str(path)]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["files"][-1]["approvals"]
    assert (entry["for"], entry["count"], entry["expires"], entry["own"]) == (["scripts"], 2, 90 * 86400, False)


# ── calls ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("governance.approval.pending")
def test_a_running_session_can_load_the_skill_after_the_last_vote(
    skills: Path, demand: Callable[[str], Path], person: Callable[..., None], ask: Callable[..., Any]
) -> None:
    demand("count = 2\n")
    with SyncSession(Catalog(skills)) as session:
        detail = _load(session)
        digest = Catalog(skills).skill("deploy").digest
        assert (detail["code"], detail["skill"], detail["digest"]) == ("approval_required", "deploy", digest)
        assert (detail["needed"], detail["given"]) == (2, 0)
        assert f"prowess approve deploy --digest {digest}" in detail["how"]
        assert _load(session, "notes") is None  # no script, so nobody is asked
        person("ada")
        code, row = ask("approve", "deploy", "--digest", digest, "--reason", "read it")
        assert (code, row["id"], row["state"], row["given"]) == (0, detail["request"], "waiting", 1)
        assert _load(session)["given"] == 1
        person("bob")
        assert ask("approvals", "vote", detail["request"])[1]["state"] == "approved"
        assert _load(session) is None
        assert session.call("skills.run_script", {"skill": "deploy", "path": "scripts/a.sh"}).success


def test_votes_on_a_machine_never_count_for_rules_of_its_organisation(
    skills: Path, demand: Callable[[str], Path], ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    approvals = demand("")
    enrolled = Enrolment(url="https://prowess.example.com", key="key", tenant="default")
    monkeypatch.setattr(enrolment, "BUNDLE_FOLDER", str(approvals.parent))
    monkeypatch.setattr(enrolment, "enrolment", lambda: enrolled)
    digest = Catalog(skills).skill("deploy").digest
    wanted = f"`prowess approve deploy --digest {digest} --server https://prowess.example.com`"
    with SyncSession(Catalog(skills)) as session:
        detail = _load(session)
        assert wanted in detail["how"]
        code, told = ask("approve", "deploy")
        assert (code, wanted in told, "is a rule of the organisation" in told) == (1, True, True)
        code, told = ask("approvals", "vote", detail["request"], "refuse")
        assert (code, f"vote {detail['request']} refuse --server https" in told) == (1, True)
    assert not approvals.exists()


@pytest.mark.proves("governance.approval.revoke")
def test_a_revoked_approval_is_void_at_the_next_call_of_an_active_skill(
    skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    demand()
    request = ask("approve", "deploy")[1]["id"]
    with SyncSession(Catalog(skills)) as session:
        assert _load(session) is None
        assert "Body of deploy" in session.instructions()
        assert ask("approvals", "revoke", request, "--reason", "a leak")[0] == 0
        for tool, path in (("skills.read", "SKILL.md"), ("skills.run_script", "scripts/a.sh")):
            result = session.call(tool, {"skill": "deploy", "path": path})
            assert (result.error_detail or {})["code"] == "approval_required"
        assert _load(session)["given"] == 0
        assert "Body of deploy" not in session.instructions()
        assert ask("approve", "deploy")[1]["state"] == "approved"  # people can vote again
        assert session.call("skills.read", {"skill": "deploy", "path": "SKILL.md"}).success


@pytest.mark.proves("governance.approval.digest")
@pytest.mark.parametrize("active", [False, True])
def test_one_changed_byte_makes_an_approval_void(
    *, active: bool, skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    demand()
    ask("approve", "deploy")
    with SyncSession(Catalog(skills)) as session:
        assert not active or _load(session) is None
        (skills / "deploy" / "scripts" / "a.sh").write_text("printf dome\n", encoding="utf-8")
        detail = session.call("skills.run_script", {"skill": "deploy", "path": "scripts/a.sh"}).error_detail or {}
        assert detail["code"] == "approval_required"
        assert _load(session)["digest"] == Catalog(skills).skill("deploy").digest


def test_an_added_link_makes_an_approval_void(
    skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    demand()
    ask("approve", "deploy")
    (skills / "deploy" / "more.md").symlink_to("/etc/hostname")
    with SyncSession(Catalog(skills)) as session:
        detail = _load(session)
    assert (detail["code"], detail["digest"]) == ("approval_required", None)
    code, error = ask("approve", "deploy")
    assert (code, "'more.md' is a link" in error) == (1, True)


@pytest.mark.parametrize("options", [(), ("--until", "2999-01-01")])
def test_an_approval_ends(
    options: tuple[str, ...],
    skills: Path,
    demand: Callable[..., Path],
    ask: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demand("" if options else 'expires = "1d"\n')
    assert ask("approve", "deploy", *options)[1]["until"] is not None
    later = datetime.now(UTC) + timedelta(days=365 * 1000)

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]  # noqa: ANN401 -- as in datetime
            return later.astimezone(tz)

    with SyncSession(Catalog(skills)) as session:
        assert _load(session) is None
        monkeypatch.setattr("prowess.policy.approvals.matching.datetime", Later)
        assert _load(session)["given"] == 0


@pytest.mark.proves("governance.approval.new-skills")
def test_every_skill_can_need_an_approval(skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]) -> None:
    demand(text=_DEMAND.replace("scripts", "new-skills"))
    with SyncSession(Catalog(skills)) as session:
        assert _load(session, "notes")["code"] == "approval_required"
        # A person can only be asked about a skill that is listed.
        assert "notes" in {one["name"] for one in session.call("skills.list", {}).unwrap()["skills"]}  # type: ignore[attr-defined]
        ask("approve", "notes")
        assert _load(session, "notes") is None


@pytest.mark.proves("governance.approval.external-apis", "governance.approval.triggers")
@pytest.mark.parametrize(
    ("word", "tools"),
    [("scripts", ""), ("network-tools", "WebFetch"), ("file-write", "Write"), ("external-apis", "mcp__mail__send")],
)
def test_each_capability_can_need_an_approval(
    word: str, tools: str, skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    demand(text=_DEMAND.replace("scripts", word))
    if tools:
        write_skill(skills, "deploy", extra=f"allowed-tools: {tools}\n")
        (skills / "deploy" / "scripts" / "a.sh").unlink()
        (skills / "deploy" / "scripts").rmdir()
    with SyncSession(Catalog(skills)) as session:
        assert (_load(session)["code"], _load(session, "notes")) == ("approval_required", None)
    assert ask("approve", "notes")[1].startswith("error: no policy asks for an approval of notes")


def test_skill_approved_is_a_key_of_match(skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]) -> None:
    rule = '[[rule]]\neffect = "{}"\ntool = "skills.load"\nmatch = {{ skill.approved = {} }}\n'
    for text in ('default = "allow"\n' + rule.format("deny", "false"), rule.format("allow", '"true"')):
        demand(text=text)
        with SyncSession(Catalog(skills)) as session:
            assert _load(session)["code"] in {"policy_denied", "approval_required"}
            assert ask("approve", "deploy")[1]["rule"] == "skill.approved"
            assert _load(session) is None
            assert ask("approvals", "revoke", ask("approvals", "list")[1]["items"][0]["id"])[0] == 0
            assert _load(session)["code"] in {"policy_denied", "approval_required"}
    demand(text=rule.format("deny", '"perhaps"'))
    with pytest.raises(PolicyError, match="write true or false"):
        load_policy()


# ── votes ──────────────────────────────────────────────────────────────────────────────────────────────


def test_no_vote_counts_twice(
    demand: Callable[[str], Path], person: Callable[..., None], ask: Callable[..., Any]
) -> None:
    file = demand("count = 2\n")
    person("ada")
    ask("approve", "deploy")
    code, error = ask("approve", "deploy")
    assert (code, "ada has approved 'deploy' already" in error) == (1, True)
    stored = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**stored, "statements": 2 * stored["statements"]}), encoding="utf-8")
    assert ask("approvals", "list")[1]["items"][0]["given"] == 1


@pytest.mark.parametrize("own", [False, True])
def test_the_author_approves_only_if_the_rule_permits_it(
    *, own: bool, skills: Path, demand: Callable[[str], Path], person: Callable[..., None], ask: Callable[..., Any]
) -> None:
    write_skill(skills, "deploy", extra="metadata:\n  author: Ada Lovelace <ada@example.com>\n")
    demand(f"own = {str(own).lower()}\n")
    person("ada")
    code, answer = ask("approve", "deploy")
    if own:
        assert (code, answer["state"]) == (0, "approved")
        demand("own = false\n")  # the vote was the author's, and does not count any more
        assert ask("approvals", "list")[1]["items"][0]["given"] == 0
    else:
        assert (code, "ada is an author of 'deploy'" in answer) == (1, True)
    person("bob")
    assert ask("approve", "deploy")[1]["state"] == "approved"


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root owns the machine's files")
def test_the_owner_of_the_files_is_their_author_on_a_shared_machine(
    tmp_path: Path, skills: Path, person: Callable[..., None], ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    machine = tmp_path / "etc" / "policy.toml"
    machine.write_text(_DEMAND, encoding="utf-8")
    monkeypatch.setitem(cast("dict[str, Any]", PolicyInForce.__init__.__kwdefaults__), "enterprise_file", str(machine))
    os.chown(skills / "deploy" / "SKILL.md", 4242, -1)
    person("ada", uid=4242)
    assert "files of the skill belong to this person" in ask("approve", "deploy")[1]
    person("bob", uid=4243)
    assert ask("approve", "deploy")[1]["state"] == "approved"
    assert (machine.parent / "approvals.json").stat().st_mode & 0o777 == 0o644


def test_a_service_is_no_person(
    demand: Callable[..., Path], person: Callable[..., None], ask: Callable[..., Any]
) -> None:
    demand()
    person("www-data", kind="service")
    code, error = ask("approve", "deploy")
    assert (code, "www-data is a service account, and only people approve" in error) == (1, True)


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root acts for other users")
def test_the_voter_is_the_user_who_became_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.governance.voters._LOGIN_UID", "/nonexistent")
    assert present_voter() == Voter(user="root", uid=0)
    for uid in ("1", "65534"):  # daemon and nobody
        monkeypatch.setenv("SUDO_UID", uid)
        assert present_voter().kind == "service"
    monkeypatch.setenv("SUDO_UID", "3999999")
    assert present_voter().user == "root"


def test_a_refusal_ends_the_request_until_it_is_revoked(
    demand: Callable[..., Path], person: Callable[..., None], ask: Callable[..., Any]
) -> None:
    demand()
    request = ask("approvals", "list")[1]["items"][0]["id"]
    person("ada")
    assert ask("approvals", "vote", request, "refuse", "--reason", "it deletes")[1]["state"] == "refused"
    person("bob")
    code, error = ask("approve", "deploy")
    assert (code, f"prowess approvals revoke {request}" in error) == (1, True)
    ask("approvals", "revoke", request)
    assert ask("approve", "deploy")[1]["state"] == "approved"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("approve", "deploy", "--digest", "abc"), 2, "64 lowercase hexadecimal digits"),
        (("approve", "deploy", "--digest", _DIGEST), 1, "'deploy' has changed: you looked at"),
        (("approve", "deploy", "--until", "2001-01-01"), 2, "this is in the past"),
        (("approve", "deploy", "--until", "soon"), 2, "write a day such as"),
        (("approve", "deploy", "--role", "aprover"), 2, "'aprover' is not one of"),
        (("approve", "deploy", "--role", "author"), 3, "the role author may not answer"),
        (("approve", "missing"), 1, "missing"),
        (("approvals", "vote", "skill-0"), 1, "no skill here has the request 'skill-0'"),
        (("approvals", "revoke", "skill-0"), 1, "prowess approvals list"),
    ],
)
def test_a_vote_that_cannot_count_is_refused(
    words: tuple[str, ...], code: int, said: str, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    file = demand()
    found, error = ask(*words)
    assert (found, said in error, file.exists()) == (code, True, False)


def test_a_vote_in_one_role_leaves_the_rules_of_other_roles_to_others(
    demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    file = demand('roles = ["author"]\n[[approval]]\nfor = ["new-skills"]\nroles = ["approver"]\n')
    code, row = ask("approve", "deploy", "--role", "approver")
    assert (code, {one["rule"]: one["state"] for one in row["approvals"]}) == (
        0,
        {"scripts": "waiting", "new-skills": "approved"},
    )
    (statement,) = json.loads(file.read_text(encoding="utf-8"))["statements"]
    assert (statement["rule"], statement["role"]) == ("new-skills", "approver")


@pytest.mark.proves("governance.approval.record")
def test_the_statement_and_the_log_have_who_when_and_for_what(
    skills: Path, demand: Callable[..., Path], ask: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    file = demand('roles = ["administrator"]\n')
    row = ask("approve", "deploy", "--reason", "checked", "--until", "2999-12-31")[1]
    (statement,) = json.loads(file.read_text(encoding="utf-8"))["statements"]
    assert statement["tree"] == Catalog(skills).skill("deploy").digest == row["digest"]
    assert (statement["role"], statement["rule"], statement["reason"]) == ("administrator", "scripts", "checked")
    assert (statement["capabilities"], statement["until"]) == (["scripts"], "3000-01-01T00:00:00Z")
    assert statement["voter"]["user"] == present_voter().user
    assert abs(datetime.fromisoformat(statement["at"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert run(["audit", "show", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)["records"]
    (record,) = [one["data"] for one in records if one["kind"] == "governance.vote"]
    assert (record["digest"], record["by"], record["shown"]) == (row["digest"], row["by"][0], statement["shown"])


def test_a_signed_vote_has_to_be_the_one_that_was_signed(
    tmp_path: Path, demand: Callable[..., Path], ask: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    file = demand()
    assert run(["key", "new", str(tmp_path / "a.key")]) == 0
    row = ask("approve", "deploy", "--key", str(tmp_path / "a.key"))[1]
    assert row["state"] == "approved"
    assert run(["approvals", "show", row["id"], "--root", row["location"].rpartition("/")[0]]) == 0
    assert "signed with key sha256:" in capsys.readouterr().out
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"role": "approver"', '"role": "administrator"'), encoding="utf-8")
    code, error = ask("approvals", "list")
    assert (code, "it is not valid for this statement about 'deploy'" in error) == (2, True)


# ── files ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda path: path.chmod(0o666), "someone else could change it"),
        (lambda path: path.write_bytes(b"{}"), "it is no approvals file"),
        (lambda path: path.write_bytes(b"no"), "is not JSON"),
        (lambda path: path.write_bytes(b"\xff"), "restore the file, or remove it and approve again"),
        (lambda path: path.write_bytes(b'{"prowess_approvals": 2, "statements": []}'), "update Prowess"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b'"until"', b'"ends"')), "unknown field `ends`"),
    ],
)
def test_approvals_that_cannot_be_read_deny_every_call(
    damage: Callable[[Path], object], said: str, skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    file = demand()
    ask("approve", "deploy")
    good = file.read_bytes()
    with SyncSession(Catalog(skills)) as session:
        assert _load(session) is None
        damage(file)
        for name in ("deploy", "notes"):
            detail = _load(session, name)
            assert (detail["code"], str(file) in detail["message"], said in detail["message"]) == (
                "policy_invalid",
                True,
                True,
            )
        file.chmod(0o600)
        file.write_bytes(good)
        assert _load(session) is None


def test_a_policy_that_a_program_makes_up_brings_no_approvals(
    skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]
) -> None:
    demand()
    ask("approve", "deploy")
    forged = load_policy()
    ask("approvals", "revoke", ask("approvals", "list")[1]["items"][0]["id"])
    with SyncSession(Catalog(skills), policy=forged) as session:
        assert _load(session)["code"] == "approval_required"


def test_list_marks_a_skill_that_waits(skills: Path, demand: Callable[..., Path], ask: Callable[..., Any]) -> None:
    demand()
    effects = {one["name"]: one["policy"] for one in ask("list")[1]["skills"]}
    assert (effects["deploy"]["effect"], effects["deploy"]["rule"]) == ("ask", "approval for scripts")
    assert effects["notes"]["effect"] == "allow"
    call = PolicyCall(tool="skills.load", arguments={"names": ["deploy"]})
    assert effect_of(load_policy().decide(call)) == "deny"  # nothing is known about the skill


def test_only_a_person_with_a_role_that_the_entry_names_or_an_administrator_votes(
    skills: Path, demand: Callable[..., Path], ask: Callable[..., Any], person: Callable[..., None]
) -> None:
    del skills
    roles = '[roles]\nothers = "user"\napprover = { users = ["ann"] }\nadministrator = { users = ["ada"] }\n'
    demand("count = 2\n", roles + _DEMAND.replace('default = "allow"\n', ""))
    person("bob")
    code, said = ask("approve", "deploy")
    assert code == 3
    assert "bob has the role user and may not answer; this needs the role approver" in said
    record = read_tail(audit_path(), 1)[0]
    assert record is not None
    assert (record.kind, record.data["operation"]) == ("governance.refused", "approve")
    for user in ("ann", "ada"):
        person(user)
        code, answer = ask("approve", "deploy")
        assert code == 0
    assert answer["state"] == "approved"
