"""Finds skills below paths, and the recorded iterations that belong to them.

An iteration is recorded if `eval run` completed it and its journal is there; one that is itself a replay has none. Of a
workspace the newest recorded iteration is taken, unless iterations of its skill are themselves among the paths.

A recording may come from somebody else: its settings name the skill, and the place that they name is not used. Nor do
they choose a program: only recordings of our own agent are replayed, whose tools are in the sandbox.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import counted
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.iterations import CAMPAIGN
from prowess.evals.iterations.folders import NEIGHBOURS, iterations
from prowess.evals.ledger.calls import OWN_HOST
from prowess.evals.ledger.journal import JOURNAL
from prowess.evals.reports.iteration_files import read_report
from prowess.format.reading import read_skill
from prowess.format.skill_directories import find_skill_directories

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.evals.campaigns.iterations import CampaignSettings
    from prowess.evals.campaigns.report import EvalRunReport

_SNAPSHOTS = "skill"  # the folder of an iteration with SIDE/NAME/SKILL.md


class RecordedIteration(Struct, frozen=True, kw_only=True):
    """An iteration that can be replayed. `root` is the directory of its skill as it is now.

    `neighbours` are the directories of the other skills that were installed: as they are now if they are among the
    skills that were searched, else their snapshots.
    """

    path: str
    root: str
    neighbours: tuple[str, ...]
    settings: CampaignSettings
    report: EvalRunReport


class UnusableIteration(Struct, frozen=True, kw_only=True):
    """An iteration that was asked for and cannot be replayed, with the reason in a sentence.

    `of_other_host` is true if a command line was recorded, which would run outside the sandbox.
    """

    path: str
    reason: str
    of_other_host: bool = False


class SkillsAndRecordings:
    """Skills and recorded iterations below directories.

    `skills` are the directories of skills by the path below which they were found first.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self.skills: dict[str, tuple[str, ...]] = {}
        self._names: dict[str, str] = {}  # by directory
        self._named: dict[str, None] = {}
        self._holding: set[str] = set()
        self._workspaces: dict[str, str] = {}  # by the path below which they were found
        for path in paths:
            self._search(path)

    def has(self, path: str) -> bool:
        """Whether a skill or an iteration is below a path, be it found below an earlier one or not to be replayed."""
        return path in self._holding

    def recordings(self) -> dict[str, list[RecordedIteration | UnusableIteration]]:
        """Return the iterations to replay, by the path below which they or their skills were found."""
        found: dict[str, list[RecordedIteration | UnusableIteration]] = {}
        named = {path: self._recorded(path) for path in self._named}
        chosen = {one.settings.skill for one in named.values() if isinstance(one, RecordedIteration)}
        for path, one in named.items():
            found.setdefault(path, []).append(one)
        for workspace, path in self._workspaces.items():
            newest = self._newest(workspace)
            if newest is None or newest.path in named:
                continue
            if isinstance(newest, UnusableIteration) or newest.settings.skill not in chosen:
                found.setdefault(path, []).append(newest)
        return found

    def _search(self, path: str) -> None:
        skills: list[str] = []
        for directory in find_skill_directories(path).paths:
            iteration = _iteration_around(directory)
            self._holding.add(path)
            if iteration is None:
                skills += [] if directory in self._names else [directory]
                self._add_skill(directory, path)
            elif os.path.samefile(iteration, path):
                self._named[path] = None
            else:
                self._workspaces.setdefault(os.path.dirname(iteration), path)
        self.skills[path] = tuple(skills)

    def _add_skill(self, directory: str, path: str) -> None:
        self._names[directory] = name = _name_of(directory)
        folder = f"{name}-workspace"
        if name and os.path.basename(folder) == folder:
            workspace = os.path.join(os.path.dirname(directory), folder)
            if os.path.isdir(workspace):
                self._workspaces.setdefault(workspace, path)

    def _newest(self, workspace: str) -> RecordedIteration | UnusableIteration | None:
        """Return the newest recording of our own agent, or else the newest."""
        newest: str | None = None
        for _, path in reversed(iterations(workspace)):
            if _reason_against(path) is None:
                newest = newest or path
                if CAMPAIGN.read(path).host == OWN_HOST:
                    return self._recorded(path)
        return None if newest is None else self._recorded(newest)

    def _recorded(self, path: str) -> RecordedIteration | UnusableIteration:
        reason = _reason_against(path)
        if reason is not None:
            return UnusableIteration(path=path, reason=reason)
        settings = CAMPAIGN.read(path)
        root = self._skill_of(settings.skill, os.path.dirname(os.path.dirname(path)))
        if root is None:
            reason = f"its skill {settings.skill!r} is not beside the workspace; name the skill with --prowess as well"
            return UnusableIteration(path=path, reason=reason)
        if settings.host != OWN_HOST:
            return UnusableIteration(path=path, reason=_by_hand(path, root, settings.host), of_other_host=True)
        neighbours = tuple(self._neighbours(path))
        return RecordedIteration(
            path=path, root=root, neighbours=neighbours, settings=settings, report=read_report(path)
        )

    def _skill_of(self, name: str, beside: str) -> str | None:
        """Return the skill of this name in the folder `beside`: one that was found there or elsewhere, or another."""
        found = [directory for directory, own in self._names.items() if own == name]
        near = (directory for directory in found if os.path.dirname(directory) == beside)
        others = (directory for directory in _subdirectories(beside) if _name_of(directory) == name)
        return next(near, None) or next(iter(found), None) or next(others, None)

    def _neighbours(self, path: str) -> Iterator[str]:
        for snapshot in _subdirectories(os.path.join(path, _SNAPSHOTS, NEIGHBOURS)):
            name = os.path.basename(snapshot)
            yield next((directory for directory, own in self._names.items() if own == name), snapshot)


def _reason_against(path: str) -> str | None:
    """Return why an iteration cannot be replayed, or None."""
    try:
        settings = CAMPAIGN.read(path)
        if settings.replay:
            return "it is itself a replay; name the iteration that was recorded"
        if not os.path.isfile(os.path.join(path, JOURNAL)):
            return f"it has no {JOURNAL}, so its calls are not recorded"
        report = read_report(path)
        if not report.complete:
            return "it is not complete; continue it with prowess eval run --resume"
        if settings.runs > len(report.units):
            results = counted(len(report.units), "result")
            return f"its settings have {settings.runs} runs of each eval, and its report only {results}"
    except InvalidArgumentsError as fault:
        return str(fault)
    return None


def _by_hand(path: str, root: str, host: str) -> str:
    """Return how a recording of another host is replayed. All three names may be chosen by others."""
    command = shlex.join(["prowess", "eval", "run", root, "--replay", path, "--host", host])
    return f"its host is a program that runs outside the sandbox; if you trust it, run {command}"


def _iteration_around(directory: str) -> str | None:
    """Return the iteration in which `directory` is the snapshot of a skill, or None."""
    snapshots, _ = os.path.split(os.path.dirname(directory))
    iteration, folder = os.path.split(snapshots)
    is_one = folder == _SNAPSHOTS and os.path.isfile(os.path.join(iteration, CAMPAIGN.name))
    return iteration if is_one else None


def _name_of(directory: str) -> str:
    """Return the name of a skill; an empty text if the directory has none that can be read."""
    try:
        return read_skill(directory).name
    except (SkillError, OSError):
        return ""


def _subdirectories(folder: str) -> list[str]:
    try:
        return sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return []
