"""Routes about questions to people, and their votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from prowess.governance.service.approval_items import ApprovalItem, ApprovalQuery, NewApproval, NewVote
from prowess.governance.service.listing import ListPage
from prowess.http_server.api.route_table import ApiRequest, ApiRoute
from prowess.http_server.call_services import CallServices

if TYPE_CHECKING:
    from prowess.governance.service.approvals import ApprovalService


class RevokeQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why an approval is taken back."""

    reason: Annotated[str, Meta(max_length=4096)] = ""


def _service(asked: ApiRequest) -> ApprovalService:
    return CallServices(asked.call, asked.server.signer).approvals()


APPROVAL_ROUTES = (
    ApiRoute(
        method="GET",
        path="/approvals",
        name="list_approvals",
        summary="Questions whether a skill or a call may be used, the oldest first",
        needs="see",
        handle=lambda asked: _service(asked).list(asked.query),
        query=ApprovalQuery,
        answer=ListPage[ApprovalItem],
    ),
    ApiRoute(
        method="POST",
        path="/approvals",
        name="ask_for_approval",
        summary="Ask people to approve a skill with one digest",
        needs="use",
        handle=lambda asked: _service(asked).add(asked.body),
        body=NewApproval,
        answer=ApprovalItem,
        status=201,
    ),
    ApiRoute(
        method="GET",
        path="/approvals/{id}",
        name="approval",
        summary="A question, with what people are shown and every vote",
        needs="see",
        handle=lambda asked: _service(asked).get(asked.path["id"]),
        answer=ApprovalItem,
    ),
    ApiRoute(
        method="DELETE",
        path="/approvals/{id}",
        name="revoke_approval",
        summary="Make every vote about a question void",
        needs="approve",
        handle=lambda asked: _service(asked).revoke(asked.path["id"], asked.query.reason),
        query=RevokeQuery,
        answer=ApprovalItem,
    ),
    ApiRoute(
        method="POST",
        path="/approvals/{id}/votes",
        name="vote",
        summary="Approve or refuse",
        needs="approve",
        handle=lambda asked: _service(asked).vote(asked.path["id"], asked.body),
        body=NewVote,
        answer=ApprovalItem,
        status=201,
    ),
)
