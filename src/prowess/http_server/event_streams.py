"""Streams of server-sent events, of which one token or login has a few at a time.

Behind a proxy all connections come from one address, so a limit of connections for each address is no limit for one
client: its streams alone could keep everybody else out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from prowess.http_server.faults import error_answer

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from prowess.governance.service.service_call import Actor

EVENT_STREAM = "text/event-stream"
MOST_STREAMS = 8  # of one token, or of one person who is logged in, in one process
_RETRY = {"retry-after": "10"}


class LimitedEventStream(StreamingResponse):
    """The answer with `events` to `actor`. `streams` counts those that are open; one too many is answered with 429."""

    def __init__(self, events: AsyncIterator[bytes], actor: Actor, streams: Counter[str]) -> None:
        super().__init__(events, media_type=EVENT_STREAM, headers={"x-accel-buffering": "no"})
        self._owner = actor.token_id or f"{actor.tenant} {actor.user}"
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        if self._streams[self._owner] >= MOST_STREAMS:
            message = f"{MOST_STREAMS} streams of this token or login are open; close one, or try again later"
            await error_answer(429, message, headers=_RETRY)(scope, receive, send)
            return
        self._streams[self._owner] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams[self._owner] -= 1
            if not self._streams[self._owner]:
                del self._streams[self._owner]
