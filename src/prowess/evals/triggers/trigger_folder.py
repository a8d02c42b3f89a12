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

from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.iterations import json_of_file, new_iteration, resumable, write_json
from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.campaigns.snapshots import installed_files, take_snapshot
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.triggers.running import TriggerRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.evals.campaigns.report import Unit
    from prowess.evals.triggers.report import TriggerReport

VERSION = 1
_SETTINGS, _REPORT, _VERDICTS = "triggers.json", "trigger-report.json", "verdicts.json"
_NEIGHBOURS = "neighbours"


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
    runs: int
    seed: int
    consistency: float | None
    all_runs: bool
    max_output_tokens: int | None
    replay: bool = False


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
            with open(os.path.join(self._place(unit), _VERDICTS), "rb") as file:
                found = msgspec.json.decode(file.read(), type=TriggerRun)
        except (OSError, msgspec.DecodeError):
            return None
        decides = found.unit == unit.id and found.verdicts.get(unit.configuration, "error") != "error"
        return found if decides else None

    def keep(self, unit: Unit, run: TriggerRun) -> None:
        """Write the verdicts of a run, the last file of a unit."""
        write_json(os.path.join(self._place(unit), _VERDICTS), to_builtins(run))

    def finish(self, report: TriggerReport) -> None:
        """Write the report."""
        write_json(os.path.join(self.path, _REPORT), report.as_dict())

    def installed(self, settings: TriggerSettings) -> tuple[str, ...]:
        """Return the directories of the snapshots."""
        own = [self._skill(WITH_SKILL, name) for name in settings.skills]
        return (*own, *(self._skill(_NEIGHBOURS, name) for name in settings.neighbours))

    def header(self, settings: TriggerSettings) -> JournalHeader:
        """Return the first line of the journal."""
        files = {
            f"{os.path.basename(directory)}/{record.path}": record.sha256
            for directory in self.installed(settings)
            for record in installed_files(directory).files
        }
        identity: dict[str, str | int | float | bool | None] = {
            "triggers": True,
            "model": settings.model,
            "host": settings.host,
            "seed": settings.seed,
            "max_output_tokens": settings.max_output_tokens,
        }
        return JournalHeader(skill=", ".join(settings.skills), files=files, identity=identity)

    def begin(self, settings: TriggerSettings, directories: Mapping[str, str], others: Mapping[str, str]) -> None:
        """Take the snapshots of the skills and the neighbours, and write the settings.

        Raises:
            InvalidArgumentsError: a skill cannot be copied. Then the folder is removed.
        """
        try:
            for kind, places in ((WITH_SKILL, directories), (_NEIGHBOURS, others)):
                for name, place in places.items():
                    take_snapshot(place, self._skill(kind, name))
        except InvalidArgumentsError:
            self.remove()
            raise
        write_json(os.path.join(self.path, _SETTINGS), to_builtins(settings))

    def remove(self) -> None:
        """Remove a folder in which nothing began."""
        shutil.rmtree(self.path, ignore_errors=True)

    def settings(self) -> TriggerSettings:
        """Return the settings of the runs.

        Raises:
            InvalidArgumentsError: the folder has no trigger runs, or a newer version wrote it.
        """
        path = os.path.join(self.path, _SETTINGS)
        data = json_of_file(path)
        if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > VERSION:
            raise InvalidArgumentsError((f"{path} was written by a newer version of prowess; update prowess",))
        try:
            return msgspec.convert(data, TriggerSettings)
        except msgspec.ValidationError:
            problem = f"{self.path} is no iteration of trigger runs: it has no {_SETTINGS} that can be read"
            raise InvalidArgumentsError((f"{problem}; name a folder that eval triggers wrote",)) from None

    def require_skills(self, names: Sequence[str]) -> None:
        """Require that the runs are of these skills.

        Raises:
            InvalidArgumentsError: they are of others.
        """
        if (found := sorted(self.settings().skills)) != sorted(names):
            problem = f"{self.path} is a recording of {', '.join(found)}, not of {', '.join(sorted(names))}"
            raise InvalidArgumentsError((f"{problem}; name an iteration of the same skills",))

    def require_same(self, wanted: TriggerSettings) -> None:
        """Require that the runs of this folder may be continued with these settings.

        Raises:
            InvalidArgumentsError: the skills, the requests or an option differ, or a newer version wrote it.
        """
        found = self.settings()
        if found != wanted:
            names = [
                name for name in TriggerSettings.__struct_fields__ if getattr(found, name) != getattr(wanted, name)
            ]
            problem = f"{self.path} was started with other {', '.join(names)}"
            raise InvalidArgumentsError((f"{problem}; give the same, or leave --resume out to start anew",))

    def _place(self, unit: Unit) -> str:
        return os.path.join(self.path, *unit.id.split("/"))

    def _skill(self, kind: str, name: str) -> str:
        return os.path.join(self.path, "skill", kind, name)


def new_folder(workspace: str) -> TriggerFolder:
    """Create the next iteration. Raises InvalidArgumentsError."""
    return TriggerFolder(path=new_iteration(workspace, flat=False).path)


def unfinished_folder(workspace: str) -> TriggerFolder | None:
    """Return the newest iteration with trigger runs that can be resumed."""
    path = resumable(workspace, settings=_SETTINGS, report=_REPORT)
    return None if path is None else TriggerFolder(path=path)
