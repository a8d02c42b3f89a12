"""What the gateway does not do: listen to others, follow, remember, add credentials, or forget a charge."""

from __future__ import annotations

import json
import random
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import pytest

from prowess.distribution.sources.http.client import HttpLimits
from prowess.evals.gateway import forwarding
from prowess.evals.gateway.forwarding import forward
from prowess.evals.gateway.gateway import Gateway, GatewayRun
from prowess.evals.gateway.paid_requests import read_paid_request
from prowess.evals.ledger.caps import Caps
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.prices import Price
from tests.evals.gateway.test_gateway import HEADER, ask, files_of, pointed
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.wire_forms import Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.anyio
PRICE = Price(input=0.0, output=10.0, given=True)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def answering(status: int | None, **headers: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A provider that gives one answer, or breaks the connection for None; yields its address and what it got."""
    got: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append({"path": self.path, **{name.lower(): value for name, value in self.headers.items()}})
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.close_connection = True
            if status is not None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", got
    finally:
        server.shutdown()
        server.server_close()


async def in_doubt(upstream: str, folder: Path) -> float:
    """Ask once, and return what is in doubt then, also for the next process."""
    with Ledger(folder / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, upstream, price=PRICE) as (url, _):
            assert (await ask(url)).status == 502
        found = ledger.spent.in_doubt_usd
    with Ledger(folder / "j", HEADER, Caps()) as ledger:
        assert ledger.spent.in_doubt_usd == found
    return found


async def test_a_call_whose_connection_broke_stays_in_doubt(tmp_path: Path) -> None:
    with answering(None) as (url, got):
        assert await in_doubt(url, tmp_path) == pytest.approx(0.009)  # of 900 tokens
    assert len(got) == 1


async def test_a_call_that_was_given_up_stays_in_doubt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "_LIMITS", HttpLimits(connect=10.0, idle=0.3, total=0.3))
    with ScriptedProvider([Part(turns=(Turn(text="late", hold=1.5),))]) as provider:
        assert await in_doubt(provider.url, tmp_path) == pytest.approx(0.009)
        assert provider.paid == 1


async def test_a_redirect_is_handed_on_and_not_followed(tmp_path: Path) -> None:
    with (
        answering(200) as (other, reached),
        answering(307, location=f"{other}/v1/messages") as (url, got),
        Ledger(tmp_path / "j", HEADER, Caps()) as ledger,
    ):
        async with pointed(ledger, url) as (address, _):
            assert (await ask(address)).status == 307
    assert (len(got), reached) == (1, [])


async def test_cookies_of_a_provider_are_neither_kept_nor_handed_on(tmp_path: Path) -> None:
    with (
        answering(200, set_cookie="session=remember-me") as (url, got),
        Ledger(tmp_path / "j", HEADER, Caps()) as ledger,
    ):
        async with pointed(ledger, url) as (address, _):
            answers = [await ask(address, cookie="own=1") for _ in range(2)]
    assert ["set-cookie" in answer.headers for answer in answers] == [False, False]
    assert ["cookie" in request for request in got] == [False, False]
    assert [path for path, data in files_of(tmp_path).items() if b"remember-me" in data] == []


async def test_credentials_of_netrc_are_not_sent_to_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password hidden\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    request = read_paid_request("/v1/messages", b'{"model": "m", "messages": []}', None, 16)
    assert request is not None
    with answering(200) as (url, got):
        assert not (await forward(f"{url}/v1/messages", {"x-api-key": "k"}, request)).failed
    assert (got[0]["x-api-key"], got[0].get("authorization", "")) == ("k", "")


async def test_the_gateway_listens_on_one_address_of_this_machine(tmp_path: Path) -> None:
    with Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, "http://127.0.0.1:1") as (url, _):
            place = urlsplit(url)
            assert place.hostname == "127.0.0.1"
            with pytest.raises(OSError):  # noqa: PT011 -- anyio words it; a server on all addresses would answer
                await anyio.connect_tcp("127.0.0.2", place.port or 0)


async def test_the_key_of_a_run_cannot_be_guessed() -> None:
    keys = set()
    for _ in range(50):
        random.seed(1)
        keys.add(GatewayRun(unit="unit", host="claude", upstream="http://127.0.0.1:1").key)
    assert len(keys) == 50
    assert min(map(len, keys)) >= 32


async def test_a_run_that_was_dismissed_spends_nothing(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with Gateway(ledger).serving() as gateway:
            run = GatewayRun(unit="unit", host="claude", upstream=provider.url)
            url = gateway.admit(run)
            statuses = [(await ask(url)).status]
            gateway.dismiss(run)
            statuses.append((await ask(url)).status)
        assert (statuses, provider.paid) == ([200, 404], 1)


def test_a_stream_of_completions_is_asked_for_its_usage() -> None:
    for given, wanted in (
        ({"stream": True}, {"include_usage": True}),
        ({"stream": True, "stream_options": {"include_usage": False, "x": 1}}, {"include_usage": True, "x": 1}),
        ({"stream": True, "stream_options": 7}, {"include_usage": True}),
        ({}, None),
    ):
        body = json.dumps({"model": "m", "messages": [], **given}).encode()
        request = read_paid_request("/v1/chat/completions", body, None, 16)
        assert request is not None
        assert json.loads(request.content).get("stream_options") == wanted


def test_every_candidate_counts_for_the_bound_of_gemini() -> None:
    settings = {"candidateCount": 3, "maxOutputTokens": 100}
    body = json.dumps({"contents": [], "generationConfig": settings}).encode()
    request = read_paid_request("/v1beta/models/m:generateContent", body, None, 16)
    assert request is not None
    assert request.bound.output_tokens == 300
