"""The runs of `prowess eval triggers --on`: each is one task for a worker, as those of `prowess eval run --on`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from msgspec import Struct

import prowess
from prowess._internal.batch import BatchUnit
from prowess._internal.batch_worker import require_version
from prowess.evals.campaigns.chosen_host import chosen_host
from prowess.evals.campaigns.report import Unit  # noqa: TC001 -- a field of a Struct
from prowess.evals.iterations.fence import Fence  # noqa: TC001 -- a field of a Struct
from prowess.evals.iterations.snapshots import installed_digests
from prowess.evals.ledger.caps import Caps  # noqa: TC001 -- a field of a Struct
from prowess.evals.ledger.journal import JournalHeader  # noqa: TC001 -- a field of a Struct
from prowess.evals.ledger.prices import Price  # noqa: TC001 -- a field of a Struct
from prowess.evals.remote.campaign_units import require_same_files, within_campaign
from prowess.evals.remote.engine import EngineRunner
from prowess.evals.remote.live_ledgers import shared_ledger
from prowess.evals.triggers.trigger_folder import TriggerFolder  # noqa: TC001 -- a field of a Struct
from prowess.evals.triggers.trigger_runs import LocalTriggers, TriggerOptions, TriggerRun

if TYPE_CHECKING:
    from prowess.evals.remote.engine import CancellableEngine


class TriggerSetting(Struct, frozen=True, kw_only=True):
    """The common parts of the runs of a campaign. `skills` are the names that get a verdict."""

    folder: TriggerFolder
    fence: Fence
    header: JournalHeader
    options: TriggerOptions
    skills: tuple[str, ...]
    installed: tuple[str, ...]
    host: str
    model: str | None
    price: Price | None
    caps: Caps


class TriggerUnit(Struct, frozen=True, kw_only=True):
    """One run for a worker. `version` is that of Prowess."""

    version: str
    setting: TriggerSetting
    query: str
    unit: Unit


class RemoteTriggers(EngineRunner):
    """Implements `TriggerRunner` on the workers of an engine. The caller holds the lock of the iteration."""

    def __init__(self, engine: CancellableEngine, setting: TriggerSetting, *, most: int | None) -> None:
        super().__init__(engine, most=most)
        self._setting = setting

    async def run(self, query: str, unit: Unit) -> TriggerRun:
        """As in `TriggerRunner`.

        Raises:
            CapReachedError, JournalError, InvalidArgumentsError: the campaign has to end.
            UnavailableError: no worker can run the request.
        """
        task = TriggerUnit(version=prowess.__version__, setting=self._setting, query=query, unit=unit)
        return await self.result(run_trigger_unit, BatchUnit(id=unit.id, task=task))


def run_trigger_unit(task: TriggerUnit) -> TriggerRun:
    """On a worker: run a request once, unless it was.

    Raises:
        UnavailableError: this worker has another version of Prowess, or does not share the folder.
        CapReachedError, JournalError, InvalidArgumentsError: the campaign has to end.
    """
    require_version(task.version)
    return anyio.run(_run, task)


async def _run(task: TriggerUnit) -> TriggerRun:
    setting, unit = task.setting, task.unit
    folder = setting.folder

    async def run() -> TriggerRun:
        if (kept := folder.kept(unit)) is not None:
            return kept
        require_same_files(setting.header.files, installed_digests(setting.installed))
        with shared_ledger(setting.fence, setting.header, setting.caps) as calls:
            host = chosen_host(
                setting.host, calls, model=setting.model, price=setting.price, caps=setting.caps, is_replay=False
            )
            runner = LocalTriggers(
                host,
                setting.options,
                skills=setting.skills,
                installed=setting.installed,
                directory_of=folder.directory,
            )
            async with runner:
                made = await runner.run(task.query, unit)
        folder.keep(unit, made)  # before it is fetched, so that it is not made again
        return made

    return await within_campaign(setting.fence, unit.id, run)
