"""The tests that `pytest --prowess PATH` adds: one for each scenario of a skill, and one for faults of its files.

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
from prowess.errors import SkillError
from prowess.evals.pytest_plugin import MARKER
from prowess.evals.scenarios.planning import planned_cases
from prowess.evals.scenarios.running import run_case
from prowess.evals.transcripts.reading import read_transcript
from prowess.format.skill_directories import find_skill_directories
from prowess.format.suites.case_scripts import TESTS_FILE
from prowess.runtime import SyncSession

__all__ = ["read_transcript"]  # for the fixture `transcript`

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from prowess.agent import ModelRequest, ScriptedTurn
    from prowess.evals.scenarios.planning import PlannedCase, SkillCases
    from prowess.evals.scenarios.report import CaseResult


@pytest.hookimpl(tryfirst=True)  # -k, -m and --lf choose among all tests afterwards
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the scenarios of the skills that `--prowess` names.

    Raises:
        pytest.UsageError: a path does not exist, or has no skill.
    """
    items += scenario_items(session, config.getoption("prowess_paths"))


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


class ScenarioFile(pytest.File):
    """The file that has the scenarios of one skill. Its tests are made by `scenario_items`."""

    def collect(self) -> Iterable[pytest.Item]:
        """Return nothing: pytest collects no folder of skills."""
        return ()


class ScenarioItem(pytest.Item):
    """One scenario."""

    def __init__(self, *, planned: PlannedCase, **keywords: Any) -> None:  # noqa: ANN401 -- as pytest passes them on
        super().__init__(**keywords)
        self._planned = planned
        self.add_marker(MARKER)

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

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 -- as in pytest
        """Return the reason and the assertions in place of a traceback."""
        if isinstance(excinfo.value, ScenarioFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and the name of the scenario."""
        return self.path, None, self.name


class FaultItem(pytest.Item):
    """A test that fails: the skill or its scenarios cannot be read."""

    def __init__(self, *, messages: Sequence[str], **keywords: Any) -> None:  # noqa: ANN401 -- as pytest passes them on
        super().__init__(**keywords)
        self._messages = messages
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Fail.

        Raises:
            ScenarioFailedError: always.
        """
        raise ScenarioFailedError("\n".join(self._messages))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:  # noqa: ANN401 -- as in pytest
        """Return the faults in place of a traceback."""
        del style
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and the name of the test."""
        return self.path, None, self.name


def scenario_items(session: pytest.Session, paths: Iterable[str]) -> list[pytest.Item]:
    """Return the tests of the skills at `paths`, each skill once. Relative paths count from where pytest was started.

    Raises:
        pytest.UsageError: a path does not exist, or has no skill.
    """
    found: list[pytest.Item] = []
    for directory in _directories(session, paths):
        try:
            planned = planned_cases(directory, os.path.relpath(directory, session.config.rootpath))
        except SkillError as fault:  # the skill cannot be read
            file = ScenarioFile.from_parent(session, path=Path(directory, "SKILL.md"))
            found.append(FaultItem.from_parent(file, name="skill", messages=[printable_line(str(fault))]))
        else:
            found += _of_skill(session, directory, planned)
    return found


def _directories(session: pytest.Session, paths: Iterable[str]) -> dict[str, None]:
    started = session.config.invocation_params.dir
    found: dict[str, None] = {}
    for path in paths:
        named = os.path.normpath(os.path.join(started, path))
        if not os.path.isdir(named):
            raise pytest.UsageError(f"--prowess {printable_line(path)}: there is no such directory")
        below = find_skill_directories(named).paths
        if not below:
            raise pytest.UsageError(f"--prowess {printable_line(path)}: there is no skill in this directory")
        found |= dict.fromkeys(below)
    return found


def _of_skill(session: pytest.Session, directory: str, planned: SkillCases) -> Iterator[pytest.Item]:
    file = ScenarioFile.from_parent(session, path=Path(directory, *TESTS_FILE.split("/")))
    if planned.diagnostics:
        messages = [printable_line(f"{one.location}: {one.rule}: {one.message}") for one in planned.diagnostics]
        yield FaultItem.from_parent(file, name="faults", messages=messages)
    for case in planned.cases:
        name = printable_line("::".join(filter(None, (case.scenario, case.case))))
        yield ScenarioItem.from_parent(file, name=name, planned=case)


def _told(result: CaseResult) -> Iterator[str]:
    yield printable_line(f"{result.outcome}: {result.reason}")
    for one in result.assertions:
        held = "holds" if one.passed else "does not hold"
        yield printable_line(f"  {one.type} {one.value!r} {held}: {one.evidence}")
