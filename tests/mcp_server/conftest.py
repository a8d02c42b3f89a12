"""Skills that a server can be tried on, and the official client, connected to a server of its own process."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from prowess import Catalog
from prowess.execution import default_sandbox
from prowess.mcp_server.server import build_server, open_session
from tests.fork_server import prowess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from prowess.mcp_server.server import SkillsServer

SERVE = [sys.executable, "-m", "prowess", "serve"]

SCRIPTS = {
    "leave.sh": (
        'printf "\\000\\377" >"$OUT/b\u00fc n%.bin"; echo "h\u00e9llo" >"$OUT/note.txt"\n'
        'printf "\\377" >"$OUT/latin.txt"\n'
        "head -c 2200000 /dev/zero | tr '\\000' a >\"$OUT/long.txt\"\necho done\n"
    ),
    "nap.sh": "exec sleep 30\n",
    "fail.sh": "echo broken >&2\nexit 7\n",
}


class MessageChannel:
    """A connection to a server of this process, by messages as they are on the wire."""

    def __init__(self, server: SkillsServer) -> None:
        self._server = server

    async def __aenter__(self) -> Self:
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](1)
        answers, from_server = anyio.create_memory_object_stream[SessionMessage](10)
        self._to, self._from = to_server, from_server
        self._tasks = await anyio.create_task_group().__aenter__()
        options = self._server.create_initialization_options()
        self._tasks.start_soon(self._server.run, requests, answers, options)
        return self

    async def __aexit__(self, *reason: object) -> None:
        self._to.close()
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)
        self._from.close()

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the message with its answer."""
        with anyio.fail_after(10):
            await self._to.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
            while True:
                answer = (await self._from.receive()).message.model_dump(by_alias=True, exclude_unset=True)
                if answer.get("id") == message["id"]:
                    return dict(answer)


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A folder with the skills `alpha` (text, a reference, scripts) and `beta` (text alone)."""
    root = tmp_path / "skills"
    for name, description in (("alpha", "First. Use when A."), ("beta", "Second <b>. Use when B.")):
        (root / name).mkdir(parents=True)
        (root / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n\nDo {name}.\n"
        )
    (root / "alpha" / "references").mkdir()
    (root / "alpha" / "references" / "a.md").write_text("# A\n\nRead me.\n")
    (root / "alpha" / "scripts").mkdir()
    for script, text in SCRIPTS.items():
        (root / "alpha" / "scripts" / script).write_text(f"#!/bin/sh\n{text}")
    (root / "beta" / "secret.md").write_text("secret\n")
    return root


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty directory for scripts."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture
def serving(skills: Path, workspace: Path, tmp_path: Path) -> Callable[..., Any]:
    """`async with serving() as client`: a server of its own process on `skills`."""

    @asynccontextmanager
    async def connect(*arguments: str) -> AsyncIterator[Client]:
        with (tmp_path / "stderr.txt").open("a", encoding="utf-8") as stderr:
            parameters = StdioServerParameters(
                command=prowess(),
                args=["serve", "--root", str(skills), "--workspace", str(workspace), *arguments],
                env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
            )
            async with Client(stdio_client(parameters, errlog=stderr), mode="legacy") as client:
                yield client

    return connect


@pytest.fixture
def sandbox() -> None:
    """Skip where no script can be run."""
    if not default_sandbox().probe().available:
        pytest.skip("no sandbox can be started on this machine")


@pytest.fixture
def in_process(skills: Path, workspace: Path) -> Callable[..., Any]:
    """`async with in_process() as client`: the same server without a process, for what does not need one."""

    @asynccontextmanager
    async def connect(mode: str = "legacy", **options: Any) -> AsyncIterator[Client]:  # noqa: ANN401 -- for Session
        session = open_session(Catalog(skills), workspace=workspace, **options)
        await session.refresh()
        async with Client(build_server(session), mode=mode) as client:
            yield client
        await session.close()

    return connect
