"""Approvals of an organisation: questions whether a skill or a call may be used, and the votes of people.

A question about a skill is about exactly its bytes and one rule `[[approval]]` of the stored policies. A vote that
could not count is refused. After the last vote, the same call of a running session succeeds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess.errors import ConfigurationError
from prowess.governance.approving import Ballot, VoteRefusedError
from prowess.governance.call_requests import CALL_PREFIX, vote_on_call
from prowess.governance.service.approval_items import item_of, item_of_call
from prowess.governance.service.listing import NoSuchItemError, page_of
from prowess.governance.shared_approval_requests import AskedSkill, asked_of, request_row, require_room
from prowess.governance.shared_call_requests import SharedCallRequests
from prowess.governance.store_approvals import StoreApprovals
from prowess.governance.stored_questions import (
    ANY_RULE,
    StoredQuestions,
    newer_than,
    rules_about,
    with_known_capabilities,
)
from prowess.governance.voters import voter_of
from prowess.governance.voting import cast_vote
from prowess.policy.approvals.matching import statements_about
from prowess.policy.approvals.statements import request_id
from prowess.policy.facts.capabilities import checked_capabilities
from prowess.store import SharedApprovalRequestStore, SharedDeployerStore, SharedVoteStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from prowess.governance.approving import ApprovalQuestion
    from prowess.governance.call_requests import CallRequest
    from prowess.governance.service.approval_items import ApprovalItem, ApprovalQuery, NewApproval, NewVote
    from prowess.governance.service.listing import ListPage
    from prowess.governance.service.service_call import ServiceCall
    from prowess.governance.stored_questions import StoredQuestion
    from prowess.policy.approval import Scope
    from prowess.policy.approvals.matching import ApprovalState
    from prowess.policy.approvals.rules import ApprovalRule
    from prowess.policy.approvals.statements import Vote, Voter
    from prowess.policy.policy import Policy


class ApprovalService:
    """The questions to people of the tenant of a call.

    `capabilities` returns those of the deployed skill with a tree digest, None if they are not known; it takes the
    directories of scripts too. `voter` is who votes, by default the actor of the call.

    Raises:
        StoreError: by every method, if the store cannot be used.
        ConfigurationError: by every method, if the tenant is `*`: approvals belong to one tenant.
    """

    def __init__(
        self,
        call: ServiceCall,
        capabilities: Callable[[str, Sequence[str]], tuple[str, ...] | None] | None = None,
        *,
        voter: Voter | None = None,
    ) -> None:
        self._call, self._capabilities = call, capabilities
        self._voter = voter_of(call.actor) if voter is None else voter
        self._requests, self._questions = SharedApprovalRequestStore(call.database), StoredQuestions(call.database)
        self._calls, self._deployers = SharedCallRequests(call.database), SharedDeployerStore(call.database)

    def list(self, query: ApprovalQuery) -> ListPage[ApprovalItem]:
        """Return questions, the oldest first, without `text` and `votes`."""
        found: list[ApprovalItem] = []
        if query.kind != "call":
            digests = None if query.digest is None else (query.digest,)
            found += map(item_of, self._questions.asked(self._policy(), digests=digests))
        if query.kind != "skill" and query.digest is None:
            found += map(item_of_call, self._calls.all())
        wanted = (one for one in found if query.state in {None, one.state})
        return page_of(wanted, query, lambda one: f"{one.at or ''} {one.id}")

    def states(self, digests: Collection[str]) -> dict[str, ApprovalState]:
        """Return the state of the last question about each of these tree digests, without those that nobody asked."""
        found = self._questions.asked(self._policy(), digests=digests)
        return {one.asked.digest: one.question.state for one in found}

    def get(self, wanted: str) -> ApprovalItem:
        """Return one question with what a person is shown (`text`) and every vote. Raises NoSuchItemError.

        The arguments of a call are shown to those alone who may approve, or read records of other people.
        """
        if wanted.startswith(CALL_PREFIX):
            may_see = self._call.actor.may("approve") or self._call.actor.may("audit")
            return item_of_call(self._call_request(wanted), shown=may_see)
        policy = self._policy()
        found = self._question(wanted, policy)
        rule = found.question.rule
        votes = statements_about(found.question.tree, policy.approvals, rule.origin.path)
        return item_of(found, [one for one in votes if one.rule == rule.name])

    def add(self, new: NewApproval) -> ApprovalItem:
        """Ask people, once for each rule that asks about the skill. Return the first question that is not approved.

        The requester counts as an author of the skill, unless it asks only to vote. Who asks the same again gets the
        same question.

        Raises:
            VoteRefusedError: the requester asks only to vote, and no policy asks about the skill; or too many
                questions of the requester wait.
            PolicyDeniedError: the actor is a machine, or its role permits no use of skills.
            ConfigurationError: a capability is unknown.
            AuditError: the question cannot be recorded, so it was not asked.
        """
        self._call.require("use")
        if new.to_vote:
            self._call.require("approve")
        new = replace(new, capabilities=checked_capabilities(new.capabilities))
        policy = self._policy()
        rules = rules_about(new.skill, new.digest, new.capabilities, policy)
        if new.to_vote and rules == [ANY_RULE]:
            raise VoteRefusedError(f"no policy of the organisation asks for an approval of {new.skill!r}")
        self._ask(new, rules, policy)
        asked = list(self._questions.asked(policy, digests=(new.digest,)))
        return item_of(next((one for one in asked if one.question.state != "approved"), asked[0]))

    def _ask(self, new: NewApproval, rules: Sequence[ApprovalRule], policy: Policy) -> None:
        user = self._call.actor.user
        known = {one.row.id: one for one in self._questions.asked(policy, digests=(new.digest,))}
        wanted = [request_id(new.digest, rule.name) for rule in rules]
        if not new.to_vote and any(one not in known or not known[one].is_stored for one in wanted):
            states = ((one.row, one.question.state) for one in self._questions.asked(policy) if one.is_stored)
            require_room(user, self._requests.requests(), states)
        body = AskedSkill(
            skill=new.skill,
            digest=new.digest,
            capabilities=None if new.to_vote else new.capabilities,
            reason=new.reason,
            by=None if new.to_vote else user,
        )
        for one in wanted:
            before = known.get(one)
            if before is not None and before.is_stored and (new.to_vote or before.asked.asked_by(user)):
                continue
            with self._call.act("request", {"request": one, "skill": new.skill, "digest": new.digest}):
                self._put(one, body, before)

    def _put(self, wanted: str, body: AskedSkill, before: StoredQuestion | None) -> None:
        """Add a question, or its further requester; again if somebody else has changed it since it was read."""
        row = None if before is None else before.row
        stored = row if before is not None and before.is_stored else None
        while not self._requests.put_request(request_row(wanted, body, row), expected=stored):
            rows = self._requests.requests(digests=(body.digest,))
            row = stored = next((one for one in rows if one.id == wanted), None)
            if row is not None and (body.by is None or asked_of(row).asked_by(body.by)):
                return

    def vote(self, wanted: str, new: NewVote) -> ApprovalItem:
        """Give a vote. Return the question as it is answered then.

        Raises:
            NoSuchItemError: there is no such question.
            VoteRefusedError: the vote would not count: a second one, about a changed digest, the author's own, or of a
                machine.
            PolicyDeniedError: the role may not answer.
            ConfigurationError: the end of the approval is in the past.
            AuditError: the vote cannot be recorded, so it was not given.
        """
        self._call.require("approve")
        if new.until is not None and new.until <= datetime.now(UTC):
            raise ConfigurationError(("until: this is in the past, so the approval would never count",))
        if wanted.startswith(CALL_PREFIX):
            return item_of_call(self.answer_call(wanted, new.vote, reason=new.reason, scope=new.scope))
        policy = self._policy()
        found = self._question(wanted, policy)
        question = found.question
        if new.digest is not None and new.digest != question.tree:
            reason = f"you looked at {new.digest}, and the question is about {question.tree}; look at it again"
            raise VoteRefusedError(f"{question.name!r} has changed: {reason}")
        ballot = Ballot(vote=new.vote, reason=new.reason, role=new.role, until=new.until)
        return item_of(replace(found, question=self.cast(question, ballot, policy)))

    def revoke(self, wanted: str, reason: str = "") -> ApprovalItem:
        """Make every vote about a question void, at the next call of every session. Raises as `vote`."""
        if wanted.startswith(CALL_PREFIX):
            return item_of_call(self.answer_call(wanted, "revoke", reason=reason, scope="once"))
        policy = self._policy()
        found = self._question(wanted, policy)
        if not (found.question.votes.given or found.question.votes.refused):
            raise VoteRefusedError(f"nobody has voted about {wanted}, so there is nothing to revoke")
        return item_of(replace(found, question=self.cast(found.question, Ballot(vote="revoke", reason=reason), policy)))

    def cast(self, question: ApprovalQuestion, ballot: Ballot, policy: Policy) -> ApprovalQuestion:
        """Write the vote of the actor about a question that `policy` asks. Returns and raises as `cast_vote`.

        The actor votes in a role that it holds; an administrator may revoke every vote.
        """
        self._call.require("approve")
        ballot = self._in_a_held_role(question, ballot)
        rows = self._requests.requests()
        row = next((one for one in rows if one.id == question.id), None)
        question = replace(question, deployed_by=tuple(self._deployers.deployers(question.tree)))
        if row is not None:
            asked = asked_of(row)  # by several people perhaps, of whom none may approve
            question = replace(question, asked_by=self._voter.user if asked.asked_by(self._voter.user) else asked.by)
            if ballot.vote == "approve" and (newer := newer_than(row, rows)) is not None:
                reason = f"{newer.id} asks about its new digest {newer.digest}"
                raise VoteRefusedError(f"{question.name!r} has changed since: {reason}")
            # It must not be dropped any more. If somebody asks at the same time, decide again: the voter perhaps.
            if not row.of_person and not self._requests.put_request(replace(row, of_person=True), expected=row):
                return self.cast(question, ballot, policy)
        votes = StoreApprovals(SharedVoteStore(self._call.database), self._call.database.url)
        return cast_vote(question, ballot, self._voter, policy=policy, recorder=self._call, store=votes)

    def answer_call(self, wanted: str, vote: Vote, *, reason: str, scope: Scope) -> CallRequest:
        """Answer the question about a call, or take the answer back (`revoke`). Returns and raises as `vote_on_call`.

        Raises NoSuchItemError too, and PolicyDeniedError if the role may not answer.
        """
        self._call.require("approve")
        return vote_on_call(
            self._calls,
            self._call_request(wanted),
            vote,
            self._voter,
            reason=reason,
            scope=scope,
            recorder=self._call,
        )

    def _in_a_held_role(self, question: ApprovalQuestion, ballot: Ballot) -> Ballot:
        held, wanted = self._call.actor.roles, question.rule.roles if ballot.role is None else (ballot.role,)
        role = next((one for one in wanted if one in held), None)
        if role is not None:
            return replace(ballot, role=role)
        if ballot.vote == "revoke" and self._call.actor.may("administer"):
            return ballot
        has = " and ".join(held) or "no role"
        asks = f"{question.rule.origin} asks for {' or '.join(question.rule.roles)}"
        reason = f"{self._call.actor.user} has the role {has} and may not answer; {asks}"
        raise self._call.refused("approve", str(question.rule.origin), reason)

    def _policy(self) -> Policy:
        if self._call.tenant == EVERY:
            raise ConfigurationError(("approvals belong to one tenant; name it",))
        return self._questions.policy()

    def questions(self, policy: Policy) -> Iterator[ApprovalQuestion]:
        """Yield the questions that rules of `policy` ask now."""
        return (one.question for one in self._questions.asked(policy))

    def _question(self, wanted: str, policy: Policy) -> StoredQuestion:
        found = self._questions.find(wanted, policy)
        if found is None:
            raise NoSuchItemError("approval", wanted)
        known = None if self._capabilities is None else self._capabilities(found.question.tree, policy.script_dirs)
        return found if known is None else with_known_capabilities(found, policy, known)

    def _call_request(self, wanted: str) -> CallRequest:
        found = next((one for one in self._calls.all() if one.id == wanted), None)
        if found is None:
            raise NoSuchItemError("approval", wanted)
        return found
