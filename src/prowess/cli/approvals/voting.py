"""Finds the questions about skills, and the votes of this process's user."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from prowess._internal.files.enrolment import server_options
from prowess.cli.approvals.shown import ShownApproval
from prowess.cli.key_files import read_signing_key
from prowess.cli.options.session_options import open_rules
from prowess.cli.organisation.store_call import store_call
from prowess.errors import SkillError
from prowess.governance.acts import LocalActs
from prowess.governance.approving import ApprovalQuestion, Ballot, VoteRefusedError, questions_about
from prowess.governance.call_requests import CALL_PREFIX, RequestFiles, vote_on_call
from prowess.governance.service.approval_items import item_of_call, item_of_question
from prowess.governance.voters import present_voter
from prowess.governance.voting import cast_vote
from prowess.policy.approvals.matching import statements_about
from prowess.policy.policy_in_force import PolicyInForce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.cli.options.catalog_options import CatalogOptions
    from prowess.cli.options.organisation_options import OrganisationOptions
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


class LocalVoting:
    """Questions of the policy that is in force about the skills here, and votes of this process's user: a `Voting`.

    Each vote is in the log. With `store_url`, questions in the store of the organisation come too, and votes are there,
    of the owner of the token.

    Raises:
        AuditError, PolicyError: as `open_rules`.
        click.BadParameter: the URL names no shared store.
        PolicyDeniedError: the token is not valid.
    """

    def __init__(self, policy_file: str | None, of: OrganisationOptions, skills: CatalogOptions) -> None:
        in_force = PolicyInForce(policy_file=policy_file)
        self.service = None
        self._skills, self._in_store = skills, of.store_url is not None
        self._requests: CallRequests = RequestFiles()
        if of.store_url is None:
            self._recorder: ActRecorder = LocalActs(open_rules(policy_file, "this vote leaves no audit record")[1])
        else:
            # Imported here because most votes are in files, which need no further library.
            from prowess.governance.service.approvals import ApprovalService
            from prowess.governance.shared_call_requests import SharedCallRequests
            from prowess.governance.shared_decisions import SharedDecisions

            self._recorder = call = store_call(of.store_url, skills.tenant, of.token_file)
            in_force = in_force.apart(organisation=SharedDecisions(call.database))
            self.service = ApprovalService(call, voter=_voter_of(call))
            self._requests = SharedCallRequests(call.database)
        self.policy: Policy = in_force.require()
        self._questions: dict[str, ApprovalQuestion] = {}  # those that were returned

    def all(self) -> list[ShownApproval]:
        """Return the questions about every skill here and in the store, then those about calls."""
        found = list(self._asked(self._skills.open(quiet=True)))
        return [*map(self._shown, found), *(_shown_call(call) for call in self._requests.all())]

    def get(self, request: str) -> ShownApproval:
        """Return one question with its text and every vote. Raises VoteRefusedError or InvalidArgumentsError."""
        if request.startswith(CALL_PREFIX):
            return _shown_call(self._requests.get(request), shown=True)
        for question in self._asked(self._skills.open(quiet=True)):
            if question.id == request:
                return self._shown(question, whole=True)
        raise VoteRefusedError(
            f"no skill here has the request {request[:80]!r}: it was removed or changed since; "
            "`prowess approvals list` shows all requests, with --root those of other folders"
        )

    def about(self, entry: SkillEntry, catalog: Catalog) -> list[ShownApproval]:
        """Return the questions about one skill; none if its files cannot be read."""
        return [self._shown(one, whole=True) for one in self._about(entry, catalog)]

    def vote(self, asked: ShownApproval, ballot: Ballot, scope: Scope) -> ShownApproval:
        """Give a vote. Returns and raises as `cast_vote`; about a call, as `vote_on_call`."""
        if asked.item.kind == "call":
            return _shown_call(self._answer(asked.item.id, ballot, scope))
        return self._cast(self._questions[asked.item.id], ballot)

    def revoke(self, request: str, ballot: Ballot) -> ShownApproval:
        """Make every vote about a question void. Raises as `get` and `vote`."""
        asked = self.get(request)
        if asked.item.kind == "skill" and not (asked.item.given or asked.item.refused_by):
            raise VoteRefusedError(f"nobody has voted about {request}, so there is nothing to revoke")
        return self.vote(asked, ballot, "once")

    def _asked(self, catalog: Catalog) -> Iterator[ApprovalQuestion]:
        known = set[str]()
        for entry in catalog.entries():
            for question in self._about(entry, catalog):
                known.add(question.id)
                yield question
        if self.service is not None:  # about skills that are not here
            yield from (one for one in self.service.questions(self.policy) if one.id not in known)

    def _about(self, entry: SkillEntry, catalog: Catalog) -> tuple[ApprovalQuestion, ...]:
        try:
            skill = catalog.skill(entry.name, entry.location)
        except (SkillError, OSError):
            return ()
        signer = None if entry.locked is None else entry.locked.signer
        return questions_about(skill, self.policy, layer=entry.layer.value, signer=signer)

    def _cast(self, question: ApprovalQuestion, ballot: Ballot) -> ShownApproval:
        if self.service is not None:
            return self._shown(self.service.cast(question, ballot, self.policy))
        return self._shown(cast_vote(question, ballot, present_voter(), policy=self.policy, recorder=self._recorder))

    def _answer(self, request_id: str, ballot: Ballot, scope: Scope) -> CallRequest:
        if self.service is not None:
            return self.service.answer_call(request_id, ballot.vote, reason=ballot.reason, scope=scope)
        return vote_on_call(
            self._requests,
            self._requests.get(request_id),
            ballot.vote,
            present_voter(),
            reason=ballot.reason,
            scope=scope,
            recorder=self._recorder,
        )

    def _shown(self, question: ApprovalQuestion, *, whole: bool = False) -> ShownApproval:
        self._questions[question.id] = question
        votes = None
        if whole:
            given = statements_about(question.tree, self.policy.approvals, question.rule.origin.path)
            votes = [one for one in given if one.rule == question.rule.name]
        return ShownApproval(
            item=item_of_question(question, votes),
            place=question.place,
            location=None if question.skill is None else question.skill.root_dir,
            is_own_file=not question.is_machine and not self._in_store,
            is_of_organisation=server_options(question.rule.origin.path) is not None,
        )


def _shown_call(call: CallRequest, *, shown: bool = False) -> ShownApproval:
    return ShownApproval(item=item_of_call(call, shown=shown), place="")


def _voter_of(call: ServiceCall) -> Voter | None:
    """Return who votes without a token: the person at this process, or a service, which never counts."""
    return present_voter() if call.actor.identified_by == "system" else None
