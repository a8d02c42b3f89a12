"""The search of the library gepa. What it finds passes the same comparison as the rounds of the other engine.

gepa runs in a thread. It measures and proposes through this process's event loop, so caps and the journal hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from anyio import from_thread, to_thread

from prowess.errors import MissingExtraError
from prowess.evals.optimising.eval_rows import EvalRow
from prowess.evals.triggers.rows import TriggerRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.evals.optimising.search import TextSearch

_Case = TypeVar("_Case")
_Row = TypeVar("_Row", bound=TriggerRow | EvalRow)
_COMPONENT = "text"
_MOST_ASKED = 4


def require_gepa() -> None:
    """Raise MissingExtraError if the library is not installed."""
    try:
        import gepa  # noqa: F401 -- Imported here: the extra `optimise` may be missing.
    except ImportError as fault:
        raise MissingExtraError("--engine gepa", "optimise", str(fault)) from fault


async def by_gepa(search: TextSearch[_Case, _Row], rounds: int, *, seed: int = 0) -> None:
    """Let gepa choose which text is revised, with `rounds` proposals.

    Raises:
        MissingExtraError: gepa is not installed.
        StoppedError: a cap or a signal stopped the search.
    """
    require_gepa()
    start = await search.begin()
    if not start.failures or start.passes_validation:
        return
    await to_thread.run_sync(_optimise, _Bridge(search, rounds), start.text, seed)


def _optimise(bridge: _Bridge[_Case, _Row], text: str, seed: int) -> None:
    from gepa.api import optimize  # Imported here: the extra `optimise` may be missing.

    adapter: Any = bridge
    optimize(
        seed_candidate={_COMPONENT: text},
        trainset=list(bridge.search.train),
        valset=list(bridge.search.validation),
        adapter=adapter,
        candidate_selection_strategy="current_best",  # from others, what was learnt by heart would be inherited
        reflection_minibatch_size=len(bridge.search.train),  # all failures of training, as in rounds
        stop_callbacks=adapter.is_done,
        logger=adapter,
        seed=seed,
    )


class _Bridge(Generic[_Case, _Row]):
    """What gepa calls from its thread: an adapter, a logger that says nothing, and a condition to stop."""

    def __init__(self, search: TextSearch[_Case, _Row], rounds: int) -> None:
        self.search, self._rounds = search, rounds
        self._proposed = self._asked = 0

    def log(self, message: str) -> None:
        """Take a message of gepa."""

    def is_done(self, _state: object) -> bool:
        """Whether no further round may begin. gepa asks before each; in some it proposes nothing."""
        self._asked += 1
        if self.search.best is not None and self.search.best.passes_validation:
            return True
        return self._asked > _MOST_ASKED * self._rounds or self._proposed >= self._rounds

    def evaluate(
        self,
        batch: list[_Case],
        candidate: dict[str, str],
        capture_traces: bool = False,  # noqa: FBT001, FBT002 -- the form that gepa calls
    ) -> object:
        """Return 1.0 for each case that passed, else 0.0."""
        from gepa.core.adapter import EvaluationBatch  # Imported here: the extra `optimise` may be missing.

        rows = from_thread.run(self._rows, candidate[_COMPONENT], tuple(batch))
        scores = [float(row.passed is True) for row in rows]
        return EvaluationBatch(outputs=list(rows), scores=scores, trajectories=list(rows) if capture_traces else None)

    def make_reflective_dataset(
        self,
        _candidate: dict[str, str],
        eval_batch: Any,  # noqa: ANN401 -- a type of gepa, which may be missing
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the rows that failed."""
        rows = [{"row": row} for row in eval_batch.trajectories if row.passed is False and row.runs]
        return dict.fromkeys(components_to_update, rows)

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        _components: list[str],
    ) -> dict[str, str]:
        """Ask the proposer, and compare what it says. gepa gets nothing new if that was learnt by heart."""
        failures = [one["row"] for one in reflective_dataset[_COMPONENT]]
        if not failures:
            return dict(candidate)
        self._proposed += 1
        found = from_thread.run(self._considered, candidate[_COMPONENT], failures)
        return {_COMPONENT: found or candidate[_COMPONENT]}

    async def _considered(self, text: str, failures: Sequence[_Row]) -> str | None:
        proposal = await self.search.propose(self._proposed, text, failures)
        await self.search.consider(self._proposed, proposal)
        outcome = self.search.rounds[-1].outcome
        if outcome == "better" and self.search.best is not None:
            return self.search.best.text
        return None if outcome == "overfitted" else proposal.text

    async def _rows(self, text: str, batch: tuple[_Case, ...]) -> tuple[_Row, ...]:
        return await self.search.rows(text, batch)
