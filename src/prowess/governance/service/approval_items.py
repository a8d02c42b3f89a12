"""Questions to people and votes, as they are asked for, given and shown by commands, pages and the interface."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from prowess.audit.record import time_text
from prowess.governance.service.listing import ListQuery
from prowess.policy.approval import Scope  # noqa: TC001 -- msgspec decodes it
from prowess.policy.approvals.matching import ApprovalState  # noqa: TC001 -- msgspec decodes it
from prowess.policy.facts.capabilities import CAPABILITY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.governance.approving import ApprovalQuestion
    from prowess.governance.call_requests import CallRequest
    from prowess.governance.stored_questions import StoredQuestion
    from prowess.policy.approvals.statements import VoteStatement

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
    """Which questions are wanted: those in this state, about skills or calls, or about the skill with this digest."""

    state: ApprovalState | None = None
    kind: Literal["skill", "call"] | None = None
    digest: _Digest | None = None


class GivenVote(Struct, frozen=True, kw_only=True):
    """One vote about a skill. `counts` is whether it counts now for the rule.

    `key` is the fingerprint of the key that signed it, and `is_author` whether the voter was known to be an author.
    """

    vote: str
    user: str
    role: str
    reason: str
    at: datetime
    until: datetime | None
    counts: bool
    key: str | None = None
    is_author: bool = False


class ApprovalItem(Struct, frozen=True, kw_only=True):
    """One question and its answer.

    `needed` and `given` are numbers of people. `requested_by` is None if nobody asked: a session was refused, somebody
    asked only to vote, or votes were given. `at` is the time of the first of these; it never changes,
    and is None for a question of a policy file.
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


def item_of(stored: StoredQuestion, votes: Sequence[VoteStatement] | None = None) -> ApprovalItem:
    """Return the item of a question in a store; with `votes`, as it is shown alone."""
    asked = stored.asked
    found = item_of_question(stored.question, votes)
    return replace(found, reason=asked.reason, requested_by=asked.by, at=stored.row.at)


def item_of_question(question: ApprovalQuestion, votes: Sequence[VoteStatement] | None = None) -> ApprovalItem:
    """Return the item of a question that a policy asks; with `votes`, as it is shown alone."""
    rule, counted = question.rule, question.votes
    ends = [end for one in counted.given if (end := one.end(rule.expires)) is not None]
    refused_by = None if counted.refused is None else counted.refused.voter.user
    return ApprovalItem(
        kind="skill",
        id=question.id,
        state=question.state,
        needed=rule.count,
        given=len(counted.given),
        reason="",
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
        key=one.voter.key,
        is_author=one.voter.is_author,
    )


def item_of_call(request: CallRequest, *, shown: bool = False) -> ApprovalItem:
    """Return the item of a question about a call; if it is `shown`, with the arguments."""
    return ApprovalItem(
        kind="call",
        id=request.id,
        state=request.state,
        needed=1,
        given=int(request.vote == "approve"),
        reason=request.reason,
        at=time_text(datetime.fromtimestamp(request.at, UTC)),
        by=(request.by,) if request.vote == "approve" and request.by is not None else (),
        refused_by=request.by if request.vote == "refuse" else None,
        tool=request.tool,
        arguments=request.arguments if shown else None,
        session=request.session,
    )
