"""Changes of packages are tool calls: policy files decide, a person answers, and the audit log has each of them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from prowess._internal.places import audit_path, prowess_home
from prowess.cli import exit_codes
from prowess.format import read_skill
from prowess.lockfile import read_lock, render_lock
from prowess.policy import Allow, Deny, PolicyCall, PolicyInForce
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.signing.statement import SignedSkill, render_statement
from prowess.tools.builtin import builtin_tools
from tests.catalog.locking import lock, locked
from tests.distribution.installation.projects import Commands, make_project, write_skill
from tests.fork_server import prowess
from tests.signing.authorities import Holder, root_authority

_INSTALL = ("install", "../skills", "--skill", "alpha")


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    return Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)


def _policy(text: str) -> None:
    os.makedirs(prowess_home(), mode=0o700, exist_ok=True)
    with open(os.path.join(prowess_home(), "policy.toml"), "w", encoding="utf-8") as file:
        file.write(text)


def _records(tool: str) -> list[dict[str, Any]]:
    with open(audit_path(), encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    return [{"kind": one["kind"], **one["data"]} for one in found if one["data"].get("tool") == tool]


def _denied(commands: Commands, *arguments: str) -> str:
    """Run a command; require that the policy refuses it, and that the lock stays as it is."""
    lock = commands.directory / "prowess.lock"
    before = lock.read_bytes() if lock.exists() else None
    commands.text(*arguments, code=exit_codes.DENIED)
    assert (lock.read_bytes() if lock.exists() else None) == before
    return commands.err


def _tree(commands: Commands, name: str = "alpha") -> str:
    return next(one.tree for one in read_lock(str(commands.directory / "prowess.lock")).skills if one.name == name)


def test_without_a_policy_file_each_change_is_allowed_and_recorded_with_its_facts(
    tmp_path: Path, commands: Commands
) -> None:
    commands.text(*_INSTALL)
    tree = _tree(commands)
    asked, done = [one for one in _records("packages.install") if one["kind"] == "tool.started"]
    source = str(tmp_path / "skills")
    assert (asked["skill"], asked["source"], asked["layer"], asked["digest"]) == ("alpha", source, "plugin", None)
    assert (done["skill"], done["source"], done["layer"], done["digest"]) == ("alpha", source, "plugin", tree)
    assert done["publisher"] is None
    assert done["allowed_by"].startswith("command:")
    write_skill(tmp_path / "skills" / "alpha", "1.0.1", script="print('alpha')\n")
    commands.text("update")
    commands.text("rollback")
    commands.text("remove", "alpha")
    for tool in ("update", "rollback", "remove"):
        last = _records(f"packages.{tool}")[-1]
        assert (last["kind"], last["outcome"], last["skill"]) == ("tool.finished", "success", "alpha")


def test_a_command_that_changes_nothing_asks_nobody(commands: Commands) -> None:
    commands.text(*_INSTALL)
    before = len(_records("packages.install"))
    _policy('default = "deny"\n')
    commands.text("install")
    commands.text("install", "--frozen")
    assert len(_records("packages.install")) == before


@pytest.mark.parametrize("tool", ["*", "packages.*", "packages.install"])
@pytest.mark.parametrize(
    "match",
    [
        '{ "skill.name" = "alpha" }',
        '{ skill.name = "al*" }',
        '{ skill.source = "SOURCE" }',
        "{ skill.layer = 'plugin' }",
    ],
)
def test_a_rule_that_denies_is_obeyed_before_anything_is_fetched(
    tmp_path: Path, commands: Commands, tool: str, match: str
) -> None:
    match = match.replace("SOURCE", str(tmp_path / "skills"))
    _policy(f'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "{tool}"\nmatch = {match}\nreason = "not here"\n')
    assert "not here" in _denied(commands, *_INSTALL)
    assert not os.path.isdir(os.path.join(prowess_home(), "store"))
    refused = _records("packages.install")
    assert [one["kind"] for one in refused] == ["tool.refused"]
    assert refused[0]["digest"] is None
    if "name" in match:
        commands.text("install", "../skills", "--skill", "beta")


def test_a_rule_about_the_name_holds_if_no_name_was_given(commands: Commands) -> None:
    _policy('default = "allow"\n[[rule]]\neffect = "deny"\ntool = "packages.*"\nmatch = { skill.name = "beta" }\n')
    _denied(commands, "install", "../skills", "--skill", "*")
    commands.text(*_INSTALL)


def test_a_rule_about_the_name_holds_for_a_dependency(tmp_path: Path, commands: Commands) -> None:
    file = write_skill(tmp_path / "skills" / "gamma") / "SKILL.md"
    file.write_text(file.read_text("utf-8").replace("metadata:\n", "metadata:\n  dependencies: beta\n"), "utf-8")
    _policy('default = "allow"\n[[rule]]\neffect = "deny"\ntool = "packages.*"\nmatch = { skill.name = "beta" }\n')
    _denied(commands, "install", "../skills", "--skill", "gamma")


def test_a_rule_about_the_digest_holds_at_install_and_for_no_other_skill(commands: Commands) -> None:
    commands.text(*_INSTALL)
    tree = _tree(commands)
    commands.text("remove", "alpha")
    rule = f'[[rule]]\neffect = "deny"\ntool = "*"\nmatch = {{ "skill.digest" = "{tree}" }}\nreason = "malware"\n'
    _policy(f'default = "allow"\n{rule}')
    assert "malware" in _denied(commands, *_INSTALL)
    assert "malware" in _denied(commands, "rollback")
    assert _records("packages.install")[-1]["digest"] == tree
    commands.text("install", "../skills", "--skill", "beta")


def test_a_rule_about_the_digest_holds_if_other_skills_change_in_another_way(
    tmp_path: Path, commands: Commands
) -> None:
    commands.text(*_INSTALL)
    file = write_skill(tmp_path / "skills" / "alpha", "1.0.1") / "SKILL.md"
    file.write_text(file.read_text("utf-8").replace("metadata:\n", "metadata:\n  dependencies: beta\n"), "utf-8")
    tree = read_skill(str(file.parent)).manifest.content_digest
    rule = '[[rule]]\neffect = "deny"\ntool = "packages.update"\nreason = "malware"\n'
    _policy(f'default = "allow"\n{rule}match = {{ "skill.digest" = "{tree}" }}\n')
    assert "malware" in _denied(commands, "update")  # alpha is updated, and beta is installed


def test_a_rule_that_denies_a_publisher_is_not_about_skills_without_a_signature(commands: Commands) -> None:
    rule = '[[rule]]\neffect = "deny"\ntool = "packages.*"\nmatch = { skill.publisher = "key sha256:00*" }\n'
    _policy(f'default = "allow"\n{rule}')
    commands.text(*_INSTALL)


def test_a_rule_about_a_file_or_a_capability_holds_at_install_and_for_no_other_skill(
    tmp_path: Path, commands: Commands
) -> None:
    shutil.rmtree(tmp_path / "skills" / "beta" / "scripts")
    digest = hashlib.sha256((tmp_path / "skills" / "alpha" / "scripts" / "run.py").read_bytes()).hexdigest()
    for match in (f'skill.file = "{digest}"', 'skill.capability = "scripts"'):
        _policy(f'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "*"\nmatch = {{ {match} }}\n')
        _denied(commands, *_INSTALL)
        commands.text("install", "../skills", "--skill", "beta")
        _policy('default = "allow"\n')
        commands.text("remove", "beta")


def test_a_policy_that_allows_one_source_only_denies_all_others(tmp_path: Path, commands: Commands) -> None:
    rule = f'[[rule]]\neffect = "allow"\ntool = "packages.*"\nmatch = {{ skill.source = "{tmp_path}/skills" }}\n'
    _policy(f'default = "deny"\n{rule}')
    commands.text(*_INSTALL)
    write_skill(tmp_path / "others" / "delta")
    _denied(commands, "install", "../others")


def test_a_policy_that_allows_one_publisher_only_denies_unsigned_skills_once_they_are_known(commands: Commands) -> None:
    _policy('default = "deny"\n[[rule]]\neffect = "allow"\ntool = "packages.*"\nmatch = { skill.publisher = "acme" }\n')
    _denied(commands, *_INSTALL)
    kinds = [one["kind"] for one in _records("packages.install")]
    assert kinds == ["tool.started", "tool.finished", "tool.refused"]  # fetched, and then refused


_ACME_ONLY = """
default = "deny"
[[rule]]
effect = "allow"
tool = "*"
match = { skill.publisher = "acme" }
"""


def _as_machine(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prowess.policy.policy_in_force.ENTERPRISE_FILE", str(policy))
    monkeypatch.setitem(cast("dict[str, Any]", PolicyInForce.__init__.__kwdefaults__), "enterprise_file", str(policy))


def _signed(commands: Commands) -> None:
    commands.text("trust", ".")
    commands.text("key", "new", "../k")
    commands.text("sign", "../skills/alpha", "--key", "../k")


def _apart(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return subprocess.run([prowess(), *arguments], check=False, capture_output=True, text=True)


def test_a_rule_may_have_the_name_of_a_publisher_and_follows_key_trust_in_every_process(commands: Commands) -> None:
    _signed(commands)
    _policy(_ACME_ONLY)
    commands.text("key", "trust", "../k.pub", "--as", "other")
    in_force = PolicyInForce()
    assert in_force.now().version
    _denied(commands, *_INSTALL)
    commands.text("key", "trust", "../k.pub", "--as", "acme")
    commands.text(*_INSTALL)
    (locked,) = read_lock(str(commands.lock)).named("alpha")
    assert str(locked.signer).startswith("key sha256:")
    call = PolicyCall(tool="skills.load", arguments={}, skills=(SkillIdentity(publisher=locked.signer),))
    assert isinstance(in_force.now().decide(call), Allow)
    (row,) = json.loads(_apart("list", "--json").stdout)["skills"]
    assert (row["name"], row["policy"]["rule"]) == ("alpha", "allow *(skill.publisher: acme)")
    assert "Do it" in _apart("load", "alpha").stdout
    before = in_force.now().version
    commands.text("key", "forget", "acme")
    assert in_force.now().version != before
    assert isinstance(in_force.now().decide(call), Deny)
    assert _apart("load", "alpha").returncode == exit_codes.DENIED


def _install_and_forge_a_signer(commands: Commands) -> None:
    """Install a signed skill and one without signature, and write the signer of the first into the lock for both."""
    _signed(commands)
    commands.text("key", "trust", "../k.pub", "--as", "acme")
    commands.text("install", "../skills", "--skill", "*")
    before = read_lock(str(commands.lock))
    (alpha,) = before.named("alpha")
    forged = tuple(replace(skill, signer=alpha.signer) for skill in before.skills)
    commands.lock.write_bytes(render_lock(replace(before, skills=forged)))


def test_a_signer_that_somebody_wrote_into_the_lock_is_not_believed(commands: Commands) -> None:
    _install_and_forge_a_signer(commands)
    _policy(_ACME_ONLY)
    assert "Do it" in commands.text("load", "alpha")
    commands.text("load", "beta", code=exit_codes.DENIED)
    assert "the signer in the lock was not verified" in commands.text("why", "beta")
    _policy('default = "allow"\n')
    commands.text("install", code=exit_codes.DENIED)
    assert "skill 'beta'" in commands.err
    assert "nobody signed it" in commands.err


def test_a_forged_signer_in_an_earlier_state_does_not_meet_the_demand_for_signatures(commands: Commands) -> None:
    _install_and_forge_a_signer(commands)
    commands.text("remove", "alpha", "beta")
    _policy('default = "allow"\n[packages]\nrequire_signature = true\n')
    assert "no verified signature of a trusted publisher: beta" in _denied(commands, "rollback")


@pytest.mark.parametrize("source", ["acme/skills", "https://github.com/Acme/skills.git", "git@github.com:acme/skills"])
def test_a_rule_about_the_source_holds_for_what_is_installed(source: str, commands: Commands) -> None:
    lock(locked("review"), locked("deploy", source="other/skills", package="other"))
    _policy(f'default = "allow"\n[[rule]]\neffect = "deny"\ntool = "*"\nmatch = {{ skill.source = "{source}" }}\n')
    commands.text("load", "review", code=exit_codes.DENIED)
    commands.text("load", "deploy")


@pytest.mark.parametrize("package", ["acme", ""])
def test_a_lock_does_not_meet_a_rule_that_allows_a_directory(package: str, commands: Commands) -> None:
    lock(locked("review", source="/srv/reviewed/skills", package=package))
    _policy('default = "deny"\n[[rule]]\neffect = "allow"\ntool = "*"\nmatch = { skill.source = "/srv/reviewed/*" }\n')
    commands.text("load", "review", code=exit_codes.DENIED)
    _policy('default = "allow"\n[[rule]]\neffect = "deny"\ntool = "*"\nmatch = { skill.source = "/srv/reviewed/*" }\n')
    commands.text("load", "review", code=exit_codes.DENIED)
    _policy('default = "allow"\n')
    commands.text("load", "review")


def test_a_rule_that_denies_a_publisher_holds_for_what_is_installed(commands: Commands) -> None:
    _signed(commands)
    commands.text("key", "trust", "../k.pub", "--as", "acme")
    commands.text(*_INSTALL)
    _policy('default = "allow"\n[[rule]]\neffect = "deny"\ntool = "*"\nmatch = { skill.publisher = "ac*" }\n')
    commands.text("load", "alpha", code=exit_codes.DENIED)
    commands.text("remove", "alpha", code=exit_codes.DENIED)


@pytest.mark.parametrize("table", [_ACME_ONLY, 'default = "allow"\n[packages]\nrequire_signature = true\n'])
def test_the_publishers_of_a_user_do_not_meet_the_policy_of_the_machine(
    table: str, tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    _signed(commands)
    commands.text("key", "trust", "../k.pub", "--as", "acme")
    machine = tmp_path / "etc" / "policy.toml"
    machine.parent.mkdir()
    machine.write_text(table, "utf-8")
    _policy(table)
    commands.text(*_INSTALL)
    commands.text("remove", "alpha")
    _as_machine(machine, monkeypatch)
    assert str(machine) in _denied(commands, *_INSTALL)
    publishers = tmp_path / "etc" / "publishers.toml"
    shutil.copy(os.path.join(prowess_home(), "publishers.toml"), publishers)
    commands.text("key", "forget", "acme")
    module = "prowess.policy.packages.trusted_publishers"
    monkeypatch.setattr(f"{module}.others_can_change", lambda *_, **__: None)  # as if root owned it
    monkeypatch.setattr(f"{module}.trust_in_publishers.__defaults__", (str(publishers),))
    _policy('default = "allow"\n')
    commands.text(*_INSTALL)


def test_require_signature_refuses_a_signer_whom_nobody_here_trusts(tmp_path: Path, commands: Commands) -> None:
    skill = read_skill(tmp_path / "skills" / "alpha")
    statement = SignedSkill(name="alpha", version=None, tree=skill.manifest.content_digest)
    signer = Holder("Anybody", root_authority("Made by anybody"))
    bundle = signer.bundle(render_statement(skill.manifest, statement))
    (tmp_path / "skills" / "alpha" / "skill.oms.sig").write_bytes(bundle)
    _policy('default = "allow"\n[packages]\nrequire_signature = true\n')
    assert "no verified signature of a trusted publisher: alpha" in _denied(commands, *_INSTALL)
    (tmp_path / "root.pem").write_bytes(signer.issuer.pem if signer.issuer else b"")
    commands.text("key", "trust", "../root.pem", "--as", "anybody")
    commands.text(*_INSTALL)


@pytest.mark.parametrize("damage", ['[[publisher]]\nname = "acme"\nkey = "AAAA"\n', "publisher = ", "\0"])
def test_a_damaged_publishers_file_permits_nothing_if_a_rule_needs_it(damage: str, commands: Commands) -> None:
    _signed(commands)
    _policy(_ACME_ONLY)
    publishers = Path(prowess_home(), "publishers.toml")
    publishers.write_text(damage, "utf-8")
    publishers.chmod(0o600)
    commands.text("load", "../skills/alpha", code=exit_codes.USAGE)
    assert "policy.toml names publishers, and they cannot be read: " in commands.err
    assert str(publishers) in commands.err
    commands.text(*_INSTALL, code=exit_codes.USAGE)
    assert not commands.lock.exists()
    _policy('default = "allow"\n')
    commands.text("load", "../skills/alpha")


def test_the_default_ask_is_answered_by_who_typed_the_command_and_a_rule_that_asks_is_not(commands: Commands) -> None:
    _policy('default = "ask"\n')
    commands.text(*_INSTALL)
    _policy('default = "allow"\n[[rule]]\neffect = "ask"\ntool = "packages.remove"\n')
    assert "terminal" in _denied(commands, "remove", "alpha")
    report = commands.report("remove", "alpha", code=exit_codes.DENIED)
    assert report["problems"][0]["code"] == "approval_required"
    assert commands.installed() == {"alpha": "1.0.0"}


@pytest.mark.parametrize(
    ("sources", "allowed"),
    [
        ('["HERE/skills"]', True),
        ('["HERE/*"]', True),
        ('["acme/*", "HERE/skills"]', True),
        ('["acme/*"]', False),
        ("[]", False),
        ('["HERE/other"]', False),
    ],
)
def test_packages_sources_refuses_every_source_that_it_does_not_list(
    tmp_path: Path,
    commands: Commands,
    sources: str,
    allowed: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    _policy(f'default = "allow"\n[packages]\nsources = {sources.replace("HERE", str(tmp_path))}\n')
    if allowed:
        commands.text(*_INSTALL)
    else:
        assert "only these sources" in _denied(commands, *_INSTALL)
        assert not os.path.isdir(os.path.join(prowess_home(), "store"))


def test_a_lower_policy_cannot_permit_a_source_that_a_higher_one_does_not_list(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text('default = "allow"\n[packages]\nsources = ["acme/*"]\n', "utf-8")
    _as_machine(machine, monkeypatch)
    rule = '[[rule]]\neffect = "allow"\ntool = "packages.*"\n'
    _policy(f'default = "allow"\n[packages]\nsources = ["{tmp_path}/*"]\n{rule}')
    _denied(commands, *_INSTALL)


def test_require_signature_refuses_an_unsigned_skill_at_install_update_and_rollback(
    tmp_path: Path, commands: Commands
) -> None:
    commands.text(*_INSTALL)
    write_skill(tmp_path / "skills" / "alpha", "1.0.1", script="print('alpha')\n")
    _policy('default = "allow"\n[packages]\nrequire_signature = true\n')
    assert "no verified signature of a trusted publisher: alpha" in _denied(commands, "update")
    commands.text("remove", "alpha")
    _policy('default = "allow"\n[packages]\nrequire_signature = true\n')
    for arguments in (_INSTALL, ("rollback",)):
        assert "no verified signature of a trusted publisher: alpha" in _denied(commands, *arguments)


def test_a_policy_that_cannot_be_read_permits_no_change(commands: Commands) -> None:
    _policy("[packages]\nsource = []\n")
    commands.text(*_INSTALL, code=exit_codes.USAGE)
    assert "did you mean 'sources'?" in commands.err
    assert not (commands.directory / "prowess.lock").exists()


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ('sources = "acme/*"', "must be a list of texts"),
        ('require_signature = "yes"', "must be true or false"),
        ('max_age = "soon"', "must be a number of seconds, minutes, hours or days"),
        ('too_old = "delete"', "must be one of keep, warn, hide"),
    ],
)
def test_a_faulty_table_is_refused_with_its_line(commands: Commands, table: str, fault: str) -> None:
    _policy(f"[packages]\n{table}\n")
    commands.text("policy", "show", code=exit_codes.USAGE)
    assert fault in commands.err
    assert "policy.toml:2" in commands.err


def test_policy_show_prints_the_settings_of_packages(commands: Commands) -> None:
    _policy('[packages]\nsources = ["acme/*"]\nrequire_signature = true\nmax_age = "7d"\ntoo_old = "hide"\n')
    shown = commands.text("policy", "show")
    for line in ("packages from acme/*", "require_signature: yes", "max_age: 604800", "too_old: hide"):
        assert line in shown
    assert commands.report("policy", "show")["files"][0]["package_sources"] == ["acme/*"]


def test_expectations_cover_changes_of_packages(tmp_path: Path, commands: Commands) -> None:
    file = tmp_path / "policy.toml"
    call = 'call = {{ tool = "packages.install", skill = {{ name = "pdf", source = "{source}", publisher = "acme" }} }}'
    expected = "".join(
        f'[[expect]]\n{call.format(source=source)}\neffect = "{effect}"\n'
        for source, effect in (("acme/skills", "allow"), ("other/skills", "deny"))
    )
    unsigned = (
        '[[expect]]\ncall = { tool = "packages.install", skill = { name = "a", source = "acme/a" } }\neffect = "deny"\n'
    )
    text = f'default = "allow"\n[packages]\nsources = ["acme/*"]\nrequire_signature = true\n{expected}{unsigned}'
    file.write_text(text, "utf-8")
    assert "3 of 3 expectations hold" in commands.text("policy", "test", str(file))


def test_no_model_is_offered_the_tools_of_packages(tmp_path: Path) -> None:
    assert not [
        tool.spec.name for tool in builtin_tools(workspace=tmp_path, write=True) if "packages" in tool.spec.name
    ]


def test_a_skill_of_a_source_that_is_not_listed_is_not_used_either(commands: Commands) -> None:
    _policy('default = "allow"\n[packages]\nsources = ["acme/*"]\n')
    assert "only these sources" in _denied(commands, "use", "../skills", "--skill", "alpha")


def test_outdated_asks_before_it_contacts_a_source(tmp_path: Path, commands: Commands) -> None:
    commands.text(*_INSTALL)
    commands.text("outdated")
    asked = [one for one in _records("packages.update") if one["kind"] == "tool.started"]
    assert [(one["source"], one["digest"]) for one in asked[:1]] == [(str(tmp_path / "skills"), None)]
    _policy('default = "allow"\n[packages]\nsources = ["acme/*"]\n')
    shutil.rmtree(tmp_path / "skills")  # reading it would be another error
    assert "only these sources" in _denied(commands, "outdated")


def test_registries_that_are_not_listed_are_not_read(tmp_path: Path, commands: Commands) -> None:
    _policy(f'default = "allow"\n[packages]\nsources = ["{tmp_path}/skills"]\n')
    assert "alpha" in commands.text("registry", "list", "../skills")
    (tmp_path / "other").mkdir()  # reading it would be another error
    assert "only these sources" in _denied(commands, "registry", "list", "../other")
    assert "only these sources" in _denied(commands, "registry", "search", "alpha", "--registry", "../other")
    assert "alpha" in commands.text("registry", "list", "../other", "../skills")
    assert "only these sources" in commands.err
