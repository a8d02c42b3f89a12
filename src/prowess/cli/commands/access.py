"""`prowess access`: explains step by step whether a person may use a skill, and which change would turn the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.process_user import groups_of_user, login
from prowess._internal.text.terminal_text import printable_line, wrapped
from prowess.cli import exit_codes, output
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.organisation_options import (
    OrganisationOptions,
    opened_organisation,
    organisation_options_beside_catalog,
)
from prowess.cli.options.session_options import policy_option
from prowess.cli.options.skill_completion import complete_skill
from prowess.governance.access import AccessExplanation, explain_access
from prowess.policy.policy_in_force import PolicyInForce
from prowess.policy.roles import GROUP
from prowess.runtime.activation.skill_identities import of_entry
from prowess.runtime.activation.visibility import start_of
from prowess.runtime.identity import caller_of, requester_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prowess.catalog import Catalog
    from prowess.governance.changes import Change
    from prowess.governance.service.access import AccessAnswer
    from prowess.policy.facts.requester import Requester

_SAID = {"allow": "may use", "ask": "may use, if a person approves,", "deny": "may not use"}


@click.command()
@click.argument("name", shell_complete=complete_skill)
@click.option("--user", metavar="U", help="Whose access; defaults to yours.")
@click.option("--team", "teams", multiple=True, metavar="T", help="A team of this person. Repeatable.")
@click.option("--role", "roles", multiple=True, metavar="R", help="A role for rules about who.role. Repeatable.")
@organisation_options_beside_catalog
@catalog_options
@policy_option
@json_option
def command(
    *,
    name: str,
    user: str | None,
    teams: tuple[str, ...],
    roles: tuple[str, ...],
    of: OrganisationOptions,
    skills: CatalogOptions,
    policy_file: str | None,
    as_json: bool,
) -> int:
    """Explain whether a person may use the skill NAME: layer, scope, trust, block, role, approval, scan, rule.

    The last lines name the smallest change that would turn the decision. A team or role that is not given is not
    known: rules that deny or ask about it apply. With --store or --server, the decisions are those of an organisation,
    about the skill that it deployed or that most of its machines use.

    The exit code is 0 if the question was answered, whatever the answer is.

    Example: prowess access csv-report --root examples/skills --user ada --team web
    """
    asked = _Person(user=user, teams=teams, roles=roles)
    if of.given:
        of.require_alone(policy=policy_file, root=skills.roots, plugin=skills.plugins)
        answer = _by_organisation(of.in_tenant(skills.tenant), name, asked, skills)
        person, found_name = answer.user, answer.skill
        access: AccessExplanation | AccessAnswer = answer
    else:
        person, found_name, access = _here(name, asked, skills, policy_file, quiet=as_json)
    if as_json:
        output.document({"skill": found_name, "user": person, "teams": teams, "roles": roles, **_document(access)})
        return exit_codes.OK
    room = output.width()
    for line in _lines(access, f"{person or 'an unknown user'} {_SAID[access.effect]} {found_name}"):
        for part in wrapped(printable_line(line), room, "      "):
            output.line(part)
    return exit_codes.OK


class _Person(Struct, frozen=True, kw_only=True):
    """Whose access is asked about."""

    user: str | None
    teams: tuple[str, ...]
    roles: tuple[str, ...]


def _here(
    name: str, asked: _Person, skills: CatalogOptions, policy_file: str | None, *, quiet: bool
) -> tuple[str | None, str, AccessExplanation]:
    """Return the person, the name of the skill, and the decision of the policy files here about the skills here."""
    catalog = skills.open(quiet=quiet, one=True)
    found, who = catalog.why(name), _requester(catalog, asked)
    policy = PolicyInForce(policy_file=policy_file, who=who).now()
    call = None
    if found.winner is not None:
        call = replace(start_of(of_entry(found.winner, catalog, policy), "model"), who=who)
    return who["user"][0] if who.get("user") else None, found.name, explain_access(found, call, policy)


def _by_organisation(of: OrganisationOptions, name: str, asked: _Person, skills: CatalogOptions) -> AccessAnswer:
    with opened_organisation(of, "audit") as organisation:
        from prowess.governance.service.access import AccessQuery  # Imported here because SQLAlchemy takes long.

        return organisation.access.explain(
            AccessQuery(
                skill=name,
                user=asked.user,
                team=asked.teams,
                role=asked.roles,
                agent=skills.agent,
                environment=skills.environment,
            )
        )


def _requester(catalog: Catalog, asked: _Person) -> Requester:
    user, teams, roles = asked.user, asked.teams, asked.roles
    found = dict(requester_of(caller_of(None, None, catalog.audience)))
    if user is not None and user != login():
        found |= {"user": (user,), GROUP: tuple(sorted(groups_of_user(user)))}
    return found | ({"team": teams} if teams else {}) | ({"role": roles} if roles else {})


def _document(access: AccessExplanation | AccessAnswer) -> dict[str, object]:
    turns_to, acts = _change(access)
    return {
        "effect": access.effect,
        "rule": access.rule,
        "origin": access.origin,
        "reason": access.reason,
        "steps": list(access.steps),
        "change": {"turns_to": turns_to, "acts": list(acts)} if acts else None,
    }


def _change(access: AccessExplanation | AccessAnswer) -> tuple[str | None, Sequence[Change]]:
    if isinstance(access, AccessExplanation):
        return access.turns_to, access.changes
    return (None, ()) if access.change is None else (access.change.turns_to, access.change.acts)


def _lines(access: AccessExplanation | AccessAnswer, head: str) -> Iterator[str]:
    yield f"{head}: {access.reason}"
    for step in access.steps:
        place = "" if step.origin is None else f" ({step.origin})"
        yield f"  {step.step:<11}  {step.effect:<5}  {step.reason}{place}"
    turns_to, acts = _change(access)
    if acts:
        yield f"To {turns_to} it:"
    for change in acts:
        yield f"  {change.text}"
