"""The ledger of a campaign: paid calls that are booked before they are made, and kept before they are handed on.

    started and reserved, on the disk → the call → answer and charge, on the disk → handed on

So a campaign may be killed at any moment and resumed. A kept answer is replayed. A call without a kept answer is made
again, and stays charged at its reservation, because the provider may have charged it.

A cap holds for everything charged and reserved together. A call that does not fit waits while calls are in flight that
may give back a part of their reservation; if none is, it is refused. One ledger serves many tasks of one event loop.
Several processes may each open the same journal; the reservations of the others count as spent, and are waited for if
`is_live` tells which of the others still run.

A worker can outlive its command, and the next command may continue the journal with other caps. So `is_ours` is asked
under the lock before each call is booked: the next command, which makes it false before it opens the journal, finds all
calls of such a worker there. The answer of a call that was booked is always kept.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from prowess._internal.files.open_flags import Closing
from prowess._internal.text.terminal_text import printable_line
from prowess.agent.model import Usage
from prowess.evals.ledger.accounts import Accounts, exceeds, unit_spent
from prowess.evals.ledger.calls import OWN_HOST, CallAnswer, is_measured
from prowess.evals.ledger.caps import CapReachedError
from prowess.evals.ledger.journal import Amount, AnsweredCall, FailedCall, Journal, JournalError, StartedCall
from prowess.evals.ledger.prices import nano_of, required_price
from prowess.evals.recordings.places import with_names, with_paths
from prowess.evals.recordings.redaction import redacted_content
from prowess.evals.recordings.request_form import form_digest, request_form

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from prowess.evals.ledger.accounts import KeptAnswer, Shortage
    from prowess.evals.ledger.calls import CallBound
    from prowess.evals.ledger.caps import Caps, Spent, UnitSpent
    from prowess.evals.ledger.journal import JournalHeader
    from prowess.evals.ledger.prices import Price

_log = logging.getLogger("prowess.evals")
_SECONDS_BETWEEN_LOOKS = 0.2  # at calls of other processes
_SECONDS_BEFORE_A_NOTE = 60.0
LONGEST_WAIT = 1800.0  # seconds for calls of other processes, which may be stopped
_MOST_REASON = 500  # characters of a failure that are kept


class _Execution:
    """One execution of a unit: its places, the answers that it used, and the cap that stopped it."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)
        self.taken: set[str] = set()  # ids of calls whose answers were handed on
        self.used: list[tuple[Amount, bool]] = []
        self.calls = 0
        self.refusal: CapReachedError | None = None


class _Waiting:
    """A wait at a cap for calls of other processes alone. The process of one may be stopped, and never end it."""

    def __init__(self, path: str) -> None:
        self._path, self._begun, self._told = printable_line(path), anyio.current_time(), False

    def look(self, units: list[str]) -> None:
        """Log one note after a minute.

        Raises:
            JournalError: `LONGEST_WAIT` is over.
        """
        waited = anyio.current_time() - self._begun
        named = printable_line(", ".join(units[:3]))
        if waited > LONGEST_WAIT:
            reason = f"has calls of {named} that another worker does not end"
            raise JournalError(self._path, reason, "end that worker, and resume")
        if waited > _SECONDS_BEFORE_A_NOTE and not self._told:
            self._told = True
            _log.warning("%s: a cap leaves no room until other workers end calls of %s", self._path, named)


