"""One route of the interface as data: how it is called, by whom, and its input and output.

Routing, decoding, the check of roles, the OpenAPI document and the tests of roles all read these values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Struct

from prowess.policy.roles import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    from prowess.governance.service.service_call import Actor, ServiceCall
    from prowess.http_server.server import OrganisationServer

HttpMethod = Literal["GET", "POST", "PUT", "DELETE"]
# Beside operations of roles: `see` is permitted to every person, `machine` to enrolled machines alone, and `fetch` to
# them and to those who administer.
Needs = Operation | Literal["see", "machine", "fetch"]
TenantName = Annotated[str, Meta(pattern=r"^(\*|[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?)$")]
MOST_BYTES = 2 * 1024 * 1024
ROLES = ("viewer", "user", "author", "approver", "administrator", "machine")


class NoQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The query of a route without parameters of its own."""


class TenantQuery(Struct, frozen=True, kw_only=True):
    """What every route takes beside its own query. `tenant` is for actors of the organisation."""

    tenant: TenantName | None = None


class ApiRequest(Struct, frozen=True, kw_only=True):
    """A request that was decoded. `query` and `body` have the types of the route."""

    server: OrganisationServer
    call: ServiceCall
    request: Request
    path: Mapping[str, str]
    query: Any
    body: Any


class ApiRoute(Struct, frozen=True, kw_only=True):
    """A route below `/api/v1`. `handle` runs in a worker thread; it returns the answer's value or a Response.

    `body` is a msgspec type for JSON, `bytes` for a file, or None. `answer` is the type of the JSON answer; `media` is
    its media type if it is no JSON. `most` limits the body in bytes.
    """

    method: HttpMethod
    path: str
    name: str
    summary: str
    needs: Needs
    handle: Callable[[ApiRequest], object]
    query: type[Struct] = NoQuery
    body: Any = None
    answer: Any = None
    media: str | None = None
    status: int = 200
    most: int = MOST_BYTES


def may_call(route: ApiRoute, actor: Actor) -> bool:
    """Return whether a role of the actor permits a route."""
    match route.needs:
        case "machine":
            return actor.is_machine
        case "fetch":
            return actor.is_machine or actor.may("administer")
        case "see":
            return any(role != "machine" for role in actor.roles)
        case operation:
            return actor.may(operation)


def require_role(route: ApiRoute, call: ServiceCall) -> None:
    """Refuse a call that no role permits, and record that. Raises PolicyDeniedError or AuditError."""
    if may_call(route, call.actor):
        return
    match route.needs:
        case "machine" | "fetch":
            call.require_machine()
        case "see":
            call.require_person()
        case operation:
            call.require(operation)
