"""The questions about skills in the store of an organisation, as the policies there ask them now.

A question is known because somebody asked it, because a session was refused, or because there are votes about it. Its
row has what the requester states; which rule asks, and what the votes mean, is decided each time it is read.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.audit.record import time_text
from prowess.governance.approving import asking_rules, question_in_store, with_deployed_capabilities
from prowess.governance.shared_approval_requests import AskedSkill, asked_of, row_of_request
from prowess.governance.shared_decisions import SharedDecisions
from prowess.policy.approvals.rules import APPROVED_FACT, ApprovalRule
from prowess.policy.approvals.statements import request_id
from prowess.policy.decision import RuleOrigin
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.policy import Policy
from prowess.store import RequestRow, SharedApprovalRequestStore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from prowess.governance.approving import ApprovalQuestion
    from prowess.store import SharedDatabase

ANY_RULE = ApprovalRule(words=(), id=APPROVED_FACT, origin=RuleOrigin(path="store:", line=0))  # no policy asks for more


class StoredQuestion(Struct, frozen=True, kw_only=True):
    """A question, its request, and the row of this; the store does not have the row if there are only votes."""

    row: RequestRow
    asked: AskedSkill
    question: ApprovalQuestion
    is_stored: bool = True


class StoredQuestions:
    """The questions of the tenant of a database. Every method raises StoreError if the store cannot be used."""

    def __init__(self, database: SharedDatabase) -> None:
        self._database, self._store = database, SharedApprovalRequestStore(database)

    def policy(self) -> Policy:
        """Return the policies of the organisation for the tenant. Raises PolicyError if one is damaged."""
        rules = SharedDecisions(self._database).rules()
        return Policy(files=rules.files, approvals=(rules.approvals,))

    def asked(self, policy: Policy, *, digests: Collection[str] | None = None) -> Iterator[StoredQuestion]:
        """Yield the questions that rules of `policy` ask now, the oldest first; about all trees, or about `digests`.

        Those without a row follow, in the order of their first votes.
        """
        rows = self._store.requests(digests=digests)
        known = {row.id for row in rows}
        for row in (*rows, *_of_votes(policy, known, digests)):
            asked = asked_of(row)
            if (question := _asked(row.id, asked, policy)) is not None:
                yield StoredQuestion(row=row, asked=asked, question=question, is_stored=row.id in known)

    def find(self, wanted: str, policy: Policy) -> StoredQuestion | None:
        """Return the question with an id, None if no rule asks it."""
        return next((one for one in self.asked(policy) if one.row.id == wanted), None)


def rules_about(name: str, digest: str, capabilities: tuple[str, ...] | None, policy: Policy) -> list[ApprovalRule]:
    """Return the rules that ask about a skill; `ANY_RULE` if none does."""
    skill = SkillIdentity(name=name, trees=(digest,), capabilities=capabilities)
    asking = [rule for rule in asking_rules(policy) if rule.name == APPROVED_FACT or rule.reasons(skill)]
    return asking or [ANY_RULE]


def newer_than(row: RequestRow, rows: Sequence[RequestRow]) -> RequestRow | None:
    """Return the last request of the same person about the same skill that was made later, with another digest."""
    this = asked_of(row)
    if this.by is None:
        return None
    others = ((one, asked_of(one)) for one in rows)
    later = [
        (asked.asked_at or one.at, one)
        for one, asked in others
        if (asked.skill, asked.by) == (this.skill, this.by) and asked.digest != this.digest
    ]
    at, last = max(later, key=lambda pair: (pair[0], pair[1].id), default=("", row))
    return last if (at, last.id) > (this.asked_at or row.at, row.id) else None


def with_known_capabilities(stored: StoredQuestion, policy: Policy, known: tuple[str, ...]) -> StoredQuestion:
    """Return a question with the capabilities of the deployed files, in place of stated ones."""
    question = with_deployed_capabilities(stored.question, policy, known, stored.asked.reason)
    return StoredQuestion(row=stored.row, asked=stored.asked, question=question, is_stored=stored.is_stored)


def _of_votes(policy: Policy, known: set[str], digests: Collection[str] | None) -> list[RequestRow]:
    """Return a row for each question about which there are votes and no request, as of its first vote."""
    found: dict[str, RequestRow] = {}
    for place in policy.approvals:
        for one in place.statements if place.policy_files is None else ():
            if one.request not in known and (digests is None or one.tree in digests):
                asked = AskedSkill(skill=one.skill, digest=one.tree, capabilities=one.capabilities)
                found.setdefault(one.request, row_of_request(one.request, asked, time_text(one.at.astimezone(UTC))))
    return sorted(found.values(), key=lambda row: (row.at, row.id))


def _asked(wanted: str, asked: AskedSkill, policy: Policy) -> ApprovalQuestion | None:
    """Return the question with an id: of several rules with one name, the first one that is not satisfied."""
    rules = [rule for rule in (*asking_rules(policy), ANY_RULE) if request_id(asked.digest, rule.name) == wanted]
    found = [
        question_in_store(
            asked.skill,
            asked.digest,
            rule,
            policy,
            capabilities=asked.capabilities,
            asked_by=asked.by,
            reason=asked.reason,
        )
        for rule in rules
    ]
    return next((one for one in found if one.state != "approved"), found[0] if found else None)
