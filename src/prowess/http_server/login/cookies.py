"""Cookies of logins: secrets that no script reads, `Secure` and bound to the host if the browser uses https."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LOGIN = "prowess_login"
FORM = "prowess_form"  # of the login form, before there is a login
ATTEMPT = "prowess_attempt"  # of an attempt at the issuer
_HOST = "__Host-"  # browsers accept the prefix only with Secure, Path=/ and without Domain
_MOST = 200  # characters of a secret


def own_origin(request: Request, public_url: str | None) -> str:
    """Return the origin of this server as the browser knows it."""
    return public_url or f"{request.url.scheme}://{request.headers.get('host', '')}".casefold()


def cookie(request: Request, name: str, public_url: str | None) -> str | None:
    """Return the value of a cookie, None if the request has none."""
    found = request.cookies.get(_name(request, name, public_url))
    return found if found and len(found) <= _MOST else None


def set_cookie(
    response: Response,
    request: Request,
    name: str,
    value: str,
    public_url: str | None,
    *,
    same_site: Literal["strict", "lax"] = "strict",
) -> None:
    """Set a cookie until the browser ends. When a login is over is decided on the server."""
    response.set_cookie(
        _name(request, name, public_url),
        value,
        path="/",
        secure=_is_https(request, public_url),
        httponly=True,
        samesite=same_site,
    )


def remove_cookie(response: Response, request: Request, name: str, public_url: str | None) -> None:
    """Let the browser forget a cookie."""
    response.delete_cookie(
        _name(request, name, public_url),
        path="/",
        secure=_is_https(request, public_url),
        httponly=True,
        samesite="strict",
    )


def _name(request: Request, name: str, public_url: str | None) -> str:
    return f"{_HOST}{name}" if _is_https(request, public_url) else name


def _is_https(request: Request, public_url: str | None) -> bool:
    return urlsplit(own_origin(request, public_url)).scheme == "https"
