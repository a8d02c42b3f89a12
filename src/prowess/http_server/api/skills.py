"""Routes about skills: which there are, and every copy of them on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.distribution.deployment.store_releases import present_deployments
from prowess.governance.service.access import AccessAnswer, AccessQuery, AccessService
from prowess.governance.service.inventory import InventoryQuery, InventoryService, SkillCopy
from prowess.governance.service.listing import ListPage
from prowess.governance.service.skills import SkillDetail, SkillQuery, SkillService, SkillSummary
from prowess.http_server.api.route_table import ApiRoute

if TYPE_CHECKING:
    from prowess.http_server.api.route_table import ApiRequest


def _service(asked: ApiRequest) -> SkillService:
    return SkillService(asked.call, present_deployments(asked.call.database))


def _access(asked: ApiRequest) -> AccessAnswer:
    return AccessService(asked.call, present_deployments(asked.call.database)).explain(asked.query)


SKILL_ROUTES = (
    ApiRoute(
        method="GET",
        path="/access",
        name="access",
        summary="Whether a person may use a skill, step by step",
        needs="see",
        handle=_access,
        query=AccessQuery,
        answer=AccessAnswer,
    ),
    ApiRoute(
        method="GET",
        path="/skills",
        name="list_skills",
        summary="Skills that are deployed or that a machine has",
        needs="see",
        handle=lambda asked: _service(asked).list(asked.query),
        query=SkillQuery,
        answer=ListPage[SkillSummary],
    ),
    ApiRoute(
        method="GET",
        path="/skills/{name}",
        name="skill",
        summary="A skill, with its copies on machines",
        needs="see",
        handle=lambda asked: _service(asked).get(asked.path["name"]),
        answer=SkillDetail,
    ),
    ApiRoute(
        method="GET",
        path="/inventory",
        name="inventory",
        summary="Every copy of every skill on every machine",
        needs="audit",
        handle=lambda asked: InventoryService(asked.call).list(asked.query),
        query=InventoryQuery,
        answer=ListPage[SkillCopy],
    ),
)
