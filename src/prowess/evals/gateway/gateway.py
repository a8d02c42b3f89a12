"""The gateway: hosts are pointed at it instead of their provider, and each of their paid calls goes through a journal.

Each run has a path of its own with a random part, so that a request belongs to exactly one unit, and no other process
of this machine can make calls in its name. Only paid calls are forwarded: everything else that a host asks its provider
gets 404, so every request that leaves is booked.

An answer is handed on as soon as the journal has kept it, and not before. A host that reads a stream therefore gets it
in one piece.
"""

from __future__ import annotations

import json
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_plus

import anyio
from msgspec.structs import replace

from prowess.errors import MissingExtraError, SkillError
from prowess.evals.gateway.forwarding import forward
from prowess.evals.gateway.paid_requests import forwarded_query, read_paid_request
from prowess.evals.ledger.prices import listed_price
from prowess.http_listener.request_guard import BodyGuard, HttpGuard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, MutableMapping
    from typing import Self

    from prowess.evals.gateway.paid_requests import PaidRequest
    from prowess.evals.ledger.calls import CallAnswer, Calls
    from prowess.evals.ledger.prices import Price
    from prowess.http_listener.error_bodies import App, Receive, Send

MAX_REQUEST_BYTES = 64 * 1024 * 1024
OUTPUT_TOKENS = 16_384  # the bound on an answer if neither the run nor the host sets one
_OTHERS = "the gateway forwards requests for answers of models only, and those whose cost has a bound"
_STATUS_OF_STOP = 400  # hosts do not repeat a request that was refused as wrong


class GatewayRun:
    """One run of a host. `stopped` is set if a call cannot be made; then `fault` is the reason, and the run must end.

    `provider` is the name in genai-prices that counts if `upstream` is not in it. `credentials` maps the
    replacement that the host got to the key itself, which the gateway puts into headers and the query. So neither the
    host nor the programs of its model ever have it. `refusals` are the statuses with which the provider refused
    requests.
    """

    def __init__(
        self,
        *,
        unit: str,
        host: str,
        upstream: str,
        provider: str | None = None,
        max_output_tokens: int | None = None,
        credentials: Mapping[str, str] | None = None,
    ) -> None:
        self.unit, self.host, self.upstream = unit, host, upstream.rstrip("/")
        self.provider, self.max_output_tokens = provider, max_output_tokens
        self.credentials = dict(credentials or {})
        self.key = secrets.token_urlsafe(24)
        self.stopped = anyio.Event()
        self.fault: SkillError | None = None
        self.refusals: list[int] = []

    def is_shown_by(self, texts: Iterable[str]) -> bool:
        """Whether a replacement is in these headers or this query. The key alone may be seen in a file of the host."""
        return not self.credentials or any(given in text for text in texts for given in self.credentials)

    def with_credentials(self, text: str) -> str:
        """Return a header or a query with the keys."""
        for given, key in self.credentials.items():
            text = text.replace(given, key)
        return text

    def without_credentials(self, answer: CallAnswer) -> CallAnswer:
        """Return an answer with the replacements in place of keys: a provider may repeat what it got."""
        content, details = answer.content, dict(answer.details)
        for given, key in self.credentials.items():
            for form in {key, json.dumps(key)[1:-1], quote(key, safe="")}:
                content = content.replace(form.encode(), given.encode())
                details = {name: value.replace(form, given) for name, value in details.items()}
        return replace(answer, content=content, details=details)

    def stop(self, fault: SkillError) -> None:
        """Keep the first reason, and set `stopped`."""
        self.fault = self.fault or fault
        self.stopped.set()


class _ProviderFaultError(Exception):
    """Passes through the ledger, which leaves the call in doubt; carries the answer to hand on."""

    def __init__(self, answer: CallAnswer) -> None:
        super().__init__(answer)
        self.answer = answer


