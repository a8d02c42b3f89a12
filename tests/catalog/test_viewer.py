"""Who sees what: agent, tenant and environment of the caller, of this machine, of a session and of a fork."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from prowess import Catalog, Session
from prowess.agent import Agent
from prowess.agent.scripted import ScriptedModel
from prowess.audit.log import JsonlAuditLog
from prowess.cli.dispatch import run
from prowess.errors import SkillNotFoundError
from prowess.runtime import AgentType, ForkOutcome
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.agent import ModelRequest
    from prowess.runtime import ForkRequest

DIMENSIONS = ("agent", "tenant", "environment")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for dimension in DIMENSIONS:
        write_skill(tmp_path / "skills", f"of-{dimension}", extra=f"scope:\n  {dimension}s: [mine, other]\n")
    write_skill(tmp_path / "skills", "free")
    return tmp_path / "skills"


def _names(catalog: Catalog) -> list[str]:
    return [entry.name for entry in catalog.entries()]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_each_dimension_is_taken_from_the_argument_the_variable_and_the_users_file(
    root: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, dimension: str
) -> None:
    both = ["free", f"of-{dimension}"]
    assert _names(Catalog(root)) == ["free"]
    assert _names(Catalog(root, **{dimension: "mine"})) == both  # type: ignore[arg-type]  # drawn from a list
    (own_home / ".prowess").mkdir(mode=0o700)
    (own_home / ".prowess" / "config.toml").write_text(f'[session]\n{dimension} = "mine"\n')
    assert _names(Catalog(root)) == both
    monkeypatch.setenv(f"PROWESS_{dimension.upper()}", "stranger")
    assert _names(Catalog(root)) == ["free"]
    monkeypatch.setenv(f"PROWESS_{dimension.upper()}", "other")
    assert _names(Catalog(root)) == both
    assert _names(Catalog(root, **{dimension: "stranger"})) == ["free"]  # type: ignore[arg-type]  # drawn from a list


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_no_file_of_a_project_sets_a_dimension(
    root: Path, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, dimension: str
) -> None:
    assert own_home.exists()
    (tmp_path / ".git").mkdir()
    (tmp_path / "prowess.toml").write_text(f'{dimension} = "mine"\n[session]\n{dimension} = "mine"\n')
    write_skill(tmp_path / ".prowess" / "skills", "ours", extra=f"scope:\n  {dimension}s: mine\n")
    monkeypatch.chdir(tmp_path)
    assert _names(Catalog(root)) == ["free"]
    assert _names(Catalog.discover(trust_project=True)) == []


def test_the_audience_is_read_again_at_each_refresh(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog(root)
    assert _names(catalog) == ["free"]
    monkeypatch.setenv("PROWESS_TENANT", "mine")
    catalog.refresh()
    assert _names(catalog) == ["free", "of-tenant"]
    monkeypatch.delenv("PROWESS_TENANT")
    catalog.refresh()
    assert _names(catalog) == ["free"]
    with pytest.raises(SkillNotFoundError):
        catalog.get("of-tenant")


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_every_command_that_opens_a_catalog_takes_the_dimension(
    root: Path, capfd: pytest.CaptureFixture[str], dimension: str
) -> None:
    name = f"of-{dimension}"
    for words in (["load", name], ["read", name, "SKILL.md"], ["match", f"/{name}"], ["list"]):
        run([*words, "--root", str(root)])
        assert f"Does {name}" not in capfd.readouterr().out
        run([*words, "--root", str(root), f"--{dimension}", "mine"])
        assert name in capfd.readouterr().out


def test_the_printed_configuration_of_a_host_has_the_audience_and_the_order(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["--agent", "a1", "--tenant", "t1", "--environment", "e1", "--layers-order", "project-first"]
    assert run(["serve", "--print-config", "claude", "--root", str(root), *words]) == 0
    printed = capfd.readouterr().out
    for word in words:
        assert f'"{word}"' in printed


@pytest.mark.anyio
async def test_a_session_sees_by_its_own_options(root: Path) -> None:
    catalog = Catalog(root, environment="mine")
    async with Session(catalog, tenant="mine") as session:
        assert session.completions() == ("free", "of-environment", "of-tenant")
        assert (await session.call("skills.load", {"names": ["of-tenant"]})).success
        assert not (await session.call("skills.load", {"names": ["of-agent"]})).success
    async with Session(catalog) as session:
        assert session.completions() == ("free", "of-environment")
    async with Session(str(root), agent="other") as session:
        assert session.completions() == ("free", "of-agent")
    assert _names(catalog) == ["free", "of-environment"]


@pytest.mark.anyio
async def test_an_agent_sees_by_its_own_options(root: Path) -> None:
    seen: list[str] = []

    def answer(request: ModelRequest) -> str:
        seen.append(request.instructions)
        return "Done."

    await Agent(ScriptedModel([answer]), catalog=Catalog(root), tenant="mine").run("Do it.")
    assert "of-tenant" in seen[0]
    assert "of-agent" not in seen[0]


class _Looks:
    """A runner that records the skills that the fork sees and can load."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.active: list[str] = []

    async def run(self, request: ForkRequest) -> ForkOutcome:
        await request.session.refresh()
        await request.session.call("skills.load", {"names": ["of-agent"], "mode": "add"})
        self.seen.append(request.session.instructions())
        self.active = [skill.name for skill in request.session.active_skills]
        return ForkOutcome(output="done", turns=1)


@pytest.mark.anyio
async def test_a_fork_sees_by_its_own_agent_type(root: Path) -> None:
    write_skill(root, "research", extra="context: fork\nagent: mine\nscope:\n  agents: main\n")
    write_skill(root, "for-main", extra="scope:\n  agents: main\n")
    runner = _Looks()
    types = [AgentType(name="mine", description="Looks.")]
    async with Session(Catalog(root), agent="main", fork_runner=runner, agent_types=types) as session:
        assert "for-main" in session.completions()
        assert "of-agent" not in session.completions()
        result = await session.call("skill", {"skill": "research", "args": "x"})
        assert result.success, result.error
        assert "of-agent" not in session.completions()
    assert runner.active == ["research", "of-agent"]
    assert "for-main" not in runner.seen[0]


@pytest.mark.anyio
async def test_a_fork_without_an_agent_type_sees_as_its_parent(root: Path) -> None:
    write_skill(root, "research", extra="context: fork\n")
    runner = _Looks()
    async with Session(Catalog(root), agent="mine", fork_runner=runner) as session:
        assert (await session.call("skill", {"skill": "research"})).success
    assert runner.active == ["research", "of-agent"]


def test_a_catalog_seen_by_the_same_audience_is_the_same_object(root: Path) -> None:
    catalog = Catalog(root, tenant="mine")
    assert catalog.seen_by(tenant="mine") is catalog
    assert catalog.seen_by(agent=None) is catalog
    other = catalog.seen_by(agent="mine")
    assert (_names(catalog), _names(other)) == (["free", "of-tenant"], ["free", "of-agent", "of-tenant"])


@pytest.mark.anyio
async def test_the_audit_names_the_agent_and_tenant_of_this_machine(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_AGENT", "reviewer")
    monkeypatch.setenv("PROWESS_TENANT", "acme")
    log = JsonlAuditLog(str(tmp_path / "audit.jsonl"))
    async with Session(Catalog(root), audit=log) as session:
        await session.load("free")
    records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert {(record["data"]["agent"], record["data"]["tenant"]) for record in records} == {("reviewer", "acme")}
