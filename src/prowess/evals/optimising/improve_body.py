"""`prowess eval improve --body` as a function: from the options to the report.

The measure of a body is the suite of the skill, as that of a description is its trigger set.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

import anyio
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.iterations import CAMPAIGN
from prowess.evals.campaigns.options import EvalRunOptions
from prowess.evals.campaigns.preparation import prepared_campaign
from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.campaigns.unit_setting import gradable, unit_setting
from prowess.evals.iterations.fence import alone_in
from prowess.evals.ledger.opened_calls import opened_calls
from prowess.evals.optimising.bodies import body_of, require_replaceable, with_body
from prowess.evals.optimising.body_revision import body_revision
from prowess.evals.optimising.eval_measuring import EvalMeasurements
from prowess.evals.optimising.gepa_engine import require_gepa
from prowess.evals.optimising.improve_folder import IMPROVE
from prowess.evals.optimising.report import LostCase
from prowess.evals.optimising.search import TextSearch
from prowess.evals.optimising.search_run import (
    document_bytes,
    ended_with,
    proposer_of,
    report_of,
    searched,
    settings_of,
    written,
)
from prowess.evals.triggers.split import keep_split, read_split, split_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from prowess.evals.campaigns.planning import PlannedEval
    from prowess.evals.campaigns.preparation import PreparedCampaign
    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.recorded_calls import RecordedCalls
    from prowess.evals.optimising.eval_rows import EvalRow
    from prowess.evals.optimising.search_run import ImproveEnded, ImproveOptions
    from prowess.evals.triggers.split import TriggerSplit

FOLDER = "improve-body"
SPLIT_FILE = "eval-split.json"
FEWEST, _ADVISED = 5, 10  # evals: three for training and two for validation
_OF_CAMPAIGN = (
    *("path", "model", "host", "runs", "jobs", "seed", "caps", "max_output_tokens", "price", "judge", "neighbours"),
    *("out", "resume", "replay"),
)


def improve_body(
    options: ImproveOptions,
    *,
    on_begin: Callable[[Callable[[], Spent]], object] | None = None,
    on_result: Callable[[UnitResult], object] | None = None,
) -> ImproveEnded:
    """Search for a better body. The skill is changed only with `write`, and only by a complete search.

    Before the first run, `on_begin` gets a function that returns the cost so far. `on_result` gets each result.

    Raises:
        SuiteError: the evals cannot be read.
        InvalidArgumentsError: an option, the skill, its evals or the folder cannot be used, or SKILL.md cannot be
            written.
        MissingExtraError: the engine is not installed.
        JournalError: the journal cannot be used, or was made with another model that writes, or another engine.
        DriftError, StaleRecordingError: replayed runs differ from the recording.
    """
    if options.engine == "gepa":
        require_gepa()
    if options.is_estimate:
        raise InvalidArgumentsError(("--host match does no task; name another host, or leave --body out",))
    given = {name: getattr(options, name) for name in _OF_CAMPAIGN}
    campaign = EvalRunOptions(baseline="none", folder=FOLDER, **given)
    prepared = prepared_campaign(campaign)
    path, judged = prepared.iteration.path, prepared.settings.judge is not None
    evals = [gradable(plan, judged=judged) for plan in prepared.evals]
    before = document_bytes(prepared.skills[WITH_SKILL][0])
    with ExitStack() as opened:
        fence = opened.enter_context(alone_in(path))
        try:
            require_replaceable(before)
            writer = {"proposer": options.proposer or options.model, "engine": options.engine}
            header = replace(prepared.header, identity={**prepared.header.identity, **writer})
            calls = opened_calls(fence, header, options.caps, replay=options.replay)
            opened.callback(calls.close)
            search, measured = _search(options, campaign, prepared, calls, evals, on_result=on_result)
            if on_begin is not None:
                on_begin(lambda: calls.spent)
        except SkillError:
            if prepared.is_new:
                shutil.rmtree(path, ignore_errors=True)  # nothing began
            raise
        IMPROVE.begin(path, settings_of(options, prepared.settings.skill, prepared.settings.suite))
        stopped = anyio.run(searched, search, options, calls)
        after = before if search.chosen is None else with_body(before, search.chosen.text)
        lost = [LostCase(eval=row.eval, split=row.split) for row in search.lost()]
        skill = prepared.settings.skill
        report = report_of(options, search, stopped, part="body", skill=skill, texts=(before, after), lost=lost)
        report = replace(
            report, spent=calls.spent, iteration=path, notes=tuple(_notes(evals, search, measured.first_error))
        )
    report = written(options, report, prepared.settings.root, before, after)
    IMPROVE.finish(path, report.as_dict())
    CAMPAIGN.finish(path, {"complete": report.complete})
    return ended_with(report, search, stopped)


def _search(
    options: ImproveOptions,
    campaign: EvalRunOptions,
    prepared: PreparedCampaign,
    calls: Ledger | RecordedCalls,
    evals: Sequence[PlannedEval],
    *,
    on_result: Callable[[UnitResult], object] | None,
) -> tuple[TextSearch[PlannedEval, EvalRow], EvalMeasurements]:
    split = _split(options, prepared, evals)
    usable = [plan for plan in evals if plan.fault is None]
    train, validation = (
        [plan for plan in usable if split.side_of(plan.id) == side] for side in ("train", "validation")
    )
    directory = prepared.skills[WITH_SKILL][0]
    data = document_bytes(directory)
    revision = body_revision(directory, data, {plan.id: plan for plan in train})
    measurements = EvalMeasurements(
        unit_setting(campaign, prepared, calls), split, jobs=options.jobs, on_result=on_result
    )
    proposer = proposer_of(options, revision, calls)
    search = TextSearch(
        body_of(data), measurements.rows, proposer, train=train, validation=validation, runs=options.runs
    )
    return search, measurements


def _split(options: ImproveOptions, prepared: PreparedCampaign, evals: Sequence[PlannedEval]) -> TriggerSplit:
    """Return the split, which is kept beside the iterations.

    Raises:
        InvalidArgumentsError: there are too few evals.
    """
    workspace = os.path.dirname(prepared.iteration.path)
    idents = [plan.id for plan in evals if plan.fault is None]
    split = split_cases([idents], seed=options.seed, kept=read_split(workspace, file=SPLIT_FILE))
    if len(idents) < FEWEST or not split.train or not split.validation:
        problem = f"{prepared.settings.root} has {len(idents)} evals that can be graded without a person"
        faults = "".join(f"; eval {plan.id}: {plan.fault}" for plan in evals if plan.fault is not None)
        needed = f"--body needs at least {FEWEST}, three for training and two for validation"
        raise InvalidArgumentsError((f"{problem}, and {needed}; {_ADVISED} or more tell more{faults}",))
    keep_split(workspace, split, file=SPLIT_FILE)
    return split


def _notes(
    evals: Sequence[PlannedEval], search: TextSearch[PlannedEval, EvalRow], first_error: str | None
) -> Iterator[str]:
    yield from (f"eval {plan.id} is left out: {plan.fault}" for plan in evals if plan.fault is not None)
    yield from search.notes(first_error, case="eval")
    rows = () if search.start is None else (*search.start.train, *search.start.validation)
    if unused := sum(row.unused for row in rows):
        runs = sum(row.runs for row in rows)
        problem = f"in {unused} of {runs} first runs the agent did not use the skill, so it read no body"
        yield f"{problem}; improve the description first"
