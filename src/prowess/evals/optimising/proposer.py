"""Asks a model for a better text. It sees the failures of training, and none of validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from prowess._internal.text.terminal_text import printable_line
from prowess.agent import ModelError
from prowess.agent.model import ModelSettings
from prowess.evals.graders.model_answer import asked_once, json_within
from prowess.evals.ledger.ledger_model import LedgerModel
from prowess.evals.optimising.eval_rows import EvalRow
from prowess.evals.optimising.revision import ProposedText
from prowess.evals.triggers.rows import TriggerRow
from prowess.tools.prompt_escaping import json_for_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.agent import Model
    from prowess.evals.ledger.calls import Calls
    from prowess.evals.ledger.prices import Price
    from prowess.evals.optimising.leaks import Leak
    from prowess.evals.optimising.revision import ProposalRequest, Revision

ATTEMPTS = 3  # in one round, if the answer may not be used
_Row = TypeVar("_Row", bound=TriggerRow | EvalRow)


class Proposer(Generic[_Row]):
    """Asks `model`, None for a replay, through the ledger."""

    def __init__(
        self,
        revision: Revision[_Row],
        model: Model | None,
        calls: Calls,
        *,
        name: str,
        price: Price | None = None,
        seed: int = 0,
        max_output_tokens: int | None = None,
    ) -> None:
        self.revision, self.model = revision, model
        self._calls, self._name, self._price = calls, name, price
        self._seed, self._most = seed, max_output_tokens

    async def propose(self, request: ProposalRequest[_Row]) -> ProposedText:
        """Ask until an answer may be used, at most `ATTEMPTS` times.

        Raises:
            CapReachedError, JournalError, DriftError: as `Calls.call`.
        """
        refused: list[str] = []
        leaked: list[Leak] = []
        for attempt in range(1, ATTEMPTS + 1):
            try:
                text = self._text(await self._asked(request, attempt, refused))
            except ModelError as fault:
                refused.append(printable_line(str(fault)))
                continue
            faults = self._faults(text, request)
            leaks = () if text is None or faults else self.revision.leaks(text, request.start, request.number)
            leaked += leaks
            faults += tuple(f"it copies words of training: {leak.text}" for leak in leaks if leak.is_refused)
            if text is not None and not faults:
                return ProposedText(text=text, refused=tuple(refused), leaked=tuple(leaked))
            refused += faults
        return ProposedText(text=None, refused=tuple(refused), leaked=tuple(leaked))

    async def _asked(self, request: ProposalRequest[_Row], attempt: int, refused: Sequence[str]) -> str:
        unit = f"proposal/round-{request.number}/attempt-{attempt}"
        self._calls.begin(unit)
        model = LedgerModel(self.model, self._calls, unit, name=self._name, price=self._price)
        settings = ModelSettings(max_output_tokens=self._most, seed=self._seed + request.number + attempt)
        document = self.revision.question(request)
        if refused:
            document["your_last_answers_were_refused"] = list(refused)
        return await asked_once(model, self.revision.instructions, json_for_model(document), settings)

    def _text(self, answer: str) -> str | None:
        data = json_within(answer, "{}")
        found = data.get(self.revision.member) if isinstance(data, dict) else None
        return self.revision.tidied(found) if isinstance(found, str) else None

    def _faults(self, text: str | None, request: ProposalRequest[_Row]) -> tuple[str, ...]:
        if text is None:
            return (f"the answer is no JSON object with `{self.revision.member}`",)
        if any(text == one.text for one in request.earlier):
            return ("it was tried before",)
        return self.revision.faults(text)
