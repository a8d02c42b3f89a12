"""Finds the questions about skills, and the votes of this process's user."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from prowess._internal.text.terminal_text import printable_line
from prowess.cli import output
from prowess.cli.key_files import read_signing_key
from prowess.cli.options.session_options import open_rules
from prowess.errors import SkillError
from prowess.governance.approving import (
    ApprovalQuestion,
    Ballot,
    questions_about,
)
from prowess.governance.voters import present_voter
from prowess.governance.voting import cast_vote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Catalog, SkillEntry
    from prowess.policy.approvals.statements import Vote
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


class Voting:
    """The policy that is in force, and the log that has each vote. Raises the errors of `open_rules`."""

    def __init__(self, policy_file: str | None) -> None:
        source, self._log = open_rules(policy_file, "this vote leaves no audit record")
        self.policy: Policy = source.now()

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
        """Write a vote of this process's user. Returns and raises as `cast_vote`."""
        return cast_vote(question, ballot, present_voter(), self.policy, self._log)


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
