"""Progress of runs of evals or triggers, on standard error: a small table on a terminal, one line a run elsewhere.

Both show how many runs are done, the rate of each kind of run with its interval, errors, and the money that is left.
The table needs rich (`pip install 'prowess[show]'`); without it, a terminal gets the lines too.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import output
from prowess.evals.ledger.caps import Spent
from prowess.evals.reports.answer import configuration_words, money, percent, percent_interval
from prowess.evals.statistics.intervals import rate_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prowess.evals.campaigns.report import Unit, UnitResult
    from prowess.evals.triggers.trigger_runs import TriggerRun
    from prowess.evals.triggers.trigger_set import TriggerQuery

_PER_SECOND = 8
_SHOWN = 60


class LiveProgress:
    """Shows results as they come, inside its `with` block. `begin`, `show` and `show_trigger` are callbacks.

    `cap_usd` is the cap on cost, None if there is none. With `quiet`, results are not shown. With `is_most`, the number
    of runs is the most that may be needed.
    """

    def __init__(self, *, cap_usd: float | None = None, quiet: bool = False, is_most: bool = False) -> None:
        self._cap, self._quiet, self._is_most = cap_usd, quiet, is_most
        self._total: int | None = None
        self._spent: Callable[[], Spent] | None = None
        self._counts: dict[str, list[int]] = {}  # kind -> passed, graded, errors
        self._done, self._usd = 0, 0.0
        self._last = ""
        self._live: Any = None

    def __enter__(self) -> Self:
        if not self._quiet and output.is_rich(sys.stderr):
            self._live = _table_on_terminal()
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, total: int | None, spent: Callable[[], Spent]) -> None:
        """Take the number of runs, and a function that returns the cost so far of all calls, also those of a judge.

        None is an unknown number. Without this, the cost is that of the answering model.
        """
        self._total, self._spent = total, spent

    def show(self, result: UnitResult) -> None:
        """Take the result of one run."""
        passed = result.outcome == "passed" if result.counted else None
        self._usd += result.usd or 0.0
        told = f"{result.id}: {result.outcome}, {result.seconds:.1f} s"
        self._count(result.configuration, passed=passed, is_error=result.outcome == "error", told=told)

    def show_trigger(self, unit: Unit, run: TriggerRun, query: TriggerQuery) -> None:
        """Take one run of a request. A run as wanted counts as passed."""
        verdict, wanted = run.verdicts[unit.configuration], query.should_trigger
        passed = (verdict == "triggered") is wanted if verdict in ("triggered", "not_triggered") else None
        names = ", ".join(name for name, one in run.verdicts.items() if one == "triggered")
        chosen = f" ({names})" if names else ""
        judged = "" if passed is None else ", as wanted" if passed else ", not as wanted"
        told = f"{unit.configuration}/run-{unit.run}: {verdict}{chosen}{judged}: {query.query}"
        name = f"{unit.configuration}: {'wanted' if wanted else 'not wanted'}"
        self._count(name, passed=passed, is_error=verdict == "error", told=told)

    def _count(self, name: str, *, passed: bool | None, is_error: bool, told: str) -> None:
        counts = self._counts.setdefault(name, [0, 0, 0])
        counts[0] += passed is True
        counts[1] += passed is not None
        counts[2] += is_error
        self._done += 1
        self._last = printable_line(told)
        if self._live is not None:
            self._live.update(_table(self._rows(), [self._state(), self._last[:_SHOWN]]))
        elif not self._quiet:
            output.note(f"{self._state()}: {self._last}")

    def _state(self) -> str:
        done = counted(self._done if self._total is None else self._total, "run")
        done = done if self._total is None else f"{self._done} of {'at most ' * self._is_most}{done}"
        spent = Spent(usd=self._usd) if self._spent is None else self._spent()
        booked = (spent.usd or 0.0) + spent.in_doubt_usd  # a cap on cost holds for both
        left = "" if self._cap is None else f", {money(max(0.0, self._cap - booked))} left"
        return f"{done}, {money(spent.usd)} spent{left}"

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for name, (passed, graded, errors) in self._counts.items():
            rate = rate_of(passed, graded)
            shown = "–" if rate.rate is None else percent(rate.rate)  # noqa: RUF001 -- the sign for no value
            between = "" if rate.low is None or rate.high is None else percent_interval(rate.low, rate.high)
            told = counted(errors, "error") if errors else ""
            yield printable_line(configuration_words(name)), f"{passed}/{graded}", f"{shown}  {between}", told


def _table_on_terminal() -> Any:  # noqa: ANN401 -- rich is optional
    """Return an area of the terminal that is redrawn, or None without rich."""
    try:
        from rich.console import Console
        from rich.live import Live
    except ImportError:
        return None
    return Live(console=Console(stderr=True), transient=True, refresh_per_second=_PER_SECOND)


def _table(rows: Iterable[tuple[str, str, str, str]], lines: Iterable[str]) -> Any:  # noqa: ANN401 -- rich is optional
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return Group(*(Text(line, overflow="ellipsis", no_wrap=True) for line in lines), table)
