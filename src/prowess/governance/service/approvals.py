"""Approvals of an organisation: questions whether a skill or a call may be used, and the votes of people.

A question about a skill is about exactly its bytes and one rule `[[approval]]` of the stored policies. A vote that
could not count is refused. After the last vote, the same call of a running session succeeds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct
from msgspec.json import decode
from msgspec.structs import replace

from prowess.errors import ConfigurationError
from prowess.governance.approving import (
    Ballot,
    VoteRefusedError,
    asking_rules,
    question_in_store,
    with_deployed_capabilities,
)
from prowess.governance.call_requests import CALL_PREFIX, vote_on_call
from prowess.governance.service.listing import ListQuery, NoSuchItemError, page_of
from prowess.governance.shared_approval_requests import AskedSkill, request_row, require_room
from prowess.governance.shared_call_requests import SharedCallRequests
from prowess.governance.shared_decisions import SharedDecisions
from prowess.governance.store_approvals import StoreApprovals
from prowess.governance.voters import voter_of
from prowess.governance.voting import cast_vote
from prowess.policy.approval import Scope  # noqa: TC001 -- msgspec decodes it
from prowess.policy.approvals.matching import ApprovalState, statements_about
from prowess.policy.approvals.rules import APPROVED_FACT, ApprovalRule
from prowess.policy.approvals.statements import request_id
from prowess.policy.decision import RuleOrigin
from prowess.policy.facts.capabilities import CAPABILITY_PATTERN, checked_capabilities
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.policy import Policy
from prowess.store import RequestRow, SharedApprovalRequestStore, SharedVoteStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.governance.approving import ApprovalQuestion
    from prowess.governance.call_requests import CallRequest
    from prowess.governance.service.listing import ListPage
    from prowess.governance.service.service_call import ServiceCall
    from prowess.policy.approvals.statements import Vote, Voter, VoteStatement

_Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
_Text = Annotated[str, Meta(max_length=4096)]
_Name = Annotated[str, Meta(min_length=1, max_length=4096)]
_Capability = Annotated[str, Meta(extra_json_schema={"pattern": CAPABILITY_PATTERN})]


class NewApproval(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question that is wanted: may the skill with this tree digest be used?

    `capabilities` are those that the requester states, in the names of the inventory (`file:read`, `scripts`); they
    decide which rules ask. None: each capability is possible. `to_vote` states that the requester asks only in order to
    vote, and so is no author; this needs the right to approve, and the stated capabilities are not shown to others.
    """

    skill: _Name
    digest: _Digest
    reason: _Text = ""
    capabilities: tuple[_Capability, ...] | None = None
    to_vote: bool = False


