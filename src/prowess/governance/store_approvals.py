"""Approvals in the store of an organisation. They count for the policy files of every layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import ValidationError
from msgspec.json import encode

from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.errors import MissingExtraError, SignatureError, StoreError
from prowess.policy.approvals.statements import checked_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess.policy.approvals.statements import VoteStatement
    from prowess.store import VoteStore

_TRIES = 100


class StoreApprovals:
    """Adds statements of one tenant. `place` is the URL without credentials."""

    def __init__(self, votes: VoteStore, place: str) -> None:
        self._votes, self.place = votes, place

    def add(self, vote: Callable[[Sequence[VoteStatement]], VoteStatement]) -> VoteStatement:
        """Add the result of `vote`, which gets the statements that are there; it is called again if others voted.

        Raises StoreError if others are always faster.
        """
        for _ in range(_TRIES):
            last, bodies = self._votes.numbered_votes()
            added = vote(statements_of(bodies, self.place))
            if self._votes.add_vote(encode(added).decode(), number=last + 1):
                return added
        raise StoreError(self.place, f"the vote was not added: others were faster {_TRIES} times; vote again")


def statements_of(bodies: Sequence[str], place: str) -> tuple[VoteStatement, ...]:
    """Return the statements of stored votes. Raises StoreError, which names `place`, if one of them is damaged."""
    try:
        return tuple(checked_statement(strict_json(body.encode(), "a vote")) for body in bodies)
    except (StrictJsonError, ValidationError, SignatureError, MissingExtraError, UnicodeEncodeError) as fault:
        raise StoreError(place, f"a vote is damaged: {fault}") from None
