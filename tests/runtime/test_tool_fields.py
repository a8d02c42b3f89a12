"""The modes of `allowed-tools`, `disallowed-tools`, and fields that are misspelt, in sessions."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog import Catalog
from prowess.cli.dispatch import run
from prowess.errors import ConfigurationError, InvalidArgumentsError
from prowess.policy import Allow, Approval, Ask, Deny, Policy, PolicyFile, Refusal, RestrictionMode, read_policy_file
from prowess.runtime import Session, SyncSession
from prowess.runtime.forks import ForkOutcome, ForkRequest
from prowess.tools.functions.function_tool import FunctionTool
from prowess.tools.gates import CallbackApprover
from tests.fork_server import prowess
from tests.runtime.making import codes, failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.policy import ApprovalRequest
    from prowess.tools import Tool

pytestmark = pytest.mark.anyio


def _bash(command: str) -> str:
    return command


def _fetch(url: str) -> str:
    return url


def _plain() -> str:
    return "done"


def _tools() -> tuple[Tool, ...]:
    named = ("lookup", "publish", "mcp__git__status", "mcp__git__get_log", "mcp__github__log", "NotebookEdit")
    return (
        FunctionTool(_bash, name="Bash"),
        FunctionTool(_fetch, name="WebFetch"),
        *(FunctionTool(_plain, name=name) for name in named),
    )


def _session(root: Path, extra: str, *, default: str | None = "allow", **options: Any) -> Session:  # noqa: ANN401 -- those of Session
    write_skill(root, "demo", extra=extra)
    write_skill(root, "free")
    if default is not None:
        options.setdefault("policy", Policy(files=(PolicyFile(path="test", default="allow"),)))
    return Session(Catalog(root), extra_tools=_tools(), **options)


async def _code(session: Session, tool: str, **arguments: object) -> str | None:
    outcome = await session.call(tool, arguments)
    return None if outcome.success else str(failure(outcome)["code"])


# --- modes


@pytest.mark.proves("runtime.restrict.modes", "client.safety.allowed-tools", "runtime.restrict.allowlist")
@pytest.mark.parametrize(
    ("mode", "listed", "other"),
    [("restrict", None, "tool_not_allowed"), ("ask", None, "approval_required"), ("preapprove", None, None)],
)
async def test_each_mode_says_what_becomes_of_a_call_that_is_not_listed(
    tmp_path: Path, mode: RestrictionMode, listed: str | None, other: str | None
) -> None:
    session = _session(tmp_path, "allowed-tools: lookup Bash(git:*)\n", allowed_tools=mode)
    assert await _code(session, "publish") is None  # no skill is active
    receipt = await session.load(["demo"])

    assert receipt.active_skills[0].allowed_tools_mode == mode
    assert await _code(session, "lookup") == listed
    assert await _code(session, "Bash", command="git log") == listed
    assert await _code(session, "publish") == other
    assert await _code(session, "Bash", command="git log & id") == other
    await session.unload(["demo"])
    assert await _code(session, "publish") is None


@pytest.mark.parametrize("mode", ["restrict", "ask"])
@pytest.mark.parametrize("field", ["allowed-tools: ''", "allowed-tools: 'Read('", "allowed-tools: {a: b}"])
async def test_a_list_that_is_empty_or_cannot_be_read_lists_nothing_in_any_mode(
    tmp_path: Path, mode: RestrictionMode, field: str
) -> None:
    session = _session(tmp_path, f"{field}\n", allowed_tools=mode)
    await session.load(["demo"])
    assert await _code(session, "lookup") == {"restrict": "tool_not_allowed", "ask": "approval_required"}[mode]


async def test_in_the_mode_ask_a_person_answers_once_for_a_call_that_two_skills_do_not_list(tmp_path: Path) -> None:
    asked: list[ApprovalRequest] = []

    def answer(request: ApprovalRequest) -> Approval | Refusal:
        asked.append(request)
        return Refusal() if request.arguments.get("command") == "id" else Approval(by="me")

    session = _session(
        tmp_path, "allowed-tools: lookup\n", default=None, allowed_tools="ask", approver=CallbackApprover(answer)
    )
    write_skill(tmp_path, "other", extra="allowed-tools: Read\n")
    await session.load(["demo", "other"])

    assert await _code(session, "publish") is None
    assert await _code(session, "Bash", command="ls") is None  # the policy asks as well: one question
    assert await _code(session, "Bash", command="id") == "policy_denied"
    assert [request.tool for request in asked] == ["publish", "Bash", "Bash"]
    assert "skill 'demo' does not list this call" in asked[0].reason
    assert len(asked[0].skills) == 2


async def test_what_was_asked_can_be_approved_later_and_a_decision_says_ask(tmp_path: Path) -> None:
    session = _session(tmp_path, "allowed-tools: lookup\n", allowed_tools="ask")
    await session.load(["demo"])

    decision = await session.decide("publish", {})
    assert isinstance(decision, Ask)
    assert decision.skill == "demo"
    assert isinstance(await session.decide("publish", {}, by_skills_alone=True), Ask)
    assert isinstance(await session.decide("lookup", {}), Allow)
    request = failure(await session.call("publish", {}))["request"]
    session.approve(request, Approval())
    assert (await session.call("publish", {})).success


@pytest.mark.proves("runtime.restrict.modes")
@pytest.mark.parametrize(
    ("file", "chosen", "profile", "code"),
    [
        (None, None, None, "tool_not_allowed"),
        (None, None, "claude-code", None),
        (None, None, "lenient", "tool_not_allowed"),
        (None, None, "spec", "tool_not_allowed"),
        (None, "restrict", "claude-code", "tool_not_allowed"),
        (None, "ask", "claude-code", "approval_required"),
        (None, "ask", None, "approval_required"),
        ("restrict", None, "claude-code", "tool_not_allowed"),
        ("restrict", "ask", "claude-code", "tool_not_allowed"),
        ("ask", None, "claude-code", "approval_required"),
        ("ask", "preapprove", "claude-code", "approval_required"),
        ("ask", "restrict", None, "tool_not_allowed"),
        ("preapprove", None, None, None),
        ("preapprove", "ask", None, "approval_required"),
    ],
)
async def test_the_profile_is_a_default_and_a_policy_beats_it(
    tmp_path: Path, file: RestrictionMode | None, chosen: RestrictionMode | None, profile: str | None, code: str | None
) -> None:
    policy = Policy(files=(PolicyFile(path="test", default="allow", allowed_tools=file),))
    session = _session(tmp_path, "allowed-tools: lookup\n", policy=policy, allowed_tools=chosen, profile=profile)
    await session.load(["demo"])
    assert await _code(session, "publish") == code


async def test_of_two_policy_files_the_stricter_mode_holds(tmp_path: Path) -> None:
    for files, code in (
        (("ask", "preapprove"), "approval_required"),
        (("preapprove", "restrict"), "tool_not_allowed"),
        (("restrict", "ask"), "tool_not_allowed"),
    ):
        policy = Policy(files=tuple(PolicyFile(path=mode, default="allow", allowed_tools=mode) for mode in files))  # type: ignore[arg-type]  # literals in a loop
        session = _session(tmp_path, "allowed-tools: lookup\n", policy=policy)
        await session.load(["demo"])
        assert await _code(session, "publish") == code
        assert policy.allowed_tools == files[0 if code == "approval_required" or files[0] == "restrict" else 1]


async def test_a_rule_beats_every_mode(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "lookup"\n[[rule]]\neffect = "ask"\ntool = "publish"\n'
    )
    for mode in ("restrict", "ask", "preapprove"):
        session = _session(
            tmp_path / "skills",
            "allowed-tools: lookup publish\n",
            default=None,
            policy=_read(file),
            allowed_tools=mode,
        )
        await session.load(["demo"])
        assert await _code(session, "lookup") == "policy_denied"
        assert await _code(session, "publish") == "approval_required"


def _read(file: Path) -> Policy:
    return Policy(files=(read_policy_file(str(file)),))


@pytest.mark.parametrize("profile", ["claude", "Claude-Code", ""])
def test_a_profile_that_does_not_exist_is_refused(tmp_path: Path, profile: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="no profile is called"):
        Session(Catalog(tmp_path), profile=profile)
    with pytest.raises(InvalidArgumentsError, match="must be one of restrict, ask, preapprove"):
        Session(Catalog(tmp_path), allowed_tools="prompt")  # type: ignore[arg-type]  # what is tested


# --- where the profile comes from


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PROWESS_HOME", str(home))
    return home


async def test_the_user_sets_the_profile_of_sessions_and_an_argument_wins(tmp_path: Path, home: Path) -> None:
    (home / "config.toml").write_text('profile = "boxxy"\n[session]\nprofile = "claude-code"\n')
    for profile, code in ((None, None), ("spec", "tool_not_allowed")):
        session = _session(tmp_path / "skills", "allowed-tools: lookup\n", profile=profile)
        await session.load(["demo"])
        assert await _code(session, "publish") == code


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[session]\nprofile = "claude"\n', "session.profile of your config.toml: 'claude' is not one of spec"),
        ('[session]\nprofil = "spec"\n', ":2: session.profil: is no setting here; known here: environment, agent, "),
        ("[session]\nprofile = 1\n", ":2: session.profile: must be a text"),
        ("session = 1\n", ":1: session: must be a table"),
        ("[session\n", "config.toml: "),
    ],
)
def test_a_fault_in_the_table_is_named_and_no_session_begins(tmp_path: Path, home: Path, text: str, says: str) -> None:
    (home / "config.toml").write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        Session(Catalog(tmp_path))
    assert says in str(refused.value)


def test_a_project_cannot_set_it(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    write_skill(project / "skills", "demo", extra="allowed-tools: lookup\n")
    (project / "prowess.toml").write_text('[session]\nprofile = "claude-code"\n')
    monkeypatch.chdir(project)

    with SyncSession(Catalog(project / "skills"), extra_tools=_tools()) as session:
        session.load(["demo"])
        assert failure(session.call("publish", {}))["code"] == "tool_not_allowed"
    assert run(["check", "skills/demo"]) == 2
    assert "session: is not a setting of a project; set it in the user's config.toml" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "mode"), [([], "restrict"), (["--profile", "claude-code"], "preapprove")])
def test_the_command_takes_a_profile(tmp_path: Path, home: Path, option: list[str], mode: str) -> None:
    write_skill(tmp_path / "skills", "demo", extra="allowed-tools: lookup\n")
    line = json.dumps({"id": 1, "tool": "skills.load", "arguments": {"names": ["demo"]}})
    command = [prowess(), "session", "--root", str(tmp_path / "skills"), *option]
    done = subprocess.run(command, input=f"{line}\n", capture_output=True, text=True, check=True, cwd=tmp_path)
    answered = json.loads(done.stdout.splitlines()[-1])
    assert answered["result"]["active_skills"][0]["allowed_tools_mode"] == mode


def test_every_command_that_opens_a_session_has_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("serve", "agent", "session"):
        run([command, "--help"])
        assert "--profile" in capsys.readouterr().out
        assert run([command, "--profile", "claude"]) == 2
    capsys.readouterr()
    assert run(["serve", "--print-config", "claude", "--profile", "claude-code"]) == 0
    assert '"--profile"' in (printed := capsys.readouterr().out)
    assert '"claude-code"' in printed


# --- disallowed-tools


@pytest.mark.proves("runtime.restrict.disallowed")
@pytest.mark.parametrize("mode", ["restrict", "ask", "preapprove"])
@pytest.mark.parametrize(
    "field", ["disallowed-tools: publish, Bash(git push:*)", "disallowed-tools: [publish, 'Bash(git push *)']"]
)
async def test_what_a_skill_disallows_is_refused_in_every_mode(
    tmp_path: Path, mode: RestrictionMode, field: str
) -> None:
    session = _session(tmp_path, f"{field}\n", allowed_tools=mode)
    assert await _code(session, "publish") is None
    await session.load(["demo"])

    assert await _code(session, "publish") == "tool_not_allowed"
    assert await _code(session, "lookup") is None
    for refused in (
        "git push",
        "git -C . push",
        "env git push origin",
        "bash -c 'git push'",
        "x=$(id); $x",
        "git status; git push",
    ):
        assert await _code(session, "Bash", command=refused) == "tool_not_allowed", refused
    assert await _code(session, "Bash", command="git status") is None
    assert await _code(session, "Bash") in {"tool_not_allowed", "invalid_arguments"}
    assert result(await session.call("skills.read", {"path": "SKILL.md"}))
    await session.unload(["demo"])
    assert await _code(session, "publish") is None


async def test_a_denial_beats_the_list_of_the_same_skill_and_those_of_several_skills_add_up(tmp_path: Path) -> None:
    session = _session(tmp_path, "allowed-tools: Bash(git:*) publish\ndisallowed-tools: Bash(git push:*)\n")
    write_skill(tmp_path, "second", extra="disallowed-tools: publish\n")
    await session.load(["demo"])
    assert await _code(session, "Bash", command="git log") is None
    assert await _code(session, "Bash", command="git push") == "tool_not_allowed"
    assert await _code(session, "publish") is None
    await session.load(["second"], mode="add")
    refused = failure(await session.call("publish", {}))
    assert "not allowed by active skill 'second': it refuses publish" in refused["message"]
    assert await _code(session, "Bash", command="git push") == "tool_not_allowed"


@pytest.mark.proves("runtime.restrict.disallowed")
@pytest.mark.parametrize(
    "field", ["'Bash('", "'Bash() publish'", "[publish, 'Read(']", "{a: b}", "[[publish]]", "'(x)'"]
)
@pytest.mark.parametrize("mode", ["restrict", "preapprove"])
async def test_a_denial_that_cannot_be_read_refuses_everything_but_the_skill_tools(
    tmp_path: Path, field: str, mode: RestrictionMode
) -> None:
    session = _session(tmp_path, f"disallowed-tools: {field}\n", allowed_tools=mode)
    await session.load(["demo"])
    refused = failure(await session.call("lookup", {}))
    assert refused["code"] == "tool_not_allowed"
    assert "its disallowed-tools cannot be read" in refused["message"]
    assert (await session.call("skills.unload", {"all": True})).success
    assert await _code(session, "lookup") is None


@pytest.mark.parametrize("field", ["disallowed-tools:", "disallowed-tools: ''", "disallowed-tools: []"])
async def test_an_empty_denial_refuses_nothing(tmp_path: Path, field: str) -> None:
    session = _session(tmp_path, f"{field}\n")
    await session.load(["demo"])
    assert await _code(session, "publish") is None


@pytest.mark.parametrize(
    ("field", "refused", "permitted"),
    [
        ("mcp__git", ["mcp__git__status", "mcp__git__get_log"], ["mcp__github__log"]),
        ("mcp__git__*", ["mcp__git__status", "mcp__git__get_log"], ["mcp__github__log", "lookup"]),
        ("mcp__git__get_*", ["mcp__git__get_log"], ["mcp__git__status"]),
        ("mcp__*", ["mcp__git__status", "mcp__github__log"], ["lookup", "publish"]),
        ("'*'", ["lookup", "publish", "Bash"], []),
        ("Skill Skill(free) skills.load", [], ["lookup"]),
        ("lookup(x)", ["lookup"], ["publish"]),  # a pattern that has no meaning may be meant
        ("bash_exec", ["Bash"], ["lookup"]),
    ],
)
async def test_names_of_servers_and_patterns_of_names_are_refused(
    tmp_path: Path, field: str, refused: list[str], permitted: list[str]
) -> None:
    session = _session(tmp_path, f"disallowed-tools: {field}\n")
    await session.load(["demo"])
    for tool in refused:
        assert await _code(session, tool, **({"command": "ls"} if tool == "Bash" else {})) == "tool_not_allowed", tool
    for tool in permitted:
        assert await _code(session, tool) is None, tool
    assert (await session.call("skill", {"skill": "free"})).success
    assert (await session.call("skills.load", {"names": ["free"]})).success


async def test_a_refusal_by_a_denial_is_an_event_with_its_rule_and_a_change_is_told(tmp_path: Path) -> None:
    seen: list[tuple[str, object]] = []
    session = _session(tmp_path, "disallowed-tools: publish\n", on_event=lambda event: seen.append((event.kind, event)))
    await session.load(["demo"])
    await session.call("publish", {})
    session.drain_events()
    kinds = [kind for kind, _ in seen]
    assert "restriction.changed" in kinds
    assert "restriction.prevented" in kinds
    await session.close()


async def test_a_fork_has_the_denials_of_its_parent_and_its_own(tmp_path: Path) -> None:
    seen: dict[str, str | None] = {}

    class Runner:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            child = request.session
            for tool, arguments in (("publish", {}), ("lookup", {}), ("skills.read", {"path": "SKILL.md"})):
                decision = await child.decide(tool, arguments)  # type: ignore[attr-defined]  # every session decides
                seen[tool] = getattr(decision, "rule", None) if isinstance(decision, Deny) else None
            assert len(request.allowed_tools) == 2
            return ForkOutcome(output="done", turns=1)

    session = _session(tmp_path, "disallowed-tools: publish\n", fork_runner=Runner())
    write_skill(tmp_path, "forked", extra="context: fork\ndisallowedTools: lookup\n")
    await session.load(["demo"])
    assert result(await session.call("skill", {"skill": "forked"}))["output"] == "done"
    assert seen == {"publish": "disallowed-tools:tool", "lookup": "disallowed-tools:tool", "skills.read": None}


# --- misspelt fields


@pytest.mark.proves("runtime.restrict.near-miss", "format.fields.case")
@pytest.mark.parametrize(
    "key",
    [
        "allowed_tools",
        "Allowed-Tools",
        "allowedTools",
        "AllowedTools",
        "ALLOWED-TOOLS",
        "allowed-tool",
        "alowed-tools",
        "allow-tools",
        "'allowed tools'",
        "\u0430llowed-tools",
        "allowed\u2011tools",
    ],
)
async def test_a_misspelt_list_restricts_as_the_field_does_and_a_notice_says_so(tmp_path: Path, key: str) -> None:
    session = _session(tmp_path, f"{key}: lookup\n")
    receipt: dict[str, Any] = (await session.load(["demo"])).as_dict()
    assert codes(receipt) == ["field_read_as"]
    assert "is read as allowed-tools" in receipt["notices"][0]["message"]
    assert receipt["active_skills"][0]["allowed_tools_mode"] == "restrict"
    assert await _code(session, "lookup") is None
    assert await _code(session, "publish") == "tool_not_allowed"


@pytest.mark.proves("runtime.restrict.near-miss")
@pytest.mark.parametrize(
    "key",
    [
        "disallowedTools",
        "disallowed_tools",
        "Disallowed-Tools",
        "DisallowedTools",
        "disallow-tools",
        "disalowed-tools",
        "unallowed-tools",
        "not-allowed-tools",
    ],
)
async def test_a_misspelt_denial_refuses(tmp_path: Path, key: str) -> None:
    session = _session(tmp_path, f"{key}: publish\n")
    said = result(await session.call("skill", {"skill": "demo"}))
    assert [notice["code"] for notice in said["notices"]] == ["field_read_as"]
    assert "is read as disallowed-tools" in said["notices"][0]["message"]
    assert await _code(session, "publish") == "tool_not_allowed"
    assert await _code(session, "lookup") is None


async def test_if_both_are_there_both_hold(tmp_path: Path) -> None:
    session = _session(
        tmp_path,
        "allowed-tools: lookup publish\nallowed_tools: lookup Bash\n"
        "disallowed-tools: NotebookEdit\ndisallowedTools: publish\n",
        allowed_tools="restrict",
    )
    receipt: dict[str, Any] = (await session.load(["demo"])).as_dict()
    assert codes(receipt) == ["field_read_as", "field_read_as"]
    assert await _code(session, "lookup") is None
    for tool in ("publish", "NotebookEdit"):
        assert await _code(session, tool) == "tool_not_allowed"
    assert await _code(session, "Bash", command="ls") == "tool_not_allowed"

    ask = _session(
        tmp_path, "allowed-tools: Bash\nallowedTools: Bash(git:*)\n", default=None, allowed_tools="preapprove"
    )
    await ask.load(["demo"])
    assert await _code(ask, "Bash", command="git log") is None  # both list it
    assert await _code(ask, "Bash", command="ls") == "approval_required"  # one does not


async def test_a_misspelt_list_that_cannot_be_read_closes(tmp_path: Path) -> None:
    session = _session(tmp_path, "allowed-tools: lookup\nallowed_tools: 'lookup('\n")
    await session.load(["demo"])
    assert await _code(session, "lookup") == "tool_not_allowed"


@pytest.mark.parametrize("key", ["allowed-skills", "allowed-paths", "tools", "metadata-tools", "allowed-domains"])
async def test_another_field_restricts_nothing(tmp_path: Path, key: str) -> None:
    session = _session(tmp_path, f"{key}: lookup\n")
    receipt: dict[str, Any] = (await session.load(["demo"])).as_dict()
    assert codes(receipt) == []
    assert await _code(session, "publish") is None


# --- patterns


@pytest.mark.proves("runtime.restrict.servers", "runtime.restrict.domain")
async def test_servers_hosts_and_the_directory_of_the_skill_are_read_in_a_session(tmp_path: Path) -> None:
    tokens = ("mcp__git__*", "WebFetch(domain:example.com)", "Bash(python3 ${CLAUDE_SKILL_DIR}/scripts/a.py:*)")
    session = _session(tmp_path, f"allowed-tools: {' '.join(tokens)}\n")
    await session.load(["demo"])
    root = session.active_skills[0].root_dir
    assert await _code(session, "mcp__git__status") is None
    assert await _code(session, "mcp__github__log") == "tool_not_allowed"
    assert await _code(session, "WebFetch", url="https://example.com/a") is None
    assert await _code(session, "WebFetch", url="https://example.com@evil.org/") == "tool_not_allowed"
    assert await _code(session, "Bash", command=f"python3 {root}/scripts/a.py --fast x") is None
    for line in ("python3 scripts/a.py", f"python3 {root}/scripts/b.py", f"python3 {root}/scripts/a.py; id"):
        assert await _code(session, "Bash", command=line) == "tool_not_allowed", line


async def test_a_skill_that_lists_skills_pre_approves_their_start(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('default = "ask"\n')
    session = _session(
        tmp_path / "skills",
        "allowed-tools: Skill(free)\n",
        default=None,
        policy=_read(file),
        allowed_tools="preapprove",
        approver=CallbackApprover(lambda request: Approval() if "demo" in str(request.arguments) else Refusal()),
    )
    write_skill(tmp_path / "skills", "third")
    assert await _code(session, "skills.load", names=["free"]) == "policy_denied"
    assert await _code(session, "skills.load", names=["demo"]) is None
    assert await _code(session, "skill", skill="third") == "policy_denied"
    assert await _code(session, "skills.load", names=["free", "third"], mode="add") == "policy_denied"
    assert await _code(session, "skill", skill="free", args="with more") == "policy_denied"
    assert await _code(session, "skills.load", names=["free"], mode="add") is None


def test_a_session_without_await_takes_a_profile(tmp_path: Path) -> None:
    write_skill(tmp_path, "demo", extra="allowed-tools: lookup\n")
    with SyncSession(Catalog(tmp_path), extra_tools=_tools(), profile="claude-code") as session:
        session.load(["demo"])
        assert session.call("publish", {}).success


@pytest.mark.parametrize("field", ["disallowed-tools", "disallowedTools", "allowed-tools", "Allowed_Tools"])
@pytest.mark.parametrize("twice", [("Bash", "lookup"), ("Bash", "Bash"), ("''", "Bash")])
async def test_a_field_that_is_written_twice_refuses_every_tool(
    tmp_path: Path, field: str, twice: tuple[str, str]
) -> None:
    session = _session(tmp_path, "".join(f"{field}: {value}\n" for value in twice))
    await session.load(["demo"])
    for tool, arguments in (("Bash", {"command": "git status"}), ("lookup", {}), ("publish", {})):
        assert await _code(session, tool, **arguments) == "tool_not_allowed"
    assert (await session.call("skills.unload", {"all": True})).success
