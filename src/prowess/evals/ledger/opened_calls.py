"""The calls of a campaign: those of its own journal, or those of the recording that it replays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess.evals.ledger.journal import JOURNAL
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.recorded_calls import RecordedCalls

if TYPE_CHECKING:
    from prowess.evals.iterations.fence import Fence
    from prowess.evals.ledger.caps import Caps, Spent
    from prowess.evals.ledger.journal import JournalHeader


def opened_calls(fence: Fence, header: JournalHeader, caps: Caps, *, replay: str | None) -> Ledger | RecordedCalls:
    """Open the journal in the folder of `fence`, or that in the directory `replay`. The caller closes it.

    Raises:
        JournalError: the journal cannot be used, or was made by a campaign of other settings.
        StaleRecordingError: a skill changed since `replay` was recorded.
    """
    if replay is None:
        return Ledger(os.path.join(fence.iteration, JOURNAL), header, caps, is_ours=fence.holds)
    calls = RecordedCalls(os.path.join(replay, JOURNAL))
    try:
        calls.require_fresh(header.files)
    except BaseException:
        calls.close()
        raise
    return calls


def spent_by_all(calls: Ledger | RecordedCalls) -> Spent:
    """Return the cost of a campaign, with calls that workers booked meanwhile.

    Raises:
        JournalError: the journal cannot be read.
    """
    if isinstance(calls, Ledger):
        calls.refresh()
    return calls.spent
