"""Clients are told when a list they hold is out of date."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged

from prowess import Catalog
from prowess.mcp_server.server import build_server, open_session

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
    server = build_server(session, interval=0.05)
    async with Client(server, mode="legacy", message_handler=hear) as client:
        capabilities = client.server_capabilities
        for capability in (capabilities.tools, capabilities.resources, capabilities.prompts):
            assert capability is not None
            assert capability.list_changed
        await anyio.sleep(0.15)
        assert heard == [], "nothing changed, so nothing is said"
        _new(skills, "gamma")
        await _until(lambda: len(heard) >= 2)
        assert heard == ["notifications/resources/list_changed", "notifications/prompts/list_changed"]
        assert "gamma" in [prompt.name for prompt in (await client.list_prompts()).prompts]
        heard.clear()
        shutil.rmtree(skills / "alpha" / "scripts")
        (skills / "alpha" / "SKILL.md").write_text("---\nname: alpha\ndescription: No scripts now.\n---\n")
        await _until(lambda: "notifications/tools/list_changed" in heard)
    await session.close()


async def test_a_call_that_finds_a_difference_tells_of_it_without_waiting(skills: Path) -> None:
    heard: list[str] = []

    async def hear(message: Any) -> None:  # noqa: ANN401 -- the client's model
        heard.append(message.method)

    session = open_session(Catalog(skills))
    async with Client(build_server(session, interval=3600), mode="legacy", message_handler=hear) as client:
        await client.call_tool("skills_list", {})  # who has listed nothing yet need not be told
        _new(skills, "gamma")
        await client.call_tool("skills_list", {})
        await _until(lambda: len(heard) == 2)
    await session.close()


async def test_a_client_of_2026_hears_it_on_the_stream_it_listens_to(skills: Path) -> None:
    session = open_session(Catalog(skills))
    async with Client(build_server(session, interval=0.05), mode="auto") as client:
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
