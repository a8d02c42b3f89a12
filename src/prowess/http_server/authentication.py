"""Who sends a request to the server of an organisation: the owner of a token, or of the login of a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyio import to_thread

from prowess.http_server.login.routes import actor_of_login

if TYPE_CHECKING:
    from starlette.requests import Request

    from prowess.governance.service.service_call import Actor
    from prowess.http_server.server import OrganisationServer

_ACTOR = "prowess.actor"  # key in the ASGI scope


async def authenticate(server: OrganisationServer, request: Request) -> Actor | None:
    """Return who sends a request, None without a valid token or login. The store is asked once for each request.

    If there is a header `Authorization`, the login does not count.

    Raises:
        StoreError: the store cannot be used.
    """
    if _ACTOR not in request.scope:
        request.scope[_ACTOR] = await present_actor(server, request)
    actor: Actor | None = request.scope[_ACTOR]
    return actor


async def present_actor(server: OrganisationServer, request: Request) -> Actor | None:
    """Ask the store again, for a request that takes long: the token may have been removed. Raises StoreError."""
    given = request.headers.get("authorization")
    if given is None:
        return await actor_of_login(server.logins, request)
    kind, _, text = given.partition(" ")
    if kind.casefold() != "bearer" or not text.strip():
        return None
    return await to_thread.run_sync(server.owner, text.strip())
