"""Answers a request of the interface: token, tenant, role, query, body, and then the handler in a worker thread."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import compile_path

from prowess.errors import SkillError
from prowess.governance.service.call_limit import CallLimit
from prowess.http_listener.request_guard import BodyGuard
from prowess.http_server.api.decoding import BadRequestError, decoded_body, decoded_query
from prowess.http_server.api.route_table import ApiRequest, TenantQuery, may_call, require_role
from prowess.http_server.api.routes import ROUTES
from prowess.http_server.authentication import authenticate
from prowess.http_server.client_watch import MOST_SECONDS, run_for_client
from prowess.http_server.faults import error_answer, error_bytes, error_response

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, MutableMapping

    from prowess.governance.service.service_call import Actor, ServiceCall
    from prowess.http_listener.error_bodies import App, Receive, Send
    from prowess.http_server.api.route_table import ApiRoute
    from prowess.http_server.server import OrganisationServer

VERSION = "/api/v1"
_CHANGES = {"POST", "PUT", "DELETE"}
_NO_TOKEN = "a token is required; send it as Authorization: Bearer TOKEN"  # noqa: S105 -- a message
_JSON = "application/json"


class ApiApp:
    """The ASGI application below `/api`. Without a valid token every answer is 401, also for what does not exist."""

    def __init__(self, server: OrganisationServer) -> None:
        self._server = server
        self._routes = [(compile_path(VERSION + route.path)[0], route) for route in ROUTES]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        request, begun = Request(scope, receive), time.perf_counter()
        name, answered = "none", 0

        async def counted(message: MutableMapping[str, Any]) -> None:
            nonlocal answered
            answered = message.get("status", answered)
            await send(message)

        try:
            actor = await authenticate(self._server, request)
            methods = self._found(scope["path"])
            if (found := methods.get(scope["method"])) is not None:
                name = found[0].name
            if actor is None:
                answer = error_answer(401, _NO_TOKEN, headers={"www-authenticate": "Bearer"})
                await answer(scope, receive, counted)
            elif found is None:
                await _not_found(self._documented(methods), scope["method"])(scope, receive, counted)
            else:
                await self._guarded(*found, actor)(scope, receive, counted)
        except SkillError as fault:
            await error_response(fault)(scope, receive, counted)
        finally:
            self._server.metrics.answered(name, answered, time.perf_counter() - begun)

    def _found(self, path: str) -> dict[str, tuple[ApiRoute, dict[str, str]]]:
        """Return the routes of a path by their methods, each with its parameters. The first one in the table counts."""
        found: dict[str, tuple[ApiRoute, dict[str, str]]] = {}
        for pattern, route in self._routes:
            if route.method not in found and (match := pattern.match(path)) is not None:
                found[route.method] = (route, match.groupdict())
        return found

    def _documented(self, methods: dict[str, tuple[ApiRoute, dict[str, str]]]) -> list[str]:
        """Return the methods of the path that fits best: `/policies/replay` is also the name of a policy."""
        paths = sorted((route.path for route, _ in methods.values()), key=lambda path: "{" in path)
        return [route.method for route in ROUTES if route.path == paths[0]] if paths else []

    def _guarded(self, route: ApiRoute, path: dict[str, str], actor: Actor) -> App:
        is_permitted = may_call(route, actor) and not _is_login_change(route, actor)

        async def answer(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            try:
                limit, body = CallLimit(MOST_SECONDS), await request.body() if is_permitted else b""
                call_in = partial(self._server.call, actor, request, limit=limit)
                work = partial(self._answered, route, path, request, body, call_in)
                answer = await (run_for_client(work, receive, limit) if is_permitted else to_thread.run_sync(work))
            except Exception as fault:  # noqa: BLE001 -- every fault becomes an answer
                answer = error_response(fault, actor)
            await answer(scope, receive, send)

        # Who may not call the route is refused by `_answered`; the body is not read, so that none is held in memory.
        return BodyGuard(answer, route.most, error_body=error_bytes) if is_permitted else answer

    def _answered(
        self,
        route: ApiRoute,
        path: dict[str, str],
        request: Request,
        body: bytes,
        call_in: Callable[[str | None], ServiceCall | None],
    ) -> Response:
        pairs = request.query_params.multi_items()
        tenant = decoded_query([pair for pair in pairs if pair[0] == "tenant"], TenantQuery).tenant
        call = call_in(tenant)
        if call is None:
            raise HTTPException(404, "there is no such tenant, or it is not yours")
        require_role(route, call)
        if _is_login_change(route, call.actor):
            return error_answer(403, "changes need a token; the cookie of a login is for reading")
        asked = ApiRequest(
            server=self._server,
            call=call,
            request=request,
            path=path,
            query=decoded_query([pair for pair in pairs if pair[0] != "tenant"], route.query),
            body=_decoded(route, request, body),
        )
        value = route.handle(asked)
        if isinstance(value, Response):
            return value
        if route.answer is None:
            return Response(status_code=204)
        return Response(msgspec.json.encode(value), route.status, media_type=_JSON)


def _is_login_change(route: ApiRoute, actor: Actor) -> bool:
    return route.method in _CHANGES and actor.identified_by == "login"


def _decoded(route: ApiRoute, request: Request, body: bytes) -> object:
    if route.body is None or route.body is bytes:
        return body if route.body is bytes else None
    kind = request.headers.get("content-type", _JSON).partition(";")[0].strip().casefold()
    if kind != _JSON:
        raise BadRequestError(f"the body must be {_JSON}")
    return decoded_body(body, route.body)


def _not_found(methods: Collection[str], method: str) -> Response:
    if not methods:
        return error_answer(404, f"there is nothing here; {VERSION}/openapi.json lists what there is")
    allowed = ", ".join(sorted(methods))
    return error_answer(405, f"{method} is not possible here; possible are {allowed}", headers={"allow": allowed})
