"""Questions to people as commands show them: one line, one row of JSON, and what a person sees before the vote.

The same for questions of this machine's policy files, in the store of an organisation, and by its server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import click
from msgspec import Struct, to_builtins

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.cli import exit_codes, output
from prowess.governance.service.approval_items import ApprovalItem  # noqa: TC001 -- a field of a struct
from prowess.policy.approval import ApprovalRequest
from prowess.tools.gates import question as question_of_call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.governance.approving import Ballot
    from prowess.governance.service.approval_items import GivenVote
    from prowess.policy.approval import Scope

_OF_CALL = ("id", "state", "tool", "reason", "session", "needed", "given", "by")
_OF_SKILL = (
    "id", "state", "skill", "digest", "needed", "given", "rule", "origin", "roles", "capabilities", "by", "until",
)  # fmt: skip


class ShownApproval(Struct, frozen=True, kw_only=True):
    """A question, the place of its votes, and the directory of its skill if that is here.

    `is_own_file` states that the votes are in a file of this user, which nobody else can write, and
    `is_of_organisation` that the bundle of this machine's organisation asks, whose server has the votes.
    """

    item: ApprovalItem
    place: str
    location: str | None = None
    is_own_file: bool = False
    is_of_organisation: bool = False

    @property
    def row(self) -> dict[str, object]:
        """The question as an object of JSON, without the arguments of a call."""
        values = to_builtins(self.item)
        if self.item.kind == "call":
            return {name: values[name] for name in _OF_CALL}
        return {**{name: values[name] for name in _OF_SKILL}, "location": self.location, "place": self.place}

    @property
    def text(self) -> str:
        """What a person is shown before the vote, for a terminal."""
        item = self.item
        if item.kind == "skill":
            return printable(item.text or "")
        asked = ApprovalRequest(tool=item.tool or "", arguments=item.arguments or {}, reason=item.reason)
        return question_of_call(asked)


class Voting(Protocol):
    """The questions of one place, and the votes of one person about them.

    Raises:
        VoteRefusedError, NoSuchItemError, InvalidArgumentsError: there is no such question, or a vote would not count.
        PolicyDeniedError: the person may not vote.
        StoreError, UnavailableError, ServerAnswerError: the place cannot be used.
    """

    def all(self) -> Sequence[ShownApproval]:
        """Return all questions: those about skills, then those about calls."""

    def get(self, request: str) -> ShownApproval:
        """Return one question with its text and every vote."""

    def vote(self, asked: ShownApproval, ballot: Ballot, scope: Scope) -> ShownApproval:
        """Give a vote about a question that `get` returned. Return it as it is answered then."""

    def revoke(self, request: str, ballot: Ballot) -> ShownApproval:
        """Make every vote about a question void."""


def list_questions(found: Sequence[ShownApproval], *, as_json: bool) -> int:
    """Print all questions."""
    if as_json:
        output.document({"items": [one.row for one in found], "next": None})
        return exit_codes.OK
    for one in found:
        output.line(f"{one.item.state:8}  {told(one.item)}")
    if not found:
        output.note("no policy asks for an approval of a skill here, and no call waits")
    return exit_codes.OK


def show_question(found: ShownApproval, *, as_json: bool) -> int:
    """Print one question as a person sees it before the vote, and every vote."""
    item = found.item
    if as_json:
        if item.kind == "call":
            output.document({**found.row, "arguments": item.arguments})
        else:
            output.document({**found.row, "text": item.text, "votes": to_builtins(item.votes)})
        return exit_codes.OK
    output.line(found.text)
    output.line(told(item))
    for vote in item.votes:
        output.line(_line(vote))
    return exit_codes.OK


def show_answer(found: ShownApproval, *, as_json: bool) -> int:
    """Print a question after a vote."""
    if as_json:
        output.document(found.row)
    else:
        output.line(told(found.item))
    return exit_codes.OK


def confirmed(found: ShownApproval, verb: str) -> bool:
    """Show what is voted about, and ask a person at a terminal. Return whether the vote is wanted."""
    output.note(found.text)
    what = "this" if found.location is None else "these files"
    return not output.is_interactive() or click.confirm(f"{verb.capitalize()} exactly {what}?", err=True)


def told(item: ApprovalItem) -> str:
    """Return one line about a question and its answer."""
    if item.kind == "call":
        answers = {
            "approved": f"is approved by {', '.join(item.by)}; send it again",
            "refused": f"is refused by {item.refused_by}",
        }
        answer = answers.get(item.state, f"waits for a person: {item.reason}")
        return printable_line(f"a call of {item.tool} {answer}; {item.id}")
    name, count = item.skill, f"{item.given} of {item.needed}"
    if item.refused_by is not None:
        return printable_line(f"{name} is refused by {item.refused_by} ({item.origin}); {item.id}")
    if item.state == "approved":
        return printable_line(f"{name} is approved for {item.rule} ({count}); running sessions can use it at once")
    left = item.needed - item.given
    people = "person" if left == 1 else "people"
    return printable_line(f"{name} waits for {left} more {people} ({count}, {item.origin}); {item.id}")


def _line(vote: GivenVote) -> str:
    parts = [f"{vote.at:%Y-%m-%d %H:%M} {vote.vote} by {vote.user} as {vote.role}"]
    parts += [f"until {vote.until:%Y-%m-%d}"] if vote.until is not None else []
    parts += [f"signed with key {vote.key}"] if vote.key is not None else []
    parts += [] if vote.counts else ["does not count: the author" if vote.is_author else "does not count"]
    return printable_line("; ".join([*parts, *([vote.reason] if vote.reason else [])]))
