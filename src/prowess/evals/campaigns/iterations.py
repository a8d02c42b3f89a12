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

import json
import os
import re
import shutil
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_lock import locked
from prowess.errors import InvalidArgumentsError
from prowess.evals.campaigns.report import UnitResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.evals.campaigns.report import EvalRunReport, Unit

VERSION = 1
_CAMPAIGN, _REPORT, _UNIT = "campaign.json", "report.json", "unit.json"
_ITERATION = re.compile(r"iteration-([1-9][0-9]{0,8})")
_OPTIONS = {
    "runs": "--runs",
    "model": "--model",
    "host": "--host",
    "judge": "--judge",
    "seed": "--seed",
    "baseline": "--baseline",
    "max_output_tokens": "--max-output-tokens",
    "until_decided": "--until",
    "detect": "--detect",
}


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
    runs: int
    seed: int
    judge: str | None
    max_output_tokens: int | None
    until_decided: bool = False
    detect: float | None = None
    replay: bool = False


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
        return os.path.join(self.path, "skill", configuration, name)

    def fresh(self, directory: str) -> str:
        """Empty the directory of a unit, and return its path."""
        path = os.path.join(self.path, directory)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.join(path, "outputs"))
        return path

    def kept(self, directory: str) -> UnitResult | None:
        """Return the result of a unit that was finished before; None if it was not, or failed to run."""
        try:
            with open(os.path.join(self.path, directory, _UNIT), "rb") as file:
                found = msgspec.json.decode(file.read(), type=UnitResult)
        except (OSError, msgspec.DecodeError):
            return None
        return found if found.outcome in ("passed", "failed") else None

    def keep(self, directory: str, result: UnitResult) -> None:
        """Write the result of a unit. It is the last file of a unit."""
        write_json(os.path.join(self.path, directory, _UNIT), msgspec.to_builtins(result))

    def finish(self, report: EvalRunReport) -> None:
        """Write the report."""
        write_json(os.path.join(self.path, _REPORT), report.as_dict())

    def settings(self) -> CampaignSettings:
        """Return the settings of the campaign.

        Raises:
            InvalidArgumentsError: the folder is none of a campaign, or a newer version wrote it.
        """
        path = os.path.join(self.path, _CAMPAIGN)
        try:
            with open(path, "rb") as file:
                data = msgspec.json.decode(file.read())
            if isinstance(data, dict) and isinstance(data.get("version"), int) and data["version"] > VERSION:
                problem = f"{path} was written by a newer version of prowess; update prowess, or start a new iteration"
                raise InvalidArgumentsError((problem,))
            return msgspec.convert(data, CampaignSettings)
        except (OSError, msgspec.DecodeError, msgspec.ValidationError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else str(fault)
            problem = f"{self.path} is no iteration that eval run wrote: {_CAMPAIGN} cannot be read ({reason})"
            raise InvalidArgumentsError((problem,)) from None

    def require_same(self, wanted: CampaignSettings) -> None:
        """Require that the campaign of this folder may be continued with these settings.

        Raises:
            InvalidArgumentsError: the skill, its evals or an option differ.
        """
        found = self.settings()
        if (found.skill, found.root) != (wanted.skill, wanted.root):
            problem = f"{self.path} is a campaign of the skill {found.skill} in {found.root}; name its own --out"
            raise InvalidArgumentsError((problem,))
        for name, option in _OPTIONS.items():
            before, now = getattr(found, name), getattr(wanted, name)
            if before != now:
                problem = f"{self.path} was started with {option} {before}, not {now}"
                raise InvalidArgumentsError((f"{problem}; give the same, or leave --resume out to start a new one",))
        if (found.suite, found.digests) != (wanted.suite, wanted.digests):
            problem = f"the skill or its evals were edited since {self.path} was started"
            raise InvalidArgumentsError((f"{problem}; leave --resume out to start a new iteration",))


@contextmanager
def alone_in(iteration: str) -> Iterator[None]:
    """Hold the lock of an iteration of any command: two processes would empty each other's folders.

    Raises:
        InvalidArgumentsError: another process holds it.
    """
    with ExitStack() as held:
        try:
            held.enter_context(locked(os.path.join(iteration, ".lock"), wait_seconds=0))
        except TimeoutError:
            problem = f"another process runs {iteration}; wait until it ends, or start a new iteration without --resume"
            raise InvalidArgumentsError((problem,)) from None
        yield


def iterations(workspace: str) -> list[tuple[int, str]]:
    """Return number and path of the iterations in a workspace, the oldest first."""
    try:
        names = os.listdir(workspace)
    except OSError:
        return []
    found = [(int(match[1]), os.path.join(workspace, name)) for name in names if (match := _ITERATION.fullmatch(name))]
    return sorted(pair for pair in found if os.path.isdir(pair[1]))


def new_iteration(workspace: str, *, flat: bool) -> Iteration:
    """Create the next folder.

    Raises:
        InvalidArgumentsError: it cannot be created.
    """
    while True:
        listed = iterations(workspace)
        path = os.path.join(workspace, f"iteration-{listed[-1][0] + 1 if listed else 1}")
        try:
            os.makedirs(workspace, exist_ok=True)
            os.mkdir(path, 0o700)  # transcripts and journals are private
        except FileExistsError:
            if os.path.isdir(path):
                continue  # another process took the number
            raise InvalidArgumentsError((f"{path} is no folder; name another one with --out",)) from None
        except OSError as fault:
            raise InvalidArgumentsError((f"{path} cannot be created: {fault.strerror}; name another --out",)) from None
        return Iteration(path=path, flat=flat)


def begin(iteration: Iteration, settings: CampaignSettings) -> None:
    """Write the settings. A folder without them belongs to a campaign that was killed before it began."""
    write_json(os.path.join(iteration.path, _CAMPAIGN), msgspec.to_builtins(settings))


def unfinished_iteration(workspace: str, *, flat: bool) -> Iteration | None:
    """Return the newest iteration that can be resumed, or None."""
    path = resumable(workspace, settings=_CAMPAIGN, report=_REPORT)
    return None if path is None else Iteration(path=path, flat=flat)


def resumable(workspace: str, *, settings: str, report: str) -> str | None:
    """Return the newest iteration that is not complete, by the names of its two files. One of a replay is none."""
    for _, path in reversed(iterations(workspace)):
        begun, ended = os.path.join(path, settings), _fields(os.path.join(path, report))
        if os.path.exists(begun) and _fields(begun).get("replay") is not True and ended.get("complete") is not True:
            return path
    return None


def workspace_at(out: str | None, beside: str, name: str) -> str:
    """Return the folder `name` in `out`, or else in `beside`. Recordings leave out places that are absolute."""
    return os.path.join(os.path.abspath(out or beside), name)


def require_one_source(*, resume: bool, replay: str | None) -> None:
    """Require that runs are not both continued and replayed.

    Raises:
        InvalidArgumentsError: they are.
    """
    if resume and replay is not None:
        raise InvalidArgumentsError(("a replay starts a new iteration; leave --resume or --replay out",))


def older_snapshots(workspace: str, name: str) -> Iterator[str]:
    """Yield the directories of snapshots of the skill with edits, the newest first, and then `skill-snapshot/`."""
    for _, path in reversed(iterations(workspace)):
        candidate = Iteration(path=path, flat=True).skill_directory("with_skill", name)
        if os.path.isfile(os.path.join(candidate, "SKILL.md")):
            yield candidate
    by_hand = os.path.join(workspace, "skill-snapshot")  # as the guide has it
    if os.path.isfile(os.path.join(by_hand, "SKILL.md")):
        yield by_hand


def json_of_file(path: str) -> object:
    """Return the data of a JSON file; None if it is missing or damaged, as after a kill."""
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read())
    except (OSError, msgspec.DecodeError):
        return None


def _fields(path: str) -> dict[str, Any]:
    data = json_of_file(path)
    return data if isinstance(data, dict) else {}


def write_json(path: str, value: Any) -> None:  # noqa: ANN401 -- JSON
    """Replace a file by JSON that people can read."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    write_atomically(path, text.encode("utf-8", "backslashreplace") + b"\n", 0o644)
