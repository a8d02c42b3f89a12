"""`prowess access`: explains step by step whether a person may use a skill, and which change would turn the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from prowess._internal.process_user import groups_of_user, login
from prowess._internal.text.terminal_text import printable_line, wrapped
from prowess.cli import exit_codes, output
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import policy_option
from prowess.cli.options.skill_completion import complete_skill
from prowess.governance.access import explain_access
from prowess.policy.policy_in_force import PolicyInForce
from prowess.policy.roles import GROUP
from prowess.runtime.activation.skill_identities import of_entry
from prowess.runtime.activation.visibility import start_of
from prowess.runtime.identity import caller_of, requester_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog
    from prowess.governance.access import AccessExplanation
    from prowess.policy.facts.requester import Requester

_SAID = {"allow": "may use", "ask": "may use, if a person approves,", "deny": "may not use"}


@click.command()
@click.argument("name", shell_complete=complete_skill)
@click.option("--user", metavar="U", help="Whose access; defaults to yours.")
@click.option("--team", "teams", multiple=True, metavar="T", help="A team of this person. Repeatable.")
@click.option("--role", "roles", multiple=True, metavar="R", help="A role for rules about who.role. Repeatable.")
@catalog_options
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    *,
    name: str,
    user: str | None,
    teams: tuple[str, ...],
    roles: tuple[str, ...],
    skills: CatalogOptions,
    policy_file: str | None,
    as_json: bool,
) -> int:
    """Explain whether a person may use the skill NAME: layer, scope, trust, block, role, approval, scan, rule.

    The last lines name the smallest change that would turn the decision. A team or role that is not given is not
    known: rules that deny or ask about it apply.

    The exit code is 0 if the question was answered, whatever the answer is.

    Example: prowess access csv-report --root examples/skills --user ada --team web
    """
    catalog = skills.open(quiet=as_json, one=True)
    found, who = catalog.why(name), _requester(catalog, user, teams, roles)
    policy = PolicyInForce(policy_file=policy_file, who=who).now()
    call = None
    if found.winner is not None:
        call = replace(start_of(of_entry(found.winner, catalog, policy), "model"), who=who)
    access = explain_access(found, call, policy)
    person = who["user"][0] if who.get("user") else None
    if as_json:
        output.document({"skill": found.name, "user": person, "teams": teams, "roles": roles, **_document(access)})
        return exit_codes.OK
    room = output.width()
    for line in _lines(access, f"{person or 'an unknown user'} {_SAID[access.effect]} {found.name}"):
        for part in wrapped(printable_line(line), room, "      "):
            output.line(part)
    return exit_codes.OK


def _requester(catalog: Catalog, user: str | None, teams: tuple[str, ...], roles: tuple[str, ...]) -> Requester:
    found = dict(requester_of(caller_of(None, None, catalog.audience)))
    if user is not None and user != login():
        found |= {"user": (user,), GROUP: tuple(sorted(groups_of_user(user)))}
    return found | ({"team": teams} if teams else {}) | ({"role": roles} if roles else {})


def _document(access: AccessExplanation) -> dict[str, object]:
    return {
        "effect": access.effect,
        "rule": access.rule,
        "origin": access.origin,
        "reason": access.reason,
        "steps": list(access.steps),
        "change": {"turns_to": access.turns_to, "acts": list(access.changes)} if access.changes else None,
    }


def _lines(access: AccessExplanation, head: str) -> Iterator[str]:
    yield f"{head}: {access.reason}"
    for step in access.steps:
        place = "" if step.origin is None else f" ({step.origin})"
        yield f"  {step.step:<11}  {step.effect:<5}  {step.reason}{place}"
    if access.changes:
        yield f"To {access.turns_to} it:"
    for change in access.changes:
        yield f"  {change.text}"
