"""Roles limit who uses, creates, publishes, deploys and blocks skills; a refusal ends with 3 and is recorded."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any, cast, get_args

import anyio
import pytest

from prowess import Catalog, Identity, Session
from prowess._internal.process_user import groups_of_process, login
from prowess.agent.create_skill import CreateSkillTool
from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.errors import PolicyError
from prowess.policy import Allow, Deny, Policy, PolicyCall, PolicyInForce, read_policy_file
from prowess.policy.roles import PERMITTED, Operation, PersonRole
from tests.catalog.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

_ME = login() or ""
_OPERATIONS: tuple[Operation, ...] = get_args(Operation)
_MAY: dict[PersonRole, str] = {  # written out, so that a change of the table is a change of this test
    "viewer": "",
    "user": "use",
    "author": "use create publish",
    "approver": "use approve audit",
    "administrator": "use create publish approve deploy block audit administer",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PROWESS_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    write_skill(tmp_path / "skills" / "deploy")
    return home


def _give(home: Path, text: str) -> None:
    (home / "policy.toml").write_text(f'default = "allow"\n[roles]\n{text}\n', encoding="utf-8")


def _policy(place: Path, text: str, **who: tuple[str, ...]) -> Policy:
    path = place / "roles.toml"
    path.write_text(f'default = "allow"\n{text}', encoding="utf-8")
    return Policy(files=(read_policy_file(str(path)),), who=who)


@pytest.mark.parametrize(("role", "operation"), [*itertools.product(_MAY, _OPERATIONS)])
def test_each_role_may_do_what_the_table_says(role: PersonRole, operation: Operation, tmp_path: Path) -> None:
    assert _MAY.keys() == PERMITTED.keys()
    policy = _policy(tmp_path, f'[roles]\n{role} = {{ users = ["ada"] }}\n', user=("ada",))
    denied = policy.role_denial(operation)
    assert (denied is None) == (operation in _MAY[role].split())
    if denied is not None:
        assert (denied.rule, str(denied.origin)) == (f"roles.{operation}", f"{tmp_path}/roles.toml:2")
        assert f"ada has the role {role} and may not" in denied.reason
        assert "administrator" in denied.reason


@pytest.mark.parametrize(
    ("table", "who", "permitted"),
    [
        ("", {"user": ("ada",)}, False),  # others are users
        ('others = "administrator"', {"user": ("ada",)}, True),
        ('administrator = { groups = ["ops"] }', {"user": ("ada",), "team": ("ops",)}, True),
        ('administrator = { groups = ["ops"] }', {"user": ("ada",), "team": ("web",)}, False),
        ('administrator = { users = ["ada"] }', {"user": ("bob", "ada")}, False),  # a stated user is no escape
        ('administrator = { users = ["ada", "bob"] }', {"user": ("bob", "ada")}, True),
        ('viewer = { users = ["ada"] }\nadministrator = { users = ["ada"] }', {"user": ("ada",)}, True),
        ('administrator = { users = ["ada"] }', {}, False),
        (
            'administrator = { groups = ["ops"] }',
            {"user": (_ME,), "team": ("ops",)},
            False,
        ),  # not the stated team
    ],
)
def test_who_may_block(table: str, who: dict[str, tuple[str, ...]], *, permitted: bool, tmp_path: Path) -> None:
    assert (_policy(tmp_path, f"[roles]\n{table}\n", **who).role_denial("block") is None) == permitted


def test_without_the_table_nobody_is_limited_and_groups_of_the_system_count(tmp_path: Path) -> None:
    assert _policy(tmp_path, "", user=("ada",)).role_denial("block") is None
    group = min(groups_of_process())
    policy = _policy(tmp_path, f'[roles]\nadministrator = {{ groups = ["{group}"] }}\n', user=(_ME,))
    assert policy.role_denial("block") is None


@pytest.mark.parametrize(
    ("tool", "role", "permitted"),
    [
        ("skills.load", "viewer", False),
        ("Skill", "viewer", False),
        ("skills.invoke", "viewer", False),
        ("skills_read", "viewer", False),
        ("skills.list", "user", True),
        ("skills.unload", "viewer", True),
        ("Bash", "viewer", True),
        ("packages.install", "viewer", False),
        ("packages.remove", "viewer", True),
        ("packages.deploy", "author", False),
        ("packages.revoke", "administrator", True),
        ("create_skill", "user", False),
        ("create_skill", "author", True),
    ],
)
def test_calls_of_tools_need_a_role(tool: str, role: PersonRole, *, permitted: bool, tmp_path: Path) -> None:
    policy = _policy(tmp_path, f'[roles]\n{role} = {{ users = ["ada"] }}\n', user=("ada",))
    decision = policy.decide(PolicyCall(tool=tool, arguments={"skill": "deploy"}, skills=()))
    assert isinstance(decision, Allow if permitted else Deny)
    assert CreateSkillTool.spec.name == "create_skill"


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("adminstrator = {}", ":3: roles.adminstrator: is not a role; did you mean 'administrator'?"),
        ("king = {}", ":3: roles.king: is not a role; roles are viewer, user"),
        ('others = "king"', ":3: roles.others: must be one of viewer, user"),
        ("author = {}", ":3: roles.author: must be { users ="),
        ('author = ["ada"]', ":3: roles.author: must be { users ="),
        ('author = { people = ["ada"] }', ":3: roles.author: must be { users ="),
        ('author = { users = "ada" }', ":3: roles.author.users: must be a list of names"),
        ("author = { groups = [1] }", ":3: roles.author.groups: must be a list of names"),
    ],
)
def test_a_fault_names_the_place_and_the_remedy(
    table: str, fault: str, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _give(home, table)
    with pytest.raises(PolicyError, match="roles") as raised:
        read_policy_file(str(home / "policy.toml"))
    assert fault in str(raised.value)
    assert run(["block", "deploy", "--reason", "x", "--scope", "user"]) == exit_codes.USAGE
    assert fault in capfd.readouterr().err


@pytest.mark.proves("governance.policy.creation")
@pytest.mark.parametrize(
    ("role", "operation", "arguments"),
    [
        ("user", "block", ["block", "deploy", "--reason", "x", "--scope", "user"]),
        ("author", "block", ["unblock", "block-x"]),
        ("approver", "create", ["new", "other", "--into", "skills"]),
        ("user", "publish", ["publish", "skills", "--to", "registry"]),
        ("approver", "administer", ["admin", "init", "--store", "sqlite:///organisation.db"]),
        ("viewer", "use", ["load", "deploy", "--root", "skills"]),
    ],
)
def test_a_role_that_may_not_ends_with_3_and_a_record(
    role: PersonRole, operation: Operation, arguments: list[str], home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _give(home, f'{role} = {{ users = ["{_ME}"] }}')
    before = sorted(path for path in home.parent.rglob("*") if home not in path.parents)
    assert run(arguments) == exit_codes.DENIED
    told = capfd.readouterr().err
    assert f"denied by {home}/policy.toml:2: {_ME} has the role {role} and may not" in told
    assert sorted(path for path in home.parent.rglob("*") if home not in path.parents) == before
    assert not (home / "blocks.json").exists()
    run(["audit", "show", "--json"])
    (record,) = json.loads(capfd.readouterr().out)["records"]
    if operation == "use":
        assert record["kind"] == "tool.refused"
    else:
        assert (record["kind"], record["data"]["operation"]) == ("governance.refused", operation)
    assert (record["data"]["code"], record["data"]["user"]) == ("policy_denied", _ME)
    assert record["data"]["rule"].removesuffix("…") in f"{home}/policy.toml:2"  # a long path is shortened


def test_a_role_that_may_succeeds(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _give(home, f'administrator = {{ users = ["{_ME}"] }}')
    assert run(["block", "nothing", "--reason", "x", "--scope", "user"]) == exit_codes.OK
    assert run(["new", "other", "--into", "skills"]) == exit_codes.OK
    assert run(["load", "deploy", "--root", "skills"]) == exit_codes.OK
    capfd.readouterr()
    run(["policy", "show", "--json"])
    (file,) = json.loads(capfd.readouterr().out)["files"]
    assert file["roles"] == {"administrator": {"users": [_ME], "groups": []}, "others": "user"}
    run(["policy", "show"])
    assert f"role administrator: users {_ME}\n        role others: user" in capfd.readouterr().out


def test_a_stated_viewer_uses_no_skill_from_the_next_call_on(home: Path, tmp_path: Path) -> None:
    _give(home, 'others = "user"')

    async def calls() -> None:
        async with Session(Catalog(str(tmp_path / "skills")), identity=Identity(user="vera")) as session:
            assert (await session.call("skills.load", {"names": ["deploy"]})).success
            _give(home, 'viewer = { users = ["vera"] }')
            result = await session.call("skills.load", {"names": ["deploy"]})
            assert cast("dict[str, Any]", result.error_detail)["code"] == "policy_denied"
            assert "vera has the role viewer" in str(result.error)
            assert (await session.call("skills.unload", {"names": ["deploy"]})).success

    anyio.run(calls)


def test_a_lower_layer_can_only_tighten(home: Path, tmp_path: Path) -> None:
    _give(home, 'others = "administrator"')
    machine = tmp_path / "etc" / "policy.toml"
    machine.parent.mkdir()
    machine.write_text(f'default = "allow"\n[roles]\nviewer = {{ users = ["{_ME}"] }}\n', encoding="utf-8")
    assert PolicyInForce(enterprise_file=str(machine)).now().role_denial("use") is not None
    assert os.path.exists(home)
