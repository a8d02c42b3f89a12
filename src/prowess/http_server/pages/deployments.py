"""The page of deployments: every release with its skills, and the way back to an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from prowess.errors import (
    ApprovalRequiredError,
    DistributionError,
    InvalidSkillError,
    LimitExceededError,
    PolicyDeniedError,
    SkillParseError,
    UnsafePathError,
)
from prowess.governance.service.deployments import NewDeployment, RevokedSkills
from prowess.governance.service.listing import ListQuery
from prowess.http_server.pages.rendering.page_request import redirect

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.responses import Response

    from prowess.governance.service.deployments import DeploymentResult, DeploymentService
    from prowess.http_server.pages.rendering.page_request import PageRequest

_MOST_DIGITS = 9


def deployments_page(page: PageRequest) -> Response:
    """Show the releases, the present one first."""
    return _deployments(page)


def add_deployment(page: PageRequest) -> Response:
    """Deploy the skill in an archive."""
    archive = page.files.get("archive")
    if archive is None:
        return _deployments(page, problem="Choose the archive of a skill; prowess pack writes one.", status=400)
    environments = tuple((page.field("environments") or "").replace(",", " ").split())
    new = NewDeployment(archives=(archive,), environments=environments)
    return _published(page, lambda service: service.add(new))


def revoke_skill(page: PageRequest) -> Response:
    """Take a skill away from every machine."""
    revoked = RevokedSkills(skills=(page.form.get("skill", ""),))
    return _published(page, lambda service: service.revoke(revoked))


def roll_back(page: PageRequest) -> Response:
    """Go back to an earlier release."""
    number = page.path_part("number")
    if not (number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS):
        raise HTTPException(404, "There is no such release.")
    return _published(page, lambda service: service.roll_back(int(number)))


def _published(page: PageRequest, change: Callable[[DeploymentService], DeploymentResult]) -> Response:
    """Make a change, or show why it was refused: by a check, by the policy, or because an approval is missing."""
    try:
        change(page.services.deployments())
    except PolicyDeniedError as fault:
        if fault.rule.startswith("roles."):
            raise
        return _deployments(page, problem=str(fault), status=403)
    except (DistributionError, InvalidSkillError, SkillParseError, ApprovalRequiredError) as fault:
        return _deployments(page, problem=str(fault), status=409)
    except (LimitExceededError, UnsafePathError) as fault:
        return _deployments(page, problem=str(fault), status=400)
    return redirect("/deployments", "deployment")


def _deployments(page: PageRequest, *, problem: str | None = None, status: int = 200) -> Response:
    found = page.services.deployments().list(ListQuery(cursor=page.query("cursor"), limit=20))
    return page.render(
        "deployments.html",
        status=status,
        problem=problem,
        releases=found.items,
        next=found.next,
        first=page.query("cursor") is not None,
    )
