"""Ablation with the evals of a skill and a model.

First every eval runs with the whole skill. Then passages are removed, in rounds: each round runs what the trials ask
for (`trials`), all passages at once. An eval whose requests never held a passage is not run for it. Everything is in
one iteration with one journal, so caps hold for the whole and a killed ablation is resumed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from functools import partial
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct
from msgspec.structs import replace

from prowess.errors import InvalidArgumentsError
from prowess.evals.ablation.passages import passages_of
from prowess.evals.ablation.report import AblatedPassage, AblationReport, EvalNotice
from prowess.evals.ablation.trials import DETECT, AssertionKey, PassageTrial, PassedRuns, informative
from prowess.evals.campaigns.campaign import Campaign, planned_units
from prowess.evals.campaigns.preparation import prepared_campaign
from prowess.evals.campaigns.report import WITH_SKILL, Unit
from prowess.evals.campaigns.unit_setting import gradable, ungraded_assertions
from prowess.evals.iterations.fence import alone_in
from prowess.evals.iterations.folders import write_json
from prowess.evals.iterations.snapshots import take_variant
from prowess.evals.ledger.journal import JOURNAL
from prowess.evals.ledger.ledger import Ledger
from prowess.evals.ledger.opened_calls import spent_by_all
from prowess.evals.remote.campaign_units import forget_locks
from prowess.evals.remote.eval_units import unit_runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from prowess.evals.ablation.passages import Passage, PassageFile, PassageKind
    from prowess.evals.campaigns.campaign import UnitRunner
    from prowess.evals.campaigns.options import EvalRunOptions
    from prowess.evals.campaigns.preparation import PreparedCampaign
    from prowess.evals.campaigns.report import StopReason, UngradedAssertion, UnitResult
    from prowess.evals.ledger.caps import Spent
    from prowess.evals.remote.engine import CancellableEngine

FOLDER = "ablation"
RUNS = 5
_ESCAPES = re.compile(r"\\+(?:u[0-9a-fA-F]{4}|.)")
_OTHERS = re.compile(r"[^A-Za-z]+")
_WITH_DIGITS = re.compile(r"\S*[0-9]\S*|\n")  # what the recorded form of a request may have replaced, such as a time
_LEAST_SIGN = 12  # letters by which a part of a passage is recognised


class AblationEnded(Struct, frozen=True, kw_only=True):
    """An ablation that ended. `signalled` is the number of the signal that stopped it, or None."""

    report: AblationReport
    signalled: int | None


class _Cut(Struct, frozen=True, kw_only=True):
    """One passage with its file, the configuration of its runs, and its trial."""

    file: PassageFile
    passage: Passage
    configuration: str
    trial: PassageTrial


def ablate_by_evals(
    options: EvalRunOptions,
    by: PassageKind,
    *,
    negate: bool = False,
    detect: float = DETECT,
    engine: CancellableEngine | None = None,
    on_begin: Callable[[None, Callable[[], Spent]], object] | None = None,
    on_result: Callable[[UnitResult], object] | None = None,
    on_ungraded: Callable[[tuple[UngradedAssertion, ...]], object] | None = None,
) -> AblationEnded:
    """Remove each passage of the skill in turn, or negate it, and run its evals until it is known what that changes.

    `runs` of the options is the number of runs of each eval with the whole skill, and the most without one passage.
    With an engine, its workers make the runs. The callbacks are those of `run_evals`; the number of runs is not known.

    Raises:
        SuiteError: there is no suite, or it cannot be read.
        InvalidArgumentsError: an option cannot be used, or no eval passes with the whole skill.
        JournalError: the journal cannot be used.
        UnavailableError: the engine cannot go on.
    """
    options = replace(options, baseline="none", runs=options.runs or RUNS, folder=FOLDER)
    prepared = prepared_campaign(options)
    path = os.path.join(prepared.iteration.path, JOURNAL)
    with (
        alone_in(prepared.iteration.path) as fence,
        Ledger(path, prepared.header, options.caps, is_ours=fence.holds) as calls,
    ):

        def runner(prepared: PreparedCampaign) -> UnitRunner:
            return unit_runner(options, prepared, calls, engine, fence)

        try:
            runner(prepared)
        except InvalidArgumentsError:
            if prepared.is_new:
                shutil.rmtree(prepared.iteration.path, ignore_errors=True)
            raise
        ablation = _EvalAblation(prepared, calls, runner, negate=negate, detect=detect, on_result=on_result)
        if on_ungraded is not None and ablation.ungraded:
            on_ungraded(ablation.ungraded)
        if on_begin is not None:
            on_begin(None, partial(spent_by_all, calls))
        anyio.run(ablation.run, by)
        report = ablation.report(by)
        if report.complete:
            forget_locks(prepared.iteration.path)
    write_json(os.path.join(prepared.iteration.path, "ablation.json"), report.as_dict())
    write_json(os.path.join(prepared.iteration.path, "report.json"), {"complete": report.complete})
    return AblationEnded(report=report, signalled=ablation.signalled)


class _EvalAblation:
    """One ablation, with its iteration and its journal."""

    def __init__(
        self,
        prepared: PreparedCampaign,
        calls: Ledger,
        runner: Callable[[PreparedCampaign], UnitRunner],
        *,
        negate: bool,
        detect: float,
        on_result: Callable[[UnitResult], object] | None,
    ) -> None:
        self._prepared, self._calls, self._runner = prepared, calls, runner
        self._negate, self._detect, self._on_result = negate, detect, on_result
        self._skills = dict(prepared.skills)
        judged = prepared.settings.judge is not None
        self._plans = {plan.id: gradable(plan, judged=judged) for plan in prepared.evals}
        self.ungraded = ungraded_assertions(self._plans.values(), judged=judged)
        self._cuts: list[_Cut] = []
        self._silent: list[str] = []
        self._whole_ran = False  # an eval that was not run with the whole skill may need any passage
        self._names: list[str] = []  # of evals that can notice something
        self._stopped: StopReason | None = None
        self.signalled: int | None = None

    async def run(self, by: PassageKind) -> None:
        """Run the whole skill, and then the passages."""
        runs = self._prepared.settings.runs
        results = await self._campaign(planned_units(self._plans.values(), (WITH_SKILL,), runs))
        whole = _tallies(results)
        telling = informative(whole, detect=self._detect)
        self._whole_ran = self._stopped is None
        if self._whole_ran:
            self._silent = [f"{key.eval}: {key.text}" for key in sorted(whole) if key not in telling]
            self._silent += sorted(name for name in self._plans if all(key.eval != name for key in whole))
        if not telling and self._stopped is None:
            problem = "no assertion passes reliably with the whole skill, so none can miss a part of it"
            reasons = [unit.reason for unit in results if unit.reason is not None][:1]
            raise InvalidArgumentsError((": ".join([problem, *reasons]),))
        self._cuts = list(self._planned(by, telling, runs))
        while self._stopped is None and (units := self._round()):
            self._take(await self._campaign(units))

    def report(self, by: PassageKind) -> AblationReport:
        """Return what is known."""
        return AblationReport(
            skill=self._prepared.settings.skill,
            by=by,
            tried_by="evals",
            units=tuple(_result(cut) if self._whole_ran else _unsure(cut.passage) for cut in self._cuts),
            evals=tuple(self._notices()) if self._whole_ran else (),
            without_verdict=tuple(self._silent),
            ungraded=self.ungraded,
            complete=self._stopped is None,
            stopped=self._stopped,
            spent=self._calls.spent,
            iteration=self._prepared.iteration.path,
        )

    def _notices(self) -> Iterable[EvalNotice]:
        for name in self._names:
            yield EvalNotice.of(name, [cut.trial.decision_of(name) for cut in self._cuts])

    async def _campaign(self, units: Sequence[Unit]) -> tuple[UnitResult, ...]:
        prepared = replace(self._prepared, skills=dict(self._skills))
        campaign = Campaign(units, self._plans, prepared.iteration, self._runner(prepared), on_result=self._on_result)
        await campaign.run()
        self._calls.refresh()  # workers book their calls themselves
        self._stopped, self.signalled = campaign.stopped, campaign.signalled
        return campaign.results

    def _planned(self, by: PassageKind, telling: Mapping[AssertionKey, PassedRuns], runs: int) -> Iterable[_Cut]:
        root = self._skills[WITH_SKILL][0]
        names = self._names = sorted({key.eval for key in telling})
        sent = {name: self._sent(name) for name in names}
        files = passages_of(root, by)
        letters = {file.path: _letters(file.text) for file in files}
        for file in files:
            others = "\n".join(text for path, text in letters.items() if path != file.path)
            for passage in file.passages:
                held = [name for name in names if _holds(sent[name], passage.text, others)]
                yield _Cut(
                    file=file,
                    passage=passage,
                    configuration=_configuration(passage, negate=self._negate),
                    trial=PassageTrial(telling, held, most_runs=runs, detect=self._detect, every_eval=by == "file"),
                )

    def _sent(self, name: str) -> str | None:
        """Return what the requests of an eval held, in all runs with the whole skill; None if that is not known."""
        units = planned_units([self._plans[name]], (WITH_SKILL,), self._prepared.settings.runs)
        forms = [form for unit in units for form in self._calls.recorded_forms(unit.id)]
        known = [_letters(form) for form in forms if form is not None]
        return "\n".join(known) if len(known) == len(forms) else None

    def _round(self) -> list[Unit]:
        units: list[Unit] = []
        for cut in self._cuts:
            names = cut.trial.next_evals
            if names:
                self._install(cut)
            units += [Unit(eval=name, configuration=cut.configuration, run=cut.trial.next_run(name)) for name in names]
        return units

    def _take(self, results: Iterable[UnitResult]) -> None:
        trials = {cut.configuration: cut.trial for cut in self._cuts}
        for result in results:
            if result.outcome == "not_run":
                continue
            grades = {row.text: row.passed for row in result.assertions} if result.counted else None
            trials[result.configuration].add(result.eval, grades)

    def _install(self, cut: _Cut) -> None:
        """Write the skill without a passage, unless it is there."""
        if cut.configuration in self._skills:
            return
        whole, *neighbours = self._skills[WITH_SKILL]
        target = self._prepared.iteration.skill_directory(cut.configuration, os.path.basename(whole))
        changed = cut.file.negated(cut.passage) if self._negate else cut.file.without(cut.passage)
        take_variant(whole, target, cut.file.path, changed.encode("utf-8", "surrogatepass"))
        self._skills[cut.configuration] = (target, *neighbours)


def _tallies(results: Iterable[UnitResult]) -> dict[AssertionKey, PassedRuns]:
    found: dict[AssertionKey, PassedRuns] = {}
    for result in results:
        for row in result.assertions if result.counted else ():
            tally = found.setdefault(AssertionKey(eval=result.eval, text=row.text), PassedRuns())
            tally.runs += 1
            tally.passed += row.passed
    return found


def _unsure(passage: Passage) -> AblatedPassage:
    return AblatedPassage.of(passage, "unsure", delta=None, low=None, high=None)


def _result(cut: _Cut) -> AblatedPassage:
    trial = cut.trial
    decision, loss = trial.decision, trial.loss
    if decision == "no_effect" and loss is None:  # no request held it
        return AblatedPassage.of(cut.passage, "no_effect", delta=0.0, low=0.0, high=0.0)
    return AblatedPassage.of(
        cut.passage,
        "unsure" if decision == "open" else decision,
        delta=None if loss is None else loss.delta,
        low=None if loss is None else loss.low,
        high=None if loss is None else loss.high,
        failing=tuple(f"{key.eval}: {key.text}" for key in trial.fallen),
        runs=trial.runs,
    )


def _configuration(passage: Passage, *, negate: bool) -> str:
    """Return a name that stays the same when an ablation is resumed."""
    identity = f"{passage.path}\0{passage.start}\0{passage.text}\0{negate}"
    return f"without-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _letters(text: str) -> str:
    """Return ASCII letters only: escapes, spaces and line numbers between words do not matter."""
    return _OTHERS.sub("", _ESCAPES.sub("", text)).lower()


def _holds(sent: str | None, passage: str, others: str) -> bool:
    """Return whether requests held a part of a passage. Without a recognisable part they may have held it.

    Parts that stand in `others` too, the letters of the skill's other files, are recognised only if there are no more.
    """
    signs = [sign for part in _WITH_DIGITS.split(passage) if len(sign := _letters(part)) >= _LEAST_SIGN]
    own = [sign for sign in signs if sign not in others] or signs
    return sent is None or not own or any(sign in sent for sign in own)
