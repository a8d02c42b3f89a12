"""The gateway between a small client and a scripted provider, with a real ledger."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import pytest

from prowess.distribution.sources.http.client import HttpClient
from prowess.errors import InvalidArgumentsError
from prowess.evals.gateway.gateway import Gateway, GatewayRun
from prowess.evals.ledger.caps import CapReachedError, Caps
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.prices import Price
from prowess.evals.ledger.recorded_calls import RecordedCalls
from prowess.evals.recordings.drift import DriftError
from tools.hosts import scripted_provider
from tools.hosts.scripted_provider import Part, ScriptedProvider
from tools.hosts.wire_forms import INPUT_TOKENS, OUTPUT_TOKENS, ScriptedCall, Turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from prowess.distribution.sources.http.client import HttpResponse
    from prowess.evals.ledger.calls import Calls

pytestmark = pytest.mark.anyio
HEADER = JournalHeader(skill="pdf-tables")
SECRET = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz"
HOSTS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": ("/v1/messages?beta=true", {"messages": [{"role": "user", "content": "go"}], "max_tokens": 900}),
    "codex": ("/v1/responses", {"input": [{"role": "user", "content": "go"}]}),
    "copilot": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "go"}]}),
    "gemini": (
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "go"}]}]},
    ),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def pointed(
    calls: Calls, upstream: str, *, host: str = "claude", price: Price | None = None, most: int | None = None
) -> AsyncIterator[tuple[str, GatewayRun]]:
    """A gateway with one run, and the address that its host would use."""
    calls.begin("unit")
    async with Gateway(calls, price=price).serving() as gateway:
        run = GatewayRun(unit="unit", host=host, upstream=upstream, max_output_tokens=most)
        yield gateway.admit(run), run


async def post(url: str, body: dict[str, Any], **headers: str) -> HttpResponse:
    tools = [{"name": "read", "input_schema": {"type": "object"}}]
    content = json.dumps({"model": "m", "stream": True, "tools": tools, **body}).encode()
    with HttpClient() as client:
        sent = {"x-api-key": "k", **headers}
        send = partial(client.request, "POST", url, most=1 << 20, headers=sent, content=content)
        return await anyio.to_thread.run_sync(send)


async def ask(url: str, host: str = "claude", **headers: str) -> HttpResponse:
    path, body = HOSTS[host]
    return await post(url + path, body, **headers)


@pytest.mark.parametrize("host", HOSTS)
async def test_a_call_of_every_form_is_forwarded_booked_and_replayed_without_the_provider(
    host: str, tmp_path: Path
) -> None:
    script = [Part(turns=(Turn(text="Hello you."),))]
    with ScriptedProvider(script) as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url, host=host) as (url, run):
            first = await ask(url, host)
        assert (first.status, provider.paid, run.fault) == (200, 1, None)
        assert (ledger.spent.input_tokens, ledger.spent.output_tokens) == (INPUT_TOKENS, OUTPUT_TOKENS)
    with RecordedCalls(tmp_path / "j") as replay:
        async with pointed(replay, "http://127.0.0.1:1", host=host) as (url, run):
            again = await ask(url, host)
    assert (again.status, again.body, again.headers["content-type"]) == (200, first.body, first.headers["content-type"])
    assert b"Hello you." in again.body
    assert run.fault is None


async def test_a_resumed_run_pays_for_what_was_not_answered(tmp_path: Path) -> None:
    with ScriptedProvider() as provider:
        for rounds in (2, 5):
            with Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
                async with pointed(ledger, provider.url) as (url, _):
                    for number in range(rounds):
                        await post(f"{url}/v1/messages", {"messages": [{"role": "user", "content": str(number)}]})
        assert provider.paid == 5


async def test_a_call_that_could_pass_a_cap_is_not_made_and_ends_the_run(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps(calls=2)) as ledger:
        async with pointed(ledger, provider.url) as (url, run):
            statuses = [(await ask(url)).status for _ in range(4)]
            assert run.stopped.is_set()
        assert statuses == [200, 200, 400, 400]
        assert provider.paid == 2
        assert isinstance(run.fault, CapReachedError)


async def test_prices_behind_another_address_are_those_of_the_provider(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps(usd=1.0)) as ledger:
        async with pointed(ledger, provider.url) as (url, run):
            run.provider = "anthropic"
            answer = await post(f"{url}/v1/messages", {"messages": [], "model": "claude-sonnet-4-5", "max_tokens": 90})
        assert answer.status == 200
        assert ledger.spent.usd is not None
        assert ledger.spent.usd >= (3 * INPUT_TOKENS + 15 * OUTPUT_TOKENS) / 1e6


async def test_a_cap_on_cost_without_a_price_stops_before_the_first_call(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps(usd=1.0)) as ledger:
        async with pointed(ledger, provider.url) as (url, run):
            await ask(url)
        assert provider.paid == 0
        assert isinstance(run.fault, InvalidArgumentsError)


@pytest.mark.parametrize("host", HOSTS)
async def test_the_bound_on_an_answer_is_put_into_the_request(host: str, tmp_path: Path) -> None:
    names = {"claude": "max_tokens", "codex": "max_output_tokens", "copilot": "max_completion_tokens"}
    price = Price(input=0.0, output=1.0, given=True)
    with ScriptedProvider(keep=True) as provider, Ledger(tmp_path / "j", HEADER, Caps(usd=0.0006)) as ledger:
        async with pointed(ledger, provider.url, host=host, price=price, most=500) as (url, run):
            assert (await ask(url, host)).status == 200
            assert (await ask(url, host)).status == 200  # the first has cost 20 tokens, so 500 fit again
            run.max_output_tokens = 590
            assert (await ask(url, host)).status == 400
        sent = provider.requests[0][1]
        assert (sent["generationConfig"]["maxOutputTokens"] if host == "gemini" else sent[names[host]]) == 500


async def test_a_host_may_ask_for_less_than_the_bound(tmp_path: Path) -> None:
    with ScriptedProvider(keep=True) as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url, most=5000) as (url, _):
            thinking = {"type": "enabled", "budget_tokens": 4000}
            await post(f"{url}/v1/messages", {"messages": [], "max_tokens": 900, "thinking": thinking})
    sent = provider.requests[0][1]
    assert (sent["max_tokens"], sent["thinking"]["budget_tokens"]) == (900, 450)


async def test_credentials_reach_the_provider_and_no_file(tmp_path: Path) -> None:
    with ScriptedProvider(keep=True) as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url) as (url, run):
            run.credentials["stand-in"] = SECRET
            await ask(url, **{"x-api-key": SECRET, "authorization": "Bearer stand-in"})
            await post(f"{url}/v1beta/models/m:generateContent?key=stand-in", {"contents": []})
    assert provider.headers[0]["x-api-key"] == SECRET
    assert provider.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert SECRET in provider.requests[1][0]
    assert (
        len(files_of(tmp_path)),
        [path for path, data in files_of(tmp_path).items() if SECRET.encode() in data],
    ) == (
        3,
        [],
    )


async def test_who_only_knows_the_address_of_a_run_spends_nothing(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url) as (url, run):
            run.credentials["stand-in"] = SECRET
            assert (await ask(url)).status == 404
            assert (await ask(url, **{"x-api-key": "stand-in"})).status == 200
        assert (provider.paid, ledger.spent.calls) == (1, 1)


@pytest.mark.parametrize("status", [401, 529, None])
async def test_a_key_that_the_provider_repeats_reaches_neither_the_host_nor_a_file(
    status: int | None, tmp_path: Path
) -> None:
    key = "plain-words-no-pattern-finds"
    script = [Part(turns=(Turn(text=f"Your key is {key}", status=status or 0),))]
    with (
        ScriptedProvider(script) as provider,
        Ledger(tmp_path / "j", HEADER, Caps()) as ledger,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(scripted_provider, "_fault", lambda _: {"type": "wrong", "message": f"no such key: {key}"})
        async with pointed(ledger, provider.url) as (url, run):
            run.credentials["stand-in"] = key
            answer = await ask(url, **{"x-api-key": "stand-in"})
    assert key.encode() not in answer.body
    assert b"stand-in" in answer.body
    assert [path for path, data in files_of(tmp_path).items() if key.encode() in data] == []


async def test_the_body_of_a_request_of_no_run_is_not_read(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url) as (url, _):
            place = urlsplit(url)
            async with await anyio.connect_tcp("127.0.0.1", place.port or 0) as stream:
                head = f"POST /other/v1/messages HTTP/1.1\r\nhost: {place.netloc}\r\ncontent-length: 60000000\r\n\r\n"
                await stream.send(head.encode())
                with anyio.fail_after(10):
                    assert (await stream.receive()).startswith(b"HTTP/1.1 404")


def files_of(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_only_paid_calls_of_a_known_run_are_forwarded(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url) as (url, _):
            for target in ("/v1/messages/count_tokens", "/v1/models", "/v1/files"):
                assert (await post(url + target, {})).status == 404
            strange = url.rpartition("/")[0] + "/another-key/v1/messages"
            assert (await post(strange, {"messages": []})).status == 404
        assert (provider.paid, provider.unknown, ledger.spent.calls) == (0, [], 0)


@pytest.mark.parametrize(
    "target",
    [
        "/v1/messages/batches%3Fx=/messages",
        "/v1/images/generations%3F:generateContent",
        "/v1/files/delete%23/messages",
        "/../../x/messages",
        "/v1/x/%2e%2e/messages",
        "/v1/%6dessages",
        "/v1/messages/",
        "//v1/messages",
        "/v1beta/models/..:generateContent",
        "/v1beta/models/m%2Fcopy:generateContent",
        "/v1/models/m:predict?:generateContent",
        "/v1beta/models/m:generateContent?$httpMethod=DELETE",
    ],
)
async def test_a_path_that_the_provider_may_read_in_another_way_is_not_forwarded(target: str, tmp_path: Path) -> None:
    body = json.dumps({"model": "m", "messages": [], "contents": []}).encode()
    with ScriptedProvider(keep=True) as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url) as (url, _):
            place = urlsplit(url)
            head = f"POST {place.path}{target} HTTP/1.1\r\nhost: {place.netloc}\r\nconnection: close\r\n"
            async with await anyio.connect_tcp("127.0.0.1", place.port or 0) as stream:
                await stream.send(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
                assert (await stream.receive()).startswith(b"HTTP/1.1 404")
        assert (provider.requests, provider.unknown, ledger.spent.calls) == ([], [], 0)


async def test_a_refused_request_costs_nothing_and_is_asked_again(tmp_path: Path) -> None:
    with ScriptedProvider([Part(turns=(Turn(status=429),))]) as provider:
        for _ in range(2):
            with Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
                async with pointed(ledger, provider.url) as (url, run):
                    assert (await ask(url)).status == 429
                assert run.refusals == [429]
                assert ledger.spent.in_doubt_usd == 0
        assert provider.paid == 2


async def test_a_failure_of_the_provider_is_handed_on_and_stays_charged(tmp_path: Path) -> None:
    price = Price(input=0.0, output=10.0, given=True)
    script = [Part(turns=(Turn(status=529),))]
    with ScriptedProvider(script) as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url, price=price, most=1000) as (url, run):
            assert (await ask(url)).status == 529
            assert run.fault is None
        assert ledger.spent.in_doubt_usd == pytest.approx(0.009)  # the host asked for 900 tokens


async def test_an_unreachable_provider_is_a_bad_gateway(tmp_path: Path) -> None:
    with Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, "http://127.0.0.1:1") as (url, run):
            assert (await ask(url)).status == 502
        assert run.fault is None


async def test_a_request_that_was_not_recorded_is_drift_and_ends_a_replay(tmp_path: Path) -> None:
    with ScriptedProvider() as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url) as (url, _):
            await ask(url)
        with RecordedCalls(tmp_path / "j") as replay:
            async with pointed(replay, provider.url) as (url, run):
                await post(f"{url}/v1/messages", {"messages": [{"role": "user", "content": "something else"}]})
        assert isinstance(run.fault, DriftError)
        assert provider.paid == 1


@pytest.mark.parametrize("host", HOSTS)
async def test_a_replay_elsewhere_has_its_own_paths_even_if_the_stream_split_them(host: str, tmp_path: Path) -> None:
    before, after = tmp_path / "one/workspace", tmp_path / "another/place"
    turn = Turn(text="I read.", calls=(ScriptedCall(name="read", arguments={"path": f"{before}/notes.txt"}),))
    script = [Part(turns=(turn,))]
    with ScriptedProvider(script) as provider, Ledger(tmp_path / "j", HEADER, Caps()) as ledger:
        async with pointed(ledger, provider.url, host=host) as (url, _):
            ledger.begin("unit", {str(before): "workspace"})
            first = await ask(url, host)
    with RecordedCalls(tmp_path / "j") as replay:
        async with pointed(replay, "http://127.0.0.1:1", host=host) as (url, _):
            replay.begin("unit", {str(after): "workspace"})
            again = await ask(url, host)
    assert f"{before}/notes.txt".encode() in first.body
    assert f"{after}/notes.txt".encode() in again.body
    assert str(before).encode() not in again.body
