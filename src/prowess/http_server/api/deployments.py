"""Routes about deployed skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.governance.service.deployments import (
    Deployment,
    DeploymentResult,
    DeploymentService,
    DeprecatedSkill,
    NewDeployment,
    RevokedSkills,
    WantedRelease,
)
from prowess.governance.service.listing import ListPage, ListQuery, NoSuchItemError
from prowess.http_server.api.route_table import ApiRoute

if TYPE_CHECKING:
    from prowess.http_server.api.route_table import ApiRequest

_MOST_ARCHIVE = 64 * 1024 * 1024
_MOST_DIGITS = 9


class NewDeploymentQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`environment` may be given more than once; without it, every machine gets the skills."""

    environment: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=256)], ...], Meta(max_length=100)] = ()


def _service(asked: ApiRequest) -> DeploymentService:
    signer = asked.server.signer
    return DeploymentService(asked.call, StoreReleases(asked.call, None if signer is None else signer.key))


def _add(asked: ApiRequest) -> DeploymentResult:
    return _service(asked).add(NewDeployment(archives=(asked.body,), environments=asked.query.environment))


def _release(asked: ApiRequest) -> Deployment:
    text = asked.path["number"]
    if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
        raise NoSuchItemError(kind="release", id=text)
    return _service(asked).get(int(text))


DEPLOYMENT_ROUTES = (
    ApiRoute(
        method="GET",
        path="/deployments",
        name="list_deployments",
        summary="Releases of deployed skills, the present one first",
        needs="see",
        handle=lambda asked: _service(asked).list(asked.query),
        query=ListQuery,
        answer=ListPage[Deployment],
    ),
    ApiRoute(
        method="GET",
        path="/deployments/{number}",
        name="deployment",
        summary="A release",
        needs="see",
        handle=_release,
        answer=Deployment,
    ),
    ApiRoute(
        method="POST",
        path="/deployments",
        name="deploy",
        summary="Deploy the skills of an archive: SKILL.md at its root, or several skills in folders",
        needs="deploy",
        handle=_add,
        query=NewDeploymentQuery,
        body=bytes,
        answer=DeploymentResult,
        status=201,
        most=_MOST_ARCHIVE,
    ),
    ApiRoute(
        method="POST",
        path="/deployments/revoke",
        name="revoke_skills",
        summary="Take skills away from every machine",
        needs="deploy",
        handle=lambda asked: _service(asked).revoke(asked.body),
        body=RevokedSkills,
        answer=DeploymentResult,
        status=201,
    ),
    ApiRoute(
        method="POST",
        path="/deployments/deprecate",
        name="deprecate_skill",
        summary="Mark a deployed skill as deprecated",
        needs="deploy",
        handle=lambda asked: _service(asked).deprecate(asked.body),
        body=DeprecatedSkill,
        answer=DeploymentResult,
        status=201,
    ),
    ApiRoute(
        method="POST",
        path="/deployments/rollback",
        name="roll_back_deployment",
        summary="Go back to an earlier release",
        needs="deploy",
        handle=lambda asked: _service(asked).roll_back(asked.body.release),
        body=WantedRelease,
        answer=DeploymentResult,
        status=201,
    ),
)
