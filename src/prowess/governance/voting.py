"""Writes a vote about a skill: into the audit log first, then beside the policy that asks."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prowess._internal.files.enrolment import server_options
from prowess._internal.process_user import groups_of_user
from prowess._internal.text.terminal_text import printable_line
from prowess.errors import SkillError, StoreError
from prowess.governance.approval_file import ApprovalFile
from prowess.governance.approving import VoteRefusedError, ballot_facts, recounted, statement_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.governance.acts import ActRecorder
    from prowess.governance.approving import ApprovalQuestion, Ballot
    from prowess.governance.store_approvals import StoreApprovals
    from prowess.policy.approvals.statements import Voter, VoteStatement
    from prowess.policy.policy import Policy


def cast_vote(
    question: ApprovalQuestion,
    ballot: Ballot,
    voter: Voter,
    *,
    policy: Policy,
    recorder: ActRecorder,
    store: StoreApprovals | None = None,
) -> ApprovalQuestion:
    """Write a vote, with `store` into the store of the organisation. Return the question as it is answered then.

    `recorder` records it before, as an act of the voter.

    Raises:
        VoteRefusedError: the vote would not count, as one on an enrolled machine about a rule of the organisation.
        PolicyDeniedError: the role may not answer this question.
        AuditError: the vote cannot be recorded, so it was not written.
        StoreError: the approvals file cannot be written.
    """
    if store is None:
        _require_own_rule(question, ballot)
    ballot = _in_a_held_role(question, ballot, voter, policy, recorder)
    statements: list[VoteStatement] = []

    def vote(before: Sequence[VoteStatement]) -> VoteStatement:
        made = statement_of(recounted(question, before, policy), ballot, voter)
        statements[:] = (*before, made)
        return made

    file = store or ApprovalFile(question.place, is_machine=question.is_machine)
    if store is not None:
        question = replace(question, place=store.place)
    with recorder.act("vote", ballot_facts(question, ballot, voter)):
        try:
            file.add(vote)
        except SkillError:
            raise
        except PermissionError as fault:
            reason = f"you may not write it ({fault.strerror}); only those who may change the policy beside it approve"
            raise StoreError(question.place, reason) from None
        except OSError as fault:
            raise StoreError(question.place, fault.strerror or str(fault)) from None
    return recounted(question, statements, policy)


def _require_own_rule(question: ApprovalQuestion, ballot: Ballot) -> None:
    """Refuse a vote beside a policy in the bundle of the organisation: its server has the votes for its rules."""
    server = server_options(question.rule.origin.path)
    if server is None:
        return
    name = printable_line(shlex.quote(question.name))
    of_vote = {
        "approve": f"approve {name} --digest {question.tree}",
        "refuse": f"approvals vote {question.id} refuse",
        "revoke": f"approvals revoke {question.id}",
    }
    reason = f"{question.rule.origin} is a rule of the organisation, and votes on this machine do not count for it"
    raise VoteRefusedError(f"{reason}; run `prowess {of_vote[ballot.vote]} {server}`")


def _in_a_held_role(
    question: ApprovalQuestion, ballot: Ballot, voter: Voter, policy: Policy, recorder: ActRecorder
) -> Ballot:
    """Return the ballot in a role that the voter has, if policy files give roles. An administrator has every role."""
    # The user of a token is none of this system, also if the names are equal.
    held = policy.roles_of(voter.user, groups_of_user(voter.user) if voter.identified_by == "system" else ())
    if held is None:
        return ballot
    wanted = question.rule.roles if ballot.role is None else (ballot.role,)
    role = next((one for one in wanted if one in held or "administrator" in held), None)
    if role is None:
        has = " and ".join(sorted(held)) or "no role"
        reason = f"{voter.user} has the role {has} and may not answer; this needs the role {' or '.join(wanted)}"
        raise recorder.refused("approve", str(question.rule.origin), reason)
    return replace(ballot, role=role)
