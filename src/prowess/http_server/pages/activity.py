"""The page of activity: what skills do across the organisation, live, with filters by skill, team, agent and time."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
import msgspec
from anyio import to_thread
from starlette.responses import Response

from prowess.audit.transparency.arriving_records import latest_records
from prowess.errors import StoreError
from prowess.governance.service.audit import AuditSelection
from prowess.http_server.authentication import authenticate, present_actor
from prowess.http_server.event_streams import LimitedEventStream
from prowess.http_server.pages.audit import several
from prowess.http_server.pages.record_view import record_row
from prowess.http_server.pages.rendering.page_request import call_of
from prowess.http_server.pages.rendering.templating import templates
from prowess.store.shared.audit_rows import SharedAuditRows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request

    from prowess.audit.selection import RecordFilter
    from prowess.audit.transparency.arriving_records import ArrivedRecord
    from prowess.http_server.pages.rendering.page_request import PageRequest
    from prowess.http_server.server import OrganisationServer

_FILTERS = ("skill", "team", "agent", "user", "since", "until")
_SHOWN = 50
_MORE = 100  # rows that a stream adds before it takes the oldest of them away
_CHECK_SECONDS = 2.0  # between two looks at the login; also a sign of life for proxies
_KINDS = ("skill", "tool", "script", "governance")


def activity_page(page: PageRequest) -> Response:
    """Show the last records that match, and where the stream of the next ones is."""
    page.call.require("audit")
    chosen = page.queries(_FILTERS)
    found, newest = latest_records(SharedAuditRows(page.call.database), _filter(chosen), _SHOWN)
    is_live = page.query("live") != "no" and "until" not in chosen
    return page.render(
        "activity.html",
        chosen=chosen,
        filters=_FILTERS,
        rows=[(one.id, record_row(one.record)) for one in found],
        newest=newest,
        is_live=is_live,
    )


def activity_stream(server: OrganisationServer) -> Callable[[Request], object]:
    """Return the endpoint of the stream: each event has the new rows. It ends when the login does."""

    async def endpoint(request: Request) -> Response:
        actor = await authenticate(server, request)
        if actor is None:
            return Response(status_code=204)  # tells the browser not to come back
        call = await to_thread.run_sync(call_of, server, actor, request)
        await to_thread.run_sync(call.require, "audit")
        query = request.query_params
        chosen = {name: value for name in _FILTERS if (value := query.get(name, "").strip())}
        after = request.headers.get("last-event-id") or query.get("after")
        wanted = _filter(chosen)

        async def is_over() -> bool:
            return await present_actor(server, request) != actor

        events = _events(server.live(call.tenant).listen(after), wanted, is_over)
        return LimitedEventStream(events, actor, server.streams)

    return endpoint


async def _events(
    arrived: AsyncIterator[list[ArrivedRecord]], wanted: RecordFilter, is_over: Callable[[], Awaitable[bool]]
) -> AsyncIterator[bytes]:
    rows = templates().get_template("activity_rows.html")
    shown: deque[str] = deque()
    checked = anyio.current_time()
    yield b"retry: 500\n: connected\n\n"
    with suppress(StoreError):  # the browser comes back, and then the page tells
        async for found in arrived:
            fitting = [one for one in found if wanted.fits(one.record)]
            if fitting:
                shown.extend(one.id for one in fitting)
                gone = [shown.popleft() for _ in range(len(shown) - _MORE)]
                html = rows.render(rows=[(one.id, record_row(one.record)) for one in reversed(fitting)], gone=gone)
                yield _event(found, html)
            if anyio.current_time() - checked > _CHECK_SECONDS:
                checked = anyio.current_time()
                if await is_over():
                    return
                yield b": still here\n\n"


def _event(found: list[ArrivedRecord], html: str) -> bytes:
    data = "".join(f"data: {line}\n" for line in html.splitlines() if line)
    return f"id: {found[-1].id}\nevent: records\n{data}\n".encode()


def _filter(chosen: dict[str, str]) -> RecordFilter:
    wanted = msgspec.convert(several(chosen), AuditSelection).filter()
    return msgspec.structs.replace(wanted, kinds=_KINDS)
