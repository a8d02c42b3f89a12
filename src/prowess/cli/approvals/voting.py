"""Finds the questions about skills, and the votes of this process's user."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.key_files import read_signing_key
from prowess.cli.options.organisation_options import OrganisationOptions, organisation_options_beside_catalog
from prowess.cli.options.session_options import open_rules
from prowess.cli.organisation.store_call import store_call
from prowess.errors import SkillError
from prowess.governance.acts import LocalActs
from prowess.governance.approving import ApprovalQuestion, Ballot, questions_about
from prowess.governance.call_requests import RequestFiles, vote_on_call
from prowess.governance.voters import present_voter
from prowess.governance.voting import cast_vote
from prowess.policy.policy_in_force import PolicyInForce

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.governance.acts import ActRecorder
    from prowess.governance.call_requests import CallRequest, CallRequests
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.approval import Scope
    from prowess.policy.approvals.statements import Vote, Voter
    from prowess.policy.policy import Policy

_DAY = len("2026-12-31")


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


VoteOptions = OrganisationOptions  # where votes are, and who votes


def vote_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of `VoteOptions`, passed to it as the argument `votes`."""

    @wraps(command)
    def with_votes(*, of: OrganisationOptions, **given: Any) -> int:  # noqa: ANN401 -- the command's options
        return command(votes=of, **given)

    return organisation_options_beside_catalog(with_votes)


class Voting:
    """The policy that is in force, and the log that has each vote. With `store_url`, votes are in a shared store.

    Raises:
        AuditError, PolicyError: as `open_rules`.
        click.BadParameter: the URL names no shared store.
        PolicyDeniedError: the token is not valid.
    """

    def __init__(self, policy_file: str | None, votes: VoteOptions, tenant: str | None) -> None:
        in_force = PolicyInForce(policy_file=policy_file)
        self.service = None
        self.requests: CallRequests = RequestFiles()
        if votes.store_url is None:
            self._recorder: ActRecorder = LocalActs(open_rules(policy_file, "this vote leaves no audit record")[1])
        else:
            # Imported here because most votes are in files, which need no further library.
            from prowess.governance.service.approvals import ApprovalService
            from prowess.governance.shared_call_requests import SharedCallRequests
            from prowess.governance.shared_decisions import SharedDecisions

            self._recorder = call = store_call(votes.store_url, tenant, votes.token_file)
            in_force = in_force.apart(organisation=SharedDecisions(call.database))
            self.service = ApprovalService(call, voter=_voter_of(call))
            self.requests = SharedCallRequests(call.database)
        self.policy: Policy = in_force.require()

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

    def questions_elsewhere(self, known: Collection[str]) -> Iterator[ApprovalQuestion]:
        """Yield the questions in the store whose ids are not known, about skills that are not here."""
        if self.service is not None:
            yield from (one for one in self.service.questions(self.policy) if one.id not in known)

    def cast(self, question: ApprovalQuestion, ballot: Ballot) -> ApprovalQuestion:
        """Write a vote of this process's user, or of the owner of the token. Returns and raises as `cast_vote`."""
        if self.service is not None:
            return self.service.cast(question, ballot, self.policy)
        return cast_vote(question, ballot, present_voter(), policy=self.policy, recorder=self._recorder)

    def answer(self, request_id: str, ballot: Ballot, scope: Scope) -> CallRequest:
        """Answer the request of a call as this process's user, or as the owner of the token.

        Returns and raises as `vote_on_call`, and as `CallRequests.get` or `ApprovalService.vote`.
        """
        if self.service is not None:
            return self.service.answer_call(request_id, ballot.vote, reason=ballot.reason, scope=scope)
        return vote_on_call(
            self.requests,
            self.requests.get(request_id),
            ballot.vote,
            present_voter(),
            reason=ballot.reason,
            scope=scope,
            recorder=self._recorder,
        )


def _voter_of(call: ServiceCall) -> Voter | None:
    """Return who votes without a token: the person at this process, or a service, which never counts."""
    return present_voter() if call.actor.identified_by == "system" else None


def call_row(call: CallRequest) -> dict[str, object]:
    """Return the request of a call for JSON, without the arguments of the call."""
    by = [] if call.by is None else [call.by]
    state, given = call.state, int(call.vote == "approve")
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
    match call.state:
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
        "skill": question.name,
        "digest": question.tree,
        "needed": rule.count,
        "given": len(votes.given),
        "rule": rule.name,
        "origin": str(rule.origin),
        "roles": list(rule.roles),
        "capabilities": None if question.capabilities is None else list(question.capabilities),
        "by": [one.voter.user for one in votes.given],
        "until": min(ends).isoformat().replace("+00:00", "Z") if ends else None,
        "location": None if question.skill is None else question.skill.root_dir,
        "place": question.place,
    }


def told(question: ApprovalQuestion) -> str:
    """Return one line about a question and its answer."""
    rule, votes = question.rule, question.votes
    name = printable_line(question.name)
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
