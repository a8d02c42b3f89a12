"""The parts of a search that the description and the body of a skill share: options, the search itself, the report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prowess.agent import model_named
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.chosen_host import model_price, require_host_is_named
from prowess.evals.iterations.settings_file import IterationEnd
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.ledger.caps import Caps, Spent
from prowess.evals.ledger.recorded_calls import RecordedCalls
from prowess.evals.optimising.eval_rows import EvalRow
from prowess.evals.optimising.gepa_engine import by_gepa
from prowess.evals.optimising.improve_folder import IMPROVE, ImproveSettings
from prowess.evals.optimising.measuring import StoppedError
from prowess.evals.optimising.proposer import Proposer
from prowess.evals.optimising.report import ImproveReport, LostCase
from prowess.evals.optimising.search import ROUNDS, TextSearch, by_rounds
from prowess.evals.recordings.drift import DriftError
from prowess.evals.statistics.intervals import rate_difference
from prowess.evals.triggers.match_host import MATCH_HOST
from prowess.evals.triggers.rows import TriggerRow
from prowess.evals.triggers.trigger_runs import RUNS
from prowess.fix.applying import difference, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.prices import Price
    from prowess.evals.optimising.report import ImprovedPart
    from prowess.evals.optimising.revision import Revision

_Case = TypeVar("_Case")
_Row = TypeVar("_Row", bound=TriggerRow | EvalRow)
EngineName = Literal["rounds", "gepa"]
_DOCUMENT = "SKILL.md"


class ImproveOptions(Struct, frozen=True, kw_only=True):
    """The options of `prowess eval improve`.

    `model` chooses skills, or does the tasks of evals; for the host `match` it only proposes. `proposer` is the model
    that writes texts, None for `model`. `price` is that of `model`, `proposer_price` that of `proposer`. `file` is a
    trigger set, for descriptions alone; `judge` is a model, for bodies alone. The others are as for `eval triggers`.
    """

    path: str
    model: str
    file: str | None = None
    host: str = OWN_HOST
    proposer: str | None = None
    neighbours: tuple[str, ...] = ()
    engine: EngineName = "rounds"
    rounds: int = ROUNDS
    runs: int = RUNS
    jobs: int = 2
    seed: int = 0
    caps: Caps = Caps()
    max_output_tokens: int | None = None
    price: Price | None = None
    proposer_price: Price | None = None
    judge: str | None = None
    out: str | None = None
    resume: bool = False
    replay: str | None = None
    write: bool = False

    @property
    def is_estimate(self) -> bool:
        """Whether words alone choose the skill."""
        return self.host == MATCH_HOST


class ImproveEnded(Struct, frozen=True, kw_only=True):
    """A search that ended. `signalled` is the number of the signal that stopped it, or None.

    `is_measured` is false if the first text could not be measured, because all runs of training are errors.
    """

    report: ImproveReport
    signalled: int | None
    is_measured: bool = True


def improve_as_recorded(*, replay: str | None, **given: Any) -> ImproveOptions:  # noqa: ANN401 -- the options
    """Return options by their names. One that is None is that of the recording `replay`, or its default.

    Raises:
        InvalidArgumentsError: `replay` is no folder of a search, or was recorded with another host than our own agent,
            and `host` is not named.
    """
    named = {name: value for name, value in given.items() if value is not None}
    if replay is not None:
        recorded = IMPROVE.read(replay)
        if recorded.host != MATCH_HOST:  # which starts no program
            require_host_is_named(named.get("host"), recorded=recorded.host, replay=replay)
        named = {name: getattr(recorded, name) for name in IMPROVE.options} | named
    return ImproveOptions(replay=replay, **named)


def ended_with(report: ImproveReport, search: TextSearch[_Case, _Row], stopped: StoppedError | None) -> ImproveEnded:
    """Return the end of a search."""
    is_measured = search.start is None or search.start.is_measured
    signalled = None if stopped is None else stopped.signalled
    return ImproveEnded(report=report, signalled=signalled, is_measured=is_measured)


async def searched(
    search: TextSearch[_Case, _Row], options: ImproveOptions, calls: Ledger | RecordedCalls
) -> StoppedError | None:
    """Search with the engine of the options, and return the cap or signal that stopped it, or None.

    Raises:
        DriftError: replayed runs differ from the recording, and not because it ended.
    """
    try:
        if options.engine == "gepa":
            await by_gepa(search, options.rounds, seed=options.seed)
        else:
            await by_rounds(search, options.rounds)
    except StoppedError as stopped:
        return stopped
    except DriftError as drift:
        end = IterationEnd(complete=True) if options.replay is None else IMPROVE.end_of(options.replay)
        if end.complete or (isinstance(calls, RecordedCalls) and calls.has_more(drift.unit)):
            raise
        return StoppedError(end.stopped, None)  # the recording ended before this call
    return None


def document_bytes(directory: str) -> bytes:
    """Return the bytes of SKILL.md.

    Raises:
        InvalidArgumentsError: it cannot be read.
    """
    path = os.path.join(directory, _DOCUMENT)
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as fault:
        raise InvalidArgumentsError((f"{path} cannot be read: {fault.strerror}",)) from None


def settings_of(options: ImproveOptions, skill: str, digest: str) -> ImproveSettings:
    """Return the settings of a search. `digest` is that of the cases."""
    return ImproveSettings(
        skill=skill,
        skills={},
        set=digest,
        neighbours={},
        model=options.model,
        proposer=options.proposer or options.model,
        host=options.host,
        engine=options.engine,
        rounds=options.rounds,
        runs=options.runs,
        seed=options.seed,
        max_output_tokens=options.max_output_tokens,
        replay=options.replay is not None,
    )


def proposer_of(options: ImproveOptions, revision: Revision[_Row], calls: Ledger | RecordedCalls) -> Proposer[_Row]:
    """Return the proposer, which asks the model that writes.

    Raises:
        InvalidArgumentsError: the model or its price is missing.
    """
    name = options.proposer or options.model
    if options.proposer is None and options.host not in (OWN_HOST, MATCH_HOST):
        problem = "name the model that writes texts with --proposer, such as anthropic:claude-sonnet-4-5"
        raise InvalidArgumentsError((problem,))
    model = model_named(name) if options.replay is None else None
    given = options.price if options.proposer is None else options.proposer_price
    return Proposer(
        revision,
        model,
        calls,
        name=name,
        price=model_price(model, name, price=given, caps=options.caps),
        seed=options.seed,
        max_output_tokens=options.max_output_tokens,
    )


def report_of(
    options: ImproveOptions,
    search: TextSearch[_Case, _Row],
    stopped: StoppedError | None,
    *,
    part: ImprovedPart,
    skill: str,
    texts: tuple[bytes, bytes],
    lost: Sequence[LostCase],
) -> ImproveReport:
    """Return the report of a search, without its cost and its place. `texts` are SKILL.md before and after it."""
    start, chosen = search.start, search.chosen
    first, best = (None if tried is None else tried.measured() for tried in (start, chosen))
    before, after = (text.decode("utf-8", "replace") for text in texts)
    return ImproveReport(
        part=part,
        complete=stopped is None and (start is None or start.is_measured),
        stopped=None if stopped is None else stopped.reason,
        skill=skill,
        model=options.model,
        proposer=options.proposer or options.model,
        host=options.host,
        engine=options.engine,
        estimate=options.is_estimate,
        seed=options.seed,
        runs=1 if options.is_estimate else options.runs,
        spent=Spent(),
        start=first,
        rounds=tuple(search.rounds),
        chosen=best,
        delta=None if first is None or best is None else rate_difference(first.validation, best.validation),
        diff="".join(f"{line}\n" for line in difference(_DOCUMENT, before, after)),
        lost=tuple(lost),
        leaked=tuple(search.leaked),
        nothing_failed=start is not None and start.passes_training,
        written=False,
        iteration="",
    )


def written(
    options: ImproveOptions, report: ImproveReport, directory: str, before: bytes, after: bytes
) -> ImproveReport:
    """Write SKILL.md if that was asked for and the search is complete, and return the report with that.

    Raises:
        InvalidArgumentsError: it cannot be written, or was edited meanwhile.
    """
    if not (options.write and report.complete and report.chosen is not None):
        return report
    path = os.path.join(directory, _DOCUMENT)
    reason = replace_file(path, before, after, within=directory)
    if reason is not None:
        raise InvalidArgumentsError((f"{path} is not written: {reason}",))
    return replace(report, written=True)