class Gateway:
    """An async context manager that serves on a free port of loopback. `price` is for every model, if given."""

    def __init__(self, calls: Calls, *, price: Price | None = None) -> None:
        self._calls, self._price = calls, price
        self._runs: dict[str, GatewayRun] = {}
        self._prices: dict[tuple[str, str, str | None], Price | None] = {}
        self._url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Self]:
        """Serve while the context is open. Calls in flight at its end have a short time to be kept.

        Raises:
            MissingExtraError: the extra `evals` is not installed.
        """
        try:  # Imported here because uvicorn is optional.
            from prowess.http_listener.listener import HttpListener, bound
        except ImportError as fault:
            raise MissingExtraError("running other agents behind the gateway", "evals", str(fault)) from fault
        with bound("127.0.0.1", 0) as socket:
            guard = HttpGuard(self._known_only(BodyGuard(self._answer, MAX_REQUEST_BYTES)), max_body_bytes=None)
            listener = HttpListener(guard, socket)
            self._url = listener.url("127.0.0.1", "")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.run)
                try:
                    yield self
                finally:
                    listener.stop()

    def admit(self, run: GatewayRun) -> str:
        """Return the address, without a path of the provider, that the host of this run is pointed at."""
        self._runs[run.key] = run
        return f"{self._url}/{run.key}"

    def dismiss(self, run: GatewayRun) -> None:
        """Answer no more requests of this run."""
        self._runs.pop(run.key, None)

    def _known_only(self, app: App) -> App:
        """Return an application that refuses requests of no known run before their bodies are read."""

        async def answer(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
            run = self._runs.get(_split(scope)[0])
            if run is None or not run.is_shown_by(_shown(scope)):
                await _send(send, 404, _error(_OTHERS))
                return
            await app(scope, receive, send)

        return answer

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        key, path = _split(scope)
        run = self._runs.get(key)
        body = await _body(receive) if scope["method"] == "POST" else b""
        request = read_paid_request(path, body, run.max_output_tokens, OUTPUT_TOKENS) if run is not None else None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = None if run is None else forwarded_query(scope["query_string"].decode("latin-1"), run.with_credentials)
        if run is None or request is None or query is None:
            await _send(send, 404, _error(_OTHERS))
            return
        headers = {name: run.with_credentials(value) for name, value in headers.items()}
        status, content, kind, retry = await self._booked(run, request, path + query, headers)
        await _send(send, status, content, kind, retry)

    async def _booked(
        self, run: GatewayRun, request: PaidRequest, target: str, headers: dict[str, str]
    ) -> tuple[int, bytes, str, str | None]:
        async def ask() -> CallAnswer:
            forwarded = await forward(run.upstream + target, headers, request)
            answer = run.without_credentials(forwarded.answer)
            if forwarded.failed:
                raise _ProviderFaultError(answer)
            return answer

        try:
            answer = await self._calls.call(
                run.unit,
                request.kept,
                request.bound,
                ask,
                price=self._price_of(request.model, run),
                host=run.host,
            )
        except _ProviderFaultError as fault:
            answer = fault.answer
        except SkillError as fault:
            run.stop(fault)
            return _STATUS_OF_STOP, _error(str(fault)), "application/json", None
        if answer.refused:
            run.refusals.append(int(answer.details.get("status", "0")))
        details = answer.details
        kind = details.get("content-type", "application/json")
        return int(details.get("status", "200")), answer.content, kind, details.get("retry-after")

    def _price_of(self, model: str, run: GatewayRun) -> Price | None:
        if self._price is not None:
            return self._price
        key = model, run.upstream, run.provider
        if key not in self._prices:
            self._prices[key] = listed_price(model, provider=run.provider, api_url=run.upstream)
        return self._prices[key]


def _split(scope: Mapping[str, Any]) -> tuple[str, str]:
    """Return the key of a run and the path, with its escapes: what they mean is decided by the provider."""
    key, _, rest = scope["raw_path"].decode("latin-1").removeprefix("/").partition("/")
    return key, f"/{rest}"


def _shown(scope: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts in which a host may send its key."""
    yield unquote_plus(scope["query_string"].decode("latin-1"))
    yield from (value.decode("latin-1") for _, value in scope["headers"])


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _send(
    send: Send, status: int, content: bytes, kind: str = "application/json", retry: str | None = None
) -> None:
    headers = [(b"content-type", kind.encode("latin-1")), (b"content-length", str(len(content)).encode())]
    if retry is not None:
        headers.append((b"retry-after", retry.encode("latin-1")))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def _error(message: str) -> bytes:
    """Return an error in the words of all four forms."""
    fault = {"type": "invalid_request_error", "message": message, "code": _STATUS_OF_STOP, "status": "INVALID_ARGUMENT"}
    return json.dumps({"type": "error", "error": fault}).encode()
