"""Servers with one store in PostgreSQL: they share sessions and answers, and obey decisions at the next call.

`PROWESS_REVOCATIONS` and `PROWESS_REVOKED_CALLS` are numbers of blocks, and of calls that begin after one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack, asynccontextmanager, contextmanager
from itertools import cycle
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from prowess.cli.dispatch import run
from tests.runtime.making import write_skill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tests.postgresql import Postgresql

pytestmark = [pytest.mark.unmeasured, pytest.mark.anyio]
_SERVING = re.compile(r"Serving MCP at (\S+);")


@contextmanager
def server_with(place: Path, home: Path, url: str) -> Iterator[str]:
    """Start a server with the store and the skills of `place`; return its URL."""
    home.mkdir(mode=0o700)
    command = [sys.executable, "-m", "prowess", "serve", "--http", "127.0.0.1:0", "--only-root", "--store", url]
    environment = {**os.environ, "PROWESS_HOME": str(home)}
    with subprocess.Popen(
        [*command, "--root", str(place / "skills")], stderr=subprocess.PIPE, text=True, env=environment, cwd=place
    ) as process:
        assert process.stderr is not None
        try:
            lines = iter(process.stderr.readline, "")
            yield next(found[1] for line in lines if (found := _SERVING.search(line)) is not None)
        finally:
            process.terminate()
            process.wait(30)


class _InTurn(httpx2.AsyncHTTPTransport):
    """A load balancer: each request goes to the next server."""

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self._ports = cycle([urlsplit(url).port for url in urls])

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(port=next(self._ports))
        request.headers["host"] = f"127.0.0.1:{request.url.port}"
        return await super().handle_async_request(request)


@asynccontextmanager
async def _client(urls: list[str], name: str, **more: Any) -> AsyncIterator[Client]:  # noqa: ANN401 -- options
    async with httpx2.AsyncClient(transport=_InTurn(urls)) as http:
        server = streamable_http_client(urls[0], http_client=http)
        program = types.Implementation(name=name, version="1")
        async with Client(server, mode="2026-07-28", client_info=program, **more) as client:
            yield client


@pytest.fixture
def skills(tmp_path: Path, own_home: Path) -> Path:
    for name in ("deploy", "helper"):
        write_skill(tmp_path / "skills", name, files={"references/a.md": "text\n"})
    return tmp_path


@pytest.fixture
def replicas(postgresql: Postgresql, skills: Path) -> Iterator[tuple[str, str, str]]:
    """The URL of a store, and those of two servers with it."""
    url = postgresql.store_url()
    with ExitStack() as stack:
        first, second = (stack.enter_context(server_with(skills, skills / f"home{number}", url)) for number in range(2))
        yield url, first, second


async def _active(client: Client) -> list[str]:
    listed = (await client.call_tool("skills_list", {})).structured_content
    assert listed is not None
    return [skill["name"] for skill in listed["skills"] if skill["active"]]


async def test_replicas_share_sessions_and_decisions(
    replicas: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, *urls = replicas
    async with _client(urls[:1], "one") as first, _client(urls[1:], "one") as second, _client(urls, "two") as other:
        assert not (await first.call_tool("skills_load", {"names": ["deploy"]})).is_error
        assert await _active(second) == ["deploy"]
        assert await _active(other) == []
        assert run(["block", "deploy", "--reason", "leaks", "--store", store, "--json"]) == 0
        block = json.loads(capsys.readouterr().out)["id"]
        for client in (first, second):
            assert (await client.call_tool("skills_read", {"skill": "deploy", "path": "SKILL.md"})).is_error
        assert run(["unblock", block, "--store", store]) == 0
        assert not (await second.call_tool("skills_read", {"skill": "deploy", "path": "SKILL.md"})).is_error


async def test_an_answer_that_one_replica_gets_is_used_by_the_other(
    replicas: tuple[str, str, str], skills: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, *urls = replicas
    policy = skills / "ask.toml"
    policy.write_text('default = "allow"\n[[rule]]\neffect = "ask"\ntool = "skills.read"\n', encoding="utf-8")
    assert run(["policy", "push", "ask", str(policy), "--store", store]) == 0
    read = {"skill": "deploy", "path": "references/a.md"}
    async with _client(urls, "one") as client:
        await client.call_tool("skills_load", {"names": ["deploy"]})
        waiting = str(await client.call_tool("skills_read", read))
        assert " --store URL" in waiting
        assert run(["approvals", "vote", waiting[waiting.index("ask-") :][:36], "--store", store, "--json"]) == 0
        assert [(await client.call_tool("skills_read", read)).is_error for _ in range(2)] == [False, True]  # one call
    asked = []

    async def accept(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        asked.append(params)
        return types.ElicitResult(action="accept", content={})

    async with _client(urls, "two", elicitation_callback=accept) as client:
        await client.call_tool("skills_load", {"names": ["deploy"]})
        assert not (await client.call_tool("skills_read", read)).is_error
    assert len(asked) == 1
