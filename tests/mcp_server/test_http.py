"""The server over HTTP: the official client in both eras, several at once, and what must not come in."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp import types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from prowess import Catalog
from prowess.catalog.skill_uri import skill_uri
from prowess.http_listener.request_guard import HttpGuard
from prowess.mcp_server.http import PATH, http_app
from prowess.mcp_server.served_session import SessionTable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, MutableMapping
    from pathlib import Path

    from prowess.http_listener.error_bodies import App

pytestmark = pytest.mark.anyio
TOKEN = "a-token-of-this-test"
OTHER_TOKEN = "the-token-of-another-client"
URL = f"http://127.0.0.1:8000{PATH}"
GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
_METHODS = ("POST", "GET", "DELETE")
ACCEPTED = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def _client(
    app: App, mode: str, name: str = "tester", *, address: str = "127.0.0.1", **headers: str
) -> AsyncIterator[Client]:
    transport = httpx2.ASGITransport(app=app, client=(address, 123))
    async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
        server = streamable_http_client(URL, http_client=http)
        async with Client(server, mode=mode, client_info=types.Implementation(name=name, version="1")) as client:
            yield client


async def _active(client: Client) -> list[str]:
    listed = (await client.call_tool("skills_list", {})).structured_content
    assert listed is not None
    return [skill["name"] for skill in listed["skills"] if skill["active"]]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_two_clients_at_once_have_a_session_each(skills: Path, mode: str, own_home: Path) -> None:
    table = SessionTable(Catalog(skills))
    async with http_app(table) as app:
        async with _client(app, mode, "one") as one, _client(app, mode, "other") as other:
            await one.call_tool("skills_load", {"names": ["alpha"]})
            await other.call_tool("skills_load", {"names": ["beta"]})
            assert await _active(one) == ["alpha"]
            assert await _active(other) == ["beta"]
            assert len({session.session_id for session in table.open()}) == 2
            read = await one.read_resource(skill_uri("alpha", "references/a.md"))
            assert read.contents[0].text == "# A\n\nRead me.\n"  # type: ignore[union-attr]  # text, as the assertion says
            assert [prompt.name for prompt in (await other.list_prompts()).prompts] == ["alpha", "beta"]
        if mode == "legacy":
            assert list(table.open()) == [], "a client that leaves ends its session"
    assert list(table.open()) == []


async def test_the_sessions_of_the_handshake_belong_to_connections_and_those_of_2026_to_whom_requests_show(
    skills: Path,
) -> None:
    table = SessionTable(Catalog(skills))
    async with http_app(table) as app:
        async with _client(app, "legacy") as one, _client(app, "legacy") as other:
            await one.call_tool("skills_load", {"names": ["alpha"]})
            assert await _active(other) == []
        async with _client(app, "2026-07-28") as one, _client(app, "2026-07-28") as other:
            await one.call_tool("skills_load", {"names": ["alpha"]})
            assert await _active(other) == ["alpha"]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"authorization": f"Bearer {TOKEN}"}, {"authorization": f"Bearer {OTHER_TOKEN}"}),
        ({"address": "127.0.0.1"}, {"address": "10.0.0.7"}),
        ({"prowess-client": "invoices"}, {"prowess-client": "letters"}),
        ({"prowess-client": "invoices"}, {}),
        (
            {"authorization": f"Bearer {TOKEN}", "mcp-session-id": "known"},
            {"authorization": f"Bearer {OTHER_TOKEN}", "mcp-session-id": "known"},
        ),
    ],
)
async def test_clients_of_one_program_that_show_themselves_apart_share_nothing(
    skills: Path, mine: dict[str, str], theirs: dict[str, str]
) -> None:
    table, token = SessionTable(Catalog(skills)), {"authorization": f"Bearer {TOKEN}"}
    async with (
        http_app(table, tokens=[TOKEN, OTHER_TOKEN]) as app,
        _client(app, "2026-07-28", **(token | mine)) as one,
        _client(app, "2026-07-28", **(token | theirs)) as other,
        _client(app, "2026-07-28", **(token | mine)) as again,
    ):
        await one.call_tool("skills_load", {"names": ["alpha"]})
        assert await _active(other) == []
        refused = await other.call_tool("skills_read", {"path": "references/a.md"})
        assert refused.is_error
        assert await _active(again) == ["alpha"]
        assert len({session.session_id for session in table.open()}) == 2


async def test_whoever_knows_the_name_of_a_session_and_shows_another_token_has_nothing_of_it(skills: Path) -> None:
    table, mine = SessionTable(Catalog(skills)), {"authorization": f"Bearer {TOKEN}"}
    listing = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "skills_list", "arguments": {}}}
    async with (
        http_app(table, tokens=[TOKEN, OTHER_TOKEN]) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http,
    ):
        greeted = await http.post(URL, json=GREETING, headers={**ACCEPTED, **mine})
        known = {**ACCEPTED, "mcp-session-id": greeted.headers["mcp-session-id"]}
        theirs = {**known, "authorization": f"Bearer {OTHER_TOKEN}"}

        async def refused() -> bool:
            answers = [await http.request(method, URL, json=listing, headers=theirs) for method in _METHODS]
            return [answer.status_code for answer in answers] == [404] * len(_METHODS)

        assert await refused()  # from the greeting on
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await http.post(URL, json=initialized, headers={**known, **mine})).status_code == 202
        assert await refused()
        assert (await http.post(URL, json=listing, headers={**known, **mine})).status_code == 200
        assert await refused()
        wrong = {**known, **mine, "mcp-protocol-version": "none"}
        assert (await http.delete(URL, headers=wrong)).is_error  # and it ends nothing
        assert await refused()
        assert (await http.post(URL, json=listing, headers={**known, **mine})).status_code == 200
        assert len(tuple(table.open())) == 1
        await http.delete(URL, headers={**known, **mine})
        assert tuple(table.open()) == ()


async def test_idle_sessions_are_closed_and_busy_ones_are_not(skills: Path) -> None:
    now = [0.0]
    table = SessionTable(Catalog(skills), clock=lambda: now[0], idle_seconds=100)
    async with http_app(table) as app, _client(app, "2026-07-28") as client, _client(app, "legacy") as other:
        await client.call_tool("skills_load", {"names": ["alpha"]})
        await other.call_tool("skills_load", {"names": ["alpha"]})
        now[0] = 50
        assert await _active(client) == ["alpha"]
        now[0] = 149
        await table.close_idle()
        assert len(tuple(table.open())) == 2
        now[0] = 1000
        await table.close_idle()
        assert len(tuple(table.open())) == 1, "the other one listens to its stream"
        assert await _active(client) == [], "a new session begins"


async def test_no_more_sessions_than_the_server_keeps(skills: Path) -> None:
    table = SessionTable(Catalog(skills), most=1)
    async with http_app(table) as app, _client(app, "2026-07-28", "one") as one:
        await one.call_tool("skills_list", {})
        async with _client(app, "2026-07-28", "other") as other:
            with pytest.raises(Exception, match="the maximum of this server"):
                await other.list_tools()
        await one.call_tool("skills_list", {})
        assert len(table._used) == 1, "who is refused leaves nothing behind"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"host": "known.example"}, 200),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": "localhost@evil.example"}, 421),
        ({"host": ""}, 421),
        ({"host": "[::1"}, 421),
        ({"origin": "http://127.0.0.1:8000"}, 200),
        ({"origin": "http://127.0.0.1:9000"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"authorization": ""}, 401),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": f"Bearer {TOKEN}x"}, 401),
        ({"authorization": f"bearer {TOKEN}"}, 200),
        ({"authorization": f"Bearer {OTHER_TOKEN}"}, 200),
        ({"authorization": f"Bearer {TOKEN}\n{OTHER_TOKEN}".replace("\n", " ")}, 401),
        ({"content-type": "text/plain"}, 400),
    ],
)
async def test_who_may_come_in(skills: Path, headers: dict[str, str], status: int) -> None:
    given = {"authorization": f"Bearer {TOKEN}", **ACCEPTED, **headers}
    async with (
        http_app(SessionTable(Catalog(skills)), tokens=[TOKEN, OTHER_TOKEN], hosts=["Known.example"]) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http,
    ):
        answer = await http.post(URL, json=GREETING, headers=given)
        assert answer.status_code == status
        assert ("www-authenticate" in answer.headers) == (status == 401)
        assert TOKEN not in answer.text
        assert (await http.get("http://127.0.0.1:8000/", headers=given)).status_code in {404, status}


async def test_bodies_are_bounded_in_size_and_time() -> None:
    seen: list[bytes] = []

    async def app(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 -- ASGI
        seen.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def chunks(*sizes: int) -> AsyncIterator[bytes]:
        for size in sizes:
            yield b"x" * size

    guard = HttpGuard(app, max_body_bytes=100, body_seconds=0.1)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=guard)) as http:
        assert (await http.post(URL, content=b"x" * 100)).status_code == 200
        assert (await http.post(URL, content=b"x" * 101)).status_code == 413
        assert (await http.post(URL, content=chunks(60, 40))).status_code == 200
        assert (await http.post(URL, content=chunks(60, 41))).status_code == 413
    assert [len(body) for body in seen] == [100, 100]
    answers: list[MutableMapping[str, Any]] = []
    scope = {"type": "http", "method": "POST", "path": PATH, "headers": [(b"host", b"127.0.0.1")]}

    async def never() -> dict[str, Any]:
        await anyio.sleep(10)
        raise AssertionError

    async def take(message: MutableMapping[str, Any]) -> None:
        answers.append(message)

    with anyio.fail_after(5):
        await guard(scope, never, take)
    assert answers[0]["status"] == 408
    await guard({"type": "websocket"}, never, take)
    assert len(answers) == 2


@contextmanager
def _served(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "prowess", "serve", "--http", "127.0.0.1:0", *arguments]
    with subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            lines = []
            while "Serving MCP at " not in (line := server.stderr.readline()):
                lines.append(line)
                assert line, lines
            yield server, line.split()[3].rstrip(";")
        finally:
            server.kill()


async def test_a_server_process_serves_clients_and_ends_in_order(skills: Path, tmp_path: Path, own_home: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"ada {TOKEN}\n")
    token.chmod(0o600)
    with _served("--root", str(skills), "--token-file", str(token)) as (server, url):
        async with httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}) as http:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                assert not (await client.call_tool("skills_load", {"names": ["alpha"]})).is_error
                assert await _active(client) == ["alpha"]
            async with Client(streamable_http_client(url, http_client=http), mode="legacy") as client:
                assert await _active(client) == []
                server.send_signal(signal.SIGTERM)
                end = time.monotonic() + 20
                while server.poll() is None:
                    assert time.monotonic() < end
                    await anyio.sleep(0.05)
        assert server.returncode == 128 + signal.SIGTERM
    artifacts = own_home / ".prowess" / "artifacts"
    assert not artifacts.exists() or list(artifacts.iterdir()) == []
    records = [json.loads(line) for line in (own_home / ".prowess/audit/audit.jsonl").read_text().splitlines()]
    assert [record["kind"] for record in records].count("tool.started") == 3
    assert {record["data"]["user"] for record in records} == {"ada"}
    assert all(record["data"]["client"].startswith("mcp") for record in records)


@pytest.mark.unmeasured
@pytest.mark.proves("runtime.mcp.half-open")
async def test_half_open_connections_keep_no_client_from_the_server(skills: Path, own_home: Path) -> None:
    with _served("--root", str(skills)) as (_, url), ExitStack() as opened:
        address = (urlsplit(url).hostname, urlsplit(url).port)
        for number in range(300):
            half = opened.enter_context(socket.create_connection(address, timeout=20))
            half.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"[: number % 40])
        with anyio.fail_after(60):
            async with httpx2.AsyncClient() as http, Client(streamable_http_client(url, http_client=http)) as client:
                assert len((await client.list_tools()).tools) >= 4
                assert not (await client.call_tool("skills_load", {"names": ["alpha"]})).is_error
            async with httpx2.AsyncClient(timeout=20) as http:
                assert (await http.get(url.replace(PATH, "/healthz"))).json() == {"status": "ok"}
                assert (await http.get(url.replace(PATH, "/readyz"))).json() == {"status": "ready"}


async def test_probes_need_no_token_and_are_told_one_word(skills: Path, own_home: Path) -> None:
    table = SessionTable(Catalog(skills))
    root = URL.removesuffix(PATH)
    async with (
        http_app(table, tokens=[TOKEN]) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http,
    ):
        assert (await http.get(f"{root}/healthz")).json() == {"status": "ok"}
        assert (await http.get(f"{root}/readyz")).json() == {"status": "ready"}
        head = await http.head(f"{root}/readyz")
        assert (head.status_code, head.content) == (200, b"")
        assert (await http.post(f"{root}/healthz")).status_code == 405
        assert (await http.get(f"{root}/healthz/x")).status_code == 401
        (own_home / ".prowess").mkdir(exist_ok=True)
        (own_home / ".prowess" / "policy.toml").write_text("this is no policy")
        refused = await http.get(f"{root}/readyz")
        assert (refused.status_code, refused.json()) == (503, {"status": "not ready", "reason": "policy_invalid"})
        assert (await http.get(f"{root}/healthz")).status_code == 200
    assert table.hindrance() == "stopping"


LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MODERN = {"mcp-protocol-version": "2026-07-28"}


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b"", {}),
        (b"{", {}),
        (b"[" * 100_000, {}),
        (b"[]", {}),
        (b"null", {}),
        (b"\xff\xfe", {}),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 6000 + b',"method":"tools/list"}', {}),
        (b'{"jsonrpc":"2.0","id":1}', {}),
        (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', {}),
        (b'{"jsonrpc":"2.0","id":{},"method":7,"params":"x"}', {}),
        (json.dumps({"a": "x" * 100_000}).encode(), {}),
        (json.dumps(LISTING).encode(), {}),
        (json.dumps(LISTING).encode(), {"mcp-session-id": "unknown"}),
        (json.dumps(LISTING).encode(), {"mcp-protocol-version": "1999-01-01"}),
        (json.dumps(GREETING).encode(), {"accept": "text/html"}),
        (json.dumps(GREETING).encode(), {"content-type": "text/plain"}),
        (json.dumps(GREETING).encode(), {"content-type": ""}),
    ],
)
@pytest.mark.parametrize("era", [{}, MODERN])
async def test_a_wrong_post_gets_a_short_json_error(
    skills: Path, content: bytes, headers: dict[str, str], era: dict[str, str]
) -> None:
    given = {**ACCEPTED, "content-type": "application/json", **era, **headers}
    async with (
        http_app(SessionTable(Catalog(skills))) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), timeout=20) as http,
    ):
        answer = await http.post(URL, content=content, headers=given)
        assert answer.is_error
        assert answer.headers["content-type"] == "application/json"
        error = answer.json()["error"]
        assert isinstance(error["code"], int)
        assert error["message"]
        assert len(answer.content) < 700, answer.text
        assert "Traceback" not in answer.text
        for method in ("PUT", "PATCH", "OPTIONS"):
            refused = await http.request(method, URL, headers=given)
            assert refused.json()["error"]["message"], refused.text


def test_a_port_that_is_taken_is_an_error_in_one_sentence(skills: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [sys.executable, "-m", "prowess", "serve", "--root", str(skills)]
        done = subprocess.run(
            [*command, "--http", f"127.0.0.1:{taken.getsockname()[1]}"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot listen at 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr
