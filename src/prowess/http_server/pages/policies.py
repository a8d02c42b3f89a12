"""Pages of policies: the rules of each, the form that edits one, and the replay before it is pushed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted
from prowess.errors import ConfigurationError, PolicyDeniedError, PolicyError
from prowess.governance.service.listing import ListQuery
from prowess.governance.service.policies import NewPolicy, PolicyService, PushQuery
from prowess.governance.service.replay import PUSH_DAYS, ReplayRequest, ReplayService
from prowess.http_server.pages.rendering.page_request import redirect

if TYPE_CHECKING:
    from starlette.responses import Response

    from prowess.governance.replay.replay import Replayed
    from prowess.http_server.pages.rendering.page_request import PageRequest


_GATE = "policy.push"  # rule of the refusal by `ReplayService.gate`
_MOST_DIGITS = 12
_EXAMPLE = """\
[[rule]]
id = "reviewed-only"
effect = "deny"
tool = "skills.load"
match = { skill.layer = "project" }
reason = "only reviewed skills are used here"
mode = "monitor" # recorded, not enforced; remove this line to enforce the rule
"""


def policies_page(page: PageRequest) -> Response:
    """Show the policies that hold here."""
    found = PolicyService(page.call).list(ListQuery(cursor=page.query("cursor")))
    return page.render("policies.html", policies=found.items, next=found.next, first=page.query("cursor") is not None)


def new_policy_page(page: PageRequest) -> Response:
    """Show the form of a new policy."""
    page.call.require("administer")
    return _edit(page, "", _EXAMPLE)


def policy_page(page: PageRequest) -> Response:
    """Show the rules and the text of one policy."""
    stored = PolicyService(page.call).get(page.request.query_params.get("name", ""))
    file = PolicyService(page.call).checked(stored.name, NewPolicy(toml=stored.toml))
    return page.render("policy.html", policy=stored, file=file)


def edit_policy_page(page: PageRequest) -> Response:
    """Show the form that edits a policy."""
    page.call.require("administer")
    stored = PolicyService(page.call).get(page.request.query_params.get("name", ""))
    return _edit(page, stored.name, stored.toml)


def check_policy(page: PageRequest) -> Response:
    """Replay the calls of the last 30 days under the text of the form, and push it if that was asked for."""
    page.call.require("administer")
    name, toml = page.field("name") or "", page.form.get("toml", "").replace("\r\n", "\n")
    service = PolicyService(page.call)
    try:
        service.checked(name, NewPolicy(toml=toml))
    except (PolicyError, ConfigurationError) as fault:
        return _edit(page, name, toml, problem="\n".join(fault.problems), status=400)
    if page.field("act") != "push":
        return _edit(page, name, toml, replayed=_replayed(page, name, toml))
    accepted = page.field("accept") or "0"
    if not (accepted.isdecimal() and len(accepted) <= _MOST_DIGITS):
        replayed, problem = _replayed(page, name, toml), "The accepted number is a whole number."
        return _edit(page, name, toml, replayed=replayed, problem=problem, status=400)
    try:
        service.push(name, NewPolicy(toml=toml), PushQuery(accept=int(accepted)))
    except PolicyDeniedError as fault:
        if fault.rule != _GATE:
            raise
        replayed = _replayed(page, name, toml)
        problem = f"{counted(replayed.newly_denied, 'call')} would be newly denied, and {accepted} are accepted."
        return _edit(page, name, toml, replayed=replayed, problem=problem, status=409)
    return redirect("/policies", "policy")


def _replayed(page: PageRequest, name: str, toml: str) -> Replayed:
    since = (datetime.now(UTC) - timedelta(days=PUSH_DAYS)).isoformat()
    return ReplayService(page.call).replay(ReplayRequest(toml=toml, name=name, since=since))


def _edit(page: PageRequest, name: str, toml: str, *, status: int = 200, **values: object) -> Response:
    known: dict[str, object] = {"replayed": None, "problem": None, **values}
    return page.render("policy_edit.html", status=status, name=name, toml=toml, **known)  # type: ignore[arg-type]
