"""The policy of a running process: its files are read again when they change, and one that cannot be read closes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from prowess._internal.text.canonical_json import sha256_of
from prowess.policy import Allow, Ask, Deny, Policy, PolicyCall, PolicyInForce, read_policy_file
from prowess.policy.decision import effect_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PUSH = PolicyCall(tool="Bash", arguments={"command": "git push"})
_DENY = '[[rule]]\neffect = "deny"\ntool = "Bash"\n'
_ALLOW = 'default = "allow"\n'


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return where the machine's policy file would lie."""
    (tmp_path / "etc").mkdir()
    return tmp_path / "etc" / "policy.toml"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PROWESS_HOME", str(home))
    return home / "policy.toml"


def _noted(look: Callable[[str], os.stat_result], looked: list[str]) -> Callable[[str], os.stat_result]:
    def noted(path: str) -> os.stat_result:
        looked.append(path)
        return look(path)

    return noted


def _effect(policy: Policy) -> str:
    return effect_of(policy.decide(_PUSH))


def test_without_any_file_the_built_in_policy_holds(machine: Path, user: Path) -> None:
    policy = PolicyInForce(enterprise_file=str(machine)).now()
    assert policy.files == ()
    assert isinstance(policy.decide(_PUSH), Ask)
    assert not user.exists()


def test_a_rule_that_is_written_holds_at_once(machine: Path, user: Path) -> None:
    in_force = PolicyInForce(enterprise_file=str(machine))
    assert _effect(in_force.now()) == "ask"
    user.write_text(_ALLOW, encoding="utf-8")
    assert _effect(in_force.now()) == "allow"
    for number in range(20):  # within the time that a stamp of a file cannot tell apart
        user.write_text(_ALLOW if number % 2 else _DENY.ljust(len(_ALLOW)), encoding="utf-8")
        assert _effect(in_force.now()) == ("allow" if number % 2 else "deny")
    machine.write_text(_DENY, encoding="utf-8")
    assert _effect(in_force.now()) == "deny"
    machine.unlink()
    user.unlink()
    assert _effect(in_force.now()) == "ask"


def test_each_change_is_a_generation_with_a_version(machine: Path, user: Path) -> None:
    in_force = PolicyInForce(enterprise_file=str(machine))
    first = in_force.now()
    assert in_force.now() is first
    user.write_text(_DENY, encoding="utf-8")
    second = in_force.now()
    assert (second.generation, second.version != first.version) == (first.generation + 1, True)
    os.utime(user, (1, 1))
    assert in_force.now() is second  # touched, and the same


