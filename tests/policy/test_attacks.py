"""Calls and changes of files that must not pass a rule, each found by an attack on the policy."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from prowess import Catalog, Session, SyncSession
from prowess.errors import PolicyError
from prowess.policy import Allow, Deny, Policy, PolicyCall, PolicyInForce, read_policy_file
from prowess.runtime.forks import ForkOutcome, ForkRequest
from tests.runtime.making import write_skill

_DENY = '[[rule]]\neffect = "deny"\ntool = "{tool}"\n{match}'


def _rule(tool: str, **match: str) -> str:
    matches = ", ".join(f"{name} = '{value}'" for name, value in match.items())
    return _DENY.format(tool=tool, match=f"match = {{ {matches} }}\n" if match else "")


@pytest.fixture
def user_file() -> Path:
    home = Path(os.environ["PROWESS_HOME"])
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home / "policy.toml"


def _put(file: Path, *rules: str) -> None:
    file.write_text('default = "allow"\n' + "".join(rules), encoding="utf-8")


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "deploy", files={"references/a.md": "a\n"}, body="Text of deploy.\n")
    write_skill(tmp_path / "skills", "sub", extra="context: fork\n", files={"references/a.md": "a\n"}, body="Fork.\n")
    return tmp_path / "skills"


@pytest.mark.parametrize("effect", ["deny", "ask"])
def test_skill_name_is_the_skill(user_file: Path, skills: Path, effect: str) -> None:
    _put(user_file, _rule("skills.load", names="deploy").replace('"deny"', f'"{effect}"'))
    result = SyncSession(Catalog(str(skills))).call("skill", {"skill_name": "deploy"})
    assert not result.success


def test_a_user_rule_covers_what_is_typed(user_file: Path, skills: Path) -> None:
    _put(user_file, _rule("skills.invoke", skill="deploy"))
    assert not SyncSession(Catalog(str(skills))).user_call("/deploy now").success


def test_a_rule_about_Skill_is_about_skill(user_file: Path, skills: Path) -> None:  # noqa: N802 -- the name of the tool
    _put(user_file, _rule("Skill"))
    assert not SyncSession(Catalog(str(skills))).call("Skill", {"skill": "deploy"}).success


def test_a_home_that_cannot_be_entered_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "elsewhere"
    home.mkdir()
    monkeypatch.setenv("PROWESS_HOME", str(home))
    _put(home / "policy.toml", _rule("Read"))
    policy, call = PolicyInForce(), PolicyCall(tool="Read", arguments={"file_path": "a"})
    assert isinstance(policy.now().decide(call, "."), Deny)
    home.rename(tmp_path / "away")
    home.symlink_to("elsewhere")
    assert isinstance(policy.now().decide(call, "."), Deny)


def test_a_link_to_nowhere_closes_a_running_session(user_file: Path) -> None:
    policy, call = PolicyInForce(), PolicyCall(tool="Read", arguments={"file_path": "a"})
    assert isinstance(policy.now().decide(call, "."), Allow)
    user_file.symlink_to("nowhere")
    assert isinstance(policy.now().decide(call, "."), Deny)


@pytest.mark.anyio
async def test_a_fork_under_a_shared_policy_sees_new_rules(user_file: Path, skills: Path) -> None:
    class Runner:
        async def run(self, request: ForkRequest) -> ForkOutcome:
            _put(user_file, _rule("skills.read"))
            result = await request.session.call("skills.read", {"path": "references/a.md"})
            return ForkOutcome(output=str(result.success), turns=1)

    _put(user_file)
    session = Session(Catalog(str(skills)), fork_runner=Runner(), policy=PolicyInForce())
    assert (await session.call("skill", {"skill": "sub"})).unwrap()["output"] == "False"


def test_a_task_that_a_tool_started_sees_new_rules(user_file: Path, skills: Path) -> None:
    async def run() -> bool:
        _put(user_file)
        session, go, tasks = Session(Catalog(str(skills))), asyncio.Event(), []

        async def later() -> bool:
            await go.wait()
            return (await session.call("skills.load", {"names": ["deploy"]})).success

        @session.function
        async def begin() -> str:
            """Begin."""
            tasks.append(asyncio.ensure_future(later()))
            return "begun"

        await session.call("begin", {})
        _put(user_file, _rule("skills.load"))
        go.set()
        return await tasks[0]

    assert not asyncio.run(run())


def test_a_denied_skill_is_not_restored(user_file: Path, skills: Path) -> None:
    _put(user_file)
    session = SyncSession(Catalog(str(skills)), body="result")
    session.load(["deploy"])
    _put(user_file, _rule("skills.load", names="deploy"))
    assert "Text of deploy" not in session.restore_after_compaction()


def test_a_decision_is_about_what_the_tool_would_do(user_file: Path, skills: Path) -> None:
    _put(user_file, _rule("skills.read", path="references/a.md"))
    session = SyncSession(Catalog(str(skills)))
    session.load(["deploy"])
    assert isinstance(session.decide("skills.read", {"path": "./references/a.md"}), Deny)


_LINES = [
    "bash -eo pipefail -c 'git push'",
    "bash -euo pipefail -c 'git push'",
    "bash -co pipefail 'git push'",
    "echo git push | bash -s x",
    "echo git push | sh -s -- --help",
    "echo git push | bash //dev/stdin",
    "env " + "-i " * 130 + "git push",
    "env " + "A=1 " * 130 + "git push",
    "env -S 'git\tpush'",
    r"env -S 'git\_push'",
    "ssh h 'true;git\tpush'",
    "echo push | xargs -I P git P",
    "echo git push | xargs -I X sh -c X",
    "parallel git ::: push",
    "echo git push | parallel",
    "perl -lE 'system q(git push)'",
    "node -p 'f(\"git push\")'",
    "git -c alias.x=push x",
    "git -c alias.x='!git push' x",
    "git submodule foreach git push",
    "git bisect run git push",
    "git rebase --exec 'git push' HEAD~1",
    "npx -c 'git push'",
    "npm exec -- git push",
    "sed -n '1e git push' f",
    "tar cf a x --checkpoint-action=exec='git push'",
]


@pytest.mark.proves("governance.policy.commands-started")
@pytest.mark.parametrize("line", _LINES, ids=range(len(_LINES)))
def test_a_started_push_is_a_push(tmp_path: Path, line: str) -> None:
    file = tmp_path / "policy.toml"
    _put(file, _rule("Bash", command="git push:*"))
    policy = Policy(files=(read_policy_file(str(file)),))
    call: Any = PolicyCall(tool="Bash", arguments={"command": line})
    assert isinstance(policy.decide(call, str(tmp_path)), Deny)


@pytest.mark.parametrize("pattern", ["/workspace/secrets/**", "secrets/../secrets/**", "{secrets,x}/**"])
def test_a_pattern_that_fits_nothing_is_no_rule_that_denies(tmp_path: Path, pattern: str) -> None:
    file = tmp_path / "policy.toml"
    _put(file, _rule("Read", file_path=pattern))
    try:
        policy = Policy(files=(read_policy_file(str(file)),))
    except PolicyError:  # a fault in the file is as good
        return
    call = PolicyCall(tool="Read", arguments={"file_path": "secrets/key"})
    assert isinstance(policy.decide(call, str(tmp_path)), Deny)
