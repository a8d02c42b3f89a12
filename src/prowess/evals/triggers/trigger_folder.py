"""The folder of trigger runs: an iteration of the skill's workspace, without outputs.

NAME-workspace/trigger-split.json          the split, once for all iterations
NAME-workspace/iteration-N/
triggers.json  trigger-report.json     settings, which a resumed run must share; the report
skill/with_skill/NAME/                 installed skills; `skill/neighbours/NAME/` for further skills
journal.jsonl
request-DIGEST/NAME/run-N/             one run: transcript.jsonl and verdicts.json
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, to_builtins

from prowess._internal.files.bounded_read import read_regular_file
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.iterations.folders import NEIGHBOURS, skill_directory, write_json
from prowess.evals.iterations.settings_file import RunCount, SettingsFile
from prowess.evals.iterations.snapshots import installed_digests
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.triggers.trigger_runs import TriggerRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.evals.campaigns.report import Unit

VERSION = 1
_VERDICTS = "verdicts.json"
_MOST_RESULT = 1 << 26  # bytes


class TriggerSettings(Struct, frozen=True, kw_only=True):
    """The settings that decide about the results. Caps and the number of jobs may differ when runs are resumed.

    `skills` and `neighbours` are digests by name, `sets` those of the requests by skill.
    """

    version: int = VERSION
    skills: dict[str, str]
    neighbours: dict[str, str]
    sets: dict[str, str]
    model: str | None
    host: str
    runs: RunCount
    seed: int
    consistency: float | None
    all_runs: bool
    max_output_tokens: int | None
    replay: bool = False


TRIGGERS = SettingsFile(
    name="triggers.json",
    report="trigger-report.json",
    form=TriggerSettings,
    version=VERSION,
    command="eval triggers",
    owner=(),
    options=("model", "host", "runs", "seed", "consistency", "all_runs", "max_output_tokens"),
)


class TriggerFolder(Struct, frozen=True, kw_only=True):
    """One iteration of trigger runs."""

    path: str

    def directory(self, unit: Unit) -> str:
        """Return an empty directory for the files of a unit."""
        place = self._place(unit)
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        return place

    def kept(self, unit: Unit) -> TriggerRun | None:
        """Return a run that was finished before. One that said nothing about the skill is made again."""
        try:
            data = read_regular_file(os.path.join(self._place(unit), _VERDICTS), _MOST_RESULT)
            found = msgspec.json.decode(data, type=TriggerRun)
        except (OSError, msgspec.DecodeError):
            return None
        decides = found.unit == unit.id and found.verdicts.get(unit.configuration, "error") != "error"
        return found if decides else None

    def has_run(self, unit: Unit) -> bool:
        """Whether a run was finished, also one that failed."""
        return os.path.isfile(os.path.join(self._place(unit), _VERDICTS))

    def keep(self, unit: Unit, run: TriggerRun) -> None:
        """Write the verdicts of a run, the last file of a unit."""
        write_json(os.path.join(self._place(unit), _VERDICTS), to_builtins(run))

    def installed(self, settings: TriggerSettings) -> tuple[str, ...]:
        """Return the directories of the snapshots."""
        own = [skill_directory(self.path, WITH_SKILL, name) for name in settings.skills]
        return (*own, *(skill_directory(self.path, NEIGHBOURS, name) for name in settings.neighbours))

    def header(self, settings: TriggerSettings) -> JournalHeader:
        """Return the first line of the journal."""
        identity: dict[str, str | int | float | bool | None] = {
            "triggers": True,
            "model": settings.model,
            "host": settings.host,
            "seed": settings.seed,
            "max_output_tokens": settings.max_output_tokens,
        }
        files = installed_digests(self.installed(settings))
        return JournalHeader(skill=", ".join(settings.skills), files=files, identity=identity)

    def require_skills(self, names: Sequence[str]) -> None:
        """Require that the runs are of these skills.

        Raises:
            InvalidArgumentsError: they are of others.
        """
        if (found := sorted(TRIGGERS.read(self.path).skills)) != sorted(names):
            problem = f"{self.path} is a recording of {', '.join(found)}, not of {', '.join(sorted(names))}"
            raise InvalidArgumentsError((f"{problem}; name an iteration of the same skills",))

    def _place(self, unit: Unit) -> str:
        return os.path.join(self.path, *unit.id.split("/"))
