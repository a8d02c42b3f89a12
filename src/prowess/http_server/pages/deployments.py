"""The page of deployments: every release, what is in it, and the way back to an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from prowess.errors import DistributionError, PolicyDeniedError
from prowess.governance.service.deployments import RevokedSkills
from prowess.governance.service.listing import ListQuery
from prowess.http_server.pages.page_request import redirect

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.http_server.pages.page_request import PageRequest


def deployments_page(page: PageRequest) -> Response:
    """Show the releases, the present one first."""
    return _deployments(page)


def revoke_skill(page: PageRequest) -> Response:
    """Take a skill away from every machine."""
    try:
        page.services.deployments().revoke(RevokedSkills(skills=(page.form.get("skill", ""),)))
    except DistributionError as fault:
        if isinstance(fault, PolicyDeniedError):
            raise
        return _deployments(page, problem=str(fault), status=409)
    return redirect("/deployments", "deployment")


def roll_back(page: PageRequest) -> Response:
    """Go back to an earlier release."""
    number = page.path_part("number")
    if not number.isdecimal():
        raise HTTPException(404, "There is no such release.")
    try:
        page.services.deployments().roll_back(int(number))
    except DistributionError as fault:
        return _deployments(page, problem=str(fault), status=409)
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