class Ledger(Closing):
    """Implements `Calls` over one journal. Use it as a context manager, or call `close`.

    `mark` is unique to a ledger, and begins the ids of its calls. `is_live` tells whether the ledger of a mark, of
    another process, may still end its calls. Without it, those of other processes are taken for dead. `is_ours` tells
    whether this ledger may still make calls.

    Raises:
        JournalError: the journal cannot be opened, or is of another campaign, or `is_ours` is false.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        header: JournalHeader,
        caps: Caps,
        *,
        is_live: Callable[[str], bool] | None = None,
        is_ours: Callable[[], bool] | None = None,
    ) -> None:
        self._journal = Journal.create(os.fspath(path), header)
        self._caps = caps
        self._accounts = Accounts()
        self._executions: dict[str, _Execution] = {}
        self.mark, self._made = os.urandom(5).hex(), 0
        self._is_live, self._is_ours = is_live, is_ours
        self._in_flight: set[str] = set()
        self._settled = anyio.Event()
        try:
            with self._journal.locked():
                self._require_ours()
                self._catch_up()
        except BaseException:
            self.close()
            raise

    @property
    def spent(self) -> Spent:
        """The cost of all calls of the journal, as far as this process has read it."""
        return self._accounts.spent(self._in_flight)

    def refresh(self) -> None:
        """Read the lines that other processes added, for `spent`.

        Raises:
            JournalError: a line cannot be read, or another process holds the lock for a minute.
        """
        with self._journal.locked():
            self._catch_up()

    def recorded_forms(self, unit: str) -> tuple[str | None, ...]:
        """Return the text forms of the answered requests of a unit, in their order; None for one that was removed."""
        return tuple(self._journal.form(call.request) for call in self._accounts.answered(unit))

    def unit_spent(self, unit: str) -> UnitSpent:
        """Return the use of the current execution of the unit."""
        return unit_spent(self._execution(unit).used)

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
        """As in `Calls`."""
        execution = self._execution(unit)
        form = await to_thread.run_sync(request_form, host, request, execution.places)
        digest = form_digest(form)
        if (kept := await self._kept(unit, digest, execution)) is not None:
            return kept
        if execution.refusal is not None:
            raise execution.refusal
        reserved = self._amount(bound, price, unit)
        self._made += 1
        execution.calls += 1
        started = StartedCall(
            id=f"{self.mark}-{self._made}",
            unit=unit,
            host=host,
            request=digest,
            sequence=execution.calls,
            reserved=reserved,
        )
        await self._reserve(started, form, execution)
        try:
            answer, line = await self._asked(started, ask, price, execution)
        finally:
            self._give_way(started.id)
        execution.taken.add(started.id)
        execution.used.append((line.charged, False))
        return answer

    def close(self) -> None:
        """Close the journal. Calls that are in flight stay in doubt."""
        self._journal.close()

    async def _asked(
        self, started: StartedCall, ask: Callable[[], Awaitable[CallAnswer]], price: Price | None, execution: _Execution
    ) -> tuple[CallAnswer, AnsweredCall]:
        """Make a call that was reserved, and keep its answer. A cancellation waits until the journal is written."""
        try:
            answer = await ask()
        except BaseException as fault:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._fail, started.id, fault)
            raise
        line = _answered(started, answer, price, execution.places)
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._write, line)
        if exceeds(line.charged, started.reserved):
            unit = printable_line(started.unit)
            _log.warning("%s: a call used more than its bound, so it may have passed a cap", unit)
        return answer, line

    def _execution(self, unit: str) -> _Execution:
        return self._executions.setdefault(unit, _Execution({}))

    def _amount(self, bound: CallBound, price: Price | None, unit: str) -> Amount:
        if self._caps.usd is not None:
            price = required_price(price, f"the model that {unit} calls")
        nano = None if price is None else price.nano_usd(bound.input_tokens, bound.output_tokens)
        return Amount(input_tokens=bound.input_tokens, output_tokens=bound.output_tokens, nano_usd=nano)

    async def _kept(self, unit: str, digest: str, execution: _Execution) -> CallAnswer | None:
        """Return the first answer to this request that this execution did not use, or None."""
        for kept in self._accounts.answers.get((unit, digest), ()):
            if kept.started.id not in execution.taken:
                execution.taken.add(kept.started.id)
                execution.calls += 1
                execution.used.append((kept.charged, True))
                return await to_thread.run_sync(kept_answer, self._journal, kept, execution.places)
        return None

    async def _reserve(self, started: StartedCall, form: str, execution: _Execution) -> None:
        waiting = _Waiting(self._journal.path)
        while True:
            settled = self._settled
            refused = await to_thread.run_sync(self._try_reserve, started, form)
            if refused is None:
                return
            if settled.is_set():
                continue  # a call ended meanwhile, so there may be room now
            shortage, others = refused
            ending = self._in_flight | others
            if not ending or self._accounts.shortage(started.reserved, self._caps, ending):
                execution.refusal = CapReachedError(shortage.cap, shortage.left, shortage.wanted)
                raise execution.refusal
            if not self._in_flight:
                waiting.look(self._accounts.units_of(others))
            with anyio.move_on_after(_SECONDS_BETWEEN_LOOKS if others else None):
                await settled.wait()

    def _try_reserve(self, started: StartedCall, form: str) -> tuple[Shortage, set[str]] | None:
        """Book the reservation, or return the cap that it could pass, and the calls that others have in flight.

        Holds the lock over reading and writing: a ledger that is not live then writes no answer any more.
        """
        with self._journal.locked():
            self._catch_up()
            shortage = self._accounts.shortage(started.reserved, self._caps)
            if shortage is None:
                self._require_ours()
                self._journal.keep_form(form)
                self._accounts.book(started, self._journal.append(started))
                self._in_flight.add(started.id)
                return None
            return shortage, self._of_others()

    def _of_others(self) -> set[str]:
        if self._is_live is None:
            return set()
        calls = {call_id: call_id.partition("-")[0] for call_id in self._accounts.unsettled()}
        live = {mark for mark in set(calls.values()) - {self.mark} if self._is_live(mark)}
        return {call_id for call_id, mark in calls.items() if mark in live}

    def _write(self, line: AnsweredCall | FailedCall) -> None:
        with self._journal.locked():
            self._catch_up()
            self._accounts.book(line, self._journal.append(line))

    def _require_ours(self) -> None:
        """Require that the command of this ledger runs, and no other one continues the journal."""
        if self._is_ours is not None and not self._is_ours():
            reason = "belongs to another command now, or its command ended"
            raise JournalError(printable_line(self._journal.path), reason, "resume it with a new command")

    def _fail(self, call_id: str, fault: BaseException) -> None:
        refused = bool(getattr(fault, "refused", False))
        self._write(FailedCall(id=call_id, reason=_reason(fault), refused=refused))

    def _catch_up(self) -> None:
        for line, place in self._journal.added():
            self._accounts.book(line, place)

    def _give_way(self, call_id: str) -> None:
        """End a call that is in flight, and wake up calls that wait for its reservation."""
        self._in_flight.discard(call_id)
        self._settled.set()
        self._settled = anyio.Event()


def kept_answer(journal: Journal, kept: KeptAnswer, places: Mapping[str, str]) -> CallAnswer:
    """Read a kept answer from its journal. Places in it are those of this execution.

    Raises:
        JournalError: the file was changed by somebody else.
    """
    line = journal.read(kept.place)
    charged = line.charged
    usage = Usage(input_tokens=charged.input_tokens, output_tokens=charged.output_tokens, cost_usd=line.usd)
    return CallAnswer(
        content=line.content if line.text is None else with_paths(line.text, places).encode(),
        usage=usage if line.is_measured else None,
        details=line.details,
        refused=line.refused,
    )


def _answered(started: StartedCall, answer: CallAnswer, price: Price | None, places: Mapping[str, str]) -> AnsweredCall:
    usage = answer.usage if is_measured(answer.usage) else None
    charged = started.reserved
    if answer.refused:
        charged = Amount(input_tokens=0, output_tokens=0, nano_usd=0)
    elif usage is not None:
        charged = Amount(
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, nano_usd=_cost(usage, price)
        )
    content = redacted_content(answer.content)
    try:
        text, data = with_names(content.decode(), places), None
    except UnicodeDecodeError:
        text, data = None, content
    return AnsweredCall(
        id=started.id,
        charged=charged,
        is_measured=answer.refused or usage is not None,
        refused=answer.refused,
        text=text,
        data=data,
        details=dict(answer.details),
        usd=None if usage is None else usage.cost_usd,
    )


def _cost(usage: Usage, price: Price | None) -> int | None:
    """Return nano-dollars: a stated price decides alone; otherwise the model's own account, then the listed price."""
    if usage.cost_usd is not None and not (price is not None and price.given):
        return nano_of(usage.cost_usd)
    return None if price is None else price.nano_usd(usage.input_tokens, usage.output_tokens)


def _reason(fault: BaseException) -> str:
    if isinstance(fault, asyncio.CancelledError):  # its text names scopes, tasks and paths of this program
        return "cancelled"
    text = " ".join((str(fault) or type(fault).__name__).split())
    return redacted_content(text[:_MOST_REASON].encode("utf-8", "replace")).decode()
