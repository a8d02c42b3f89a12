"""Pages of skills: which there are, their versions, and which version sessions choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.catalog.layers import Layer
from prowess.distribution.deployment.store_releases import present_deployments
from prowess.governance.service.approvals import ApprovalService
from prowess.governance.service.listing import MOST_ITEMS
from prowess.governance.service.skills import SkillQuery, SkillService
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response

    from prowess.governance.service.service_call import ServiceCall
    from prowess.governance.service.skills import SkillSummary
    from prowess.http_server.pages.rendering.page_request import Fields, PageRequest
    from prowess.http_server.skill_texts import SkillText
    from prowess.policy.approvals.matching import ApprovalState

_LIMIT = 100


def skills_page(page: PageRequest) -> Response:
    """Show the skills that match. Tags are those of deployed skills, layers those of copies on machines."""
    chosen = page.queries(("text", "tag", "layer", "deployed"))
    is_narrow = "tag" in chosen or "layer" in chosen
    query = SkillQuery(
        text=chosen.get("text"),
        deployed=True if "deployed" in chosen else None,
        cursor=page.query("cursor"),
        limit=MOST_ITEMS if is_narrow else _LIMIT,
    )
    found = skill_service(page.call).list(query)
    texts = page.server.skill_texts.present(page.services)
    shown = [skill for skill in found.items if _fits(skill, chosen, texts)]
    return page.render(
        "skills.html",
        chosen=chosen,
        skills=shown,
        texts=texts,
        layers=(("", "any"), *((layer.value, layer.value) for layer in Layer)),
        answers=_answers(page.call, shown),
        next=found.next,
        first=page.query("cursor") is not None,
    )


def skill_page(page: PageRequest) -> Response:
    """Show the versions of one skill and its copies on machines."""
    detail = skill_service(page.call).get(page.request.query_params.get("name", ""))
    texts = page.server.skill_texts.present(page.services)
    shown = next((texts[one.digest] for one in detail.skill.versions if one.digest in texts), None)
    answers = _answers(page.call, [detail.skill])
    return page.render("skill.html", skill=detail.skill, copies=detail.copies, text=shown, answers=answers)


def _fits(skill: SkillSummary, chosen: Fields, texts: Mapping[str, SkillText]) -> bool:
    tags = {tag.casefold() for one in skill.versions if one.digest in texts for tag in texts[one.digest].tags}
    layers = {layer for one in skill.versions for layer in one.layers}
    return chosen["tag"].casefold() in {"", *tags} and chosen["layer"] in {"", *layers}


def skill_service(call: ServiceCall) -> SkillService:
    """Return the skills of the tenant of a call."""
    return SkillService(call, present_deployments(call.database))


def _answers(call: ServiceCall, skills: Sequence[SkillSummary]) -> dict[str, ApprovalState]:
    """Return the state of the questions to people about the versions of these skills, by digest."""
    if call.tenant == EVERY:  # approvals belong to one tenant
        return {}
    return ApprovalService(call).states({version.digest for skill in skills for version in skill.versions})
