"""The table of all routes of the interface."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from prowess.http_server.api.openapi import openapi_document
from prowess.http_server.api.route_table import ApiRequest, ApiRoute

_VERSION = "1"


class Me(Struct, frozen=True, kw_only=True):
    """Who the token of a request belongs to. `tenant` is `*` for the organisation."""

    user: str
    team: str | None
    roles: tuple[str, ...]
    tenant: str
    identified_by: str


def _me(asked: ApiRequest) -> Me:
    actor = asked.call.actor
    return Me(
        user=actor.user,
        team=actor.team,
        roles=actor.roles,
        tenant=actor.tenant,
        identified_by=actor.identified_by,
    )


def _openapi(asked: ApiRequest) -> dict[str, Any]:
    del asked
    return openapi_document(ROUTES, _VERSION)


ROUTES: tuple[ApiRoute, ...] = (
    ApiRoute(
        method="GET",
        path="/me",
        name="me",
        summary="Who the token belongs to",
        needs="see",
        handle=_me,
        answer=Me,
    ),
    ApiRoute(
        method="GET",
        path="/openapi.json",
        name="openapi",
        summary="This document",
        needs="see",
        handle=_openapi,
        answer=dict[str, Any],
    ),
)
