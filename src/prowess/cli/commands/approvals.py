"""`prowess approvals`: lists what waits for an approval, shows the votes, votes, and revokes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prowess.cli import exit_codes, output
from prowess.cli.approvals.shown import confirmed, list_questions, show_answer, show_question
from prowess.cli.approvals.voting import LocalVoting, ballot_of
from prowess.cli.options import json_option
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.organisation_options import OrganisationOptions, organisation_options_beside_catalog
from prowess.cli.options.session_options import policy_option
from prowess.cli.organisation.waiting import waits_for_machines
from prowess.governance.call_requests import CALL_PREFIX
from prowess.policy.roles import ROLES

if TYPE_CHECKING:
    from prowess.cli.approvals.shown import Voting
    from prowess.policy.approval import Scope
    from prowess.policy.approvals.statements import Vote

_id_argument = click.argument("request", metavar="ID")


@click.group(name="approvals")
def command() -> None:
    """List, show, give and revoke approvals of skills.

    Example: prowess approvals list --root examples/skills
    """


@command.command("list")
@catalog_options
@policy_option
@organisation_options_beside_catalog
@json_option
def list_(*, skills: CatalogOptions, policy_file: str | None, of: OrganisationOptions, as_json: bool) -> int:
    """List the skills that need an approval with what each of them has, and the calls that wait for a person.

    Example: prowess approvals list --root examples/skills
    """
    return list_questions(_voting(policy_file, of, skills).all(), as_json=as_json)


@command.command("show")
@_id_argument
@catalog_options
@policy_option
@organisation_options_beside_catalog
@json_option
def show(
    *, request: str, skills: CatalogOptions, policy_file: str | None, of: OrganisationOptions, as_json: bool
) -> int:
    """Show what is asked, as a person sees it before the vote, and every vote.

    Example: prowess approvals show skill-0123456789abcdef0123456789abcdef
    """
    _require_effect(request, of)
    return show_question(_voting(policy_file, of, skills).get(request), as_json=as_json)


@command.command("vote")
@_id_argument
@click.argument("vote", type=click.Choice(("approve", "refuse")), default="approve")
@catalog_options
@policy_option
@organisation_options_beside_catalog
@waits_for_machines
@click.option("--reason", metavar="TEXT", help="Why. It is kept with the vote.")
@click.option(
    "--scope",
    type=click.Choice(("once", "session")),
    default="once",
    help="For a call: approve it once, or each time until its session ends.",
)
@click.option("--role", type=click.Choice(ROLES), help="The role in which you vote (default: the first of the rule).")
@click.option("--until", metavar="DAY", help="The last day of an approval, for example 2026-12-31.")
@click.option("--key", "key_file", metavar="FILE", help="Also sign the vote with this private key.")
@json_option
def vote_(
    *,
    request: str,
    vote: Vote,
    skills: CatalogOptions,
    policy_file: str | None,
    of: OrganisationOptions,
    reason: str | None,
    role: str | None,
    until: str | None,
    key_file: str | None,
    scope: Scope,
    as_json: bool,
) -> int:
    """Approve the skill or the call of a request, or refuse it.

    One refusal ends the request, until it is revoked.

    Example: prowess approvals vote skill-0123456789abcdef0123456789abcdef refuse --reason "it deletes files"
    """
    _require_effect(request, of, role=role, until=until, key=key_file)
    if scope == "session" and not request.startswith(CALL_PREFIX):
        raise click.UsageError("--scope is for the request of a single call; for a skill, give --until DAY")
    ballot, voting = ballot_of(vote, reason, role, until, key_file), _voting(policy_file, of, skills)
    asked = voting.get(request)
    if not confirmed(asked, vote):
        output.note("nothing was written")
        return exit_codes.FAILED
    return show_answer(voting.vote(asked, ballot, scope), as_json=as_json)


@command.command("revoke")
@_id_argument
@catalog_options
@policy_option
@organisation_options_beside_catalog
@waits_for_machines
@click.option("--reason", metavar="TEXT", help="Why. It is kept with the revocation.")
@click.option("--key", "key_file", metavar="FILE", help="Also sign the revocation with this private key.")
@json_option
def revoke(
    *,
    request: str,
    skills: CatalogOptions,
    policy_file: str | None,
    of: OrganisationOptions,
    reason: str | None,
    key_file: str | None,
    as_json: bool,
) -> int:
    """Make every vote about a request void. Running sessions obey at their next call.

    Example: prowess approvals revoke skill-0123456789abcdef0123456789abcdef --reason "a leak was found"
    """
    _require_effect(request, of, key=key_file)
    ballot = ballot_of("revoke", reason, None, None, key_file)
    return show_answer(_voting(policy_file, of, skills).revoke(request, ballot), as_json=as_json)


def _voting(policy_file: str | None, of: OrganisationOptions, skills: CatalogOptions) -> Voting:
    if of.server_url is None:
        return LocalVoting(policy_file, of, skills)
    # Imported here because the types of the services take long to import.
    from prowess.cli.organisation.approvals import ServerVoting

    return ServerVoting(of.in_tenant(skills.tenant))


def _require_effect(request: str, of: OrganisationOptions, **given: str | None) -> None:
    """Refuse options that have no effect on the request of a single call."""
    if not request.startswith(CALL_PREFIX):
        return
    for name, value in (*given.items(), ("token-file", None if of.given else of.token_file)):
        if value is not None:
            raise click.UsageError(
                f"--{name} has no effect on the request of a single call: it waits in your own home, or in the store, "
                "and you answer it for one call or with --scope session"
            )
