"""The tests that `pytest --prowess PATH` adds: scenarios of skills, recorded evals, and faults of their files.

They are added to the tests that pytest has found. The folders of skills are not given to pytest: it would run the
`conftest.py` of a foreign skill. The code behind the fixtures of `pytest_plugin` is here too.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess._internal.text.terminal_text import printable_line
from prowess.agent import ScriptedModel
from prowess.errors import InvalidArgumentsError, SkillError
from prowess.evals.campaigns.report import WITH_SKILL
from prowess.evals.found_tests import FoundTests
from prowess.evals.pytest_plugin import MARKER
from prowess.evals.scenarios.running import run_case
from prowess.evals.transcripts.reading import read_transcript
from prowess.format.suites.case_scripts import TESTS_FILE
from prowess.runtime import SyncSession

__all__ = ["read_transcript"]  # for the fixture `transcript`

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from prowess.agent import ModelRequest, ScriptedTurn
    from prowess.evals.campaigns.report import UnitResult
    from prowess.evals.found_tests import RecordedTests
    from prowess.evals.replays.replay import IterationReplay, ReplayableUnit
    from prowess.evals.scenarios.planning import PlannedCase, SkillCases
    from prowess.evals.scenarios.report import CaseResult


_FOUND = pytest.StashKey["FoundTests"]()
_NOT_RECORDED = "was added after the recording; record the evals again with prowess eval run"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist starts its workers
def pytest_sessionstart(session: pytest.Session) -> None:
    """Search the paths that `--prowess` names. Relative ones count from where pytest was started.

    Raises:
        pytest.UsageError: a path does not exist, or has neither a skill nor a recording.
    """
    config = session.config
    paths, started = config.getoption("prowess_paths"), config.invocation_params.dir
    try:
        found = FoundTests(paths, started=started, shown_from=config.rootpath)
    except InvalidArgumentsError as fault:
        raise pytest.UsageError(str(fault)) from None
    config.stash[_FOUND] = found
    config.add_cleanup(found.close)


@pytest.hookimpl(tryfirst=True)  # -k, -m and --lf choose among all tests afterwards
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the scenarios and the recorded evals of the skills that `--prowess` names."""
    items += prowess_items(session, config.stash[_FOUND])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell in a sentence if the paths have no item to run."""
    if _FOUND in config.stash and (sentence := config.stash[_FOUND].nothing()) is not None:
        terminalreporter.write_line(sentence)


class OpenedSessions(ExitStack):
    """Sessions that are closed at the end of the block."""

    def open(self, catalog: str | os.PathLike[str], **options: Any) -> SyncSession:  # noqa: ANN401 -- as SyncSession has them
        """Open a session."""
        return self.enter_context(SyncSession(catalog, **options))


def scripted_model(*turns: str | ScriptedTurn | Callable[[ModelRequest], str | ScriptedTurn]) -> ScriptedModel:
    """Return a model that plays the turns."""
    return ScriptedModel(turns)


class ScenarioFailedError(Exception):
    """A scenario failed, or its files have a fault. pytest prints its text."""


class ProwessFile(pytest.File):
    """The file that has the scenarios of one skill, or the folder of an iteration. `prowess_items` makes its tests."""

    def collect(self) -> Iterable[pytest.Item]:
        """Return nothing: pytest collects no folder of skills."""
        return ()


class ProwessItem(pytest.Item):
    """A test with the marker `prowess`, whose failure is a text in place of a traceback."""

    def __init__(self, **keywords: Any) -> None:  # noqa: ANN401 -- as pytest passes them on
        super().__init__(**keywords)
        self.add_marker(MARKER)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 -- as in pytest
        """Return the reason and the assertions in place of a traceback."""
        if isinstance(excinfo.value, ScenarioFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file or the iteration, and the name of the test."""
        return self.path, None, self.name


class ScenarioItem(ProwessItem):
    """One scenario."""

    def __init__(self, *, planned: PlannedCase, **keywords: Any) -> None:  # noqa: ANN401 -- as pytest passes them on
        super().__init__(**keywords)
        self._planned = planned

    def runtest(self) -> None:
        """Run the case, and skip it if it has no turns.

        Raises:
            ScenarioFailedError: it failed, or it has an error.
        """
        result = anyio.run(run_case, self._planned)
        if result.outcome == "skipped":
            pytest.skip(printable_line(result.reason or ""))
        if result.outcome != "passed":
            raise ScenarioFailedError("\n".join(_told(result)))


