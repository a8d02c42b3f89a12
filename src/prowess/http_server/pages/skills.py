"""Pages of skills: which there are, their versions, and which version sessions choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from prowess.governance.service.skills import SkillQuery

if TYPE_CHECKING:
    from starlette.responses import Response

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
    found = page.services.skills().list(query)
    return page.render(
        "skills.html",
        chosen=chosen,
        skills=found.items,
        next=found.next,
        first=page.query("cursor") is not None,
    )


def skill_page(page: PageRequest) -> Response:
    """Show the versions of one skill and its copies on machines."""
    name = page.request.query_params.get("name", "")
    detail = page.services.skills().get(name)
    if detail is None:
        raise HTTPException(404, "There is no such skill.")
    return page.render("skill.html", skill=detail.skill, copies=detail.copies)
