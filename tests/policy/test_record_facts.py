"""Each entry into Prowess leaves records with all facts about the call, the skill and the caller, refused or not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest

from prowess import Catalog, Identity, Session
from prowess.audit import JsonlAuditLog
from prowess.audit.caller import CALL_KEYS, CALLER_KEYS, SKILL_KEYS
from prowess.policy.policy_in_force import PolicyInForce, load_policy
from tests.policy.test_no_bypass import ENTRIES, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.unmeasured

_POLICY = """
default = "allow"
[[rule]]
id = "no-references"
effect = "deny"
tool = "skills.read"
match = { path = "references/*" }
[[rule]]
id = "scripts"
effect = "allow"
tool = "skills.run_script"
"""
_TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's policy file, with one rule that denies and one that allows."""
    (tmp_path / "etc").mkdir()
    path = tmp_path / "etc" / "policy.toml"
    for function in (PolicyInForce.__init__, load_policy):
        monkeypatch.setitem(cast("dict[str, Any]", function.__kwdefaults__), "enterprise_file", str(path))
    path.write_text(_POLICY, encoding="utf-8")
    return path


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch:
        (tmp_path / "world").mkdir()
        yield World(tmp_path / "world", patch)


def _log(world: World) -> Path:
    return world.place / "home" / "audit" / "audit.jsonl"


def _records(world: World, *kinds: str) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in _log(world).read_text(encoding="utf-8").splitlines()]
    return [record["data"] for record in records if not kinds or record["kind"] in kinds]


@pytest.mark.proves("governance.audit.activations", "governance.audit.refusals", "governance.audit.complete")
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_records_who_called_what_by_which_rule(
    entry: str, machine: Path, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.given = {"audit": JsonlAuditLog(_log(world), "second")}
    if (attempt := ENTRIES[entry](world)) is not None:
        anyio.run(lambda: attempt)
    assert capsys.readouterr()
    for data in _records(world):
        assert data.keys() >= {*CALLER_KEYS, *SKILL_KEYS, *CALL_KEYS}
        assert data["trigger"] in {"model", "user", "host"}
        assert data["tool"]
    digest = Catalog(world.skills).skill("deploy").digest
    known = {"skill": "deploy", "digest": digest, "source": str(world.skills), "layer": "project"}
    refused = _records(world, "tool.refused")
    assert [data["tool"] for data in refused if data["rule"] == "no-references"]
    for data in refused:
        assert {key: data[key] for key in known} == known
        assert (data["rule"], data["code"]) == ("no-references", "policy_denied")
        assert data["digests"]
        assert data["sources"] == [str(world.skills / "deploy")]
    for data in _records(world, "tool.started", "tool.finished"):
        if data["tool"] != "resources.list" and data["skill"] != "helper":
            assert {key: data[key] for key in known} == known
            assert data["rule"] == ("scripts" if data["tool"] == "skills.run_script" else "default")
    loaded = [data for data in _records(world, "skill.loaded") if data["skill"] == "deploy"]
    assert loaded
    for data in loaded:
        assert {key: data[key] for key in known} == known
        assert data["rule"] == "default"
        assert data["tokens"] > 0
    for data in _records(world, "script.finished"):
        assert data["command"] == ["scripts/a.sh"]
        assert (data["exit_code"], data["stdout"], data["stderr"]) == (0, "swordfish-7\n", "")
        assert data["stdout_sha256"].startswith("sha256:")
        assert data["duration_ms"] >= 0
    assert _records(world, "script.finished")
    if entry in {"commands", "Session"}:
        assert {data["trigger"] for data in _records(world, "tool.started")} >= {"user"}


@pytest.mark.anyio
@pytest.mark.proves("governance.audit.scripts", "governance.audit.output")
@pytest.mark.parametrize(("command", "output"), [("kept", "kept"), ("kept", "digest"), ("digest", "kept")])
async def test_the_policy_sets_what_a_record_keeps_of_a_run_and_secrets_are_never_in_it(
    command: str, output: str, machine: Path, world: World
) -> None:
    world.patch.setenv("DEPLOY_KEY", "correct-horse-battery")
    (world.skills / "deploy" / "scripts" / "a.sh").write_text(
        f'echo "$DEPLOY_KEY"; echo {_TOKEN}; echo "password=hunter2hunter2" >&2; echo "$@"; exit 3\n', encoding="utf-8"
    )
    kept = f'{_POLICY}[audit]\ncommand = "{command}"\noutput = "{output}"\n'
    machine.write_text(f'env_allow = ["DEPLOY_KEY"]\n{kept}', encoding="utf-8")  # noqa: ASYNC240 -- a test
    async with Session(Catalog(world.skills), audit=JsonlAuditLog(_log(world), "second")) as session:
        await session.load("deploy")
        run = await session.run_script(
            "scripts/a.sh", "--env", "prod", "--token", "s3cr3t-value", "correct-horse-battery"
        )
    assert "correct-horse-battery" in run.stdout
    (ended,) = _records(world, "script.finished")
    (started,) = [data for data in _records(world, "tool.started") if data["tool"] == "skills.run_script"]
    words = ["scripts/a.sh", "--env", "prod", "--token", "[redacted]", "[redacted]"]
    assert ended.get("command") == (words if command == "kept" else None)
    assert started.get("command", [])[:5] == (words[:5] if command == "kept" else [])
    assert started["command_sha256"] == ended["command_sha256"]
    assert (ended["exit_code"], ended["timed_out"]) == (3, False)
    text = "[redacted]\n[redacted]\n--env prod --token s3cr3t-value [redacted]\n"
    assert ended.get("stdout") == (text if output == "kept" else None)
    assert ended.get("stderr") == ("password=[redacted]\n" if output == "kept" else None)
    assert ended["stdout_bytes"] == len(run.stdout)
    written = _log(world).read_text(encoding="utf-8")
    assert _TOKEN not in written
    assert "hunter2hunter2" not in written


@pytest.mark.anyio
@pytest.mark.usefixtures("machine")
async def test_a_stated_user_is_recorded_with_the_user_of_the_process(world: World) -> None:
    identity = Identity(user="ada", team="finance", roles=("author",))
    async with Session(Catalog(world.skills), audit=JsonlAuditLog(_log(world)), identity=identity) as session:
        await session.load("deploy")
    for data in _records(world):
        assert (data["user"], data["team"], data["roles"]) == ("ada", "finance", ["author"])
        assert data["identified_by"] == "host"
        assert list(data["requester"]) == ["user"]