class RecordedItem(ProwessItem):
    """One run of an eval, replayed from its recording."""

    def __init__(self, *, replay: IterationReplay, replayable: ReplayableUnit, **keywords: Any) -> None:  # noqa: ANN401 -- as above
        super().__init__(**keywords)
        self._replay, self._replayable = replay, replayable

    def runtest(self) -> None:
        """Replay and grade the run. With the skill it has to pass; a baseline only has to be replayed.

        Raises:
            ScenarioFailedError: it failed, it differs from the recording, or the recording is stale.
        """
        unit = self._replayable.unit
        if not self._replayable.is_recorded:
            raise ScenarioFailedError(printable_line(f"eval {unit.eval} {_NOT_RECORDED}"))
        try:
            result = self._replay.result(unit)
        except SkillError as fault:  # drift comes with lines of a difference
            raise ScenarioFailedError("\n".join(map(printable_line, str(fault).splitlines()))) from None
        if result.outcome == "error" or (result.outcome != "passed" and unit.configuration == WITH_SKILL):
            raise ScenarioFailedError("\n".join(_told_of_unit(result)))


class FaultItem(ProwessItem):
    """A test that fails: a skill, its scenarios or a recording cannot be read. Or one that is `skipped`."""

    def __init__(self, *, messages: Sequence[str], skipped: bool = False, **keywords: Any) -> None:  # noqa: ANN401 -- as pytest passes them on
        super().__init__(**keywords)
        self._messages, self._skipped = messages, skipped

    def runtest(self) -> None:
        """Fail, or skip.

        Raises:
            ScenarioFailedError: it is not skipped.
        """
        if self._skipped:
            pytest.skip("; ".join(self._messages))
        raise ScenarioFailedError("\n".join(self._messages))


def prowess_items(session: pytest.Session, found: FoundTests) -> Iterator[pytest.Item]:
    """Yield the tests that were found: scenarios first."""
    for skill in found.skills:
        if skill.cases is None:  # the skill cannot be read
            file = _file(session, skill.directory, "SKILL.md")
            yield FaultItem.from_parent(file, name="skill", messages=[printable_line(skill.fault or "")])
        else:
            yield from _scenarios(session, skill.directory, skill.cases)
    for recorded in found.recordings:
        yield from _recorded(session, recorded)


def _file(session: pytest.Session, *parts: str) -> ProwessFile:
    """Return the file of tests, which pytest only shows: folders may have names that change the terminal."""
    file: ProwessFile = ProwessFile.from_parent(session, path=Path(printable_line(os.path.join(*parts))))
    return file


def _scenarios(session: pytest.Session, directory: str, planned: SkillCases) -> Iterator[pytest.Item]:
    file = _file(session, directory, *TESTS_FILE.split("/"))
    if planned.diagnostics:
        messages = [printable_line(f"{one.location}: {one.rule}: {one.message}") for one in planned.diagnostics]
        yield FaultItem.from_parent(file, name="faults", messages=messages)
    for case in planned.cases:
        name = printable_line("::".join(filter(None, (case.scenario, case.case))))
        yield ScenarioItem.from_parent(file, name=name, planned=case)


def _recorded(session: pytest.Session, recorded: RecordedTests) -> Iterator[pytest.Item]:
    file = _file(session, recorded.iteration)
    if recorded.replay is None:
        messages = [printable_line(recorded.fault or "")]
        skipped = recorded.is_skipped
        yield FaultItem.from_parent(file, name="recording", messages=messages, skipped=skipped)
    for one in recorded.units:
        yield RecordedItem.from_parent(file, name=printable_line(one.unit.id), replay=recorded.replay, replayable=one)


def _told(result: CaseResult) -> Iterator[str]:
    yield printable_line(f"{result.outcome}: {result.reason}")
    for one in result.assertions:
        held = "holds" if one.passed else "does not hold"
        yield printable_line(f"  {one.type} {one.value!r} {held}: {one.evidence}")


def _told_of_unit(result: UnitResult) -> Iterator[str]:
    yield printable_line(f"{result.outcome}: {result.reason or 'an assertion does not hold'}")
    for one in result.assertions:
        held = "holds" if one.passed else "does not hold"
        yield printable_line(f"  {one.type} {one.text!r} {held}: {one.evidence}")
