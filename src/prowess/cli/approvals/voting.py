"""Finds the questions about skills, and the votes of this process's user."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.key_files import read_signing_key, read_token
from prowess.cli.options import together
from prowess.cli.options.session_options import open_rules
from prowess.cli.options.store_options import shared_database
from prowess.errors import PolicyDeniedError, SkillError
from prowess.governance.approving import (
    ApprovalQuestion,
    Ballot,
    questions_about,
)
from prowess.governance.call_requests import vote_on_call
from prowess.governance.voters import present_voter
from prowess.governance.voting import cast_vote
from prowess.policy.approvals.statements import Voter
from prowess.policy.policy_in_force import PolicyInForce
from prowess.store.tenants import DEFAULT, EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.governance.call_requests import CallRequest, RequestFiles
    from prowess.policy.approval import Scope
    from prowess.policy.approvals.matching import ApprovalState
    from prowess.policy.approvals.statements import Vote, VoterKind
    from prowess.policy.policy import Policy

_DAY = len("2026-12-31")
_TOKEN_VARIABLE = "PROWESS_SERVER_TOKEN"  # noqa: S105 -- a name, not a token


def ballot_of(vote: Vote, reason: str | None, role: str | None, until: str | None, key_file: str | None) -> Ballot:
    """Return the options of a vote. Raises click.UsageError if one of them is faulty."""
    key = None if key_file is None else read_signing_key(key_file)
    return Ballot(vote=vote, reason=reason or "", role=role, until=_end(until), key=key)


def _end(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        end = datetime.fromisoformat(text.strip()) + timedelta(days=len(text.strip()) <= _DAY)
    except (ValueError, OverflowError):
        raise click.BadParameter("write a day such as 2026-12-31", param_hint="--until") from None
    end = end if end.tzinfo is not None else end.replace(tzinfo=UTC)
    if end <= datetime.now(UTC):
        raise click.BadParameter("this is in the past, so the approval would never count", param_hint="--until")
    return end


class VoteOptions(Struct, frozen=True, kw_only=True):
    """Where votes are, and who votes."""

    store_url: str | None = None
    token_file: str | None = None

    def voter(self, tenant: str) -> tuple[Voter, str | None]:
        """Return who votes, and for a token its role. Raises PolicyDeniedError if the token is not valid."""
        text = self._token() if self.store_url is not None else None
        if text is None or self.store_url is None:
            return present_voter(), None
        # Imported here because most votes are in files, which need no further library.
        from prowess.governance.organisation import token_digest
        from prowess.store.shared.database import SharedDatabase
        from prowess.store.shared.tokens import SharedTokenStore

        database = SharedDatabase(self.store_url, EVERY)
        try:
            token = SharedTokenStore(database).use_token(token_digest(text), time.time())
        finally:
            database.close()
        if token is None or token.tenant not in {tenant, EVERY}:
            raise PolicyDeniedError("token", f"it is unknown, has expired, or is not of the tenant {tenant!r}")
        kind: VoterKind = "service" if token.role == "machine" else "person"
        return Voter(user=token.user, kind=kind, identified_by="token"), token.role

    def _token(self) -> str | None:
        if self.token_file is not None:
            return read_token(self.token_file)
        return os.environ.get(_TOKEN_VARIABLE) or None


def vote_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `VoteOptions`, passed to it as the argument `votes`."""

    @wraps(command)
    def with_votes(**given: Any) -> int:  # noqa: ANN401 -- receives the command's options and those of `VoteOptions`
        ours = {name: given.pop(name) for name in VoteOptions.__struct_fields__}
        return command(votes=VoteOptions(**ours), **given)

    return together(
        click.option(
            "--store",
            "store_url",
            metavar="URL",
            help="Use the approvals in the store of an organisation: postgresql://HOST/DATABASE, or sqlite:///PATH.",
        ),
        click.option(
            "--token-file",
            metavar="FILE",
            help=f"With --store: vote as the owner of this token (default: {_TOKEN_VARIABLE}, else this user).",
        ),
    )(with_votes)


