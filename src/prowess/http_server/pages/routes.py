"""Routes of the pages, and the page of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from prowess.http_server.pages import (
    activity,
    approvals,
    audit,
    blocks,
    deployments,
    machines,
    policies,
    sessions,
    skill_form,
    skills,
    tokens,
    usage,
)
from prowess.http_server.pages.rendering import error_pages
from prowess.http_server.pages.rendering.page_request import choose_tenant, home_page, login_redirect, served
from prowess.http_server.pages.rendering.static_files import STATIC, static_file

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from prowess.http_server.pages.rendering.page_request import Page
    from prowess.http_server.server import OrganisationServer

PAGES: tuple[tuple[str, Page], ...] = (
    ("/", home_page),
    ("/activity", activity.activity_page),
    ("/approvals", approvals.approvals_page),
    ("/approvals/{id}", approvals.approval_page),
    ("/audit", audit.audit_page),
    ("/audit/export", audit.export_download),
    ("/audit/{number}", audit.record_page),
    ("/blocks", blocks.blocks_page),
    ("/deployments", deployments.deployments_page),
    ("/machines", machines.machines_page),
    ("/machines/{id}", machines.machine_page),
    ("/policies", policies.policies_page),
    ("/policies/new", policies.new_policy_page),
    ("/policies/one", policies.policy_page),
    ("/policies/edit", policies.edit_policy_page),
    ("/sessions", sessions.sessions_page),
    ("/sessions/one", sessions.session_page),
    ("/skills", skills.skills_page),
    ("/skills/one", skills.skill_page),
    ("/tokens", tokens.tokens_page),
    ("/usage", usage.usage_page),
    ("/usage/export", usage.usage_download),
    ("/write", skill_form.skill_form_page),
)
FORMS: tuple[tuple[str, Page], ...] = (
    ("/approvals/{id}/revoke", approvals.revoke_approval),
    ("/approvals/{id}/vote", approvals.vote_on_approval),
    ("/blocks", blocks.add_block),
    ("/blocks/{id}/remove", blocks.remove_block),
    ("/deployments", deployments.add_deployment),
    ("/deployments/revoke", deployments.revoke_skill),
    ("/deployments/{number}/rollback", deployments.roll_back),
    ("/machines/{id}/remove", machines.remove_machine),
    ("/policies/check", policies.check_policy),
    ("/tenant", choose_tenant),
    ("/tokens", tokens.add_token_page),
    ("/tokens/{id}/remove", tokens.remove_token),
    ("/write", skill_form.skill_form_page),
    ("/write/findings", skill_form.skill_findings_part),
    ("/write/download", skill_form.skill_download),
)


def page_routes(server: OrganisationServer) -> list[BaseRoute]:
    """Return the routes of the pages."""
    return [
        Route(f"{STATIC}/{{name}}", static_file),
        Route("/activity/live", activity.activity_stream(server)),
        *(Route(path, served(server, page), methods=["GET"]) for path, page in PAGES),
        *(Route(path, served(server, page), methods=["POST"]) for path, page in FORMS),
    ]


def error_page(request: Request, status: int, message: str) -> Response:
    """Return the page of an error outside of `/api`."""
    if status == 401:  # noqa: PLR2004 -- the status
        return login_redirect(request)
    return error_pages.error_page(status, message)
