"""authlib's OAuth client over the HTTP client of Prowess: authorization requests, and token requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import msgspec
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.client import OAuth2Client

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.distribution.sources.http.client import HttpClient, HttpResponse
    from prowess.http_server.login.oidc.settings import OidcSettings

_MOST_BYTES = 256 * 1024


def oauth_client(settings: OidcSettings, http: HttpClient | None = None) -> Any:  # noqa: ANN401 -- authlib has no types
    """Return authlib's client for an issuer. Without `http`, it makes URLs and sends nothing."""
    return OAuth2Client(
        _Session(http),
        client_id=settings.client_id,
        scope=" ".join(("openid", *settings.scopes)),
        redirect_uri=settings.redirect_uri,
        code_challenge_method="S256",
    )


def client_authentication(settings: OidcSettings) -> Any:  # noqa: ANN401 -- as above
    """Return how this server proves at the token endpoint who it is."""
    if settings.client_secret is None:
        return ClientAuth(settings.client_id, None, "none")
    if settings.client_auth == "post":
        return ClientAuth(settings.client_id, settings.client_secret, "client_secret_post")
    # RFC 6749, section 2.3.1: both are encoded before they are joined, which authlib leaves to its caller.
    name, secret = (quote(text, safe="") for text in (settings.client_id, settings.client_secret))
    return ClientAuth(name, secret, "client_secret_basic")


class _Session:
    """The part of a session of `requests` that authlib uses."""

    def __init__(self, http: HttpClient | None) -> None:
        self._http = http

    def post(self, url: str, data: Mapping[str, str], headers: Mapping[str, str], auth: Any) -> _Answer:  # noqa: ANN401 -- as above
        assert self._http is not None  # noqa: S101 -- for the type checker: this client sends nothing without it
        url, sent, body = auth.prepare("POST", url, dict(headers), urlencode(data))
        sent.setdefault("Authorization", "")  # none of the user's own credentials for this host
        return _Answer(self._http.request("POST", url, most=_MOST_BYTES, headers=sent, content=body.encode()))


class _Answer:
    """The part of a response of `requests` that authlib uses."""

    def __init__(self, response: HttpResponse) -> None:
        self.status_code, self._response = response.status, response

    def json(self) -> object:
        return msgspec.json.decode(self._response.body)

    def raise_for_status(self) -> None:
        self._response.require_success("token request")
