"""Routes of a login by the issuer.

`GET /login/oidc` begins an attempt and sends the browser to the issuer. The issuer sends it back to
`GET /login/oidc/callback`, which answers with a page of our own that continues: a browser that comes from another
site does not send a `SameSite=Strict` cookie with a redirect, but does with a step that our own page makes. The cookie
of the attempt is `Lax`, so it is sent with the way back. An attempt holds for ten minutes.
"""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Route

from prowess.http_server.login.browser_logins import browser_digest
from prowess.http_server.login.cookies import ATTEMPT, FORM, LOGIN, cookie, remove_cookie, set_cookie
from prowess.http_server.login.login_pages import login_page
from prowess.http_server.login.login_server import origin_of
from prowess.http_server.login.next_path import next_path
from prowess.http_server.login.oidc.issuer_person import person_of_claims
from prowess.http_server.login.oidc.settings import CALLBACK
from prowess.http_server.login.refusals import LoginRefusedError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from prowess.governance.login_log import LoginOrigin
    from prowess.http_server.login.login_server import LoginServer
    from prowess.http_server.login.oidc.issuer import Issuer

BEGIN = "/login/oidc"
_SECRET_BYTES = 48
_MOST_THREADS = 2  # that wait for the issuer; beside those of the server, so a slow issuer blocks nothing else
_MOST = 4000  # characters of a code or a state


def issuer_routes(server: LoginServer, issuer: Issuer) -> list[BaseRoute]:
    """Return the routes of logins by an issuer."""
    pages = _IssuerPages(server, issuer)
    return [Route(BEGIN, pages.begin, methods=["GET"]), Route(CALLBACK, pages.finish, methods=["GET"])]


class _IssuerPages:
    def __init__(self, server: LoginServer, issuer: Issuer) -> None:
        self._server, self._issuer = server, issuer
        self._public_url = server.settings.public_url
        self._threads = CapacityLimiter(_MOST_THREADS)

    async def begin(self, request: Request) -> Response:
        """Send the browser to the issuer."""
        _require_navigation(request)
        browser, at = secrets.token_urlsafe(_SECRET_BYTES), origin_of(request)
        wanted = next_path(request.query_params.get("next"))
        try:
            url = await to_thread.run_sync(self._begun, browser, wanted, at, limiter=self._threads)
        except LoginRefusedError as fault:
            return refused(fault)
        answer = RedirectResponse(url, 303)
        set_cookie(answer, request, ATTEMPT, browser, self._public_url, same_site="lax")
        return answer

    async def finish(self, request: Request) -> Response:
        """Log in who comes back from the issuer."""
        _require_navigation(request)
        browser, at = cookie(request, ATTEMPT, self._public_url), origin_of(request)
        try:
            query = dict(request.query_params)
            secret, wanted = await to_thread.run_sync(self._finished, query, browser, at, limiter=self._threads)
        except LoginRefusedError as fault:
            answer = refused(fault)
        else:
            answer = login_page("continue", next=wanted)
            set_cookie(answer, request, LOGIN, secret, self._public_url)
            remove_cookie(answer, request, FORM, self._public_url)
        remove_cookie(answer, request, ATTEMPT, self._public_url)
        return answer

    def _begun(self, browser: str, wanted: str, at: LoginOrigin) -> str:
        self._server.count_beginning(at)
        nonce, verifier = secrets.token_urlsafe(_SECRET_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
        state = self._server.logins.attempt(browser, nonce=nonce, verifier=verifier, next_path=wanted)
        try:
            return self._issuer.authorization_url(state=state, nonce=nonce, verifier=verifier)
        except LoginRefusedError as fault:
            self._server.log.failed("oidc", fault.reason, fault.detail, at)
            raise

    def _finished(self, query: dict[str, str], browser: str | None, at: LoginOrigin) -> tuple[str, str]:
        return self._server.counted("oidc", at, lambda: self._logged_in(query, browser, at))

    def _logged_in(self, query: dict[str, str], browser: str | None, at: LoginOrigin) -> tuple[str, str]:
        state = query.get("state", "")
        attempt = self._server.logins.take_attempt(state) if 0 < len(state) <= _MOST else None
        if attempt is None:
            raise LoginRefusedError("state", "unknown, used or too old")
        if browser is None or not hmac.compare_digest(browser_digest(browser), attempt.browser):
            raise LoginRefusedError("state", "of another browser")
        self._require_own_issuer(query.get("iss"))
        if "error" in query:
            raise LoginRefusedError("denied", query["error"][:50])
        code = query.get("code", "")
        if not 0 < len(code) <= _MOST:
            raise LoginRefusedError("code", "none")
        claims = self._issuer.claims(code, verifier=attempt.verifier, nonce=attempt.nonce)
        person = person_of_claims(claims, self._issuer.settings, self._server.tenants())
        return self._server.begin(person, "oidc", at), attempt.next_path

    def _require_own_issuer(self, named: str | None) -> None:
        """Check the issuer that the answer names (RFC 9207): it may be an answer for somebody else's client."""
        is_named = self._issuer.names_itself()
        if (named is None and is_named) or named not in {None, self._issuer.settings.issuer}:
            raise LoginRefusedError("issuer", "the answer names another issuer, or none")


def _require_navigation(request: Request) -> None:
    """Refuse what is no page in a window: a picture of another site would count as a failure of its visitor."""
    if request.headers.get("sec-fetch-dest", "document") != "document":
        raise HTTPException(403, "this address is for a window of its own")


def refused(fault: LoginRefusedError) -> Response:
    """Return the page about a refused login."""
    return login_page("refused", status=fault.status, problem=fault.sentence)