def test_a_file_at_rest_is_not_read_again(machine: Path, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del user
    in_force = PolicyInForce(enterprise_file=str(machine))
    monkeypatch.setattr("prowess.policy.policy_in_force.settled_before", lambda: 2**62)
    machine.write_text(_DENY, encoding="utf-8")
    policy = in_force.now()
    monkeypatch.setattr("prowess.policy.policy_in_force._files", None)
    assert in_force.now() is policy


def test_each_place_of_a_policy_costs_one_look_in_a_call(
    machine: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_force = PolicyInForce(enterprise_file=str(machine))
    in_force.now()
    looked: list[str] = []
    with monkeypatch.context() as patch:
        for name in ("stat", "lstat"):
            patch.setattr(os, name, _noted(getattr(os, name), looked))
        in_force.now()
    assert len(looked) == len(set(looked))
    assert str(user) in looked


@pytest.mark.parametrize("damage", ["effect = ", '[[rule]]\neffect = "dney"\ntool = "Bash"\n', "x = 1\n", None])
def test_a_file_that_becomes_invalid_or_unreadable_closes(damage: str | None, machine: Path, user: Path) -> None:
    user.write_text(_ALLOW, encoding="utf-8")
    in_force = PolicyInForce(enterprise_file=str(machine))
    assert _effect(in_force.now()) == "allow"
    if damage is None:
        user.unlink()
        user.mkdir()
    else:
        user.write_text(damage, encoding="utf-8")
    policy = in_force.now()
    assert policy.fault is not None
    assert str(user) in policy.fault
    for tool in ("Read", "skills.load", "skills.unload", "anything"):
        assert isinstance(policy.decide(PolicyCall(tool=tool, arguments={})), Deny)
    if damage is not None:
        user.write_text(_ALLOW, encoding="utf-8")
        assert _effect(in_force.now()) == "allow"


def test_refusals_by_a_policy_that_became_unreadable_go_to_the_logs_that_were_demanded(
    machine: Path, user: Path
) -> None:
    user.write_text('[audit]\nsink = "central"\n', encoding="utf-8")
    in_force = PolicyInForce(enterprise_file=str(machine))
    assert in_force.now().audit_sink == "central"
    user.write_text("effect = ", encoding="utf-8")
    for _ in range(2):
        assert (in_force.now().fault is None, in_force.now().audit_sink) == (False, "central")
        user.write_text("[[rule]]\n", encoding="utf-8")
    user.write_text('[audit]\nsink = "file"\n', encoding="utf-8")
    assert (in_force.now().fault, in_force.now().audit_sink) == (None, "file")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("place", ["machine", "user"])
def test_a_file_that_someone_else_could_change_closes(machine: Path, user: Path, place: str) -> None:
    path = machine if place == "machine" else user
    path.write_text(_ALLOW, encoding="utf-8")
    in_force = PolicyInForce(enterprise_file=str(machine))
    assert _effect(in_force.now()) == "allow"
    for mode, owner in ((0o666, 0), (0o644, 65534)):
        path.chmod(mode)
        os.chown(path, owner, 0)
        policy = in_force.now()
        assert _effect(policy) == "deny"
        assert f"{path} is not used, because someone else could change it" in str(policy.fault)
        path.chmod(0o644)
        os.chown(path, 0, 0)
        assert _effect(in_force.now()) == "allow"


def test_what_a_host_gives_can_only_tighten(machine: Path, user: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(_ALLOW, encoding="utf-8")
    given = Policy(files=(read_policy_file(str(own)),))
    in_force = PolicyInForce(given, enterprise_file=str(machine))
    assert _effect(in_force.now()) == "allow"
    user.write_text(_DENY, encoding="utf-8")
    assert _effect(in_force.now()) == "deny"
    assert [file.path for file in in_force.now().files] == [str(user), str(own)]


def test_a_layer_that_a_host_gives_again_counts_once_and_an_older_or_stricter_one_as_well(
    machine: Path, user: Path
) -> None:
    user.write_text(_DENY, encoding="utf-8")
    layer = read_policy_file(str(user))
    in_force = PolicyInForce(Policy(files=(layer,)), enterprise_file=str(machine))
    assert in_force.now().files == (layer,)
    user.write_text(_ALLOW, encoding="utf-8")
    assert _effect(in_force.now()) == "deny"
    stricter = replace(read_policy_file(str(user)), default="deny")
    assert _effect(PolicyInForce(Policy(files=(stricter,)), enterprise_file=str(machine)).now()) == "deny"


def test_a_named_file_must_be_there_and_is_watched(machine: Path, user: Path, tmp_path: Path) -> None:
    del user
    named = tmp_path / "named.toml"
    in_force = PolicyInForce(policy_file=str(named), enterprise_file=str(machine))
    assert in_force.now().fault is not None
    named.write_text(_ALLOW, encoding="utf-8")
    assert _effect(in_force.now()) == "allow"
    named.write_text(_DENY, encoding="utf-8")
    assert _effect(in_force.now()) == "deny"


def test_a_call_is_decided_by_one_policy_from_beginning_to_end(machine: Path, user: Path) -> None:
    in_force = PolicyInForce(enterprise_file=str(machine))
    other = PolicyInForce(enterprise_file=str(machine))
    with in_force.during_call() as policy:
        user.write_text(_DENY, encoding="utf-8")
        assert in_force.now() is policy
        assert _effect(in_force.now()) == "ask"
        assert _effect(other.now()) == "deny"
    assert _effect(in_force.now()) == "deny"


def test_a_session_under_test_is_unrestricted_except_where_the_machine_has_a_policy(machine: Path, user: Path) -> None:
    user.write_text(_DENY, encoding="utf-8")
    in_force = PolicyInForce(Policy.unrestricted_for_tests(), enterprise_file=str(machine))
    decision = in_force.now().decide(_PUSH)
    assert isinstance(decision, Allow)
    assert decision.rule == "unrestricted-for-tests"
    machine.with_name("other.toml").write_text("", encoding="utf-8")
    in_force = PolicyInForce(Policy.unrestricted_for_tests(), enterprise_file=str(machine))
    decision = in_force.now().decide(_PUSH)
    assert isinstance(decision, Deny)
    assert "other.toml: this machine has a policy" in decision.reason


def test_a_bundle_that_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("1", "2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "policy.toml").write_text(f'default = "allow"\n# {version}\n')
    link = tmp_path / "bundle"
    link.symlink_to("1")
    module = "prowess.policy.policy_in_force"
    monkeypatch.setattr(f"{module}.bundle_folder", lambda *_: str(link))
    monkeypatch.setattr(f"{module}.policy_places", lambda *_: (str(link / "policy.toml"),))
    turned: list[bool] = []

    def turn(*_: object) -> None:
        """Replace the bundle after its policy file was read, once."""
        if not turned:
            turned.append(True)
            link.unlink()
            link.symlink_to("2")

    monkeypatch.setattr(f"{module}._require_bundle", turn)
    (file,) = PolicyInForce(enterprise_file=str(tmp_path / "none.toml")).now().files
    assert file.digest == sha256_of((tmp_path / "2" / "policy.toml").read_bytes())
