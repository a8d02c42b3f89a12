"""The table of all routes of the interface."""

from __future__ import annotations

from typing import Any

from prowess import __version__
from prowess.http_server.api.approvals import APPROVAL_ROUTES
from prowess.http_server.api.decisions import DECISION_ROUTES
from prowess.http_server.api.deployments import DEPLOYMENT_ROUTES
from prowess.http_server.api.event_stream import EVENT_ROUTES
from prowess.http_server.api.log import LOG_ROUTES
from prowess.http_server.api.machines import MACHINE_ROUTES
from prowess.http_server.api.openapi import openapi_document
from prowess.http_server.api.people import PEOPLE_ROUTES
from prowess.http_server.api.route_table import ApiRequest, ApiRoute
from prowess.http_server.api.skills import SKILL_ROUTES


def _openapi(asked: ApiRequest) -> dict[str, Any]:
    del asked
    return openapi_document(ROUTES, __version__)


ROUTES: tuple[ApiRoute, ...] = (
    ApiRoute(
        method="GET",
        path="/openapi.json",
        name="openapi",
        summary="This document",
        needs="see",
        handle=_openapi,
        answer=dict[str, Any],
    ),
    *PEOPLE_ROUTES,
    *APPROVAL_ROUTES,
    *DECISION_ROUTES,
    *LOG_ROUTES,
    *EVENT_ROUTES,
    *MACHINE_ROUTES,
    *DEPLOYMENT_ROUTES,
    *SKILL_ROUTES,
)
