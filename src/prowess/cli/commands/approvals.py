"""`prowess approvals`: lists what waits for an approval, shows the votes, votes, and revokes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import exit_codes, output
from prowess.cli.approvals.voting import (
    VoteOptions,
    Voting,
    ballot_of,
    call_row,
    confirmed,
    row_of,
    told,
    told_of_call,
    vote_options,
)
from prowess.cli.options.catalog_options import CatalogOptions, catalog_options
from prowess.cli.options.session_options import policy_option
from prowess.cli.organisation.approvals import list_by_server, revoke_by_server, show_by_server, vote_by_server
from prowess.governance.approving import VoteRefusedError
from prowess.governance.call_requests import CALL_PREFIX
from prowess.policy.approvals.matching import statements_about
from prowess.policy.roles import ROLES
from prowess.tools.gates import question as question_of_call

if TYPE_CHECKING:
    from prowess.governance.approving import ApprovalQuestion, Ballot
    from prowess.governance.call_requests import CallRequest
    from prowess.policy.approval import Scope
    from prowess.policy.approvals.statements import Vote, VoteStatement

_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
_id_argument = click.argument("request", metavar="ID")


@click.group(name="approvals")
def command() -> None:
    """List, show, give and revoke approvals of skills.

    Example: prowess approvals list --root examples/skills
    """


@command.command("list")
@catalog_options
@policy_option
@vote_options
@_json_option
def list_(*, skills: CatalogOptions, policy_file: str | None, votes: VoteOptions, as_json: bool) -> int:
    """List the skills that need an approval with what each of them has, and the calls that wait for a person.

    Example: prowess approvals list --root examples/skills
    """
    if votes.server_url is not None:
        return list_by_server(votes.in_tenant(skills.tenant), as_json=as_json)
    voting = Voting(policy_file, votes, skills.tenant)
    found = list(voting.questions(skills.open(quiet=as_json)))
    found += voting.questions_elsewhere({one.id for one in found})
    calls = voting.requests.all()
    if as_json:
        output.document({"items": [*map(row_of, found), *map(call_row, calls)], "next": None})
        return exit_codes.OK
    for one in found:
        output.line(f"{one.state:8}  {told(one)}")
    for call in calls:
        output.line(f"{call.state:8}  {told_of_call(call)}")
    if not (found or calls):
        output.note("no policy asks for an approval of a skill here, and no call waits")
    return exit_codes.OK


@command.command("show")
@_id_argument
@catalog_options
@policy_option
@vote_options
@_json_option
def show(*, request: str, skills: CatalogOptions, policy_file: str | None, votes: VoteOptions, as_json: bool) -> int:
    """Show what is asked, as a person sees it before the vote, and every vote.

    Example: prowess approvals show skill-0123456789abcdef0123456789abcdef
    """
    if votes.server_url is not None:
        return show_by_server(votes.in_tenant(skills.tenant), request, as_json=as_json)
    if request.startswith(CALL_PREFIX):
        _require_only(votes)
    voting = Voting(policy_file, votes, skills.tenant)
    if request.startswith(CALL_PREFIX):
        return _call_shown(voting.requests.get(request), as_json=as_json)
    question = _found(voting, skills, request)
    path = question.rule.origin.path
    given = [
        one for one in statements_about(question.tree, voting.policy.approvals, path) if one.rule == question.rule.name
    ]
    if as_json:
        output.document({**row_of(question), "text": question.text, "votes": to_builtins(given)})
        return exit_codes.OK
    output.line(question.text)
    output.line(told(question))
    for vote in given:
        output.line(_line(vote, question))
    return exit_codes.OK


@command.command("vote")
@_id_argument
@click.argument("vote", type=click.Choice(("approve", "refuse")), default="approve")
@catalog_options
@policy_option
@vote_options
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
@_json_option
def vote_(
    *,
    request: str,
    vote: Vote,
    skills: CatalogOptions,
    policy_file: str | None,
    votes: VoteOptions,
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
    if request.startswith(CALL_PREFIX):
        _require_only(votes, role=role, until=until, key=key_file)
    elif scope == "session":
        raise click.UsageError("--scope is for the request of a single call; for a skill, give --until DAY")
    ballot = ballot_of(vote, reason, role, until, key_file)
    if votes.server_url is not None:
        return vote_by_server(votes.in_tenant(skills.tenant), request, ballot, scope, as_json=as_json)
    voting = Voting(policy_file, votes, skills.tenant)
    if request.startswith(CALL_PREFIX):
        return _call_answered(voting, request, ballot, scope, as_json=as_json)
    question = _found(voting, skills, request)
    if not confirmed(question, vote.capitalize()):
        output.note("nothing was written")
        return exit_codes.FAILED
    return _answered(voting.cast(question, ballot), as_json=as_json)


@command.command("revoke")
@_id_argument
@catalog_options
@policy_option
@vote_options
@click.option("--reason", metavar="TEXT", help="Why. It is kept with the revocation.")
@click.option("--key", "key_file", metavar="FILE", help="Also sign the revocation with this private key.")
@_json_option
def revoke(
    *,
    request: str,
    skills: CatalogOptions,
    policy_file: str | None,
    votes: VoteOptions,
    reason: str | None,
    key_file: str | None,
    as_json: bool,
) -> int:
    """Make every vote about a request void. Running sessions obey at their next call.

    Example: prowess approvals revoke skill-0123456789abcdef0123456789abcdef --reason "a leak was found"
    """
    if request.startswith(CALL_PREFIX):
        _require_only(votes, key=key_file)
    if votes.server_url is not None:
        votes.require_alone(key=key_file)
        return revoke_by_server(votes.in_tenant(skills.tenant), request, reason or "", as_json=as_json)
    ballot, voting = ballot_of("revoke", reason, None, None, key_file), Voting(policy_file, votes, skills.tenant)
    if request.startswith(CALL_PREFIX):
        return _call_answered(voting, request, ballot, "once", as_json=as_json)
    question = _found(voting, skills, request)
    if not (question.votes.given or question.votes.refused):
        raise VoteRefusedError(f"nobody has voted about {request}, so there is nothing to revoke")
    return _answered(voting.cast(question, ballot), as_json=as_json)


def _found(voting: Voting, skills: CatalogOptions, request: str) -> ApprovalQuestion:
    """Return the question with this id about a skill that is here, or in the store. Raises VoteRefusedError."""
    for question in chain(voting.questions(skills.open(quiet=True)), voting.questions_elsewhere(())):
        if question.id == request:
            return question
    raise VoteRefusedError(
        f"no skill here has the request {request[:80]!r}: it was removed or changed since; "
        "`prowess approvals list` shows all requests, with --root those of other folders"
    )


def _require_only(votes: VoteOptions, **given: str | None) -> None:
    """Refuse options that have no effect on the request of a single call."""
    for name, value in (*given.items(), ("token-file", None if votes.given else votes.token_file)):
        if value is not None:
            raise click.UsageError(
                f"--{name} has no effect on the request of a single call: it waits in your own home, or in the store, "
                "and you answer it for one call or with --scope session"
            )


def _call_answered(voting: Voting, request: str, ballot: Ballot, scope: Scope, *, as_json: bool) -> int:
    call = voting.answer(request, ballot, scope)
    if as_json:
        output.document(call_row(call))
    else:
        output.line(told_of_call(call))
    return exit_codes.OK


def _call_shown(call: CallRequest, *, as_json: bool) -> int:
    if as_json:
        output.document({**call_row(call), "arguments": call.arguments})
        return exit_codes.OK
    output.line(question_of_call(call.as_request()))
    output.line(told_of_call(call))
    return exit_codes.OK


def _answered(question: ApprovalQuestion, *, as_json: bool) -> int:
    if as_json:
        output.document(row_of(question))
    else:
        output.line(told(question))
    return exit_codes.OK


def _line(vote: VoteStatement, question: ApprovalQuestion) -> str:
    end = vote.end(question.rule.expires)
    parts = [f"{vote.at:%Y-%m-%d %H:%M} {vote.vote} by {vote.voter.user} as {vote.role}"]
    parts += [f"until {end:%Y-%m-%d}"] if end is not None else []
    parts += [f"signed with key {vote.voter.key}"] if vote.voter.key is not None else []
    parts += ["does not count: the author"] if vote.voter.is_author and not question.rule.own else []
    parts += [vote.reason] if vote.reason else []
    return printable_line("; ".join(parts))
