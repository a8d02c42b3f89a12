"""Pages of approvals: the questions to people, and one question with its subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from prowess.governance.approving import VoteRefusedError
from prowess.governance.service.approval_items import ApprovalItem, ApprovalQuery, NewVote
from prowess.governance.service.listing import every_item
from prowess.http_server.pages.rendering.page_request import redirect
from prowess.http_server.pages.skill_difference import difference_of
from prowess.policy.approvals.matching import ApprovalState

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.governance.service.approvals import ApprovalService
    from prowess.http_server.pages.rendering.page_request import PageRequest

_STATES = tuple(get_args(ApprovalState))
_LIMIT = 100


def approvals_page(page: PageRequest) -> Response:
    """Show the questions, those that wait first."""
    chosen = page.queries(("state", "skill"))
    query = {"state": chosen.get("state"), "limit": _LIMIT, "cursor": page.query("cursor")}
    found = page.services.approvals().list(msgspec.convert(query, ApprovalQuery))
    items = [one for one in found.items if chosen.get("skill") in (None, one.skill)]
    return page.render(
        "approvals.html",
        chosen=chosen,
        states=(("", "any"), *((state, state) for state in _STATES)),
        items=sorted(items, key=lambda one: one.state != "waiting"),
        next=found.next,
        first=page.query("cursor") is not None,
    )


def approval_page(page: PageRequest) -> Response:
    """Show one question."""
    return _approval(page)


def vote_on_approval(page: PageRequest) -> Response:
    """Give a vote."""
    values = {name: page.field(name) for name in ("vote", "reason", "digest") if page.field(name) is not None}
    new = msgspec.convert(values, NewVote)
    try:
        page.services.approvals().vote(page.path_part("id"), new)
    except VoteRefusedError as fault:
        return _approval(page, problem=fault.reason, status=409)
    return redirect(f"/approvals/{page.path_part('id')}", "vote")


def revoke_approval(page: PageRequest) -> Response:
    """Make every vote about a question void."""
    page.services.approvals().revoke(page.path_part("id"), page.field("reason") or "")
    return redirect(f"/approvals/{page.path_part('id')}", "approval-revoked")


def _approval(page: PageRequest, *, problem: str | None = None, status: int = 200) -> Response:
    service = page.services.approvals()
    one = service.get(page.path_part("id"))
    difference = None
    if one.kind == "skill" and one.digest is not None:
        before = _approved_before(service, one)
        old = None if before is None else page.services.contents(before)
        difference = difference_of(one.digest, page.services.contents(one.digest), before, old)
    return page.render("approval.html", status=status, problem=problem, one=one, difference=difference, form=page.form)


def _approved_before(service: ApprovalService, one: ApprovalItem) -> str | None:
    """Return the digest of the version of the skill that was approved last, None if none was."""
    approved = every_item(service.list, ApprovalQuery(state="approved", kind="skill"))
    others = [other for other in approved if other.skill == one.skill and other.digest != one.digest]
    return max(others, key=lambda other: other.at or "").digest if others else None
