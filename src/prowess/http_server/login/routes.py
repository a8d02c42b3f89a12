"""Routes of logins: the form, the logout, and who is logged in.

`GET /login` shows a form with the fields `token`, `next` and `csrf`. `POST /login` begins a login, and `POST /logout`
ends it.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.responses import RedirectResponse
from starlette.routing import Route

from prowess.errors import PolicyDeniedError
from prowess.http_server.login.cookies import FORM, LOGIN, cookie, own_origin, remove_cookie, set_cookie
from prowess.http_server.login.csrf import allow_forms, csrf_field, require_csrf
from prowess.http_server.login.form import form_of
from prowess.http_server.login.login_pages import login_page
from prowess.http_server.login.login_server import origin_of
from prowess.http_server.login.next_path import login_path, next_path
from prowess.http_server.login.oidc.routes import BEGIN, issuer_routes
from prowess.http_server.login.refusals import LoginRefusedError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from prowess.governance.login_log import LoginOrigin
    from prowess.governance.service.service_call import Actor
    from prowess.http_server.login.login_server import LoginServer

_SECRET_BYTES = 32
_RETRY_SECONDS = "60"


def login_routes(server: LoginServer) -> list[BaseRoute]:
    """Return the routes of logins."""
    pages = _LoginPages(server)
    return [
        Route("/login", pages.show, methods=["GET"]),
        Route("/login", pages.log_in, methods=["POST"]),
        Route("/logout", pages.log_out, methods=["POST"]),
        *([] if server.issuer is None else issuer_routes(server, server.issuer)),
    ]


async def actor_of_login(server: LoginServer, request: Request) -> Actor | None:
    """Return who is logged in with the cookie of a request, None without a valid one. Raises StoreError.

    Afterwards `csrf_field` and `require_csrf` work for this request.
    """
    public_url = server.settings.public_url
    secret = cookie(request, LOGIN, public_url)
    found = None if secret is None else await to_thread.run_sync(server.logins.find, secret)
    if found is None:
        return None
    allow_forms(request, found.csrf, own_origin(request, public_url))
    return found.actor


class _LoginPages:
    def __init__(self, server: LoginServer) -> None:
        self._server, self._public_url = server, server.settings.public_url

    async def show(self, request: Request) -> Response:
        """Show the form, or lead on if somebody is logged in already."""
        wanted = next_path(request.query_params.get("next"))
        if await actor_of_login(self._server, request) is not None:
            return RedirectResponse(wanted, 303)
        if request.headers.get("sec-fetch-site") == "cross-site":
            # The browser left the cookie out, because a page of another site led here. From our own page it sends it.
            return login_page("continue", next=login_path(wanted))
        return self._form(request, wanted)

    async def log_in(self, request: Request) -> Response:
        """Begin a login of the owner of a token. A login of this browser that was there before ends."""
        form, at = await form_of(request), origin_of(request)
        wanted = next_path(form.get("next"))
        try:
            secret = await to_thread.run_sync(self._began, request, form, at)
        except LoginRefusedError as fault:
            return self._form(request, wanted, fault)
        before = cookie(request, LOGIN, self._public_url)
        if before is not None:
            await to_thread.run_sync(self._server.end, before, at)
        answer = RedirectResponse(wanted, 303)
        set_cookie(answer, request, LOGIN, secret, self._public_url)
        remove_cookie(answer, request, FORM, self._public_url)
        return answer

    async def log_out(self, request: Request) -> Response:
        """End the login."""
        form = await form_of(request)
        if await actor_of_login(self._server, request) is not None:
            require_csrf(request, form)
            secret = cookie(request, LOGIN, self._public_url) or ""
            await to_thread.run_sync(self._server.end, secret, origin_of(request))
        answer = RedirectResponse("/login", 303)
        remove_cookie(answer, request, LOGIN, self._public_url)
        return answer

    def _began(self, request: Request, form: dict[str, str], at: LoginOrigin) -> str:
        def attempt() -> str:
            self._require_own_form(request, form)
            return self._server.log_in_with_token(form.get("token", ""), at)

        return self._server.counted("token", at, attempt)

    def _require_own_form(self, request: Request, form: dict[str, str]) -> None:
        known = cookie(request, FORM, self._public_url)
        if known is None:
            raise LoginRefusedError("form", "no cookie of the form")
        allow_forms(request, known, own_origin(request, self._public_url))
        try:
            require_csrf(request, form)
        except PolicyDeniedError as fault:
            raise LoginRefusedError("form", fault.rule) from None

    def _form(self, request: Request, wanted: str, fault: LoginRefusedError | None = None) -> Response:
        value = cookie(request, FORM, self._public_url) or secrets.token_urlsafe(_SECRET_BYTES)
        allow_forms(request, value, own_origin(request, self._public_url))
        oidc = self._server.settings.oidc
        answer = login_page(
            "form",
            status=200 if fault is None else fault.status,
            problem=None if fault is None else fault.sentence,
            next=wanted,
            csrf_field=csrf_field(request),
            issuer=None if oidc is None else oidc.name,
            issuer_path=None if oidc is None else f"{oidc.origin}{login_path(wanted, BEGIN)}",
        )
        set_cookie(answer, request, FORM, value, self._public_url)
        if fault is not None and fault.reason == "limit":
            answer.headers["retry-after"] = _RETRY_SECONDS
        return answer
