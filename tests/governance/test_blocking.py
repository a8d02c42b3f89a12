"""Blocks are written as a whole, by one process at a time, and each act is recorded before it takes effect."""

from __future__ import annotations

import os
import signal
import stat
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest

from prowess import Catalog, Session
from prowess.audit.log import JsonlAuditLog
from prowess.audit.record import read_all
from prowess.audit.verification import verify_log
from prowess.errors import (
    AuditError,
    ConfigurationError,
    InvalidArgumentsError,
    PolicyDeniedError,
    PolicyError,
    StoreError,
)
from prowess.governance.blocking import BlockedSkills
from prowess.policy.blocks.block_file import read_block_file
from prowess.policy.policy_in_force import PolicyInForce
from tests.catalog.making import write_skill
from tests.distribution.small_disk import filled, read_only, small_disk
from tests.forked import end

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from prowess.policy.blocks.block_file import BlockKind

_DIGEST = "0A" * 32


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's policy file, which lies in /etc outside of tests."""
    path = tmp_path / "etc" / "policy.toml"
    for function in (PolicyInForce.__init__, BlockedSkills.__init__):
        monkeypatch.setitem(cast("dict[str, Any]", function.__kwdefaults__), "enterprise_file", str(path))
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("PROWESS_HOME", str(home))
    return home


def _names() -> list[str]:
    return [one.block.value for one in BlockedSkills().all()]


def test_a_block_holds_at_the_next_call_of_a_running_session_also_if_the_skill_is_active(
    home: Path, tmp_path: Path
) -> None:
    skill = write_skill(tmp_path / "skills" / "deploy", body="The word is swordfish.\n")
    (skill / "references").mkdir()
    (skill / "references" / "a.md").write_text("swordfish", encoding="utf-8")
    home.mkdir(mode=0o700)
    (home / "policy.toml").write_text('default = "allow"\n', encoding="utf-8")

    async def run() -> None:
        async with Session(Catalog(str(tmp_path / "skills"))) as session:
            assert (await session.call("skills.load", {"names": ["deploy"]})).success
            block = BlockedSkills().add("name", "deploy", "It leaks.", "user").block
            for tool, arguments in (
                ("skills.load", {"names": ["deploy"]}),
                ("skills.read", {"skill": "deploy", "path": "references/a.md"}),
                ("skill", {"skill": "deploy"}),
            ):
                result = await session.call(tool, arguments)
                detail = cast("dict[str, Any]", result.error_detail)
                assert detail["code"] == "policy_denied"
                assert f"denied by {block.id}" in str(result.error)
                assert "It leaks." in str(result.error)
            assert "swordfish" not in session.instructions()
            assert "deploy" not in str(session.tools())
            assert (await session.call("skills.unload", {"names": ["deploy"]})).success
            BlockedSkills().lift(block.id)
            assert (await session.call("skills.load", {"names": ["deploy"]})).success

    anyio.run(run)


def test_the_same_fact_is_blocked_once(home: Path) -> None:
    blocked = BlockedSkills()
    first = blocked.add("digest", _DIGEST, "It leaks.", "user")
    assert first.block.value == f"sha256:{'0a' * 32}"
    for again in (_DIGEST, "0a" * 32, f"sha256:{_DIGEST}", f" SHA256:{'0a' * 32} "):
        found = blocked.add("digest", again, "Another reason.", "user")
        assert (found.block, found.is_new) == (first.block, False)
    assert blocked.add("name", "deploy", "x", "user").is_new
    assert not blocked.add("name", " ｄEPLOY", "x", "user").is_new
    assert not blocked.add("name", "acme/tools", "x", "user").block.value.startswith("@")
    assert not blocked.add("name", "tools@acme", "x", "user").is_new
    assert stat.S_IMODE((home / "blocks.json").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("kind", "value", "reason", "named"),
    [
        ("digest", "12", "x", "not the digest of a skill"),
        ("file", "sha256:" + "g" * 64, "x", "sha256sum"),
        ("name", "", "x", "must be a line"),
        ("name", "a\nb", "x", "must be a line"),
        ("name", "dep*", "x", "is a pattern"),
        ("name", "deploy", " ", "reason"),
        ("name", "deploy", "two\nlines", "reason"),
        ("publisher", "nobody", "x", "no publisher 'nobody' is known here"),
    ],
)
def test_what_no_skill_can_have_is_refused(kind: BlockKind, value: str, reason: str, named: str, home: Path) -> None:
    del home
    with pytest.raises(ConfigurationError, match=named):
        BlockedSkills().add(kind, value, reason, "user")
    assert _names() == []


