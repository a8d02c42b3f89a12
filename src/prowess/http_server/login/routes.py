"""Routes of logins, and the actor of a login."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from prowess.governance.service.service_call import Actor
    from prowess.http_server.server import OrganisationServer


def login_routes(server: OrganisationServer) -> list[BaseRoute]:
    """Return the routes of logins."""
    del server
    return []


async def actor_of_login(server: OrganisationServer, request: Request) -> Actor | None:
    """Return who is logged in with the cookie of a request, None without a valid one. Raises StoreError."""
    del server, request
    return None