class Voting:
    """The policy that is in force, and the log that has each vote. With `store_url`, votes are in a shared store.

    Raises:
        AuditError, PolicyError: as `open_rules`.
        click.BadParameter: the URL names no shared store.
        PolicyDeniedError: the token is not valid.
    """

    def __init__(self, policy_file: str | None, votes: VoteOptions, tenant: str | None) -> None:
        self._log = open_rules(policy_file, "this vote leaves no audit record")[1]
        in_force, self._store = PolicyInForce(policy_file=policy_file), None
        if votes.store_url is not None:
            # Imported here because most votes are in files, which need no further library.
            from prowess.governance.shared_decisions import SharedDecisions
            from prowess.governance.store_approvals import StoreApprovals
            from prowess.store import SharedVoteStore

            database = shared_database(votes.store_url, tenant)
            in_force = in_force.apart(organisation=SharedDecisions(database))
            self._store = StoreApprovals(SharedVoteStore(database), database.url)
        self.policy: Policy = in_force.require()
        self._votes, self._tenant = votes, tenant or DEFAULT

    def questions(self, catalog: Catalog) -> Iterator[ApprovalQuestion]:
        """Yield the questions about every skill of a catalog that can be read."""
        for entry in catalog.entries():
            yield from self.questions_about(entry, catalog)

    def questions_about(self, entry: SkillEntry, catalog: Catalog) -> tuple[ApprovalQuestion, ...]:
        """Return the questions about one skill; none if its files cannot be read."""
        try:
            skill = catalog.skill(entry.name, entry.location)
        except (SkillError, OSError):
            return ()
        signer = None if entry.locked is None else entry.locked.signer
        return questions_about(skill, self.policy, layer=entry.layer.value, signer=signer)

    def cast(self, question: ApprovalQuestion, ballot: Ballot) -> ApprovalQuestion:
        """Write a vote of this process's user, or of the owner of the token. Returns and raises as `cast_vote`."""
        voter, role = self._votes.voter(self._tenant)
        if role is not None:
            ballot = replace(ballot, role=role)
        return cast_vote(question, ballot, voter, policy=self.policy, audit=self._log, store=self._store)

    def answer(self, files: RequestFiles, call: CallRequest, ballot: Ballot, scope: Scope) -> CallRequest:
        """Answer the request of a call as this process's user. Returns and raises as `vote_on_call`."""
        return vote_on_call(
            files, call, ballot.vote, present_voter(), reason=ballot.reason, scope=scope, audit=self._log
        )


def call_state(call: CallRequest) -> ApprovalState:
    """Return whether a request waits, or how it was answered."""
    return "waiting" if call.vote is None else "approved" if call.vote == "approve" else "refused"


def call_row(call: CallRequest) -> dict[str, object]:
    """Return the request of a call for JSON, without the arguments of the call."""
    by = [] if call.by is None else [call.by]
    state, given = call_state(call), int(call.vote == "approve")
    return {
        "id": call.id,
        "state": state,
        "tool": call.tool,
        "reason": call.reason,
        "session": call.session,
        "needed": 1,
        "given": given,
        "by": by,
    }


def told_of_call(call: CallRequest) -> str:
    """Return one line about the request of a call and its answer."""
    named = f"a call of {call.tool}"
    match call_state(call):
        case "approved":
            told = f"{named} is approved by {call.by}; send it again"
        case "refused":
            told = f"{named} is refused by {call.by}"
        case _:
            told = f"{named} waits for a person: {call.reason}"
    return printable_line(f"{told}; {call.id}")


def row_of(question: ApprovalQuestion) -> dict[str, object]:
    """Return a question for JSON."""
    votes, rule = question.votes, question.rule
    ends = [end for one in votes.given if (end := one.end(rule.expires)) is not None]
    return {
        "id": question.id,
        "state": question.state,
        "skill": question.skill.name,
        "digest": question.tree,
        "needed": rule.count,
        "given": len(votes.given),
        "rule": rule.name,
        "origin": str(rule.origin),
        "roles": list(rule.roles),
        "capabilities": None if question.capabilities is None else list(question.capabilities),
        "by": [one.voter.user for one in votes.given],
        "until": min(ends).isoformat().replace("+00:00", "Z") if ends else None,
        "location": question.skill.root_dir,
        "place": question.place,
    }


def told(question: ApprovalQuestion) -> str:
    """Return one line about a question and its answer."""
    rule, votes = question.rule, question.votes
    name = printable_line(question.skill.name)
    if votes.refused is not None:
        return f"{name} is refused by {printable_line(votes.refused.voter.user)} ({rule.origin}); {question.id}"
    count = f"{len(votes.given)} of {rule.count}"
    if question.state == "approved":
        return f"{name} is approved for {rule.name} ({count}); running sessions can use it at once"
    left = rule.count - len(votes.given)
    return f"{name} waits for {left} more {'person' if left == 1 else 'people'} ({count}, {rule.origin}); {question.id}"


def confirmed(question: ApprovalQuestion, verb: str) -> bool:
    """Show what is voted about, and ask a person at a terminal. Return whether the vote is wanted."""
    output.note(question.text)
    return not output.is_interactive() or click.confirm(f"{verb} exactly these files?", err=True)
