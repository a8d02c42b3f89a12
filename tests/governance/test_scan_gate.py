"""A policy can demand a scan of a skill's present bytes before it is installed, deployed and used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp.client.client import Client

from prowess import Catalog
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.errors import ConfigurationError, PolicyError
from prowess.format.reading import read_skill
from prowess.governance.organisation import found_organisation
from prowess.governance.service.policies import NewPolicy, PolicyService
from prowess.lint import security_scan
from prowess.lint.security_scan import worst_security_finding
from prowess.mcp_server.server import build_server, open_session
from prowess.policy import PolicyCall, PolicyInForce, read_policy_file
from prowess.policy.decision import effect_of
from prowess.policy.expectations import check_expectations
from prowess.policy.facts.capabilities import checked_capabilities
from prowess.policy.policy_file import policy_file_of
from prowess.runtime import SyncSession
from prowess.store import SharedDatabase
from tests.distribution.deployment.deployments import Deployment
from tests.distribution.installation.projects import Commands, make_project
from tests.governance.service.organisations import call_of
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prowess.format.skill import Skill

_TOKEN = "ghp_t7Rk2mQ9vZx4LpW8sYc1NbH6dKfJ3uGa0eTi"
_FOUND = f"TOKEN = '{_TOKEN}'\n"
_GATE = 'match = { skill.findings = ["warning", "error"] }\nreason = "the scan found something"\n'
_HIDES = "<!-- prowess: ignore-file security -->\n<!-- prowess: ignore-file security.secret -->\n"


def _rule(tool: str, effect: str = "deny", match: str = _GATE) -> str:
    return f'[[rule]]\neffect = "{effect}"\ntool = "{tool}"\n{match}'


@pytest.fixture
def policy(own_home: Path) -> Callable[..., None]:
    """Write the user's policy file."""
    home = own_home / ".prowess"
    home.mkdir(mode=0o700, exist_ok=True)

    def write(rules: str, default: str = "allow") -> None:
        (home / "policy.toml").write_text(f'default = "{default}"\n{rules}', encoding="utf-8")

    return write


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "leaky", files={"scripts/a.py": _FOUND, "references/a.md": "a\n"})
    write_skill(tmp_path / "skills", "clean", files={"scripts/a.py": "TOKEN = ''\n", "references/a.md": "a\n"})
    return tmp_path / "skills"


def _code(session: SyncSession, tool: str, **arguments: object) -> str | None:
    detail: Any = session.call(tool, arguments).error_detail
    return None if detail is None else str(detail["code"])


@pytest.mark.proves("governance.scan.gate")
def test_a_session_loads_what_a_scan_finds_clean_and_one_changed_byte_is_scanned_anew(
    policy: Callable[..., None], skills: Path
) -> None:
    policy(_rule("skills.load"))
    script = skills / "leaky" / "scripts" / "a.py"
    with SyncSession(Catalog(skills)) as session:
        assert _code(session, "skills.load", names=["clean"]) is None
        assert _code(session, "skills.load", names=["leaky"]) == "policy_denied"
        assert _code(session, "skill", skill="leaky") == "policy_denied"
        script.write_text(_FOUND.replace("ghp_", "ghq_"), encoding="utf-8")
        assert _code(session, "skills.load", names=["leaky"]) is None
        assert _code(session, "skills.read", skill="leaky", path="references/a.md") is None
        script.write_text(_FOUND, encoding="utf-8")
        assert _code(session, "skills.read", skill="leaky", path="references/a.md") == "policy_denied"
        assert _code(session, "skills.load", names=["leaky"]) == "policy_denied"


