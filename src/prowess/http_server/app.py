"""The application of the server of an organisation: probes, interface, logins and pages, behind one guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount, Route

from prowess.errors import SkillError
from prowess.http_listener.request_guard import BodyGuard, HttpGuard
from prowess.http_server.api.dispatch import ApiApp
from prowess.http_server.faults import error_bytes, error_response
from prowess.http_server.login.routes import login_routes
from prowess.http_server.pages.rendering.error_pages import told
from prowess.http_server.pages.routes import error_page, page_routes
from prowess.http_server.probes import probe_routes

if TYPE_CHECKING:
    from collections.abc import Collection, MutableMapping
    from typing import Any

    from starlette.requests import Request
    from starlette.responses import Response

    from prowess.http_listener.error_bodies import App, Message, Receive, Send
    from prowess.http_server.server import OrganisationServer

API = "/api"
_MOST_FORM_BYTES = 1024 * 1024
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Of every answer, unless the answer has its own.
_HEADERS = {
    b"content-security-policy": _POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cache-control": b"no-store",
}


def server_app(server: OrganisationServer, hosts: Collection[str] = ()) -> App:
    """Return the ASGI application. `hosts` are names of this server, in addition to `localhost` and all addresses.

    In this order a request meets: the headers of every answer, the checks of `Host` and `Origin`, and the route. The
    interface asks for the token before it reads a body; forms of pages are read within a limit.
    """
    api = ApiApp(server)
    routed = Starlette(
        routes=[
            *probe_routes(server),
            Route(API, api),
            Mount(API, app=api),
            *login_routes(server.logins),
            *page_routes(server),
        ],
        exception_handlers={HTTPException: _shown, SkillError: _shown, Exception: _shown},
    )
    routed.router.redirect_slashes = False
    forms = BodyGuard(routed, _MOST_FORM_BYTES, error_body=error_bytes)

    async def limited(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        await (routed if is_below_api(scope["path"]) else forms)(scope, receive, send)

    guard = HttpGuard(limited, hosts=hosts, max_body_bytes=None, error_body=error_bytes)
    return _with_headers(guard)


def is_below_api(path: str) -> bool:
    """Return whether a path belongs to the interface."""
    return path == API or path.startswith(f"{API}/")


def _with_headers(app: App) -> App:
    async def answer(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                further = [(name, value) for name, value in _HEADERS.items() if name not in there]
                message = {**message, "headers": [*message["headers"], *further]}
            await send(message)

        await app(scope, receive, send_more)

    return answer


async def _shown(request: Request, fault: Exception) -> Response:
    if is_below_api(request.url.path):
        return error_response(fault)
    if isinstance(fault, HTTPException | SkillError):
        return error_page(request, *told(fault, None))
    return error_page(request, 500, "This request could not be answered.")
