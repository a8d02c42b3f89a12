"""The page of tokens: those that were given, and the form that gives one. A token is shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prowess.governance.service.listing import ListQuery
from prowess.governance.service.tokens import TokenRequest, TokenService
from prowess.http_server.pages.rendering.page_request import redirect
from prowess.policy.roles import ROLES

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.http_server.pages.rendering.page_request import PageRequest

_SPANS = (("1d", "1 day"), ("30d", "30 days"), ("90d", "90 days"), ("365d", "1 year"), ("", "never"))


def tokens_page(page: PageRequest) -> Response:
    """Show the tokens of the tenant, without their texts."""
    return _tokens(page)


def add_token_page(page: PageRequest) -> Response:
    """Give a token, and show its text this once: it is in no address, and a reload gives another one."""
    asked = {name: page.field(name) for name in ("user", "role", "team", "expires")}
    given = {name: value for name, value in asked.items() if value is not None}
    made = TokenService(page.call).add(msgspec.convert(given, TokenRequest))
    return _tokens(page, made.token)


def remove_token(page: PageRequest) -> Response:
    """Remove a token."""
    TokenService(page.call).remove(page.path_part("id"))
    return redirect("/tokens", "token-removed")


def _tokens(page: PageRequest, text: str | None = None) -> Response:
    found = TokenService(page.call).list(ListQuery(cursor=page.query("cursor")))
    return page.render(
        "tokens.html",
        text=text,
        form=page.form,
        roles=tuple((role, role) for role in (*ROLES, "machine")),
        spans=_SPANS,
        tokens=found.items,
        next=found.next,
        first=page.query("cursor") is not None,
    )
