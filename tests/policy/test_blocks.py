"""Blocked skills: which facts of a skill a block means, which calls it denies, and files that are damaged."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from msgspec import json

from prowess.lockfile import names_in_lock
from prowess.policy import Allow, Deny, Policy, PolicyCall, PolicyFile, PolicyInForce
from prowess.policy.blocks.block_file import Block, BlockFile, render_blocks
from prowess.policy.blocks.blocked import Blocks, load_blocks
from prowess.policy.facts.skill_identity import SkillIdentity

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.policy.blocks.block_file import BlockKind

_DIGEST = f"sha256:{'0a' * 32}"
_OTHER = f"sha256:{'0b' * 32}"


def _block(kind: BlockKind, value: str, number: int = 0) -> Block:
    return Block(id=f"block-{number}", kind=kind, value=value, reason="It leaks.", by="ada", at="2026-11-29T10:00:00Z")


def _blocks(kind: BlockKind, *values: str) -> Blocks:
    blocks = tuple(_block(kind, value, number) for number, value in enumerate(values))
    return Blocks([BlockFile(path="/etc/prowess/blocks.json", digest="sha256:x", blocks=blocks)])


def _skill(**facts: object) -> SkillIdentity:
    known: dict[str, object] = {"name": "deploy", "digests": (_OTHER,), "sources": ("label",), "files": frozenset()}
    return SkillIdentity(**{**known, **facts})  # type: ignore[arg-type]  # the facts of each case


@pytest.mark.parametrize(
    ("blocked", "name", "copies", "holds"),
    [
        ("deploy", "deploy", (), True),
        ("deploy", " ｄeploy ", (), True),
        ("Deploy", "deploy", (), True),
        ("deploy", "DEPLOY", (), True),
        ("deploy", "deploy", ("deploy@acme", "deploy@1.2.0"), True),
        ("deploy", "redeploy", (), False),
        ("deploy@acme", "deploy", ("deploy@acme",), True),
        ("acme/deploy", "deploy", ("deploy@acme",), True),
        ("@acme/tools/deploy", "deploy", ("deploy@acme/tools",), True),
        ("deploy@acme", "deploy", ("deploy@other",), False),
        ("deploy@acme", "deploy", (), False),
        ("deploy@1.2.0", "deploy", ("deploy@1.2.0",), True),
        ("deploy@1.2.0", "deploy", ("deploy@1.2.1",), False),
    ],
)
def test_names_are_compared_as_the_catalog_compares_them(
    blocked: str, name: str, copies: tuple[str, ...], *, holds: bool
) -> None:
    assert (_blocks("name", blocked).denial(_skill(name=name, copies=copies)) is not None) == holds


@pytest.mark.parametrize(
    "written",
    ["acme/skills", "https://github.com/Acme/skills", "https://github.com/acme/skills.git",
     "git@github.com:acme/skills", "git+https://github.com/acme/skills", "github.com/acme/skills"],
)  # fmt: skip
@pytest.mark.parametrize("locked", ["acme/skills", "acme/skills/pdf", "git+https://github.com/Acme/Skills"])
def test_a_source_is_blocked_in_every_spelling(written: str, locked: str) -> None:
    skill = _skill(sources=names_in_lock(locked, "/home/ada/prowess.lock"))
    assert _blocks("source", written).denial(skill) is not None
    assert _blocks("source", "acme/others").denial(skill) is None


def test_a_directory_is_blocked_with_all_below_it_and_through_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(tmp_path / "elsewhere")
    skill = _skill(sources=(f"{real}/deploy", str(real)))
    blocks = _blocks("source", str(link))
    assert blocks.denial(skill) is None
    link.unlink()
    link.symlink_to(real)
    assert blocks.denial(skill) is not None
    assert _blocks("source", str(real)).denial(skill) is not None
    assert _blocks("source", f"{real}/dep").denial(skill) is None


def test_digests_files_and_signers() -> None:
    assert _blocks("digest", _DIGEST).denial(_skill(digests=(_OTHER, _DIGEST))) is not None
    assert _blocks("digest", _DIGEST).denial(_skill()) is None
    assert _blocks("file", _DIGEST).denial(_skill(files=frozenset({_OTHER, _DIGEST}))) is not None
    assert _blocks("file", _DIGEST).denial(_skill(files=frozenset({_OTHER}))) is None
    signed = _skill(publisher=f"key {_OTHER} key {_DIGEST}")
    assert _blocks("publisher", f"key {_DIGEST}").denial(signed) is not None
    assert _blocks("publisher", f"key sha256:{'0c' * 32}").denial(signed) is None
    assert _blocks("publisher", f"x509 {_DIGEST}").denial(_skill(publisher=f"x509 {_DIGEST} CN=Acme")) is not None


def test_a_name_of_a_publisher_means_the_keys_that_this_machine_trusts_under_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    from prowess.policy.packages.trusted_publishers import change_publishers
    from prowess.signing.keys import new_private_key
    from prowess.signing.publishers import Publisher
    from prowess.signing.trust import TrustedKey

    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    key = new_private_key("ed25519").public
    change_publishers(lambda _: (Publisher(name="acme", anchor=TrustedKey(key=key)),))
    path = tmp_path / "home" / "blocks.json"
    path.write_bytes(render_blocks((_block("publisher", "acme"),)))
    path.chmod(0o600)
    blocks = load_blocks(str(tmp_path / "etc" / "policy.toml"))
    assert blocks.denial(_skill(publisher=f"key {key.fingerprint}")) is not None
    assert blocks.denial(_skill(publisher=f"key {_OTHER}")) is None


@pytest.mark.parametrize("kind", ["name", "digest", "file", "source", "publisher"])
def test_what_is_not_known_about_a_skill_denies_and_a_name_that_no_skill_has_does_not(kind: BlockKind) -> None:
    blocks = _blocks(kind, _DIGEST)
    denied = blocks.denial(SkillIdentity())
    assert denied is not None
    assert f"the {kind} of a skill is not known" in denied.reason
    assert blocks.denial(SkillIdentity(name="typo", absent=True)) is None
    assert blocks.denial(SkillIdentity(pending=frozenset({kind}))) is None
    assert _blocks("publisher", _DIGEST).denial(_skill()) is None  # most skills are not signed


def test_a_block_of_one_copy_holds_for_the_plain_name_if_the_copy_is_not_known() -> None:
    assert _blocks("name", "deploy@acme").denial(SkillIdentity(name="deploy")) is not None
    assert _blocks("name", "deploy@acme").denial(SkillIdentity(name="other")) is None


@pytest.mark.parametrize(
    ("tool", "skills", "denied"),
    [
        ("skills.load", (_skill(),), True),
        ("skill", (_skill(),), True),
        ("skills.invoke", (_skill(),), True),
        ("skills.read", (_skill(name="other"), _skill()), True),
        ("packages.install", (_skill(),), True),
        ("packages.deploy", (_skill(),), True),
        ("packages.remove", (_skill(),), False),
        ("packages.revoke", (_skill(),), False),
        ("skills.unload", (_skill(),), False),
        ("skills.list", (), False),
        ("Bash", (_skill(),), True),  # the blocked skill is active
        ("Bash", (), False),
        ("Bash", None, False),
    ],
)
def test_calls_about_a_blocked_skill_are_denied_whatever_the_rules_allow(
    tool: str, skills: tuple[SkillIdentity, ...] | None, *, denied: bool
) -> None:
    allowing = PolicyFile(path="policy.toml", default="allow")
    for files in ((), (allowing,)):
        policy = Policy(files=files, blocks=_blocks("name", "deploy"))
        decision = policy.decide(PolicyCall(tool=tool, arguments={}, skills=skills))
        assert isinstance(decision, Deny) == denied
    if denied:
        assert (decision.id, str(decision.origin)) == ("block-0", "/etc/prowess/blocks.json:2")
        assert "It leaks." in decision.reason


def test_a_lookup_does_not_go_through_the_blocks() -> None:
    blocks = _blocks("name", *(f"skill-{number}" for number in range(2000)))
    read = 0

    class Counted(dict[str, object]):
        def __contains__(self, key: object) -> bool:
            nonlocal read
            read += 1
            return super().__contains__(key)

    index = blocks._by
    index["name"] = Counted(index["name"])  # type: ignore[assignment]
    assert blocks.denial(_skill(name="skill-1999")) is not None
    assert read <= 4


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PROWESS_HOME", str(home))
    return home


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "truncated"),
        (b'{"prowess_blocks":2,"blocks":[]}', "prowess_blocks"),
        (b'{"prowess_blocks":1,"blocks":[{"id":"x"}]}', "blocks[0]"),
        (b'{"prowess_blocks":1,"blocks":[],"more":1}', "more"),
        (render_blocks((_block("digest", "12"),)), "blocks.json:2: '12' is no digest"),
        (render_blocks((_block("name", "a"), _block("name", "b"))), "blocks.json:3: 'block-0' is the id of another"),
        (render_blocks((_block("name", ""),)), "must not be empty"),
        (b'{"prowess_blocks":1,"blocks":[{"id":"a","kind":"colour","value":"red"}]}', "colour"),
        (None, "not a regular file"),
        ("link", "link to nothing"),
        ("open", "writable by other users"),
    ],
)
def test_a_file_that_cannot_be_used_denies_everything_and_names_the_fault(
    content: bytes | str | None, named: str, home: Path, tmp_path: Path
) -> None:
    path = home / "blocks.json"
    in_force = PolicyInForce(enterprise_file=str(tmp_path / "policy.toml"))
    assert in_force.now().fault is None
    if content is None:
        path.mkdir()
    elif content == "link":
        path.symlink_to("nothing")
    else:
        path.write_bytes(render_blocks(()) if isinstance(content, str) else content)
        path.chmod(0o666 if content == "open" else 0o600)
    policy = in_force.now()
    assert policy.fault is not None
    assert str(path) in policy.fault
    assert named in policy.fault
    assert "nothing is permitted" in policy.fault
    for tool in ("Read", "skills.load", "Bash"):
        assert isinstance(policy.decide(PolicyCall(tool=tool, arguments={})), Deny)
    (path.rmdir if content is None else path.unlink)()
    assert in_force.now().fault is None


def test_each_change_of_the_blocks_is_a_generation_and_a_version(home: Path, tmp_path: Path) -> None:
    path = home / "blocks.json"
    in_force = PolicyInForce(enterprise_file=str(tmp_path / "policy.toml"))
    call = PolicyCall(tool="skills.load", arguments={"names": ["deploy"]}, skills=(_skill(),))
    before = in_force.now()
    for number in range(10):  # within the time that a stamp of a file cannot tell apart
        path.write_bytes(render_blocks((_block("name", "deploy" if number % 2 else "others"),)))
        path.chmod(0o600)
        policy = in_force.now()
        assert isinstance(policy.decide(call), Deny if number % 2 else Allow)
        assert (policy.generation, policy.recorded_version) != (before.generation, before.recorded_version)
        before = policy
    assert before.needs_skills
    assert not before.needs_digests


def test_an_unrestricted_policy_is_refused_on_a_machine_with_blocks(home: Path, tmp_path: Path) -> None:
    del home
    given = Policy.unrestricted_for_tests()
    (tmp_path / "blocks.json").write_bytes(render_blocks(()))
    policy = PolicyInForce(given, enterprise_file=str(tmp_path / "policy.toml")).now()
    assert policy.fault is not None
    assert "blocks.json" in policy.fault


@pytest.mark.skipif(os.geteuid() != 0, reason="the blocks of a machine are root's")
def test_blocks_of_machine_and_user_and_of_a_host_all_hold(home: Path, tmp_path: Path) -> None:
    (tmp_path / "blocks.json").write_bytes(render_blocks((_block("name", "one"),)))
    (home / "blocks.json").write_bytes(render_blocks((_block("name", "two"),)))
    (home / "blocks.json").chmod(0o600)
    policy = PolicyInForce(Policy(blocks=_blocks("name", "three")), enterprise_file=str(tmp_path / "policy.toml")).now()
    assert [block.value for block, _ in policy.blocks] == ["one", "two", "three"]
    (tmp_path / "blocks.json").chmod(0o646)
    assert "writ" in (PolicyInForce(enterprise_file=str(tmp_path / "policy.toml")).now().fault or "")


def test_the_file_has_one_block_a_line() -> None:
    text = render_blocks((_block("name", "a", 1), _block("name", "b", 2)))
    assert [json.decode(line.rstrip(b","))["value"] for line in text.splitlines()[1:-1]] == ["a", "b"]
