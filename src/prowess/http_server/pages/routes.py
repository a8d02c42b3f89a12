"""Routes of the pages, and the page of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from prowess.http_server.server import OrganisationServer


def page_routes(server: OrganisationServer) -> list[BaseRoute]:
    """Return the routes of the pages."""
    del server
    return []


def error_page(request: Request, status: int, message: str) -> Response:
    """Return the page of an error outside of `/api`."""
    del request
    return PlainTextResponse(f"{message}\n", status)
