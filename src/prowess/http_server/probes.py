"""`/healthz`, `/readyz` and `/metrics`. They need no token, and name no skill, no person and no tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from prowess.http_server.metrics import MEDIA_TYPE

if TYPE_CHECKING:
    from starlette.requests import Request

    from prowess.http_server.server import OrganisationServer


def probe_routes(server: OrganisationServer) -> list[Route]:
    """Return the routes of probes."""

    async def live(request: Request) -> Response:
        del request
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> Response:
        del request
        status, document = await server.state()
        return JSONResponse(document, status)

    async def metrics(request: Request) -> Response:
        del request
        _, document = await server.state()
        return Response(server.metrics.text(document.get("checkpoint_age_seconds")), media_type=MEDIA_TYPE)

    return [Route("/healthz", live), Route("/readyz", ready), Route("/metrics", metrics)]
