"""The folder of a search: an iteration of the skill's workspace.

NAME-workspace/trigger-split.json          the split, shared with `eval triggers`
NAME-workspace/iteration-N/
improve.json  improve-report.json      settings, which a resumed search must share; the report
skill/with_skill/NAME/                 the skill as it was
journal.jsonl
candidates/DIGEST/                     one description: `skill/with_skill/NAME/`, and runs as of `eval triggers`
"""

from __future__ import annotations

import hashlib
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
from prowess.evals.optimising.descriptions import with_description
from prowess.evals.triggers.trigger_folder import TriggerFolder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.evals.optimising.report import ImproveReport

VERSION = 1
_SETTINGS, _REPORT, _DOCUMENT = "improve.json", "improve-report.json", "SKILL.md"
_NEIGHBOURS = "neighbours"


class ImproveSettings(Struct, frozen=True, kw_only=True):
    """What decides about the results. Caps and the number of jobs may differ when a search is resumed."""

    version: int = VERSION
    skill: str
    digest: str
    set: str
    neighbours: dict[str, str]
    model: str
    proposer: str
    host: str
    engine: str
    rounds: int
    runs: int
    seed: int
    max_output_tokens: int | None
    replay: bool = False


class ImproveFolder:
    """One search."""

    def __init__(self, path: str, skill: str) -> None:
        self.path = path
        self._name = skill
        self._neighbours: tuple[str, ...] = ()
        self._copied: set[str] = set()

    @property
    def first(self) -> str:
        """The directory of the skill as it was."""
        return self._skill(self.path, WITH_SKILL, self._name)

    def begin(self, settings: ImproveSettings, directory: str, neighbours: Mapping[str, str]) -> None:
        """Take the snapshots and write the settings.

        Raises:
            InvalidArgumentsError: a skill cannot be copied. Then the folder is removed.
        """
        try:
            take_snapshot(directory, self.first)
            for name, place in neighbours.items():
                take_snapshot(place, self._skill(self.path, _NEIGHBOURS, name))
        except InvalidArgumentsError:
            self.remove()
            raise
        write_json(os.path.join(self.path, _SETTINGS), to_builtins(settings))

    def use(self, settings: ImproveSettings) -> None:
        """Require that the search of this folder has these settings.

        Raises:
            InvalidArgumentsError: the skill, the requests or an option differ, or a newer version wrote it.
        """
        path = os.path.join(self.path, _SETTINGS)
        data = json_of_file(path)
        if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > VERSION:
            raise InvalidArgumentsError((f"{path} was written by a newer version of prowess; update prowess",))
        try:
            found = msgspec.convert(data, ImproveSettings)
        except msgspec.ValidationError as fault:
            raise InvalidArgumentsError((f"{path} cannot be read ({fault}); leave --resume out",)) from None
        fields = ImproveSettings.__struct_fields__
        if names := [name for name in fields if getattr(found, name) != getattr(settings, name)]:
            problem = f"{self.path} was started with other {', '.join(names)}"
            raise InvalidArgumentsError((f"{problem}; give the same, or leave --resume out to start anew",))
        self._neighbours = tuple(self._skill(self.path, _NEIGHBOURS, name) for name in settings.neighbours)

    def header(self, settings: ImproveSettings) -> JournalHeader:
        """Return the first line of the journal."""
        files = {
            f"{os.path.basename(directory)}/{record.path}": record.sha256
            for directory in (self.first, *self._neighbours)
            for record in installed_files(directory).files
        }
        identity: dict[str, str | int | float | bool | None] = {
            "improve": True,
            "model": settings.model,
            "proposer": settings.proposer,
            "host": settings.host,
            "engine": settings.engine,
            "seed": settings.seed,
            "max_output_tokens": settings.max_output_tokens,
        }
        return JournalHeader(skill=settings.skill, files=files, identity=identity)

    def installed(self, description: str) -> tuple[str, ...]:
        """Return the directories of the skill with this description, and of its neighbours."""
        place = self._skill(self._candidate(description), WITH_SKILL, self._name)
        if place not in self._copied:
            shutil.rmtree(place, ignore_errors=True)
            take_snapshot(self.first, place)
            path = os.path.join(place, _DOCUMENT)
            with open(path, "rb") as file:
                data = file.read()
            new = with_description(data, description)
            os.unlink(path)  # it may share its bytes with the file that it was copied from
            with open(path, "xb") as file:
                file.write(new)
            self._copied.add(place)
        return (place, *self._neighbours)

    def runs(self, description: str) -> TriggerFolder:
        """Return where the runs with this description are kept."""
        return TriggerFolder(path=self._candidate(description))

    def finish(self, report: ImproveReport) -> None:
        """Write the report."""
        write_json(os.path.join(self.path, _REPORT), report.as_dict())

    def remove(self) -> None:
        """Remove a folder in which nothing began."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _candidate(self, description: str) -> str:
        digest = hashlib.sha256(description.encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self.path, "candidates", digest[:16])

    def _skill(self, place: str, kind: str, name: str) -> str:
        return os.path.join(place, "skill", kind, name)


def new_search(workspace: str, skill: str) -> ImproveFolder:
    """Create the next iteration. Raises InvalidArgumentsError."""
    return ImproveFolder(new_iteration(workspace, flat=False).path, skill)


def unfinished_search(workspace: str, skill: str) -> ImproveFolder | None:
    """Return the newest search that can be resumed."""
    path = resumable(workspace, settings=_SETTINGS, report=_REPORT)
    return None if path is None else ImproveFolder(path, skill)
