"""Calls for tests of the ledger: a provider in this process that counts, and a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.agent import Usage
from prowess.evals.ledger.calls import CallAnswer, CallBound
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.ledger.prices import Price

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from prowess.evals.ledger.calls import Calls

HEADER = JournalHeader(skill="csv-report", files={"csv-report/SKILL.md": "a" * 64}, identity={"seed": 0})
DOLLAR = Price(input=1.0, output=1.0, given=True)  # one million tokens cost one dollar


class Asking:
    """Counts the calls that reach it, and answers each with its number."""

    def __init__(self, calls: Calls, *, usage: Usage | None = None, price: Price | None = DOLLAR) -> None:
        self._calls, self._price = calls, price
        self._usage = usage or Usage(input_tokens=10, output_tokens=5, cost_usd=None)
        self.count = 0

    async def __call__(self, unit: str, request: str, *, most: int = 100) -> str:
        bound = CallBound.of(request.encode(), most)
        return (await self._calls.call(unit, request.encode(), bound, self.answer, price=self._price)).content.decode()

    async def answer(self) -> CallAnswer:
        self.count += 1
        return CallAnswer(content=f"answer {self.count}".encode(), usage=self._usage)


def failing(fault: BaseException) -> Callable[[], Awaitable[CallAnswer]]:
    async def ask() -> CallAnswer:
        raise fault

    return ask
