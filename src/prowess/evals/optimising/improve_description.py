"""`prowess eval improve` as a function: from the options to the report. `improve_body` does `--body`."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import anyio
import msgspec
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.chosen_host import chosen_host
from prowess.evals.campaigns.neighbours import neighbour_directories
from prowess.evals.hosts.host import HostLimits
from prowess.evals.iterations.fence import alone_in
from prowess.evals.iterations.folders import require_one_source, workspace_at
from prowess.evals.ledger.opened_calls import opened_calls
from prowess.evals.optimising.descriptions import description_revision, with_description
from prowess.evals.optimising.gepa_engine import require_gepa
from prowess.evals.optimising.improve_folder import IMPROVE, ImproveFolder, ImproveSettings
from prowess.evals.optimising.measuring import Measurements
from prowess.evals.optimising.report import LostCase
from prowess.evals.optimising.search import TextSearch
from prowess.evals.optimising.search_run import (
    ImproveEnded,
    ImproveOptions,
    document_bytes,
    ended_with,
    proposer_of,
    report_of,
    searched,
    settings_of,
    written,
)
from prowess.evals.triggers.match_host import MatchHost
from prowess.evals.triggers.split import keep_split, read_split, split_queries
from prowess.evals.triggers.trigger_runs import TriggerOptions
from prowess.evals.triggers.trigger_set import read_trigger_set
from prowess.format.reading import read_skill

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.evals.campaigns.report import Unit
    from prowess.evals.hosts.host import Host
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.recorded_calls import RecordedCalls
    from prowess.evals.triggers.split import TriggerSplit
    from prowess.evals.triggers.trigger_runs import TriggerRun
    from prowess.evals.triggers.trigger_set import TriggerQuery, TriggerSet


def improve_description(
    options: ImproveOptions,
    *,
    on_begin: Callable[[Callable[[], Spent]], object] | None = None,
    on_run: Callable[[Unit, TriggerRun, TriggerQuery], object] | None = None,
) -> ImproveEnded:
    """Search for a better description. The skill is changed only with `write`, and only by a complete search.

    Before the first run, `on_begin` gets a function that returns the cost so far. `on_run` gets each run that is made.

    Raises:
        SuiteError: the trigger set cannot be read.
        InvalidArgumentsError: an option, the skill or the folder cannot be used, or SKILL.md cannot be written.
        MissingExtraError: the engine is not installed.
        JournalError: the journal cannot be used.
        DriftError, StaleRecordingError: replayed runs differ from the recording.
    """
    require_one_source(resume=options.resume, replay=options.replay)
    if options.engine == "gepa":
        require_gepa()
    one = read_trigger_set(options.path, options.file)
    before = document_bytes(one.directory)
    with_description(before, one.description)
    neighbours = neighbour_directories(options.neighbours, tested=[one.skill])
    workspace = workspace_at(options.out, os.path.dirname(one.directory), f"{one.skill}-workspace")
    skills = {one.skill: one.directory}
    iteration = IMPROVE.opened(
        workspace, _settings(options, one), skills=skills, neighbours=neighbours, resume=options.resume
    )
    folder, settings = ImproveFolder(iteration.path, one.skill, neighbours), iteration.settings
    with ExitStack() as opened:
        fence = opened.enter_context(alone_in(folder.path))
        try:
            calls = opened_calls(fence, folder.header(settings), options.caps, replay=options.replay)
            opened.callback(calls.close)
            host = _host(options, calls)
            split = _kept_split(workspace, one, options.seed)
            train, validation = (
                [query for query in one.queries if split.side_of(query.query) == side]
                for side in ("train", "validation")
            )
            body = read_skill(one.directory).document.body
            revision = description_revision(one.skill, body, [query.query for query in train])
            proposer = proposer_of(options, revision, calls)
        except SkillError:
            iteration.discard()
            raise
        if on_begin is not None:
            on_begin(lambda: calls.spent)
        measured = Measurements(one, split, host, folder, _options(options), on_run=on_run)
        runs = 1 if options.is_estimate else options.runs
        search = TextSearch(one.description, measured.rows, proposer, train=train, validation=validation, runs=runs)
        stopped = anyio.run(searched, search, options, calls)
        new = before if search.chosen is None else with_description(before, search.chosen.text)
        lost = [LostCase(query=row.query, should_trigger=row.should_trigger, split=row.split) for row in search.lost()]
        report = report_of(
            options, search, stopped, part="description", skill=one.skill, texts=(before, new), lost=lost
        )
        notes = tuple(search.notes(measured.first_error, case="request"))
        report = replace(report, spent=calls.spent, iteration=folder.path, notes=notes)
    report = written(options, report, one.directory, before, new)
    IMPROVE.finish(folder.path, report.as_dict())
    return ended_with(report, search, stopped)


def _settings(options: ImproveOptions, one: TriggerSet) -> ImproveSettings:
    return settings_of(options, one.skill, hashlib.sha256(msgspec.json.encode(one.queries)).hexdigest())


def _host(options: ImproveOptions, calls: Ledger | RecordedCalls) -> Host:
    if options.is_estimate:
        return MatchHost()
    return chosen_host(
        options.host,
        calls,
        model=options.model,
        price=options.price,
        caps=options.caps,
        is_replay=options.replay is not None,
    )


def _kept_split(workspace: str, one: TriggerSet, seed: int) -> TriggerSplit:
    split = split_queries(one.queries, seed=seed, kept=read_split(workspace))
    sides = {split.side_of(query.query) for query in one.queries}
    if sides != {"train", "validation"}:
        problem = f"{one.file} has too few requests to be split into training and validation; about 20 are usual"
        raise InvalidArgumentsError((problem,))
    keep_split(workspace, split)
    return split


def _options(options: ImproveOptions) -> TriggerOptions:
    return TriggerOptions(
        runs=options.runs,
        jobs=1 if options.is_estimate else options.jobs,
        seed=options.seed,
        workspaces=not options.is_estimate,
        limits=HostLimits(max_output_tokens=options.max_output_tokens),
    )
