"""`GET /events`: new records as server-sent events, as long as the token is valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import msgspec

from prowess.errors import StoreError
from prowess.governance.service.audit import AuditSelection
from prowess.http_server.api.route_table import ApiRoute
from prowess.http_server.authentication import present_actor
from prowess.http_server.event_streams import EVENT_STREAM, LimitedEventStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.responses import Response

    from prowess.http_server.api.route_table import ApiRequest

_MOST_SECONDS = 10.0  # then the client comes back, with the id of its last event, and is asked for its token again
_CHECK_SECONDS = 2.0  # between two looks at the token; also a sign of life for proxies


def _events(asked: ApiRequest) -> Response:
    asked.query.filter()  # so that a wrong time is an error of the request
    return LimitedEventStream(_stream(asked), asked.call.actor, asked.server.streams)


async def _stream(asked: ApiRequest) -> AsyncIterator[bytes]:
    wanted, checked = asked.query.filter(), anyio.current_time()
    ends = checked + _MOST_SECONDS
    yield b"retry: 500\n: connected\n\n"
    after = asked.request.headers.get("last-event-id")
    try:
        async for arrived in asked.server.live(asked.call.tenant).listen(after):
            for one in arrived:
                if wanted.fits(one.record):
                    yield f"id: {one.id}\nevent: record\ndata: ".encode() + msgspec.json.encode(one.record) + b"\n\n"
            if anyio.current_time() > ends:
                return
            if anyio.current_time() - checked > _CHECK_SECONDS:
                checked = anyio.current_time()
                if await present_actor(asked.server, asked.request) != asked.call.actor:
                    return
                yield b": here\n\n"
    except StoreError:
        return  # the client connects again, and is told by the status


EVENT_ROUTES = (
    ApiRoute(
        method="GET",
        path="/events",
        name="events",
        summary="New records as they come, as server-sent events",
        needs="audit",
        handle=_events,
        query=AuditSelection,
        media=EVENT_STREAM,
    ),
)
