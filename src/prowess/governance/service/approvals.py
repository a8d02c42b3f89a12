"""Approvals of an organisation: questions whether a skill or a call may be used, and the votes of people.

A question about a skill is about exactly its bytes and one rule `[[approval]]` of the stored policies. A vote that
could not count is refused. After the last vote, the same call of a running session succeeds.
"""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 -- msgspec decodes it
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from prowess.governance.service.listing import ListQuery
from prowess.policy.approval import Scope  # noqa: TC001 -- msgspec decodes it
from prowess.policy.approvals.matching import ApprovalState  # noqa: TC001 -- msgspec decodes it

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.format.skill import Skill
    from prowess.governance.service.listing import ListPage
    from prowess.governance.service.service_call import ServiceCall

_Digest = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
_Text = Annotated[str, Meta(max_length=4096)]
_Name = Annotated[str, Meta(min_length=1, max_length=4096)]


class NewApproval(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question that is wanted: may the skill with this tree digest be used?

    `capabilities` are those that the requester states; they decide which rules ask. None: each capability is possible.
    """

    skill: _Name
    digest: _Digest
    reason: _Text = ""
    capabilities: tuple[str, ...] | None = None


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

    `needed` and `given` are numbers of people. `requested_by` and `at` are None if votes were given without a request.
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
    how: str | None = None
    tool: str | None = None
    arguments: dict[str, object] | None = None
    session: str | None = None
    text: str | None = None
    votes: tuple[GivenVote, ...] = ()


class ApprovalService:
    """The questions to people of the tenant of a call. `find` returns the skill with a tree digest, if it is known.

    Raises:
        StoreError: by every method, if the store cannot be used.
        ConfigurationError: by every method, if the tenant is `*`: approvals belong to one tenant.
    """

    def __init__(self, call: ServiceCall, find: Callable[[str], Skill | None] | None = None) -> None:
        self._call, self._find = call, find

    def list(self, query: ApprovalQuery) -> ListPage[ApprovalItem]:
        """Return questions, the oldest first, without `text` and `votes`."""
        raise NotImplementedError

    def get(self, request_id: str) -> ApprovalItem:
        """Return one question with what a person is shown (`text`) and every vote. Raises NoSuchItemError."""
        raise NotImplementedError

    def add(self, new: NewApproval) -> ApprovalItem:
        """Ask people, once for each rule that asks about the skill. Return the first question that is not approved.

        The requester counts as an author of the skill. Who asks the same again gets the same question.

        Raises:
            PolicyDeniedError: the actor is a machine, or its role permits no use of skills.
            ConfigurationError: a capability is unknown.
        """
        raise NotImplementedError

    def vote(self, request_id: str, new: NewVote) -> ApprovalItem:
        """Give a vote. Return the question as it is answered then.

        Raises:
            NoSuchItemError: there is no such question.
            VoteRefusedError: the vote would not count: a second one, about a changed digest, the author's own, or of a
                machine.
            PolicyDeniedError: the role may not answer.
            AuditError: the vote cannot be recorded, so it was not given.
        """
        raise NotImplementedError

    def revoke(self, request_id: str, reason: str = "") -> ApprovalItem:
        """Make every vote about a question void, at the next call of every session. Raises as `vote`."""
        raise NotImplementedError
