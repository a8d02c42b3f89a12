"""`/healthz` and `/readyz`: whether the process responds, and whether it can serve requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prowess.http_listener.error_bodies import answer

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from prowess.http_listener.error_bodies import App, Receive, Send

LIVE = "/healthz"
READY = "/readyz"


class Health:
    """ASGI middleware that answers health probes. Probes need no token, and the answers reveal only the status.

    `hindrance` returns the reason why the application cannot serve now, in one word, or None if it can serve.
    """

    def __init__(self, app: App, hindrance: Callable[[], str | None]) -> None:
        self._app, self._hindrance = app, hindrance

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a probe, or pass the request on."""
        if scope["type"] != "http" or scope["path"] not in {LIVE, READY}:
            await self._app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        if scope["method"] not in {"GET", "HEAD"}:
            body = json.dumps({"status": "send probes with GET or HEAD"}).encode()
            await answer(send, 405, body, ((b"allow", b"GET, HEAD"),))
        elif scope["path"] == READY and (reason := self._hindrance()) is not None:
            body = json.dumps({"status": "not ready", "reason": reason}).encode()
            await answer(send, 503, body, head=head)
        else:
            word = "ready" if scope["path"] == READY else "ok"
            await answer(send, 200, json.dumps({"status": word}).encode(), head=head)