class NewVote(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A vote that is wanted. `digest` is what the voter has looked at; another one than the question's is refused.

    `role` is the role in which the person votes, by default the first one that the rule names and the person has.
    `until` is the end of an approval. `scope` is for calls: approve one call, or each until the session ends.
    """

    vote: Literal["approve", "refuse"]
    reason: _Text = ""
    digest: _Digest | None = None
    role: str | None = None
    until: Annotated[datetime, Meta(tz=True)] | None = None
    scope: Scope = "once"


class ApprovalQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which questions are wanted: those in this state, and about skills or calls."""

    state: ApprovalState | None = None
    kind: Literal["skill", "call"] | None = None


class GivenVote(Struct, frozen=True, kw_only=True):
    """One vote about a skill. `counts` is whether it counts now for the rule."""

    vote: str
    user: str
    role: str
    reason: str
    at: datetime
    until: datetime | None
    counts: bool


class ApprovalItem(Struct, frozen=True, kw_only=True):
    """One question and its answer.

    `needed` and `given` are numbers of people. `requested_by` is None if nobody asked: a session was refused, somebody
    asked only to vote, or votes were given; `at` is None in the last case.
    Of a question about a skill, `rule` is the name of the rule that asks and `origin` its place; `until` is when the
    approval ends. Of a question about a call, `tool` and `arguments` are the call.
    """

    kind: Literal["skill", "call"]
    id: str
    state: ApprovalState
    needed: int
    given: int
    reason: str
    requested_by: str | None = None
    at: str | None = None
    by: tuple[str, ...] = ()
    refused_by: str | None = None
    skill: str | None = None
    digest: str | None = None
    rule: str | None = None
    origin: str | None = None
    roles: tuple[str, ...] = ()
    capabilities: tuple[str, ...] | None = None
    until: datetime | None = None
    tool: str | None = None
    arguments: dict[str, object] | None = None
    session: str | None = None
    text: str | None = None
    votes: tuple[GivenVote, ...] = ()


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
        self._requests = SharedApprovalRequestStore(call.database)
        self._calls = SharedCallRequests(call.database)

    def list(self, query: ApprovalQuery) -> ListPage[ApprovalItem]:
        """Return questions, the oldest first, without `text` and `votes`."""
        found: list[ApprovalItem] = []
        if query.kind != "call":
            policy = self._policy()
            found += [_item(question, row) for row, question in self.questions(policy)]
        if query.kind != "skill":
            found += map(_call_item, self._calls.all())
        wanted = (one for one in found if query.state in {None, one.state})
        return page_of(wanted, query, lambda one: f"{one.at or ''} {one.id}")

    def get(self, wanted: str) -> ApprovalItem:
        """Return one question with what a person is shown (`text`) and every vote. Raises NoSuchItemError.

        The arguments of a call are shown to those alone who may approve, or read records of other people.
        """
        if wanted.startswith(CALL_PREFIX):
            may_see = self._call.actor.may("approve") or self._call.actor.may("audit")
            return _call_item(self._call_request(wanted), shown=may_see)
        policy = self._policy()
        row, question = self._question(wanted, policy)
        votes = statements_about(question.tree, policy.approvals, question.rule.origin.path)
        return _item(question, row, [one for one in votes if one.rule == question.rule.name])

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
        rows = {row.id: row for row in self._requests.requests()}
        body = AskedSkill(
            skill=new.skill,
            digest=new.digest,
            capabilities=None if new.to_vote else new.capabilities,
            reason=new.reason,
            by=None if new.to_vote else self._call.actor.user,
        )
        rules = _rules_about(new, policy)
        if new.to_vote and rules == [_ANY]:
            raise VoteRefusedError(f"no policy of the organisation asks for an approval of {new.skill!r}")
        if not new.to_vote and any(request_id(new.digest, rule.name) not in rows for rule in rules):
            states = ((row, one.state) for row, one in self.questions(policy) if row is not None)
            require_room(self._call.actor.user, rows.values(), states)
        for rule in rules:
            before = rows.get(request_id(new.digest, rule.name))
            if before is not None and (new.to_vote or _read(before).asked_by(self._call.actor.user)):
                continue
            row = request_row(request_id(new.digest, rule.name), body, before)
            with self._call.act("request", {"request": row.id, "skill": new.skill, "digest": new.digest}):
                self._requests.put_request(row, expected=before)
        asked = [(row, one) for row, one in self.questions(policy) if one.tree == new.digest]
        return next((_item(one, row) for row, one in asked if one.state != "approved"), _item(asked[0][1], asked[0][0]))

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
            return _call_item(self.answer_call(wanted, new.vote, reason=new.reason, scope=new.scope))
        policy = self._policy()
        row, question = self._question(wanted, policy)
        if new.digest is not None and new.digest != question.tree:
            reason = f"you looked at {new.digest}, and the question is about {question.tree}; look at it again"
            raise VoteRefusedError(f"{question.name!r} has changed: {reason}")
        ballot = Ballot(vote=new.vote, reason=new.reason, role=new.role, until=new.until)
        return _item(self.cast(question, ballot, policy), row)

    def revoke(self, wanted: str, reason: str = "") -> ApprovalItem:
        """Make every vote about a question void, at the next call of every session. Raises as `vote`."""
        if wanted.startswith(CALL_PREFIX):
            return _call_item(self.answer_call(wanted, "revoke", reason=reason, scope="once"))
        policy = self._policy()
        row, question = self._question(wanted, policy)
        if not (question.votes.given or question.votes.refused):
            raise VoteRefusedError(f"nobody has voted about {wanted}, so there is nothing to revoke")
        return _item(self.cast(question, Ballot(vote="revoke", reason=reason), policy), row)

    def cast(self, question: ApprovalQuestion, ballot: Ballot, policy: Policy) -> ApprovalQuestion:
        """Write the vote of the actor about a question that `policy` asks. Returns and raises as `cast_vote`.

        The actor votes in a role that it holds; an administrator may revoke every vote.
        """
        self._call.require("approve")
        ballot = self._in_a_held_role(question, ballot)
        rows = self._requests.requests()
        row = next((one for one in rows if one.id == question.id), None)
        if row is not None:
            asked = _read(row)  # by several people perhaps, of whom none may approve
            question = replace(question, asked_by=self._voter.user if asked.asked_by(self._voter.user) else asked.by)
            if ballot.vote == "approve" and (newer := _newer(row, rows)) is not None:
                reason = f"{newer.id} asks about its new digest {_read(newer).digest}"
                raise VoteRefusedError(f"{question.name!r} has changed since: {reason}")
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
        rules = SharedDecisions(self._call.database).rules()
        return Policy(files=rules.files, approvals=(rules.approvals,))

    def questions(self, policy: Policy) -> Iterator[tuple[RequestRow | None, ApprovalQuestion]]:
        """Yield the questions that rules of `policy` ask now, each with its request, None if there were only votes."""
        rows: dict[str, RequestRow | None] = {row.id: row for row in self._requests.requests()}
        asked = [(row, _read(row)) for row in rows.values() if row is not None]
        voted: list[tuple[RequestRow | None, AskedSkill]] = []
        for one in (one for place in policy.approvals if place.policy_files is None for one in place.statements):
            if one.request not in rows:
                rows[one.request] = None
                voted.append((None, _voted(one)))
        for (row, request), wanted in zip((*asked, *voted), rows, strict=True):
            if (question := self._asked(wanted, request, policy)) is not None:
                yield row, question

    def _asked(self, wanted: str, request: AskedSkill, policy: Policy) -> ApprovalQuestion | None:
        """Return the question with an id: of several rules with one name, the first one that is not satisfied."""
        asking = (*asking_rules(policy), _ANY)
        rules = [rule for rule in asking if request_id(request.digest, rule.name) == wanted]
        found = [self._of_rule(request, rule, policy) for rule in rules]
        return next((one for one in found if one.state != "approved"), found[0] if found else None)

    @staticmethod
    def _of_rule(request: AskedSkill, rule: ApprovalRule, policy: Policy) -> ApprovalQuestion:
        return question_in_store(
            request.skill,
            request.digest,
            rule,
            policy,
            capabilities=request.capabilities,
            asked_by=request.by,
            reason=request.reason,
        )

    def _question(self, wanted: str, policy: Policy) -> tuple[RequestRow | None, ApprovalQuestion]:
        for row, question in self.questions(policy):
            if question.id == wanted:
                return row, self._with_deployed_capabilities(question, policy, "" if row is None else _read(row).reason)
        raise NoSuchItemError("approval", wanted)

    def _with_deployed_capabilities(self, question: ApprovalQuestion, policy: Policy, reason: str) -> ApprovalQuestion:
        """Return a question with the capabilities of the deployed files, in place of stated ones."""
        known = None if self._capabilities is None else self._capabilities(question.tree, policy.script_dirs)
        return question if known is None else with_deployed_capabilities(question, policy, known, reason)

    def _call_request(self, wanted: str) -> CallRequest:
        found = next((one for one in self._calls.all() if one.id == wanted), None)
        if found is None:
            raise NoSuchItemError("approval", wanted)
        return found


_ANY = ApprovalRule(words=(), id=APPROVED_FACT, origin=RuleOrigin(path="store:", line=0))  # no policy asks for more


def _rules_about(new: NewApproval, policy: Policy) -> list[ApprovalRule]:
    """Return the rules that ask about a skill; the one of `skill.approved` if none does."""
    skill = SkillIdentity(name=new.skill, trees=(new.digest,), capabilities=new.capabilities)
    asking = [rule for rule in asking_rules(policy) if rule.name == APPROVED_FACT or rule.reasons(skill)]
    return asking or [_ANY]


def _read(row: RequestRow) -> AskedSkill:
    return decode(row.body, type=AskedSkill)


def _newer(row: RequestRow, rows: Sequence[RequestRow]) -> RequestRow | None:
    """Return the last request of the same person about the same skill that was made later, with another digest."""
    this = _read(row)
    later = ((one, _read(one)) for one in rows if (one.at, one.id) > (row.at, row.id))
    same = [one for one, asked in later if (asked.skill, asked.by) == (this.skill, this.by)]
    other = [one for one in same if _read(one).digest != this.digest]
    return other[-1] if other and this.by is not None else None


def _voted(one: VoteStatement) -> AskedSkill:
    return AskedSkill(skill=one.skill, digest=one.tree, capabilities=one.capabilities)


def _item(
    question: ApprovalQuestion, row: RequestRow | None, votes: Sequence[VoteStatement] | None = None
) -> ApprovalItem:
    rule, counted = question.rule, question.votes
    ends = [end for one in counted.given if (end := one.end(rule.expires)) is not None]
    request = None if row is None else _read(row)
    refused_by = None if counted.refused is None else counted.refused.voter.user
    return ApprovalItem(
        kind="skill",
        id=question.id,
        state=question.state,
        needed=rule.count,
        given=len(counted.given),
        reason="" if request is None else request.reason,
        requested_by=None if request is None else request.by,
        at=None if row is None else row.at,
        by=tuple(one.voter.user for one in counted.given),
        refused_by=refused_by,
        skill=question.name,
        digest=question.tree,
        rule=rule.name,
        origin=str(rule.origin),
        roles=rule.roles,
        capabilities=question.capabilities,
        until=min(ends, default=None),
        text=None if votes is None else question.text,
        votes=() if votes is None else tuple(_given(one, question) for one in votes),
    )


def _given(one: VoteStatement, question: ApprovalQuestion) -> GivenVote:
    return GivenVote(
        vote=one.vote,
        user=one.voter.user,
        role=one.role,
        reason=one.reason,
        at=one.at,
        until=one.end(question.rule.expires),
        counts=one in question.votes.given or one is question.votes.refused,
    )


def _call_item(request: CallRequest, *, shown: bool = False) -> ApprovalItem:
    return ApprovalItem(
        kind="call",
        id=request.id,
        state=request.state,
        needed=1,
        given=int(request.vote == "approve"),
        reason=request.reason,
        at=datetime.fromtimestamp(request.at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        by=(request.by,) if request.vote == "approve" and request.by is not None else (),
        refused_by=request.by if request.vote == "refuse" else None,
        tool=request.tool,
        arguments=request.arguments if shown else None,
        session=request.session,
    )
