"""The tests below paths: scenarios of skills, and recorded evals. `pytest --prowess` collects them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.open_flags import Closing
from prowess._internal.text.terminal_text import counted, printable_line
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.replays.finding import SkillsAndRecordings, UnusableIteration
from prowess.evals.replays.replay import IterationReplay
from prowess.evals.scenarios.planning import planned_cases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.evals.replays.finding import RecordedIteration
    from prowess.evals.replays.replay import ReplayableUnit
    from prowess.evals.scenarios.planning import SkillCases

_NOTHING = "write evals/tests.yaml, or record evals with prowess eval run"


class SkillTests(Struct, frozen=True, kw_only=True):
    """The scenarios of the skill in a directory. `cases` is None if the skill cannot be read; `fault` tells why."""

    directory: str
    cases: SkillCases | None = None
    fault: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to run and nothing to tell."""
        return self.cases is not None and not self.cases.cases and not self.cases.diagnostics


class RecordedTests(Struct, frozen=True, kw_only=True):
    """The units of a recorded iteration. `replay` is None if it cannot be replayed; `fault` tells why.

    `is_skipped` is true if it could be replayed, but not by pytest.
    """

    iteration: str
    replay: IterationReplay | None = None
    units: tuple[ReplayableUnit, ...] = ()
    fault: str | None = None
    is_skipped: bool = False


class FoundTests(Closing):
    """The tests below `paths`, which count from the directory `started`. Each skill and each recording is there once.

    Diagnostics show paths relative to `shown_from`. `close` removes the files of replays.

    Raises:
        InvalidArgumentsError: a path does not exist, or has neither a skill nor a recording.
    """

    def __init__(
        self, paths: Iterable[str], *, started: str | os.PathLike[str], shown_from: str | os.PathLike[str]
    ) -> None:
        named = {os.path.normpath(os.path.join(started, path)): path for path in paths}
        for place, path in named.items():
            if not os.path.isdir(place):
                raise InvalidArgumentsError((f"--prowess {printable_line(path)}: there is no such directory",))
        found = SkillsAndRecordings(named)
        recordings = found.recordings()
        self.skills: list[SkillTests] = []
        self.recordings: list[RecordedTests] = []
        for place, path in named.items():
            if not found.has(place):
                problem = "there is no skill and no recording in this directory"
                raise InvalidArgumentsError((f"--prowess {printable_line(path)}: {problem}",))
            self.skills += [_skill_tests(directory, shown_from) for directory in found.skills[place]]
            self.recordings += [_recorded_tests(one) for one in recordings.get(place, ())]
        self._shown = ", ".join(map(printable_line, named.values()))

    def nothing(self) -> str | None:
        """Return a sentence if there is nothing to run below all paths together, else None."""
        if self.recordings or not all(one.is_empty for one in self.skills):
            return None
        return f"--prowess {self._shown}: nothing to run in {counted(len(self.skills), 'skill')}; {_NOTHING}"

    def close(self) -> None:
        """Remove the files of replays."""
        for one in self.recordings:
            if one.replay is not None:
                one.replay.close()


def _skill_tests(directory: str, shown_from: str | os.PathLike[str]) -> SkillTests:
    try:
        cases = planned_cases(directory, os.path.relpath(directory, shown_from))
    except SkillError as fault:  # the skill cannot be read
        return SkillTests(directory=directory, fault=str(fault))
    return SkillTests(directory=directory, cases=cases)


def _recorded_tests(found: RecordedIteration | UnusableIteration) -> RecordedTests:
    if isinstance(found, UnusableIteration):
        fault = f"{found.path} cannot be replayed: {found.reason}"
        if found.of_other_host:
            fault = f"{found.path} is not replayed by pytest: {found.reason}"
        return RecordedTests(iteration=found.path, fault=fault, is_skipped=found.of_other_host)
    replay = IterationReplay(found)
    try:
        units = replay.units()
    except SkillError as fault:
        return RecordedTests(iteration=found.path, fault=f"{found.path} cannot be replayed: {fault}")
    if not units:
        reason = "no run of the evals as they are now is recorded in it; record it again with prowess eval run"
        return RecordedTests(iteration=found.path, fault=f"{found.path} cannot be replayed: {reason}")
    return RecordedTests(iteration=found.path, replay=replay, units=units)
