"""Routes about people and programs: who asks, tokens, and sessions."""

from __future__ import annotations

from msgspec import Struct

from prowess.governance.service.listing import ListPage, ListQuery
from prowess.governance.service.sessions import (
    SessionEventQuery,
    SessionEventRow,
    SessionQuery,
    SessionService,
    StoredSession,
)
from prowess.governance.service.tokens import GivenToken, TokenRequest, TokenService
from prowess.http_server.api.route_table import ApiRequest, ApiRoute
from prowess.store.protocols import Token


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
        identified_by=actor.identified_by or "token",
    )


PEOPLE_ROUTES = (
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
        path="/tokens",
        name="list_tokens",
        summary="Tokens, the oldest first, without their texts",
        needs="administer",
        handle=lambda asked: TokenService(asked.call).list(asked.query),
        query=ListQuery,
        answer=ListPage[Token],
    ),
    ApiRoute(
        method="POST",
        path="/tokens",
        name="add_token",
        summary="A new token, which is shown this once",
        needs="administer",
        handle=lambda asked: TokenService(asked.call).add(asked.body),
        body=TokenRequest,
        answer=GivenToken,
        status=201,
    ),
    ApiRoute(
        method="DELETE",
        path="/tokens/{id}",
        name="remove_token",
        summary="Remove a token",
        needs="administer",
        handle=lambda asked: TokenService(asked.call).remove(asked.path["id"]),
    ),
    ApiRoute(
        method="GET",
        path="/sessions",
        name="list_sessions",
        summary="Sessions, the newest first",
        needs="audit",
        handle=lambda asked: SessionService(asked.call).list(asked.query),
        query=SessionQuery,
        answer=ListPage[StoredSession],
    ),
    ApiRoute(
        method="GET",
        path="/sessions/{id}",
        name="session",
        summary="A session",
        needs="audit",
        handle=lambda asked: SessionService(asked.call).get(asked.path["id"]),
        answer=StoredSession,
    ),
    ApiRoute(
        method="GET",
        path="/sessions/{id}/events",
        name="list_session_events",
        summary="Events of a session, in their order",
        needs="audit",
        handle=lambda asked: SessionService(asked.call).events(asked.path["id"], asked.query),
        query=SessionEventQuery,
        answer=ListPage[SessionEventRow],
    ),
)