def test_a_relative_path_is_kept_as_an_absolute_one(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del home
    monkeypatch.chdir(tmp_path)
    assert BlockedSkills().add("source", "./skills", "x", "user").block.value == str(tmp_path / "skills")
    assert BlockedSkills().add("source", "acme/skills", "x", "user").block.value == "acme/skills"
    with pytest.raises(InvalidArgumentsError):
        BlockedSkills().add("source", "https://token@example.org/skills", "x", "user")


def test_each_act_is_recorded_with_who_and_what(home: Path) -> None:
    log = JsonlAuditLog(home / "audit" / "audit.jsonl")
    blocked = BlockedSkills(log)
    block = blocked.add("name", "deploy", "It leaks.", "user").block
    blocked.add("name", "deploy", "It leaks.", "user")  # changes nothing
    blocked.lift(block.id)
    records = [record for record in read_all(log.path) if record is not None]
    assert [record.kind for record in records] == ["governance.block", "governance.unblock"]
    for record in records:
        facts = {name: record.data[name] for name in ("block", "match", "reason", "scope")}
        assert facts == {"block": block.id, "match": {"name": "deploy"}, "reason": "It leaks.", "scope": "user"}
        assert record.data["identified_by"] == "system"
    assert verify_log(log.path).ok


def test_an_act_that_cannot_be_recorded_changes_nothing(home: Path) -> None:
    (home / "audit").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    (home / "audit" / "audit.jsonl").mkdir()
    with pytest.raises(AuditError):
        BlockedSkills(JsonlAuditLog(home / "audit" / "audit.jsonl")).add("name", "deploy", "x", "user")
    assert _names() == []


def test_an_act_that_fails_is_recorded_as_failed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prowess.governance.blocking.write_atomically", full)
    log = JsonlAuditLog(home / "audit" / "audit.jsonl")
    with pytest.raises(StoreError, match=r"No space left on device.*nothing was changed"):
        BlockedSkills(log).add("name", "deploy", "x", "user")
    records = [record for record in read_all(log.path) if record is not None]
    assert [record.kind for record in records] == ["governance.block", "governance.failed"]
    assert records[1].data["act"] == "block"


def test_a_damaged_file_is_not_replaced(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "blocks.json").write_bytes(b"{")
    (home / "blocks.json").chmod(0o600)
    with pytest.raises(PolicyError, match=r"blocks\.json"):
        BlockedSkills().add("name", "deploy", "x", "user")
    assert (home / "blocks.json").read_bytes() == b"{"


def test_an_unknown_block_cannot_be_lifted(home: Path) -> None:
    del home
    with pytest.raises(InvalidArgumentsError, match="there is no block 'block-x'"):
        BlockedSkills().lift("block-x")


def _forked(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 -- the parent sees the status
            end(1)
        end(0)
    return child


def test_of_blocks_that_several_processes_make_at_once_all_stay(home: Path) -> None:
    def work(number: int) -> None:
        for step in range(15):
            BlockedSkills().add("name", f"skill-{number}-{step}", "x", "user")

    children = [_forked(lambda number=number: work(number)) for number in range(4)]  # type: ignore[misc]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert sorted(_names()) == sorted(f"skill-{number}-{step}" for number in range(4) for step in range(15))
    assert len({one.block.id for one in BlockedSkills().all()}) == 60
    assert sorted(path.name for path in home.iterdir()) == ["blocks.json", "blocks.json.lock"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_killed_writer_leaves_the_file_as_it_was(call: str, home: Path) -> None:
    BlockedSkills().add("name", "first", "x", "user")

    def work() -> None:
        setattr(os, call, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        BlockedSkills().add("name", "second", "x", "user")

    assert os.waitpid(_forked(work), 0)[1] == signal.SIGKILL
    assert _names() == ["first"]
    assert len(list(home.glob(".blocks.json.*.tmp"))) == 1
    BlockedSkills().add("name", "third", "x", "user")
    assert _names() == ["first", "third"]
    assert list(home.glob(".blocks.json.*.tmp")) == []


def test_a_full_disk_and_a_home_that_cannot_be_written_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        disk.chmod(0o700)
        monkeypatch.setenv("PROWESS_HOME", str(disk))
        BlockedSkills().add("name", "first", "x", "user")
        with filled(disk), pytest.raises(StoreError, match="nothing was changed"):
            BlockedSkills().add("name", "second", "x", "user")
        with read_only(disk), pytest.raises(StoreError, match=r"Read-only file system.*nothing was changed"):
            BlockedSkills().add("name", "third", "x", "user")
        assert _names() == ["first"]
        assert PolicyInForce().now().fault is None


@pytest.mark.skipif(os.geteuid() != 0, reason="root gives its rights up")
def test_the_blocks_of_the_machine_are_roots(machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = BlockedSkills().add("name", "deploy", "x", "machine").block
    assert stat.S_IMODE((machine.parent / "blocks.json").stat().st_mode) == 0o644
    assert stat.S_IMODE(machine.parent.stat().st_mode) == 0o755
    open_to_all = tmp_path
    while not open_to_all.stat().st_mode & 0o001:
        open_to_all.chmod(0o711)
        open_to_all = open_to_all.parent
    monkeypatch.setenv("PROWESS_HOME", "/nonexistent")

    def work() -> None:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with pytest.raises(PolicyDeniedError, match="root"):
            BlockedSkills().add("name", "other", "x", "machine")
        with pytest.raises(PolicyDeniedError, match="root"):
            BlockedSkills().lift(block.id)
        found = read_block_file(str(machine.parent / "blocks.json"), is_machine=True)
        assert found is not None
        assert [one.value for one in found.blocks] == ["deploy"]

    assert os.waitpid(_forked(work), 0)[1] == 0
