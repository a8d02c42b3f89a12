"""The sums of the lines of a journal: the charges, and the answers that can be replayed. Pure, without files."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import counted
from prowess.evals.ledger.caps import CapName, Caps, Spent, UnitSpent
from prowess.evals.ledger.journal import Amount, AnsweredCall, FailedCall, JournalLine, LinePlace, StartedCall
from prowess.evals.ledger.prices import NANO, nano_within

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_NOTHING = Amount(input_tokens=0, output_tokens=0, nano_usd=0)


class KeptAnswer(Struct, frozen=True, kw_only=True):
    """A call with an answer: the place of the line in the file, and the charge of the call."""

    started: StartedCall
    place: LinePlace
    charged: Amount


class Shortage(Struct, frozen=True, kw_only=True):
    """The cap that a call could pass, with the rest of it and the need of the call, as texts."""

    cap: CapName
    left: str
    wanted: str


class Accounts:
    """The sums over all lines that were booked, and the answers by unit and request.

    Lines are booked in a thread that waits for the disk, so a lock guards the sums.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, StartedCall] = {}  # calls without an answer: in flight, or in doubt for good
        self._settled = _NOTHING
        self._doubtful = _NOTHING
        self._calls = 0
        self._failed: set[str] = set()
        self.answers: dict[tuple[str, str], list[KeptAnswer]] = {}
        self.refusals: dict[tuple[str, str], KeptAnswer] = {}
        self.units: dict[str, list[StartedCall]] = {}
        self.failures: dict[tuple[str, str], str] = {}

    def book(self, line: JournalLine, place: LinePlace) -> None:
        """Add one line. A line about a call that was not started, or that has an answer, is ignored."""
        with self._lock:
            match line:
                case StartedCall():
                    self._open[line.id] = line
                    self._calls += 1
                    self.units.setdefault(line.unit, []).append(line)
                case AnsweredCall():
                    if (started := self._open.pop(line.id, None)) is not None:
                        self._answered(line, started, place)
                case FailedCall():
                    started = self._open.pop(line.id, None) if line.refused else self._open.get(line.id)
                    if started is not None:
                        self._failed.add(line.id)
                        self.failures[started.unit, started.request] = line.reason

    def spent(self, in_flight: Collection[str]) -> Spent:
        """Return the sums. Calls of `in_flight` are neither spent nor in doubt yet."""
        with self._lock:
            doubtful, settled, calls = self._reserved(self._doubtful, in_flight), self._settled, self._calls
        return Spent(
            usd=None if settled.nano_usd is None or doubtful.nano_usd is None else settled.nano_usd / NANO,
            in_doubt_usd=(doubtful.nano_usd or 0) / NANO,
            calls=calls,
            input_tokens=settled.input_tokens,
            output_tokens=settled.output_tokens,
        )

    def unsettled(self) -> list[str]:
        """Return the ids of calls without an answer that did not fail either: in flight, or of a process that died."""
        with self._lock:
            return [call_id for call_id in self._open if call_id not in self._failed]

    def units_of(self, calls: Collection[str]) -> list[str]:
        """Return the units of calls without an answer, sorted."""
        with self._lock:
            return sorted({self._open[call_id].unit for call_id in calls if call_id in self._open})

    def shortage(self, wanted: Amount, caps: Caps, released: Collection[str] = ()) -> Shortage | None:
        """Return the cap that a call of `wanted` could pass, or None. Reservations of `released` do not count."""
        with self._lock:
            charged, calls = self._reserved(_sum(self._settled, self._doubtful), released), self._calls
        if caps.calls is not None and calls + 1 > caps.calls:
            return Shortage(cap="call_cap", left="no call", wanted="one call")
        if caps.tokens is not None:
            left, tokens = caps.tokens - _tokens(charged), _tokens(wanted)
            if tokens > left:
                return Shortage(cap="token_cap", left=counted(max(0, left), "token"), wanted=counted(tokens, "token"))
        if caps.usd is not None:
            if charged.nano_usd is None:
                return Shortage(cap="cost_cap", left="an unknown amount", wanted=_dollars(wanted.nano_usd or 0))
            left = nano_within(caps.usd) - charged.nano_usd
            if (wanted.nano_usd or 0) > left:
                return Shortage(cap="cost_cap", left=_dollars(max(0, left)), wanted=_dollars(wanted.nano_usd or 0))
        return None

    def answered(self, unit: str) -> tuple[StartedCall, ...]:
        """Return the calls of a unit that have an answer, in the order in which they were made."""
        with self._lock:
            ids = {kept.started.id for (name, _), answers in self.answers.items() if name == unit for kept in answers}
            return tuple(call for call in self.units.get(unit, ()) if call.id in ids)

    def _reserved(self, amount: Amount, left_out: Collection[str]) -> Amount:
        """Return `amount` and the reservations of calls without an answer."""
        for call_id, started in self._open.items():
            if call_id not in left_out:
                amount = _sum(amount, started.reserved)
        return amount

    def _answered(self, line: AnsweredCall, started: StartedCall, place: LinePlace) -> None:
        if line.is_measured:
            self._settled = _sum(self._settled, line.charged)
        else:
            self._doubtful = _sum(self._doubtful, line.charged)
        kept = KeptAnswer(started=started, place=place, charged=line.charged)
        if line.refused:
            self.refusals[started.unit, started.request] = kept
        else:
            self.answers.setdefault((started.unit, started.request), []).append(kept)


def unit_spent(used: Iterable[tuple[Amount, bool]]) -> UnitSpent:
    """Return the sums of one execution of a unit, from the charge of each call and whether it was replayed."""
    listed = list(used)
    total = _NOTHING
    for charged, _ in listed:
        total = _sum(total, charged)
    return UnitSpent(
        calls=len(listed),
        replayed_calls=sum(replayed for _, replayed in listed),
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        usd=None if total.nano_usd is None else total.nano_usd / NANO,
    )


def _sum(one: Amount, other: Amount) -> Amount:
    known = one.nano_usd is not None and other.nano_usd is not None
    return Amount(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        nano_usd=(one.nano_usd or 0) + (other.nano_usd or 0) if known else None,
    )


def _tokens(amount: Amount) -> int:
    return amount.input_tokens + amount.output_tokens


def exceeds(charged: Amount, reserved: Amount) -> bool:
    """Whether a call used more than was reserved for it, because the provider did not keep its bound."""
    return (
        charged.input_tokens > reserved.input_tokens
        or charged.output_tokens > reserved.output_tokens
        or (charged.nano_usd or 0) > (reserved.nano_usd if reserved.nano_usd is not None else charged.nano_usd or 0)
    )


def _dollars(nano: int) -> str:
    whole, rest = divmod(nano, NANO)
    micro, digits = divmod(rest, 1000)
    return f"{whole}.{micro:06}{f'{digits:03}' if digits else ''} US dollars"
