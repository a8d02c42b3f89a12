"""Replays the calls of a recorded run. No call is made: no model, no network, no charge."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyio import to_thread

from prowess._internal.files.open_flags import Closing
from prowess._internal.text.terminal_text import printable_line
from prowess.agent.model import ModelError
from prowess.evals.ledger.accounts import Accounts, unit_spent
from prowess.evals.ledger.calls import OWN_HOST, CallAnswer
from prowess.evals.ledger.caps import Spent
from prowess.evals.ledger.journal import Journal
from prowess.evals.ledger.ledger import kept_answer
from prowess.evals.recordings.drift import DriftError, difference, require_fresh
from prowess.evals.recordings.request_form import form_digest, request_form

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from prowess.evals.ledger.accounts import KeptAnswer
    from prowess.evals.ledger.calls import CallBound
    from prowess.evals.ledger.caps import UnitSpent
    from prowess.evals.ledger.journal import Amount, JournalHeader
    from prowess.evals.ledger.prices import Price


class _Execution:
    """One execution of a unit that is replayed."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)
        self.taken: set[str] = set()
        self.used: list[tuple[Amount, bool]] = []
        self.drift: DriftError | None = None


class RecordedCalls(Closing):
    """Implements `Calls` over the journal of a recorded run. Use it as a context manager, or call `close`.

    Raises:
        JournalError: the journal cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._journal = Journal(os.fspath(path), writable=False)
        self._accounts = Accounts()
        self._executions: dict[str, _Execution] = {}
        try:
            self.header: JournalHeader = self._journal.header()
            for line, place in self._journal.added():
                self._accounts.book(line, place)
        except BaseException:
            self.close()
            raise

    def require_fresh(self, files: Mapping[str, str]) -> None:
        """Compare the files of the skills with those at the time of the recording.

        Raises:
            StaleRecordingError: a file changed, appeared or went.
        """
        require_fresh(printable_line(os.path.dirname(self._journal.path) or "."), self.header.files, files)

    @property
    def spent(self) -> Spent:
        """Nothing: a replay is free."""
        return Spent()

    def unit_spent(self, unit: str) -> UnitSpent:
        """Return the cost of the replayed calls of the unit when they were made."""
        return unit_spent(self._execution(unit).used)

    def has_more(self, unit: str) -> bool:
        """Whether the unit has recorded answers that this execution did not ask for yet."""
        taken = self._execution(unit).taken
        return any(call.id not in taken for call in self._accounts.answered(unit))

    def begin(self, unit: str, places: Mapping[str, str] | None = None) -> None:
        """As in `Calls`."""
        self._executions[unit] = _Execution(places or {})

    async def call(
        self,
        unit: str,
        request: bytes,
        bound: CallBound,
        ask: Callable[[], Awaitable[CallAnswer]],
        *,
        price: Price | None = None,
        host: str = OWN_HOST,
    ) -> CallAnswer:
        """Return the recorded answer. As in `Calls`, but `ask` is never called.

        Raises:
            DriftError: the request was not recorded.
            ModelError: the call failed when it was recorded, and was not made again with success.
            JournalError: the recording was changed meanwhile.
        """
        del bound, ask, price
        execution = self._execution(unit)
        form = await to_thread.run_sync(request_form, host, request, execution.places)
        key = (unit, form_digest(form))
        kept = self._next(key, execution)
        if kept is not None:
            execution.taken.add(kept.started.id)
            execution.used.append((kept.charged, True))
            return await to_thread.run_sync(kept_answer, self._journal, kept, execution.places)
        if (reason := self._accounts.failures.get(key)) is not None:
            raise ModelError(host, f"as recorded: {reason}")
        execution.drift = execution.drift or DriftError(unit, len(execution.taken) + 1, self._difference(unit, form))
        raise execution.drift

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def _execution(self, unit: str) -> _Execution:
        return self._executions.setdefault(unit, _Execution({}))

    def _next(self, key: tuple[str, str], execution: _Execution) -> KeptAnswer | None:
        """Return the next answer to a request: the last one that the provider rejected if it never gave another."""
        kept = self._accounts.answers.get(key, ())
        return next((one for one in kept if one.started.id not in execution.taken), self._accounts.refusals.get(key))

    def _difference(self, unit: str, form: str) -> str:
        """Compare with the first recorded request of the unit that was not replayed."""
        taken = self._execution(unit).taken
        expected = next((call for call in self._accounts.answered(unit) if call.id not in taken), None)
        if expected is None:
            return f"the recording has {len(taken)} answered requests of this unit, and no more"
        recorded = self._journal.form(expected.request)
        return "the recorded request was removed" if recorded is None else difference(recorded, form)
