"""Which files of a skill run, under a policy that names directories, variables of the host, and the text of scripts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError
from prowess.policy import Policy, PolicyFile
from prowess.runtime import Session
from prowess.runtime.scripts import ScriptRules
from tests.runtime.making import failure, result, write_skill

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

_SHOW = 'echo "$HOST_TOKEN/$OTHER/$KEY"\n'
FILES = {
    "scripts/show.sh": _SHOW,
    "scripts/safe/show.sh": _SHOW,
    "bin/show.sh": _SHOW,
    "scripts.d/show.sh": _SHOW,
    "guard/check.sh": "exit 0\n",
}


def _policy(**settings: Any) -> Policy:  # noqa: ANN401 -- the fields of PolicyFile
    return Policy(files=(PolicyFile(path="/etc/prowess/policy.toml", default="allow", **settings),))


async def _session(root: Path, policy: Policy | None = None, skill: str = "kit") -> Session:
    write_skill(root, "kit", files=FILES)
    session = Session(Catalog(root), policy=policy)
    await session.load([skill])
    return session


async def _refused(session: Session, path: str, **arguments: object) -> dict[str, Any]:
    return failure(await session.call("skills.run_script", {"path": path, **arguments}))


@pytest.mark.proves("runtime.run.scripts-dir")
async def test_a_policy_opens_other_directories_and_closes_scripts(tmp_path: Path) -> None:
    session = await _session(tmp_path, _policy(script_dirs=("bin", "scripts/safe")))

    for path in ("bin/show.sh", "scripts/safe/show.sh"):
        assert result(await session.call("skills.run_script", {"path": path}))["exit_code"] == 0, path
    for path in ("scripts/show.sh", "scripts.d/show.sh", "SKILL.md"):
        detail = await _refused(session, path)
        assert detail["code"] == "policy_denied", path
        assert "only files below bin/, scripts/safe/ may run" in detail["message"]
        assert "script_dirs in /etc/prowess/policy.toml" in detail["message"]


async def test_a_layer_below_cannot_open_what_a_layer_above_closes(tmp_path: Path) -> None:
    low = PolicyFile(path="low.toml", default="allow", script_dirs=("scripts", "bin"))
    policy = Policy(files=(*_policy(script_dirs=("scripts",)).files, low))
    session = await _session(tmp_path, policy)

    assert result(await session.call("skills.run_script", {"path": "scripts/show.sh"}))["exit_code"] == 0
    detail = await _refused(session, "bin/show.sh")
    assert detail["code"] == "policy_denied"
    assert "policy.toml, low.toml" in detail["message"]


async def test_a_policy_that_names_no_directory_lets_nothing_run_and_the_tool_is_not_offered(tmp_path: Path) -> None:
    session = await _session(tmp_path, _policy(script_dirs=()))

    detail = await _refused(session, "scripts/show.sh")

    assert detail["code"] == "policy_denied"
    assert "no script of a skill may run" in detail["message"]
    assert "skills.run_script" not in [spec.name for spec in session.tools()]


async def test_a_directory_of_scripts_that_a_policy_names_is_described_and_not_shown(tmp_path: Path) -> None:
    session = await _session(tmp_path, _policy(script_dirs=("bin",)))

    for path in ("bin/show.sh", "scripts/show.sh"):
        found = result(await session.call("skills.read", {"path": path}))
        assert "HOST_TOKEN" not in str(found), path
        assert found["interpreter"] is not None
    assert "exit 0" in result(await session.call("skills.read", {"path": "guard/check.sh"}))["text"]


@pytest.mark.proves("runtime.read.scripts-metadata")
async def test_below_scripts_a_read_gives_facts_and_only_a_policy_gives_the_text(tmp_path: Path) -> None:
    for arguments in ({}, {"encoding": "binary"}, {"offset": 2}, {"section": "x"}):
        closed = await _session(tmp_path)
        described = result(await closed.call("skills.read", {"path": "scripts/show.sh", **arguments}))
        assert set(described) == {"skill", "path", "size", "digest", "interpreter", "usage"}, arguments
        assert (described["size"], described["digest"][:7]) == (len(_SHOW), "sha256:")
        assert "skills.run_script" in described["usage"]

    opened = await _session(tmp_path, _policy(read_scripts=True))
    assert result(await opened.call("skills.read", {"path": "scripts/show.sh"}))["text"] == _SHOW
    both = Policy(files=(*_policy(read_scripts=True).files, PolicyFile(path="b", default="allow", read_scripts=False)))
    tightened = await _session(tmp_path, both)
    assert "text" not in result(await tightened.call("skills.read", {"path": "scripts/show.sh"}))


@pytest.mark.proves("runtime.run.env.clean")
async def test_a_variable_of_the_host_reaches_a_script_where_a_policy_lists_it_and_no_other_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_TOKEN", "t0ken")
    monkeypatch.setenv("OTHER", "hidden")
    monkeypatch.delenv("UNSET", raising=False)

    async def shown(policy: Policy | None) -> str:
        session = await _session(tmp_path, policy)
        run = await session.call("skills.run_script", {"path": "scripts/show.sh", "env": {"KEY": "k"}})
        return str(result(run)["stdout"])

    assert await shown(None) == "//k\n"
    assert await shown(_policy(env_allow=("HOST_TOKEN", "UNSET"))) == "t0ken//k\n"
    low = PolicyFile(path="low", default="allow", env_allow=("HOST_TOKEN", "OTHER"))
    assert await shown(Policy(files=(*_policy(env_allow=("OTHER",)).files, low))) == "/hidden/k\n"


async def test_a_call_cannot_replace_the_value_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_TOKEN", "t0ken")
    session = await _session(tmp_path, _policy(env_allow=("HOST_TOKEN",)))

    detail = await _refused(session, "scripts/show.sh", env={"HOST_TOKEN": "mine"})

    assert detail["code"] == "invalid_arguments"
    assert "env_allow" in detail["message"]
    assert "t0ken" not in detail["message"]
    monkeypatch.delenv("HOST_TOKEN")
    run = result(await session.call("skills.run_script", {"path": "scripts/show.sh", "env": {"HOST_TOKEN": "mine"}}))
    assert run["stdout"] == "mine//\n"


@pytest.mark.parametrize("command", ["guard/check.sh", "./guard/check.sh", "sh guard/check.sh"])
async def test_directories_that_a_policy_names_hold_for_hooks_too(tmp_path: Path, command: str) -> None:
    write_skill(tmp_path, "hooked", files=FILES, extra=f"hooks:\n  pre: {{command: {command}}}\n")
    free = Session(Catalog(tmp_path))
    assert (await free.call("skills.load", {"names": ["hooked"]})).success

    session = Session(Catalog(tmp_path), policy=_policy(script_dirs=("scripts",)))
    detail = failure(await session.call("skills.load", {"names": ["hooked"]}))

    assert detail["code"] == "policy_denied"
    assert "'guard/check.sh' is not run" in detail["message"]
    assert session.active_skills == ()


async def test_a_hook_gets_the_variables_that_a_policy_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_TOKEN", "t0ken")
    files = {"scripts/check.sh": '[ "$HOST_TOKEN" = t0ken ]\n'}
    write_skill(tmp_path, "hooked", files=files, extra="hooks:\n  pre: scripts/check.sh\n")

    assert not (await Session(Catalog(tmp_path)).call("skills.load", {"names": ["hooked"]})).success
    session = Session(Catalog(tmp_path), policy=_policy(env_allow=("HOST_TOKEN",)))
    assert (await session.call("skills.load", {"names": ["hooked"]})).success


def test_names_are_compared_whole_and_scripts_in_any_case_are_scripts() -> None:
    rules = ScriptRules(dirs=("bin/tools",), named_in=("p",))

    scripts = (["scripts", "a"], ["Scripts", "a"], ["bin", "tools", "a"], ["BIN", "Tools", "a"])
    assert all(rules.is_script(parts) for parts in scripts)
    assert not any(rules.is_script(parts) for parts in (["scriptsx"], ["bin", "a"], ["a", "scripts", "b"], []))
    with pytest.raises(InvalidArgumentsError, match="HOME"):
        ScriptRules(variables=("HOME",)).environment(dict.fromkeys(os.environ, "x"))
