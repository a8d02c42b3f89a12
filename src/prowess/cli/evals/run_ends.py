"""How the subcommands of `prowess eval` end: their exit codes, and the last lines that they print."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prowess._internal.text.terminal_text import counted, printable_line
from prowess.cli import exit_codes, output
from prowess.evals.campaigns.summary import ungraded_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from prowess.errors import SkillError
    from prowess.evals.campaigns.report import GateResult, StopReason, UngradedAssertion
    from prowess.evals.ledger.caps import Spent

_MOST_REASONS = 5
_DRIFT = frozenset({"DriftError", "StaleRecordingError"})  # by name: most subcommands import no recordings


def tell_fault(fault: SkillError, *, as_json: bool = False) -> int:
    """Print why a command could not run, and return its exit code. Drift is a result, so it is also printed as JSON."""
    output.error("\n".join(map(printable_line, str(fault).splitlines())))
    if type(fault).__name__ in _DRIFT:
        if as_json:
            detail = {"code": fault.code, "message": str(fault), "suggestions": list(fault.suggestions)}
            output.document({"error": str(fault), "error_detail": detail})
        return exit_codes.FAILED
    return exit_codes.USAGE if fault.code == "invalid_arguments" else exit_codes.UNAVAILABLE


def code_of_end(*, signalled: int | None, complete: bool, passed: bool = True) -> int:
    """Return the exit code of runs that a signal stopped, that a cap stopped, or whose gates passed or failed."""
    if signalled is not None:
        return exit_codes.SIGNALLED + signalled
    if not complete:
        return exit_codes.CAPPED
    return exit_codes.OK if passed else exit_codes.FAILED


def tell_ungraded(ungraded: Sequence[UngradedAssertion]) -> None:
    """Print a note on the assertions that no outcome counts, for each reason."""
    for text in ungraded_texts(ungraded):
        output.note(printable_line(text))


def error_texts(reasons: Iterable[str]) -> Iterator[str]:
    """Yield the most frequent reasons of runs that are errors, each with the number of these runs."""
    for reason, count in Counter(reasons).most_common(_MOST_REASONS):
        yield f"error in {counted(count, 'run')}: {printable_line(reason)}"


def gate_text(gate: GateResult) -> str:
    """Return a gate, its value and whether it passed, as a text."""
    value = "not measured" if gate.value is None else f"{gate.value:.3f}"
    return f"gate {gate.name} {gate.wanted:g}: {value}, {'passed' if gate.passed else 'failed'}"


def spent_text(spent: Spent) -> str:
    """Return the number of calls and their cost, as a text."""
    cost = "of unknown price" if spent.usd is None else f"for {spent.usd:.4f} US dollars"
    doubt = f", and {spent.in_doubt_usd:.4f} in doubt" if spent.in_doubt_usd else ""
    return f"{counted(spent.calls, 'call')} {cost}{doubt}"


def unfinished_text(stopped: StopReason | None, runs: int | None, *, is_replay: bool) -> str:
    """Return why runs are missing, and the remedy, as a text. `runs` is their number, None if it is not known."""
    left = "runs" if runs is None else counted(runs, "run")
    if is_replay:
        why = "" if stopped is None else f" ({stopped} stopped it)"
        return f"not complete: the recording{why} lacks {left}; complete it with --resume, then replay it again"
    advice = "continue" if stopped == "signal" else "raise the cap and continue"
    missing = "" if runs is None else f", {left} left"
    return f"stopped: {stopped}{missing}; {advice} with --resume"
