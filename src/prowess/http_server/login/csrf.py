"""Protection of forms against other sites: a value that only our own pages know, and the header `Origin`.

`csrf_field` is for templates, `require_csrf` for handlers of POST. Both need `allow_forms` before, with the login.
Pages must be sent with `Referrer-Policy: same-origin`: with `no-referrer`, browsers send forms with `Origin: null`.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from markupsafe import Markup

from prowess.errors import PolicyDeniedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

FIELD = "csrf"
_VALUE, _ORIGIN = "prowess.csrf", "prowess.origin"  # keys in the ASGI scope


def allow_forms(request: Request, value: str, origin: str) -> None:
    """Set the value that forms of this request, and of its answer, must have; and the origin of the server."""
    request.scope[_VALUE], request.scope[_ORIGIN] = value, origin


def csrf_field(request: Request) -> Markup:
    """Return the hidden field of a form, empty if the request has no login."""
    value = request.scope.get(_VALUE)
    return Markup("") if value is None else Markup('<input type="hidden" name="{}" value="{}">').format(FIELD, value)


def require_csrf(request: Request, form: Mapping[str, str]) -> None:
    """Check that a form came from a page of this server, shown to the same login.

    Raises:
        PolicyDeniedError: it did not, or no person is logged in.
    """
    value, origin = request.scope.get(_VALUE), request.scope.get(_ORIGIN)
    given = request.headers.get("origin")
    if given is None or origin is None or given.casefold() != origin.casefold():
        raise PolicyDeniedError(
            "origin", f"the form was not sent by a page of {origin}; behind a proxy, start the server with --public-url"
        )
    if value is None or not hmac.compare_digest(value.encode(), form.get(FIELD, "").encode("utf-8", "replace")):
        raise PolicyDeniedError("csrf", "the form belongs to another login; load the page again")
