"""Rules about files, capabilities and requesters in running sessions, and what records state about them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from prowess import Catalog, Identity, Session
from prowess.audit import JsonlAuditLog
from prowess.audit.caller import Caller
from prowess.mcp_server.server import open_session
from prowess.runtime.forks import AgentType, ForkOutcome, ForkRequest
from tests.runtime.making import failure, write_skill

pytestmark = pytest.mark.anyio

_ALLOW = 'default = "allow"\n'


def _rule(effect: str, tool: str, match: str, further: str = "") -> str:
    return f'{_ALLOW}[[rule]]\neffect = "{effect}"\ntool = "{tool}"\nmatch = {{ {match} }}\n{further}'


def _put(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def user_file() -> Path:
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home / "policy.toml"


async def _code(session: Session, tool: str, **arguments: object) -> str | None:
    done = await session.call(tool, arguments)
    return None if done.success else str(failure(done)["code"])


async def test_a_renamed_and_edited_copy_is_denied_by_one_of_its_files(tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "skills", "deploy", files={"scripts/a.sh": "rm -rf /\n"})
    copy = write_skill(tmp_path / "skills", "harmless", files={"docs/other.txt": "rm -rf /\n"})
    write_skill(tmp_path / "skills", "other", files={"docs/other.txt": "fine\n"})
    session = Session(Catalog(tmp_path / "skills"))
    await session.load(["harmless"])
    digest = hashlib.sha256(b"rm -rf /\n").hexdigest()
    _put(user_file, _rule("deny", "skills.*", f'skill.file = "{digest}"'))
    assert await _code(session, "skills.read", path="docs/other.txt") == "policy_denied"
    for name in ("deploy", "harmless"):
        assert await _code(session, "skills.load", names=[name]) == "policy_denied"
        assert await _code(session, "skill", skill=name) == "policy_denied"
    assert await _code(session, "skills.load", names=["other"]) is None
    shutil.copy(copy / "docs" / "other.txt", tmp_path / "skills" / "other" / "x")
    assert await _code(session, "skills.load", names=["other"]) == "policy_denied"


_STATED = "security:\n  capabilities:\n    - capability: {}\n      reason: It must.\n"


@pytest.mark.proves("governance.approval.triggers", "governance.approval.external-apis")
@pytest.mark.parametrize(
    ("capability", "extra", "files"),
    [
        ("scripts", "", {"scripts/a.py": ""}),
        ("scripts", "", {"tools/a.sh": ""}),
        ("scripts", 'hooks:\n  pre: "echo"\n', {}),
        ("file-write", "allowed-tools: Write\n", {}),
        ("file:write", "allowed-tools: Read edit_file\n", {}),
        ("file-write", "allowed-tools: Bash(make:*)\n", {}),
        ("network-tools", "allowed-tools: WebFetch\n", {}),
        ("external-apis", "allowed-tools: mcp__github__push\n", {}),
        ("external-apis", "", {"skill.manifest.yaml": _STATED.format("api:jira")}),
        ("network-tools", "", {"skill.manifest.yaml": "security:\n  capabilities: []\n  requiresNetwork: true\n"}),
        ("file:write", "", {"skill.manifest.yaml": _STATED.format("file:*")}),
        ("shell:execute", "", {"skill.manifest.yaml": _STATED.format("shell:execute")}),
    ],
)
async def test_a_capability_is_declared_or_implied(
    capability: str, extra: str, files: dict[str, str], tmp_path: Path, user_file: Path
) -> None:
    write_skill(tmp_path / "skills", "deploy", extra=extra, files=files)
    write_skill(tmp_path / "skills", "other", extra="allowed-tools: Read\n", files={"references/a.md": "a\n"})
    _put(user_file, _rule("ask", "skills.load", f'skill.capability = "{capability}"'))
    session = Session(Catalog(tmp_path / "skills"))
    assert await _code(session, "skills.load", names=["deploy"]) == "approval_required"
    assert await _code(session, "skill", skill="deploy") == "approval_required"
    assert await _code(session, "skills.load", names=["other"]) is None


async def test_a_manifest_that_cannot_be_read_may_state_any_capability(tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "skills", "deploy", files={"skill.manifest.yaml": "security: [\n"})
    _put(user_file, _rule("deny", "skills.load", 'skill.capability = "scripts"'))
    assert await _code(Session(Catalog(tmp_path / "skills")), "skills.load", names=["deploy"]) == "policy_denied"


def _data(log: Path, kind: str) -> dict[str, Any]:
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return next(record["data"] for record in reversed(records) if record["kind"] == kind)


async def test_a_host_states_who_asks_and_the_record_marks_its_word(tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "skills", "deploy")
    rule = _rule("deny", "skills.*", 'who.team = "sales", who.role = "contractor"', 'id = "no-contractors"\n')
    _put(user_file, rule)
    log, catalog = tmp_path / "audit.jsonl", Catalog(tmp_path / "skills")
    sales = Identity(user="ada", team="sales", roles=("author", "contractor"))
    for identity, code in (
        (sales, "policy_denied"),
        (Identity(user="ada", team="sales", roles=()), None),
        (Identity(user="ada", team="research", roles=("contractor",)), None),
        (Identity(user="ada", team="sales"), "policy_denied"),  # the roles are not known
        (None, "policy_denied"),
    ):
        session = Session(catalog, identity=identity, audit=JsonlAuditLog(log), environment="production")
        assert await _code(session, "skills.load", names=["deploy"]) == code
        data = _data(log, "tool.started" if code is None else "tool.refused")
        if identity is None:
            assert (data["user"], data["identified_by"], data["team"]) == (Caller.here().user, "system", None)
        else:
            roles = None if identity.roles is None else list(identity.roles)
            assert (data["user"], data["team"], data["roles"]) == ("ada", identity.team, roles)
            assert (data["identified_by"], data["environment"]) == ("host", "production")
        assert (data["rule"] == "no-contractors") is (code is not None)


async def test_a_fork_also_acts_for_the_agent_of_its_parent(tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "skills", "deploy")
    write_skill(tmp_path / "skills", "review", extra="context: fork\nagent: reviewer\n")
    codes: list[str | None] = []

    class Runner:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            done = await request.session.call("skills.load", {"names": ["deploy"]})
            codes.append(None if done.success else str(failure(done)["code"]))
            return ForkOutcome(output="done", turns=1)

    reviewer = AgentType(name="reviewer", instructions="Review.")
    for effect, agent, code in (
        ("deny", "main", "policy_denied"),
        ("deny", "reviewer", "policy_denied"),
        ("deny", "other", None),
        ("allow", "main", "approval_required"),
        ("allow", "reviewer", None),
    ):
        rule = _rule(effect, "skills.load", f'names = "deploy", who.agent = "{agent}"')
        _put(user_file, rule if effect == "deny" else rule.replace(_ALLOW, "") + _SKILL_TOOL)
        session = Session(Catalog(tmp_path / "skills"), agent="main", fork_runner=Runner(), agent_types=[reviewer])
        assert await _code(session, "skill", skill="review") is None
        assert codes.pop() == code, (effect, agent)


_SKILL_TOOL = '[[rule]]\neffect = "allow"\ntool = "skill"\n'


async def test_a_client_is_known_when_it_has_named_itself(tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "skills", "deploy")
    _put(user_file, _rule("deny", "skills.load", 'who.client = "cursor*", who.user = "ada"'))
    session = open_session(Catalog(tmp_path / "skills"))
    assert await _code(session, "skills.load", names=["deploy"]) == (
        "policy_denied" if Caller.here().user == "ada" else None
    )
    session.is_called_by("cursor 1.0", "ada")
    assert session.completions() == ()
    assert await _code(session, "skills.load", names=["deploy"]) == "policy_denied"
    session.is_called_by("zed 1.0", "ada")
    assert await _code(session, "skills.load", names=["deploy"]) is None


async def test_what_a_monitored_rule_would_do_is_recorded(tmp_path: Path, user_file: Path) -> None:
    write_skill(tmp_path / "skills", "deploy")
    monitored = _rule("deny", "skills.*", 'skill.name = "deploy"', 'mode = "monitor"\nid = "soon"\n')
    _put(user_file, monitored)
    log = tmp_path / "audit.jsonl"
    session = Session(Catalog(tmp_path / "skills"), audit=JsonlAuditLog(log))
    assert session.completions() == ("deploy",)
    assert await _code(session, "skills.load", names=["deploy"]) is None
    assert _data(log, "tool.started")["would_deny"] == ["soon"]
    also = '[[rule]]\neffect = "deny"\ntool = "skills.read"\n'
    _put(user_file, monitored + also)
    assert await _code(session, "skills.read", path="SKILL.md") == "policy_denied"
    refused = _data(log, "tool.refused")
    assert (refused["would_deny"], refused["rule"]) == (["soon"], f"{user_file}:8")
