"""The folders of a campaign, in the layout of the guide.

    NAME-workspace/iteration-N/
        benchmark.json  feedback.json          as the guide and skill-creator have them
        campaign.json  report.json             settings, which a resumed campaign must share; the report
        skill/CONFIG/NAME/                     installed skills; `skill/neighbours/NAME/` for further skills
        EVAL/eval_metadata.json
        EVAL/CONFIG/                           one run: outputs/ timing.json grading.json transcript.jsonl unit.json
        EVAL/CONFIG/run-N/                     the same, if there are several runs, as skill-creator has it

The viewer of skill-creator takes each folder with `outputs/` for a run, and does not look into `skill/`.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from prowess._internal.files.bounded_read import read_regular_file
from prowess.evals.campaigns.report import UnitResult
from prowess.evals.iterations.folders import iterations, skill_directory, write_json
from prowess.evals.iterations.settings_file import RunCount, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import EvalRunReport, Unit

VERSION = 1
_UNIT = "unit.json"
_MOST_RESULT = 1 << 26  # bytes


class CampaignSettings(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The settings that decide about the results. Caps and the number of jobs may differ when it is resumed.

    `digests` are those of the installed skills, by configuration or name; `suite` is that of the evals.
    """

    version: int = VERSION
    skill: str
    root: str
    suite: str
    digests: dict[str, str]
    model: str | None
    host: str
    baseline: str
    runs: RunCount
    seed: int
    judge: str | None
    max_output_tokens: int | None
    until_decided: bool = False
    detect: float | None = None
    replay: bool = False


CAMPAIGN = SettingsFile(
    name="campaign.json",
    report="report.json",
    form=CampaignSettings,
    version=VERSION,
    command="eval run",
    owner=("skill", "root"),
    options=("runs", "model", "host", "judge", "seed", "baseline", "max_output_tokens", "until_decided", "detect"),
)


class Iteration(Struct, frozen=True, kw_only=True):
    """One folder `iteration-N`. `flat` is true if each configuration has one run, which then has no folder `run-1`."""

    path: str
    flat: bool

    def directory(self, unit: Unit, eval_directory: str) -> str:
        """Return the directory of a unit, relative to the iteration."""
        inner = os.path.join(eval_directory, unit.configuration)
        return inner if self.flat else os.path.join(inner, f"run-{unit.run}")

    def skill_directory(self, configuration: str, name: str) -> str:
        """Return where the snapshot of a configuration is."""
        return skill_directory(self.path, configuration, name)

    def fresh(self, directory: str) -> str:
        """Empty the directory of a unit, and return its path."""
        path = os.path.join(self.path, directory)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.join(path, "outputs"))
        return path

    def kept(self, unit: Unit, eval_directory: str) -> UnitResult | None:
        """Return the result of a unit that was finished before; None if it was not, or failed to run."""
        try:
            data = read_regular_file(os.path.join(self.path, self.directory(unit, eval_directory), _UNIT), _MOST_RESULT)
            found = msgspec.json.decode(data, type=UnitResult)
        except (OSError, msgspec.DecodeError):
            return None
        return found if found.id == unit.id and found.outcome in ("passed", "failed") else None

    def has_result(self, directory: str) -> bool:
        """Whether a unit has a result, also one that failed to run."""
        return os.path.isfile(os.path.join(self.path, directory, _UNIT))

    def keep(self, directory: str, result: UnitResult) -> None:
        """Write the result of a unit. It is the last file of a unit."""
        write_json(os.path.join(self.path, directory, _UNIT), msgspec.to_builtins(result))

    def finish(self, report: EvalRunReport) -> None:
        """Write the report."""
        CAMPAIGN.finish(self.path, report.as_dict())


def unfinished_iteration(workspace: str, *, flat: bool) -> Iteration | None:
    """Return the newest iteration that can be resumed, or None."""
    path = CAMPAIGN.resumable(workspace)
    return None if path is None else Iteration(path=path, flat=flat)


def older_snapshots(workspace: str, name: str) -> Iterator[str]:
    """Yield the directories of snapshots of the skill with edits, the newest first, and then `skill-snapshot/`."""
    for _, path in reversed(iterations(workspace)):
        candidate = Iteration(path=path, flat=True).skill_directory("with_skill", name)
        if os.path.isfile(os.path.join(candidate, "SKILL.md")):
            yield candidate
    by_hand = os.path.join(workspace, "skill-snapshot")  # as the guide has it
    if os.path.isfile(os.path.join(by_hand, "SKILL.md")):
        yield by_hand
