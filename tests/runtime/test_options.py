"""Options of a session: declared once, checked for every entry, with one workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from prowess.agent import Agent
from prowess.agent.scripted import ScriptedModel
from prowess.catalog import Catalog
from prowess.errors import InvalidArgumentsError
from prowess.mcp_server.server import open_session
from prowess.runtime import Session, SessionOptions, SyncSession
from prowess.runtime.call_options import ReadOptions, RunOptions
from prowess.runtime.options import ListeningKeywords
from prowess.runtime.tools import read, run_script
from prowess.tools.builtin import builtin_tools
from prowess.tools.wrappers import NeedsApproval

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _agent(catalog: Catalog, **options: Any) -> object:  # noqa: ANN401 -- the options of a session
    return Agent(ScriptedModel(["done"]), catalog=catalog, **options)


_ENTRIES: dict[str, Callable[..., object]] = {
    "options": lambda _, **options: SessionOptions(**options),
    "Session": Session,
    "SyncSession": SyncSession,
    "Agent": _agent,
    "MCP": open_session,
}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    (tmp_path / "skills").mkdir()
    return Catalog(tmp_path / "skills")


def test_the_keywords_are_the_fields() -> None:
    assert ListeningKeywords.__annotations__.keys() == SessionOptions.__annotations__.keys()
    named = {
        name: str(getattr(kind, "__forward_arg__", kind)) for name, kind in ListeningKeywords.__annotations__.items()
    }
    assert named == {name: str(kind) for name, kind in SessionOptions.__annotations__.items()}


@pytest.mark.parametrize("make", _ENTRIES.values(), ids=list(_ENTRIES))
@pytest.mark.parametrize("place", ["/", "{home}", "{home}/..", "{home}/.prowess", "{home}/none"])
def test_a_forbidden_workspace_is_refused_by_every_entry(
    make: Callable[..., object], place: str, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "users" / "ada"
    (home / ".prowess").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PROWESS_HOME", str(home / ".prowess"))
    with pytest.raises(InvalidArgumentsError, match="is not used as the workspace"):
        make(catalog, workspace=place.format(home=home))


@pytest.mark.parametrize("make", _ENTRIES.values(), ids=list(_ENTRIES))
def test_tools_work_on_the_workspace_of_their_session(
    make: Callable[..., object], catalog: Catalog, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    tools = [NeedsApproval(tool, "it may be costly") for tool in builtin_tools(["Read"], workspace=two)]
    with pytest.raises(InvalidArgumentsError, match="a session and its tools must have one workspace"):
        make(catalog, workspace=one, extra_tools=tools)


def test_path_patterns_are_relative_to_the_workspace_of_tools_if_the_session_has_none(tmp_path: Path) -> None:
    tools = builtin_tools(["Read"], workspace=tmp_path)
    assert SessionOptions(extra_tools=tools).pattern_root == str(tmp_path.resolve())
    assert SessionOptions(workspace=tmp_path, extra_tools=tools).pattern_root == str(tmp_path)
    assert SessionOptions().pattern_root is None


def test_a_session_takes_options_and_keywords_which_win(catalog: Catalog) -> None:
    options = SessionOptions(cap=2, session_id="kept")
    session = Session(catalog, options, cap=3)
    assert (session.session_id, session._parts.active.cap) == ("kept", 3)
    with pytest.raises(TypeError, match="Unexpected keyword argument 'caps'"):
        Session(catalog, caps=3)  # type: ignore[call-arg]  # as a host may misspell it


def test_the_options_of_a_call_are_the_arguments_of_its_tool() -> None:
    for spec, options, given_apart in (
        (read.SPEC, ReadOptions, {"path"}),
        (run_script.SPEC, RunOptions, {"path", "args"}),
    ):
        properties = cast("dict[str, object]", spec.input_schema["properties"])
        assert options.__annotations__.keys() | given_apart == properties.keys()
