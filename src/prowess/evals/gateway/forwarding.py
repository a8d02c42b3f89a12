"""Sends one paid request to the provider, and reads the whole answer.

Headers, with credentials, are passed on and written nowhere. The answer is read completely before
anything is handed on, because the journal keeps it first.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution.sources.http.client import HttpClient, HttpLimits
from prowess.errors import SkillError
from prowess.evals.gateway.joined_deltas import with_joined_deltas
from prowess.evals.gateway.reported_usage import usage_of_answer
from prowess.evals.ledger.calls import CallAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.evals.gateway.paid_requests import PaidRequest

MOST_ANSWER_BYTES = 64 * 1024 * 1024
ANSWER_SECONDS = 600.0
_LIMITS = HttpLimits(connect=10.0, idle=300.0, total=ANSWER_SECONDS)
# Of one connection, or set anew. `accept-encoding` because the journal keeps text.
_NOT_SENT = frozenset(
    {
        *(
            "host",
            "connection",
            "content-length",
            "transfer-encoding",
            "accept-encoding",
            "keep-alive",
            "te",
            "upgrade",
        ),
        *("proxy-authorization", "proxy-connection", "expect", "cookie"),
        *("x-http-method-override", "x-http-method", "x-method-override"),  # would make it another request
    }
)
_KEPT = ("content-type", "retry-after", "request-id", "x-request-id")
_FIRST_ERROR, _FIRST_FAULT = 400, 500


class Forwarded(Struct, frozen=True, kw_only=True):
    """The result of a request. With `failed` the provider failed (HTTP 5xx) or gave no answer.

    A failed call may have been charged, so it stays in doubt. `answer` is handed on all the same.
    """

    answer: CallAnswer
    failed: bool = False


async def forward(url: str, headers: Mapping[str, str], request: PaidRequest) -> Forwarded:
    """Send a request to the provider. An answer of 4xx is `refused`."""
    sent = {name: value for name, value in headers.items() if name not in _NOT_SENT}
    sent.setdefault("authorization", "")  # without: credentials of ~/.netrc are not meant for providers
    try:
        status, details, body = await to_thread.run_sync(partial(_exchange, url, sent, request.content))
    except SkillError as fault:
        message = f"the provider gave no answer: {fault}"
        return Forwarded(answer=CallAnswer(content=message.encode(), details={"status": "502"}), failed=True)
    answer = CallAnswer(content=body, details={**details, "status": str(status)})
    if status >= _FIRST_FAULT or status < 200:  # noqa: PLR2004 -- as in the definition of HTTP
        return Forwarded(answer=answer, failed=True)
    if status >= _FIRST_ERROR:
        return Forwarded(answer=replace(answer, refused=True))
    usage = usage_of_answer(request.wire, body)
    return Forwarded(answer=replace(answer, content=with_joined_deltas(request.wire, body), usage=usage))


def _exchange(url: str, headers: Mapping[str, str], content: bytes) -> tuple[int, dict[str, str], bytes]:
    with HttpClient(limits=_LIMITS) as client:
        got = client.request("POST", url, most=MOST_ANSWER_BYTES, headers=headers, content=content, follows=False)
    return got.status, {name: got.headers[name] for name in _KEPT if name in got.headers}, got.body
