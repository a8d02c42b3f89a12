"""The units of `prowess eval run --on`: each is one task for a worker, which books its calls in the shared journal.

A worker takes credentials, the policy and the programs of other agents from its own machine. It compares the files that
a unit reads with those that the command saw.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import anyio
from msgspec import Struct
from msgspec.structs import replace

import prowess
from prowess._internal.batch import BatchUnit
from prowess._internal.batch_worker import require_version
from prowess._internal.files.contained import ContainedRoot
from prowess.errors import UnsafePathError
from prowess.evals.campaigns.campaign import LocalRunner
from prowess.evals.campaigns.chosen_host import require_model
from prowess.evals.campaigns.options import JOBS, EvalRunOptions
from prowess.evals.campaigns.planning import PlannedEval  # noqa: TC001 -- a field of a Struct
from prowess.evals.campaigns.preparation import PreparedCampaign  # noqa: TC001 -- a field of a Struct
from prowess.evals.campaigns.report import Unit  # noqa: TC001 -- a field of a Struct
from prowess.evals.campaigns.unit_setting import unit_setting
from prowess.evals.iterations.fence import Fence  # noqa: TC001 -- a field of a Struct
from prowess.evals.iterations.snapshots import installed_digests
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.remote.campaign_units import require_same_files, within_campaign
from prowess.evals.remote.engine import EngineRunner
from prowess.evals.remote.live_ledgers import shared_ledger
from prowess.format.suites.grader_specs import ProgramGrader

if TYPE_CHECKING:
    from prowess.evals.campaigns.campaign import UnitRunner
    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.ledger.ledger import Ledger
    from prowess.evals.ledger.recorded_calls import RecordedCalls
    from prowess.evals.remote.engine import CancellableEngine


def unit_runner(
    options: EvalRunOptions,
    prepared: PreparedCampaign,
    calls: Ledger | RecordedCalls,
    engine: CancellableEngine | None,
    fence: Fence,
) -> UnitRunner:
    """Return the runner of the units of a campaign: the workers of the engine, or this process if there is none.

    Raises:
        InvalidArgumentsError: the host or a model cannot be used.
    """
    if engine is None:
        return LocalRunner(unit_setting(options, prepared, calls), at_once=options.jobs or JOBS)
    if prepared.settings.host == OWN_HOST:
        require_model(prepared.settings.model)
    return RemoteRunner(engine, options, prepared, fence)


class EvalUnit(Struct, frozen=True, kw_only=True):
    """One unit for a worker. `files` are the digests of the files that it reads; `version` is that of Prowess."""

    version: str
    fence: Fence
    options: EvalRunOptions
    prepared: PreparedCampaign
    plan: PlannedEval
    unit: Unit
    files: dict[str, str]


class RemoteRunner(EngineRunner):
    """Implements `UnitRunner` on the workers of an engine. The caller holds the lock of the iteration."""

    def __init__(
        self, engine: CancellableEngine, options: EvalRunOptions, prepared: PreparedCampaign, fence: Fence
    ) -> None:
        super().__init__(engine, most=options.jobs)
        self._options, self._fence = options, fence
        # Workers need the files of all evals to tell which texts a baseline may have seen, and no more of the others.
        light = (replace(plan, prompt="", expected_output=None, assertions=()) for plan in prepared.evals)
        self._prepared = replace(prepared, evals=tuple(light))

    async def run(self, plan: PlannedEval, unit: Unit) -> UnitResult:
        """As in `UnitRunner`.

        Raises:
            CapReachedError, JournalError, InvalidArgumentsError: the campaign has to end.
            UnavailableError: no worker can run the unit.
        """
        task = EvalUnit(
            version=prowess.__version__,
            fence=self._fence,
            options=self._options,
            prepared=self._prepared,
            plan=plan,
            unit=unit,
            files=_files(self._prepared, plan, unit),
        )
        return await self.result(run_eval_unit, BatchUnit(id=unit.id, task=task))


def run_eval_unit(task: EvalUnit) -> UnitResult:
    """On a worker: run and grade one unit, unless it has a result.

    Raises:
        UnavailableError: this worker has another version of Prowess, or does not share the folders.
        CapReachedError, JournalError, InvalidArgumentsError: the campaign has to end.
    """
    require_version(task.version)
    return anyio.run(_run, task)


async def _run(task: EvalUnit) -> UnitResult:
    prepared, plan, unit = task.prepared, task.plan, task.unit
    iteration = prepared.iteration

    async def run() -> UnitResult:
        if (kept := iteration.kept(unit, plan.directory)) is not None:
            return kept  # by a worker that died, or seemed to, before its result was fetched
        require_same_files(task.files, _files(prepared, plan, unit))
        with shared_ledger(task.fence, prepared.header, task.options.caps) as calls:
            async with LocalRunner(unit_setting(task.options, prepared, calls), at_once=1) as runner:
                return await runner.run(plan, unit)

    return await within_campaign(task.fence, unit.id, run)


def _files(prepared: PreparedCampaign, plan: PlannedEval, unit: Unit) -> dict[str, str]:
    """Return the digests of the files that a unit reads: of its skills, of its eval, and of programs that grade it."""
    digests = installed_digests(prepared.skills[unit.configuration], below=f"{unit.configuration}/")
    paths = [source for source, _ in plan.files]
    paths += [one.check.path for one in plan.assertions if isinstance(one.check, ProgramGrader)]
    with ContainedRoot(prepared.settings.root) as root:
        for path in paths:
            try:
                with root.open(path, allow_hard_links=True) as file:
                    digests[path] = hashlib.sha256(file.read()).hexdigest()
            except (UnsafePathError, OSError):
                digests[path] = "none"  # the run reports it, and without a difference to the command
    return digests
