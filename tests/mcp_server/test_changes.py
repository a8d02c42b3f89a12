"""Clients are told when a list they hold is out of date."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from prowess import Catalog
from prowess.catalog.watching import catalog_watch
from prowess.mcp_server.server import build_server, open_session
from tests.mcp_server.conftest import SERVE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def _until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(10):
        while not condition():  # noqa: ASYNC110 -- the client has no event for it
            await anyio.sleep(0.02)


def _new(skills: Path, name: str) -> None:
    """Add a skill in one step, so that no scan sees half of it."""
    made = skills.parent / f"{name}-being-written"
    made.mkdir()
    (made / "SKILL.md").write_text(f"---\nname: {name}\ndescription: New.\n---\nX\n")
    made.rename(skills / name)


async def test_a_client_of_the_handshake_is_notified_of_what_others_change(skills: Path, sandbox: None) -> None:
    heard: list[str] = []

    async def hear(message: Any) -> None:  # noqa: ANN401 -- the client's model
        heard.append(message.method)

    session = open_session(Catalog(skills))
    server = build_server(session)
    async with Client(server, mode="legacy", message_handler=hear) as client:
        capabilities = client.server_capabilities
        for capability in (capabilities.tools, capabilities.resources, capabilities.prompts):
            assert capability is not None
            assert capability.list_changed
        _new(skills, "gamma")
        await _until(lambda: len(heard) >= 2)
        assert heard == ["notifications/resources/list_changed", "notifications/prompts/list_changed"]
        assert "gamma" in [prompt.name for prompt in (await client.list_prompts()).prompts]
        heard.clear()
        shutil.rmtree(skills / "alpha" / "scripts")
        (skills / "alpha" / "SKILL.md").write_text("---\nname: alpha\ndescription: No scripts now.\n---\n")
        await _until(lambda: "notifications/tools/list_changed" in heard)
    await session.close()


async def test_a_call_that_finds_a_difference_tells_of_it_without_waiting(
    skills: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    monkeypatch.setattr(catalog_watch, "_POLL_SECONDS", 3600.0)
    heard: list[str] = []

    async def hear(message: Any) -> None:  # noqa: ANN401 -- the client's model
        heard.append(message.method)

    session = open_session(Catalog(skills))
    async with Client(build_server(session), mode="legacy", message_handler=hear) as client:
        await client.call_tool("skills_list", {})  # who has listed nothing yet need not be told
        _new(skills, "gamma")
        await client.call_tool("skills_list", {})
        await _until(lambda: len(heard) == 2)
    await session.close()


async def test_a_client_of_2026_hears_it_on_the_stream_it_listens_to(skills: Path) -> None:
    session = open_session(Catalog(skills))
    async with Client(build_server(session), mode="auto") as client:
        async with client.listen(
            resources_list_changed=True, prompts_list_changed=True, tools_list_changed=True
        ) as events:
            _new(skills, "gamma")
            found = []
            with anyio.fail_after(10):
                async for event in events:
                    found.append(event)
                    if len(found) == 2:
                        break
        assert found == [ResourcesListChanged(), PromptsListChanged()]
        assert ToolsListChanged() not in found
    await session.close()


def _serve(skills: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SERVE, "--root", str(skills)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def _greet(server: subprocess.Popen[str], version: str) -> None:
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}) + "\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["result"]["protocolVersion"] == version
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
    server.stdin.flush()


def _heard(server: subprocess.Popen[str]) -> list[str]:
    assert server.stdout is not None
    return [json.loads(server.stdout.readline())["method"] for _ in range(2)]


@pytest.mark.measured_once
@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_each_revision_of_the_handshake_is_notified_twice(version: str, skills: Path) -> None:
    with _serve(skills, {}) as server:
        _greet(server, version)
        for name in ("gamma", "delta"):
            _new(skills, name)
            assert _heard(server) == ["notifications/resources/list_changed", "notifications/prompts/list_changed"]
        output, errors = server.communicate(timeout=30)
    assert (output, errors, server.returncode) == ("", "", 0)


def test_without_watchfiles_changes_are_found_by_polling_and_a_notice_tells_so(skills: Path, tmp_path: Path) -> None:
    (tmp_path / "hiding").mkdir()
    (tmp_path / "hiding" / "watchfiles.py").write_text("raise ModuleNotFoundError(__name__)\n")
    with _serve(skills, {"PYTHONPATH": str(tmp_path / "hiding")}) as server:
        _greet(server, HANDSHAKE_PROTOCOL_VERSIONS[-1])
        _new(skills, "gamma")
        assert _heard(server) == ["notifications/resources/list_changed", "notifications/prompts/list_changed"]
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=30)
    assert server.returncode == 128 + signal.SIGTERM
    assert "pip install 'prowess[watch]'" in errors
    assert "Traceback" not in errors


async def test_no_thread_is_left_when_a_server_ends(skills: Path) -> None:
    session = open_session(Catalog(skills))
    async with Client(build_server(session), mode="legacy") as client:
        await client.list_tools()
        await _until(lambda: any(thread.name == "prowess-watch" for thread in threading.enumerate()))
    await session.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "prowess-watch"]
