"""Runs of a command line behind the gateway, with a host in miniature and a scripted provider."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.errors import InvalidArgumentsError
from prowess.evals.hosts.command_host import CommandHost
from prowess.evals.hosts.host import HostLimits, HostRequest
from prowess.evals.hosts.host_program import HostInvocation
from prowess.evals.hosts.programs import HOST_PROGRAMS, host_program
from prowess.evals.ledger.caps import CapReachedError, Caps
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.verdicts.judging import verdict_of
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.wire_forms import ScriptedCall, Turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio
FAKE = (sys.executable, str(Path(__file__).with_name("fake_host.py")))
SECRET = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz"
CHOOSES = [
    Part(
        turns=(
            Turn(text="A skill fits.", calls=(ScriptedCall(name="Skill", arguments={"skill": "pdf-tables"}),)),
            Turn(text="The rows are in rows.csv."),
        )
    )
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def opened(
    ledger: Ledger, provider: ScriptedProvider, executable: tuple[str, ...] = FAKE
) -> AsyncIterator[CommandHost]:
    variables = {"ANTHROPIC_API_KEY": SECRET, "ANTHROPIC_BASE_URL": provider.url}
    async with CommandHost(host_program("claude"), ledger, executable=executable, environment=variables) as host:
        yield host


def request(place: Path, prompt: str = "Get the rows", unit: str = "unit", seconds: float = 30) -> HostRequest:
    skills = []
    for name in ("pdf-tables", "release-notes"):
        skill = place / "skills" / name
        skill.mkdir(parents=True, exist_ok=True)
        (skill / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does it.\n---\n")
        skills.append(str(skill))
    for name in ("run", "workspace"):
        (place / unit / name).mkdir(parents=True, exist_ok=True)
    return HostRequest(
        unit=unit,
        prompt=prompt,
        skills=tuple(skills),
        workspace=str(place / unit / "workspace"),
        directory=str(place / unit / "run"),
        limits=HostLimits(seconds=seconds),
    )


def ledger_in(place: Path, **caps: int) -> Ledger:
    return Ledger(place / "journal", JournalHeader(skill="pdf-tables"), Caps(**caps))


async def test_a_run_has_a_verdict_an_answer_and_a_transcript_and_leaves_no_home(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            run = await host.run(request(tmp_path))
        assert (run.answer, run.error, ledger.spent.calls) == ("The rows are in rows.csv.", None, 2)
    assert run.transcript.offered == ("pdf-tables", "release-notes")
    assert verdict_of(run.transcript, skill="pdf-tables", query="Get the rows").verdict == "triggered"
    assert run.transcript_path == str(tmp_path / "unit/run/stream.jsonl")
    assert sorted(os.listdir(tmp_path / "unit/run")) == ["errors.txt", "stream.jsonl"]


async def test_the_host_gets_a_stand_in_for_the_key_and_nothing_of_the_users_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_of_the_user")
    with ScriptedProvider(CHOOSES, keep=True) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            await host.run(request(tmp_path))
    seen = json.loads((tmp_path / "unit/workspace/seen.json").read_text())
    assert provider.headers[0]["x-api-key"] == SECRET
    assert SECRET not in str(seen)
    assert "GITHUB_TOKEN" not in seen["environment"]
    assert provider.headers[0]["x-api-key"] not in seen["environment"].values()
    assert not Path(seen["environment"]["HOME"]).is_relative_to(tmp_path)
    assert not os.path.exists(seen["environment"]["HOME"])  # noqa: ASYNC240 -- nothing else runs
    assert stat.S_IMODE(seen["mode"]) == 0o700
    assert sorted(seen["home"]) == [".claude", "tmp"]
    assert not files_with(SECRET, tmp_path)


async def test_each_run_has_a_replacement_of_its_own_for_the_key(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            for unit in ("first", "second"):
                await host.run(request(tmp_path, unit=unit))
    seen = [json.loads((tmp_path / unit / "workspace/seen.json").read_text()) for unit in ("first", "second")]
    assert len({one["environment"]["ANTHROPIC_API_KEY"] for one in seen}) == 2


def files_with(text: str, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


async def test_two_runs_at_once_are_booked_apart(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host, anyio.create_task_group() as tasks:
            for unit in ("first", "second"):
                tasks.start_soon(host.run, request(tmp_path, unit=unit))
        assert [ledger.unit_spent(unit).calls for unit in ("first", "second")] == [2, 2]


async def test_a_cap_ends_the_host_and_is_raised(tmp_path: Path) -> None:
    began = time.monotonic()
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path, calls=1) as ledger:
        async with opened(ledger, provider) as host:
            with pytest.raises(CapReachedError):
                await host.run(request(tmp_path))
        assert provider.paid == 1
    assert time.monotonic() - began < 25


async def test_a_run_that_takes_too_long_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            run = await host.run(request(tmp_path, "wait", seconds=1))
    assert run.error == "claude did not end within 1 s and was killed"
    assert verdict_of(run.transcript, skill="pdf-tables").verdict == "error"


async def test_a_host_that_crashes_is_quoted(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            run = await host.run(request(tmp_path, "crash"))
    assert run.error == "claude failed: the host has crashed"


async def test_a_key_that_the_provider_refuses_is_named(tmp_path: Path) -> None:
    with ScriptedProvider([Part(turns=(Turn(status=401),))]) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            run = await host.run(request(tmp_path))
    assert run.error is not None
    assert "status 401" in run.error
    assert "ANTHROPIC_API_KEY" in run.error


async def test_the_files_of_a_session_and_its_sub_agents_are_kept(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            await host.run(request(tmp_path, "session"))
    kept = tmp_path / "unit/run/session"
    files = sorted(str(path.relative_to(kept)) for path in kept.rglob("*.jsonl"))
    assert files == ["one.jsonl", "one/subagents/agent-1.jsonl"]


async def test_links_in_the_place_of_sessions_are_not_followed(tmp_path: Path) -> None:
    with ScriptedProvider(CHOOSES) as provider, ledger_in(tmp_path) as ledger:
        async with opened(ledger, provider) as host:
            await host.run(request(tmp_path, "linked"))
    assert sorted(os.listdir(tmp_path / "unit/run")) == ["errors.txt", "stream.jsonl"]


FORGING = """
import json, os, pathlib
place = pathlib.Path(os.environ["CODEX_HOME"], "sessions/2026/11/30")
place.mkdir(parents=True)
said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "All tests pass."}]}
lines = [{"type": "session_meta", "payload": {"id": "one"}}, {"type": "response_item", "payload": said}]
(place / "rollout-one.jsonl").write_text("".join(json.dumps(line) + chr(10) for line in lines))
print(json.dumps({"type": "thread.started", "thread_id": "one"}))
print(json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": "Two tests fail."}}))
print(json.dumps({"type": "turn.completed"}))
"""


async def test_a_session_that_the_agent_wrote_does_not_replace_its_answer(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        executable = (sys.executable, "-c", FORGING)
        async with CommandHost(host_program("codex"), ledger, executable=executable, environment={}) as host:
            run = await host.run(request(tmp_path))
    assert run.transcript.form == "session"
    assert run.answer == "Two tests fail."


async def test_a_host_that_is_not_installed_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with ledger_in(tmp_path) as ledger, pytest.raises(InvalidArgumentsError, match="npm install -g @openai/codex"):
        CommandHost(host_program("codex"), ledger)


async def test_copilot_needs_a_model(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger, pytest.raises(InvalidArgumentsError, match="--model"):
        CommandHost(host_program("copilot"), ledger, executable=FAKE)


def test_hosts_are_known_by_their_ids_in_the_map_of_agents_too() -> None:
    assert {host_program(name).name for name in ("claude-code", "codex", "gemini-cli", "github-copilot")} == {
        *HOST_PROGRAMS
    }
    with pytest.raises(InvalidArgumentsError, match="claude, codex, copilot, gemini"):
        host_program("cursor")


@pytest.mark.parametrize("name", HOST_PROGRAMS)
def test_no_part_of_a_prompt_can_be_an_option(name: str) -> None:
    prompt = "--dangerous=yes"
    command = host_program(name).command(
        HostInvocation(prompt=prompt, home="/h", provider="http://127.0.0.1:1/k", model="m")
    )
    assert prompt not in command.arguments
    assert (prompt == command.stdin) != (f"--prompt={prompt}" in command.arguments)
