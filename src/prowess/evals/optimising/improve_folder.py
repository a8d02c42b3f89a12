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
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.iterations.folders import NEIGHBOURS, skill_directory
from prowess.evals.iterations.settings_file import RunCount, SettingsFile
from prowess.evals.iterations.snapshots import installed_digests, take_variant
from prowess.evals.ledger.journal import JournalHeader
from prowess.evals.optimising.descriptions import with_description
from prowess.evals.triggers.trigger_folder import TriggerFolder

if TYPE_CHECKING:
    from collections.abc import Iterable


VERSION = 2
_DOCUMENT = "SKILL.md"


class ImproveSettings(Struct, frozen=True, kw_only=True):
    """What decides about the results. Caps and the number of jobs may differ when a search is resumed."""

    version: int = VERSION
    skill: str
    skills: dict[str, str]
    set: str
    neighbours: dict[str, str]
    model: str
    proposer: str
    host: str
    engine: str
    rounds: int
    runs: RunCount
    seed: int
    max_output_tokens: int | None
    replay: bool = False


IMPROVE = SettingsFile(
    name="improve.json",
    report="improve-report.json",
    form=ImproveSettings,
    version=VERSION,
    command="eval improve",
    owner=("skill",),
    options=("model", "proposer", "host", "engine", "rounds", "runs", "seed", "max_output_tokens"),
)


class ImproveFolder:
    """One search."""

    def __init__(self, path: str, skill: str, neighbours: Iterable[str] = ()) -> None:
        self.path = path
        self._name = skill
        self._neighbours = tuple(skill_directory(path, NEIGHBOURS, name) for name in neighbours)

    @property
    def first(self) -> str:
        """The directory of the skill as it was."""
        return skill_directory(self.path, WITH_SKILL, self._name)

    def header(self, settings: ImproveSettings) -> JournalHeader:
        """Return the first line of the journal."""
        identity: dict[str, str | int | float | bool | None] = {
            "improve": True,
            "model": settings.model,
            "proposer": settings.proposer,
            "host": settings.host,
            "engine": settings.engine,
            "seed": settings.seed,
            "max_output_tokens": settings.max_output_tokens,
        }
        files = installed_digests((self.first, *self._neighbours))
        return JournalHeader(skill=settings.skill, files=files, identity=identity)

    def installed(self, description: str) -> tuple[str, ...]:
        """Return the directories of the skill with this description, and of its neighbours."""
        place = skill_directory(self._candidate(description), WITH_SKILL, self._name)
        with open(os.path.join(self.first, _DOCUMENT), "rb") as file:
            data = file.read()
        take_variant(self.first, place, _DOCUMENT, with_description(data, description))
        return (place, *self._neighbours)

    def runs(self, description: str) -> TriggerFolder:
        """Return where the runs with this description are kept."""
        return TriggerFolder(path=self._candidate(description))

    def _candidate(self, description: str) -> str:
        digest = hashlib.sha256(description.encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self.path, "candidates", digest[:16])
