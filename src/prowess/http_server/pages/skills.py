"""Pages of skills: which there are, their versions, and which version sessions choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.distribution.deployment.store_releases import present_deployments
from prowess.governance.service.approvals import ApprovalQuery, ApprovalService
from prowess.governance.service.listing import MOST_ITEMS
from prowess.governance.service.skills import SkillQuery, SkillService
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.governance.service.service_call import ServiceCall
    from prowess.http_server.pages.page_request import PageRequest

_LIMIT = 100


def skills_page(page: PageRequest) -> Response:
    """Show the skills that match."""
    chosen = page.queries(("text", "deployed"))
    query = SkillQuery(
        text=chosen.get("text"),
        deployed=True if "deployed" in chosen else None,
        cursor=page.query("cursor"),
        limit=_LIMIT,
    )
    found = skill_service(page.call).list(query)
    return page.render(
        "skills.html",
        chosen=chosen,
        skills=found.items,
        answers=_answers(page.call),
        next=found.next,
        first=page.query("cursor") is not None,
    )


def skill_page(page: PageRequest) -> Response:
    """Show the versions of one skill and its copies on machines."""
    detail = skill_service(page.call).get(page.request.query_params.get("name", ""))
    return page.render("skill.html", skill=detail.skill, copies=detail.copies, answers=_answers(page.call))


def skill_service(call: ServiceCall) -> SkillService:
    """Return the skills of the tenant of a call."""
    return SkillService(call, present_deployments(call.database))


def skill_names(call: ServiceCall) -> tuple[str, ...]:
    """Return the names of skills that could be chosen: those that are deployed or on a machine."""
    return tuple(skill.name for skill in skill_service(call).list(SkillQuery(limit=MOST_ITEMS)).items)


def _answers(call: ServiceCall) -> dict[str, str]:
    """Return the state of the questions to people by the digest of the skill."""
    if call.tenant == EVERY:  # approvals belong to one tenant
        return {}
    found = ApprovalService(call).list(ApprovalQuery(kind="skill", limit=MOST_ITEMS)).items
    return {one.digest: one.state for one in found if one.digest is not None}
