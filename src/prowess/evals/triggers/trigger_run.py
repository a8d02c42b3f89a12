"""`prowess eval triggers` as a function: from the options to the report."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.chosen_host import chosen_host, require_host_is_named, require_model
from prowess.evals.campaigns.neighbours import neighbour_directories, require_distinct
from prowess.evals.campaigns.options import JOBS
from prowess.evals.hosts.host import HostLimits
from prowess.evals.iterations.fence import alone_in
from prowess.evals.iterations.folders import require_one_source, workspace_at
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.ledger.caps import Caps, Spent
from prowess.evals.ledger.opened_calls import opened_calls, spent_by_all
from prowess.evals.remote.campaign_units import forget_locks
from prowess.evals.remote.engine import require_workers_are_needed
from prowess.evals.remote.trigger_units import RemoteTriggers, TriggerSetting
from prowess.evals.triggers.match_host import MATCH_HOST, MatchHost
from prowess.evals.triggers.report import TriggerReport
from prowess.evals.triggers.rows import trigger_gates
from prowess.evals.triggers.running import TriggerCampaign
from prowess.evals.triggers.shadows import answer_rows, shadows_of
from prowess.evals.triggers.split import keep_split, read_split, split_queries
from prowess.evals.triggers.trigger_folder import TRIGGERS, TriggerFolder, TriggerSettings
from prowess.evals.triggers.trigger_runs import RUNS, LocalTriggers, TriggerOptions
from prowess.evals.triggers.trigger_set import read_trigger_set, skills_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.evals.campaigns.report import StopReason, Unit
    from prowess.evals.iterations.fence import Fence
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.prices import Price
    from prowess.evals.ledger.recorded_calls import RecordedCalls
    from prowess.evals.remote.engine import CancellableEngine
    from prowess.evals.triggers.split import TriggerSplit
    from prowess.evals.triggers.trigger_runs import TriggerRun, TriggerRunner
    from prowess.evals.triggers.trigger_set import TriggerQuery, TriggerSet

TOGETHER = "together"
_RECORDED = ("model", "host", "runs", "seed", "all_runs", "max_output_tokens")


class TriggerRunOptions(Struct, frozen=True, kw_only=True):
    """The options of `prowess eval triggers`.

    `paths` are directories of skills, several only with `together`, and then folders of skills as well. `file` is the
    trigger set of a single skill, None for the one in its folder `evals/`. `host` is `match` for an estimate without a
    model. `out` is where the workspace is made, beside the first skill by default. `replay` is an iteration whose calls
    are replayed. `jobs` is the number of requests at the same time; the default is `JOBS`, or what an engine can carry
    out.
    """

    paths: tuple[str, ...]
    file: str | None = None
    host: str = OWN_HOST
    model: str | None = None
    neighbours: tuple[str, ...] = ()
    together: bool = False
    runs: int = RUNS
    jobs: int | None = None
    seed: int = 0
    consistency: float | None = None
    min_pass_rate: float | None = None
    all_runs: bool = False
    caps: Caps = Caps()
    max_output_tokens: int | None = None
    price: Price | None = None
    out: str | None = None
    resume: bool = False
    replay: str | None = None

    @property
    def is_estimate(self) -> bool:
        """Whether no model is asked."""
        return self.host == MATCH_HOST


class TriggersEnded(Struct, frozen=True, kw_only=True):
    """Trigger runs that ended. `signalled` is the number of the signal that stopped them, or None."""

    report: TriggerReport
    signalled: int | None


def triggers_as_recorded(*, replay: str | None, **given: Any) -> TriggerRunOptions:  # noqa: ANN401 -- the options
    """Return options by their names. One that is None or false is that of the recording `replay`, or its default.

    Raises:
        InvalidArgumentsError: `replay` is no folder of trigger runs, or was recorded with another host than our own
            agent, and `host` is not named.
    """
    named = {name: value for name, value in given.items() if value is not None and value is not False}
    if replay is not None:
        recorded = TRIGGERS.read(replay)
        require_host_is_named(named.get("host"), recorded=recorded.host, replay=replay)
        named = {name: getattr(recorded, name) for name in _RECORDED} | named
    return TriggerRunOptions(replay=replay, **named)


def run_triggers(
    options: TriggerRunOptions,
    *,
    engine: CancellableEngine | None = None,
    on_begin: Callable[[int, Callable[[], Spent]], object] | None = None,
    on_run: Callable[[Unit, TriggerRun, TriggerQuery], object] | None = None,
) -> TriggersEnded:
    """Run trigger sets. With an engine, its workers do it, which share the folder. An estimate writes no file.

    Before the first run, `on_begin` gets the most runs that may be needed, and a function that returns the cost so far.
    `on_run` gets each run that is made, and its request.

    Raises:
        SuiteError: a trigger set cannot be read.
        InvalidArgumentsError: an option, a skill or the folder cannot be used.
        JournalError: the journal cannot be used.
        DriftError, StaleRecordingError: replayed runs differ from the recording.
        UnavailableError: the engine cannot go on.
    """
    if engine is not None:
        require_workers_are_needed(replay=options.replay, is_estimate=options.is_estimate)
    require_one_source(resume=options.resume, replay=options.replay)
    options = _with_skills(options)
    sets = _sets(options)
    if options.replay is not None:
        TriggerFolder(path=options.replay).require_skills([one.skill for one in sets])
    neighbours = neighbour_directories(options.neighbours, tested=[one.skill for one in sets])
    if options.is_estimate:
        return _estimate(options, sets, neighbours)
    workspace = workspace_at(options.out, os.path.dirname(sets[0].directory), f"{_label(sets)}-workspace")
    directories = {one.skill: one.directory for one in sets}
    iteration = TRIGGERS.opened(
        workspace, _settings(options, sets), skills=directories, neighbours=neighbours, resume=options.resume
    )
    folder, settings = TriggerFolder(path=iteration.path), iteration.settings
    with ExitStack() as opened:
        fence = opened.enter_context(alone_in(folder.path))
        try:
            calls = opened_calls(fence, folder.header(settings), options.caps, replay=options.replay)
            opened.callback(calls.close)
            if engine is None:
                runner: TriggerRunner = _local(options, sets, folder.installed(settings), folder, calls)
            else:
                runner = _remote(options, sets, folder, settings, engine=engine, fence=fence)
        except SkillError:
            iteration.discard()
            raise

        def keep(unit: Unit, run: TriggerRun, query: TriggerQuery) -> None:
            folder.keep(unit, run)
            if on_run is not None:
                on_run(unit, run, query)

        if on_begin is not None:
            on_begin(options.runs * sum(len(one.queries) for one in sets), partial(spent_by_all, calls))
        campaign = TriggerCampaign(
            sets,
            runner,
            _options(options),
            kept=folder.kept,
            on_run=keep,
            recorded=_runs_of_unfinished(options.replay),
        )
        anyio.run(campaign.run)
        report = _report(options, sets, campaign, _kept_splits(options, sets), calls=calls, folder=folder)
        if report.complete:
            forget_locks(folder.path)
    TRIGGERS.finish(folder.path, report.as_dict())
    return TriggersEnded(report=report, signalled=campaign.signalled)


def _remote(
    options: TriggerRunOptions,
    sets: Sequence[TriggerSet],
    folder: TriggerFolder,
    settings: TriggerSettings,
    *,
    engine: CancellableEngine,
    fence: Fence,
) -> RemoteTriggers:
    if options.host == OWN_HOST:
        require_model(options.model)
    setting = TriggerSetting(
        folder=folder,
        fence=fence,
        header=folder.header(settings),
        options=_options(options),
        skills=_names(sets),
        installed=folder.installed(settings),
        host=options.host,
        model=options.model,
        price=options.price,
        caps=options.caps,
    )
    return RemoteTriggers(engine, setting, most=options.jobs)


def _local(
    options: TriggerRunOptions,
    sets: Sequence[TriggerSet],
    installed: tuple[str, ...],
    folder: TriggerFolder,
    calls: Ledger | RecordedCalls,
) -> LocalTriggers:
    host = chosen_host(
        options.host,
        calls,
        model=options.model,
        price=options.price,
        caps=options.caps,
        is_replay=options.replay is not None,
    )
    return LocalTriggers(
        host, _options(options), skills=_names(sets), installed=installed, directory_of=folder.directory
    )


def _runs_of_unfinished(replay: str | None) -> Callable[[Unit], bool] | None:
    """Return a test for the runs that an unfinished recording has; None for others, whose missing runs are drift."""
    return None if replay is None or TRIGGERS.end_of(replay).complete else TriggerFolder(path=replay).has_run


def _estimate(options: TriggerRunOptions, sets: Sequence[TriggerSet], neighbours: Mapping[str, str]) -> TriggersEnded:
    installed = (*(one.directory for one in sets), *neighbours.values())
    run = _options(options)
    runner = LocalTriggers(MatchHost(), run, skills=_names(sets), installed=installed)
    campaign = TriggerCampaign(sets, runner, run)
    anyio.run(campaign.run)
    return TriggersEnded(report=_report(options, sets, campaign, _splits(options, sets)), signalled=campaign.signalled)


def _options(options: TriggerRunOptions) -> TriggerOptions:
    return TriggerOptions(
        runs=1 if options.is_estimate else options.runs,
        jobs=1 if options.is_estimate else options.jobs or JOBS,
        seed=options.seed,
        consistency=options.consistency,
        all_runs=options.all_runs,
        workspaces=not options.is_estimate,
        limits=HostLimits(max_output_tokens=options.max_output_tokens),
    )


# ── before the first run ────────────────────────────────────────────────────────────────────────────────────


def _with_skills(options: TriggerRunOptions) -> TriggerRunOptions:
    """Return the options with the skills of folders that are named with `together`. Those without a set are installed.

    Raises:
        InvalidArgumentsError: a folder has no skill.
    """
    if not options.together:
        return options
    found = [skills_in(path) for path in options.paths]
    return replace(
        options,
        paths=tuple(path for own, _ in found for path in own),
        neighbours=(*options.neighbours, *(path for _, others in found for path in others)),
    )


def _sets(options: TriggerRunOptions) -> list[TriggerSet]:
    if options.together != (len(options.paths) > 1):
        problem = "--together needs at least two skills" if options.together else "name one skill, or add --together"
        raise InvalidArgumentsError((problem,))
    if options.together and options.file is not None:
        raise InvalidArgumentsError(("--set names the set of one skill; leave it out with --together",))
    sets = [read_trigger_set(path, options.file) for path in options.paths]
    require_distinct([one.skill for one in sets])
    return sets


def _names(sets: Sequence[TriggerSet]) -> tuple[str, ...]:
    return tuple(one.skill for one in sets)


def _label(sets: Sequence[TriggerSet]) -> str:
    return sets[0].skill if len(sets) == 1 else TOGETHER


def _settings(options: TriggerRunOptions, sets: Sequence[TriggerSet]) -> TriggerSettings:
    return TriggerSettings(
        skills={},
        neighbours={},
        sets={one.skill: hashlib.sha256(msgspec.json.encode(one.queries)).hexdigest() for one in sets},
        model=options.model,
        host=options.host,
        runs=options.runs,
        seed=options.seed,
        consistency=options.consistency,
        all_runs=options.all_runs,
        max_output_tokens=options.max_output_tokens,
        replay=options.replay is not None,
    )


# ── after the last run ──────────────────────────────────────────────────────────────────────────────────────


def _place_of(options: TriggerRunOptions, one: TriggerSet) -> str:
    return workspace_at(options.out, os.path.dirname(one.directory), f"{one.skill}-workspace")


def _splits(options: TriggerRunOptions, sets: Sequence[TriggerSet]) -> dict[str, TriggerSplit]:
    return {
        one.skill: split_queries(one.queries, seed=options.seed, kept=read_split(_place_of(options, one)))
        for one in sets
    }


def _kept_splits(options: TriggerRunOptions, sets: Sequence[TriggerSet]) -> dict[str, TriggerSplit]:
    splits = _splits(options, sets)
    for one in sets:
        keep_split(_place_of(options, one), splits[one.skill])
    return splits


def _stopped(options: TriggerRunOptions, campaign: TriggerCampaign) -> StopReason | None:
    """Return why runs are missing: the cap or signal of these runs, or else of the recording that they replay."""
    if campaign.stopped is None and not campaign.complete and options.replay is not None:
        return TRIGGERS.end_of(options.replay).stopped
    return campaign.stopped


def _report(
    options: TriggerRunOptions,
    sets: Sequence[TriggerSet],
    campaign: TriggerCampaign,
    splits: Mapping[str, TriggerSplit],
    *,
    calls: Ledger | RecordedCalls | None = None,
    folder: TriggerFolder | None = None,
) -> TriggerReport:
    texts = {one.skill: f"{one.skill} {one.description}" for one in sets}
    requests = campaign.answered() if len(sets) > 1 else []
    skills = campaign.results(splits)
    rows = [row for skill in skills for row in skill.results]
    return TriggerReport(
        complete=campaign.complete,
        stopped=_stopped(options, campaign),
        estimate=options.is_estimate,
        model=options.model,
        host=options.host,
        seed=options.seed,
        runs=1 if options.is_estimate else options.runs,
        consistency=options.consistency,
        spent=Spent() if calls is None else spent_by_all(calls),
        skills=skills,
        matrix=answer_rows(requests, list(texts)) if len(sets) > 1 else (),
        shadows=shadows_of(requests, texts),
        gates=trigger_gates(rows, min_pass_rate=options.min_pass_rate, min_consistency=options.consistency),
        iteration=None if folder is None else folder.path,
    )