@pytest.mark.proves("governance.scan.gate")
def test_commands_refuse_and_explain_what_a_scan_found(
    policy: Callable[..., None], skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy(_rule("skills.load"))
    root = ("--root", str(skills))
    assert run(["load", "clean", *root]) == exit_codes.OK
    assert run(["load", "leaky", *root]) == exit_codes.DENIED
    assert "the scan found something" in capsys.readouterr().err
    assert run(["list", *root]) == exit_codes.OK
    clean, leaky = capsys.readouterr().out.splitlines()
    assert "denied" in leaky
    assert "denied" not in clean
    assert run(["why", "leaky", *root, "--json"]) == exit_codes.OK
    assert json.loads(capsys.readouterr().out)["copies"][0]["policy"]["reason"] == "the scan found something"
    for name, effect, reason in (
        ("leaky", "deny", "the scan found something"),
        ("clean", "allow", "the scan found nothing; no rule refuses that"),
    ):
        assert run(["access", name, *root, "--json"]) == exit_codes.OK
        steps = {step["step"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
        assert (steps["scan"]["effect"], steps["scan"]["reason"]) == (effect, reason)
        assert steps["rule"]["effect"] == "allow"


@pytest.mark.anyio
@pytest.mark.proves("governance.scan.gate")
async def test_an_mcp_client_is_refused_what_a_scan_found(policy: Callable[..., None], skills: Path) -> None:
    policy(_rule("skills.load"))
    session = open_session(Catalog(skills))
    async with Client(build_server(session), mode="auto") as client:
        for name, code in (("leaky", "policy_denied"), ("clean", None)):
            answer = await client.call_tool("skills.load", {"names": [name]})
            assert ((answer.meta or {}).get("prowess/error") or {}).get("code") == code
    await session.close()


@pytest.mark.proves("governance.scan.gate")
def test_nothing_in_the_skill_or_the_project_hides_a_finding(
    policy: Callable[..., None], skills: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(_rule("skills.load"))
    write_skill(skills, "leaky", body=f"{_HIDES}See references/a.md.\n", files={"references/a.md": _TOKEN})
    write_skill(skills, "own", body=f"{_HIDES}{_TOKEN}\n", extra="# prowess: ignore-file security\n")
    settings = '[check]\nignore = ["security"]\n[check.severity]\n"security.secret" = "info"\n'
    for place in (tmp_path, skills, skills / "leaky"):
        (place / "prowess.toml").write_text(settings, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with SyncSession(Catalog(skills)) as session:
        for name in ("leaky", "own"):
            assert _code(session, "skills.load", names=[name]) == "policy_denied"


@pytest.mark.proves("governance.scan.gate")
def test_what_was_not_scanned_meets_rules_that_deny_and_no_rule_that_allows(
    policy: Callable[..., None], skills: Path
) -> None:
    (skills / "clean" / "scripts" / "large.py").write_text("#\n" * 200_000, encoding="utf-8")
    write_skill(skills, "linked")
    (skills / "linked" / "away").symlink_to(skills)
    plain = write_skill(skills, "plain")
    for rules, default in (
        (_rule("skills.load"), "allow"),
        (_rule("skills.load", "allow", 'match = { skill.findings = ["none", "info"] }\n'), "deny"),
    ):
        policy(rules, default)
        with SyncSession(Catalog(skills)) as session:
            assert _code(session, "skills.load", names=["clean"]) == "policy_denied"
            assert _code(session, "skills.load", names=["linked"]) == "policy_denied"
            assert _code(session, "skills.load", names=[plain.name]) is None


def test_only_bytes_that_were_hashed_are_scanned(skills: Path) -> None:
    script = skills / "leaky" / "scripts" / "a.py"
    script.write_text("TOKEN = '1'\n", encoding="utf-8")
    before = read_skill(skills / "leaky")
    script.write_text("TOKEN = '2'\n", encoding="utf-8")
    assert worst_security_finding(before) is None
    script.write_text("TOKEN = '1'\n", encoding="utf-8")
    assert worst_security_finding(before) == "none"
    script.unlink()
    assert worst_security_finding(before) == "none"  # a digest is scanned once


@pytest.mark.proves("governance.scan.gate")
def test_an_installation_is_refused_if_the_scan_of_the_fetched_bytes_finds_something(
    tmp_path: Path, policy: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    commands = Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)
    script = tmp_path / "skills" / "alpha" / "scripts" / "run.py"
    clean = script.read_text("utf-8")
    script.write_text(_FOUND, encoding="utf-8")
    policy(_rule("packages.install"))
    commands.text("install", "../skills", "--skill", "alpha", code=exit_codes.DENIED)
    assert "the scan found something" in commands.err
    assert not commands.lock.exists()
    commands.text("install", "../skills", "--skill", "beta")
    script.write_text(clean, encoding="utf-8")
    commands.text("install", "../skills", "--skill", "alpha")


@pytest.mark.proves("governance.scan.gate")
def test_a_deployment_is_refused_if_the_scan_finds_something(
    tmp_path: Path, policy: Callable[..., None], skills: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    deployment = Deployment(tmp_path / "deployments", capfd)
    policy(_rule("packages.deploy"))
    to = ["deploy", "--to", str(deployment.directory)]
    denied = deployment.signed_by([*to, str(skills / "leaky")], "alice", "bob", code=exit_codes.DENIED)
    assert "the scan found something" in json.dumps(denied)
    assert deployment.signed_by([*to, str(skills / "clean")], "alice", "bob")["state"] == "published"


@pytest.mark.proves("governance.scan.gate")
def test_an_organisation_refuses_to_deploy_what_a_scan_found(
    tmp_path: Path, own_home: Path, skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del own_home
    url = f"sqlite:///{tmp_path / 'organisation.db'}"
    found_organisation(url, "acme.example", "ann")
    database = SharedDatabase(url)
    organisation = PolicyService(call_of(database, tenant="*"))
    organisation.put("base", NewPolicy(toml=f'default = "allow"\n{_rule("packages.deploy")}'))
    database.close()
    assert run(["deploy", str(skills / "leaky"), "--store", url]) == exit_codes.DENIED
    assert "the scan found something" in capsys.readouterr().err
    assert run(["deploy", str(skills / "clean"), "--store", url]) == exit_codes.OK


def test_a_severity_that_does_not_exist_is_a_fault_of_the_file() -> None:
    with pytest.raises(PolicyError, match="write one or more of none, info, warning, error"):
        policy_file_of("p.toml", _rule("skills.load", match='match = { skill.findings = "high" }\n').encode())


def test_an_expectation_may_state_the_findings(tmp_path: Path) -> None:
    text = _rule("skills.load") + "".join(
        f'[[expect]]\ncall = {{ tool = "skills.load", skill = {{ findings = "{worst}" }} }}\neffect = "{effect}"\n'
        for worst, effect in (("error", "deny"), ("warning", "deny"), ("info", "ask"), ("none", "ask"))
    )
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    assert all(one.holds for one in check_expectations(read_policy_file(str(tmp_path / "p.toml")), None))


def test_a_policy_without_such_a_rule_scans_nothing(
    policy: Callable[..., None], skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(_rule("skills.load", match='match = { skill.capability = "nothing" }\n'))
    monkeypatch.setattr("prowess.lint.security_scan._scanned", lambda _: pytest.fail("it was scanned"))
    with SyncSession(Catalog(skills)) as session:
        assert _code(session, "skills.load", names=["leaky"]) is None
    assert not PolicyInForce().now().needs_findings
    call = PolicyCall(tool="skills.load", arguments={"names": ["leaky"]})
    assert effect_of(PolicyInForce().now().decide(call)) == "deny"


def test_a_replay_of_records_says_that_findings_are_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {"tool": "skills.load", "skill": "leaky", "digest": f"sha256:{1:064x}", "layer": "project"}
    record = {
        "sequence": 1, "at": "2026-11-01T00:00:00.000000Z", "kind": "tool.started", "session_id": "s", "call_id": "1",
        "data": data, "previous": None, "hash": "",
    }  # fmt: skip
    (tmp_path / "records.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (tmp_path / "new.toml").write_text(f'default = "allow"\n{_rule("skills.load")}', encoding="utf-8")
    capsys.readouterr()
    words = ["policy", "replay", str(tmp_path / "new.toml"), "--records", str(tmp_path / "records.jsonl"), "--json"]
    assert run(words) == exit_codes.OK
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["unknown"], found["deny"]) == (1, 1, 0)


def test_a_skill_that_cannot_be_scanned_whole_is_scanned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_skill(tmp_path, "odd", files={"scripts/a.sh": "echo\0\n"})
    looks: list[str] = []
    real = security_scan._scanned

    def looked(skill: Skill, files: security_scan._HashedFiles) -> security_scan.WorstFinding | None:
        looks.append(skill.name)
        return real(skill, files)

    monkeypatch.setattr(security_scan, "_scanned", looked)
    assert worst_security_finding(read_skill(tmp_path / "odd")) is None
    assert worst_security_finding(read_skill(tmp_path / "odd")) is None
    assert looks == ["odd"]


def test_a_capability_with_a_line_break_is_unknown() -> None:
    with pytest.raises(ConfigurationError, match="is not known"):
        checked_capabilities(("scripts\n",))
