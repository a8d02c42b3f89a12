"""The pytest plugin: `pytest --prowess PATH` runs scenarios and recorded evals of skills as tests, and three fixtures.

pytest imports this module in every run of an environment that has `pytest-prowess`, so it imports nothing but pytest.
The rest of the plugin is `pytest_items`, which pytest imports when the option or a fixture is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.agent import ScriptedModel
    from prowess.evals.transcripts.transcript import RunTranscript
    from prowess.runtime import SyncSession

MARKER = "prowess"
_ITEMS = "prowess.evals.pytest_items"
_HELP = "run the scenarios and replay the recorded evals of the skills in PATH (repeatable); -m prowess runs only them"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--prowess`."""
    parser.getgroup(MARKER, "Agent Skills").addoption(
        "--prowess", action="append", default=[], metavar="PATH", dest="prowess_paths", help=_HELP
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and import the collector if the option is given."""
    config.addinivalue_line("markers", f"{MARKER}: a scenario or a recorded eval of a skill (pytest --prowess PATH)")
    if config.getoption("prowess_paths"):
        _rest_of_plugin(config)


def _rest_of_plugin(config: pytest.Config) -> Any:  # noqa: ANN401 -- a module, as pytest keeps it
    config.pluginmanager.import_plugin(_ITEMS)
    return config.pluginmanager.get_plugin(_ITEMS)


@pytest.fixture
def skill_session(pytestconfig: pytest.Config) -> Iterator[Callable[..., SyncSession]]:
    """Open sessions with `skill_session("skills", **options)`; they are closed after the test.

    The options are those of `prowess.SyncSession`.
    """
    with _rest_of_plugin(pytestconfig).OpenedSessions() as sessions:
        yield sessions.open


@pytest.fixture
def scripted(pytestconfig: pytest.Config) -> Callable[..., ScriptedModel]:
    """Make a model that plays turns: `scripted(ScriptedTurn(calls=(...,)), "The answer.")`.

    See `prowess.agent.ScriptedModel`.
    """
    made: Callable[..., ScriptedModel] = _rest_of_plugin(pytestconfig).scripted_model
    return made


@pytest.fixture
def transcript(request: pytest.FixtureRequest) -> Callable[[str], RunTranscript]:
    """Read the transcript of an agent's run: `transcript("run.jsonl")`, a path relative to the file of the test.

    See `prowess.evals.transcripts.reading.read_transcript`; `prowess.evals.verdicts.judging.verdict_of` judges it.
    """
    rest, folder = _rest_of_plugin(request.config), request.path.parent
    return lambda path: rest.read_transcript(folder / path)
