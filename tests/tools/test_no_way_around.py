"""Every tool and every wrapper of Prowess, found by walking the package: none runs except through the door.

A tool that is added later is found by itself, and fails here until it is listed and guarded.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from typing import TYPE_CHECKING, cast

import anyio
import pytest

import prowess
from prowess.catalog import Catalog
from prowess.errors import MissingExtraError
from prowess.mcp_server.server import open_session
from prowess.tools import NotThroughExecutorError, Tool, ToolCall, ToolExecutor, ToolSpec, require_executor
from prowess.tools.builtin import builtin_tools
from prowess.tools.builtin.workspace import WorkspaceTool
from prowess.tools.functions.function_tool import FunctionTool
from prowess.tools.wrappers import Audited, Caching, Filtered, NeedsApproval, Renamed, Retrying, ToolWrapper
from tests.tools.wrappers.kept_log import KeptLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

PLAIN = ToolSpec(name="plain", description="Plain.", input_schema={"type": "object"}, read_only=True)


class Plain:
    """A guarded tool that remembers what it was given."""

    def __init__(self, spec: ToolSpec = PLAIN) -> None:
        self.spec = spec
        self.seen: list[tuple[dict[str, object], ToolCall]] = []

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        self.seen.append((arguments, call))
        return {"plain": True}


WRAPPERS: dict[str, Callable[[Tool], ToolWrapper]] = {
    "ToolWrapper": ToolWrapper,
    "Audited": lambda tool: Audited(tool, KeptLog()),
    "Caching": Caching,
    "Filtered": lambda tool: Filtered(tool, lambda arguments: True, "no"),
    "NeedsApproval": lambda tool: NeedsApproval(tool, "it is costly"),
    "Renamed": lambda tool: Renamed(tool, "other.name", "Other."),
    "Retrying": Retrying,
}

# What a wrapper offers differently from what it wraps; everything else must be the same.
DIFFERS: dict[str, set[str]] = {
    "NeedsApproval": {"needs_approval"},
    "Renamed": {"name", "description", "aliases"},
}


# What tools are made from.
_NO_TOOLS = (Tool, WorkspaceTool)


def _classes() -> Iterator[type]:
    """Every class of the package that has an async `run` of arguments and a call."""
    for module in pkgutil.walk_packages(prowess.__path__, "prowess."):
        if module.name.endswith("__main__") or ".probes" in module.name:
            continue
        try:
            imported = importlib.import_module(module.name)
        except MissingExtraError:  # glue for a library that this Python cannot have
            continue
        for _, found in inspect.getmembers(imported, inspect.isclass):
            if found.__module__ == module.name and found not in _NO_TOOLS and _runs_calls(getattr(found, "run", None)):
                yield found


def _runs_calls(run: object) -> bool:
    parameters = inspect.signature(run).parameters if inspect.iscoroutinefunction(run) else ()
    return list(parameters) == ["self", "arguments", "call"]


CLASSES = sorted({found.__qualname__: found for found in _classes()}.items())
_SESSION_TOOLS = {"LoadTool", "UnloadTool", "ReadTool", "RunScriptTool", "SkillsListTool"}
_OF_A_SESSION = {"skills.load", "skills.unload", "skills.read", "skills.run_script", "skills.list"}


# What a constructor looks into, by the name of its parameter.
_STAND_INS: dict[str, object] = {
    "tool": Plain(),
    "wrapped": Plain(),
    "skills_dir": "/none",
    "name": "packages.install",
    "works": {},
}


def _function() -> int:
    return 1


def _built(found: type, workspace: Path) -> Tool:
    name = found.__qualname__
    if name in WRAPPERS:
        return WRAPPERS[name](Plain())
    if name == "FunctionTool":
        return FunctionTool(_function)
    for tool in builtin_tools(workspace=workspace, write=True):
        if type(tool) is found:
            return tool
    # Without anything to work with: whatever it does before the door fails in another way.
    needed = [each for each in inspect.signature(found).parameters.values() if each.default is each.empty]
    return cast("Tool", found(**{each.name: _STAND_INS.get(each.name) for each in needed}))


def test_the_walk_finds_tools_and_wrappers() -> None:
    names = {name for name, _ in CLASSES}
    assert names >= {*WRAPPERS, *_SESSION_TOOLS, "FunctionTool", "Read", "Write", "Edit", "Glob", "Grep", "Bash"}


@pytest.mark.proves("runtime.restrict.every-call")
@pytest.mark.parametrize(
    "found",
    [pytest.param(found, id=name) for name, found in CLASSES],
)
async def test_a_tool_does_nothing_for_anybody_but_its_executor(found: type, tmp_path: Path) -> None:
    tool = _built(found, tmp_path)
    with pytest.raises(NotThroughExecutorError):
        await tool.run({"names": []}, ToolCall(id="1", name="any", arguments={}))
    assert os.listdir(tmp_path) == []


async def test_no_tool_of_a_session_acts_for_anybody_but_its_executor(tmp_path: Path) -> None:
    (tmp_path / "skills" / "one").mkdir(parents=True)
    (tmp_path / "skills" / "one" / "SKILL.md").write_text("---\nname: one\ndescription: One.\n---\nOne.\n")
    session = open_session(Catalog(tmp_path / "skills"), audit=KeptLog())
    doors = [session._parts.executor, session._parts.user_executor, session.reads._executor]
    tools = [door.resolve(spec.name) for door in doors for spec in door.specs()]

    assert {tool.spec.name for tool in tools} >= {*_OF_A_SESSION, "skill", "skills.invoke", "resources.read"}
    for tool in tools:
        inner: Tool | None = tool
        while inner is not None:
            with pytest.raises(NotThroughExecutorError):
                await inner.run({"names": ["one"], "skill": "one"}, ToolCall(id="1", name="any", arguments={}))
            inner = getattr(inner, "wrapped", None)
    assert session.active_skills == ()


@pytest.mark.parametrize("name", WRAPPERS)
async def test_a_wrapper_is_no_way_around_what_it_wraps(name: str) -> None:
    inner = Plain()
    wrapper = WRAPPERS[name](inner)
    executor = ToolExecutor([wrapper])
    result = await executor.call(ToolCall(id="1", name=wrapper.spec.name, arguments={"a": 1}))
    assert result.unwrap() == {"plain": True}
    with pytest.raises(NotThroughExecutorError):
        await inner.run({}, inner.seen[0][1])


def _protocol_members() -> list[str]:
    return sorted(name for name in vars(Tool) if not name.startswith("_"))


def test_the_base_of_all_wrappers_forwards_every_member_of_the_protocol() -> None:
    assert _protocol_members() == ["run", "spec"]
    missing = [name for name in _protocol_members() if name not in vars(ToolWrapper)]
    assert missing == []


def test_every_wrapper_has_that_base_and_leaves_run_to_it() -> None:
    module = importlib.import_module("prowess.tools.wrappers")
    own = [value for value in vars(module).values() if inspect.isclass(value) and value.__module__ == module.__name__]
    assert ToolWrapper in own
    for found in own:
        assert issubclass(found, ToolWrapper)
        assert found is ToolWrapper or "run" not in vars(found)
        assert found is ToolWrapper or found.__name__ in WRAPPERS


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_offers_what_it_wraps_but_for_what_it_is_for(name: str) -> None:
    spec = ToolSpec(
        name="plain",
        description="Plain.",
        input_schema={"type": "object", "properties": {"a": {"type": "string"}}},
        output_schema={"type": "object"},
        title="Title",
        read_only=True,
        destructive=True,
        idempotent=True,
        open_world=True,
        aliases=("simple",),
        needs_approval="why",
    )
    offered = WRAPPERS[name](Plain(spec)).spec
    differing = {field for field in spec.__struct_fields__ if getattr(offered, field) != getattr(spec, field)}
    assert differing == DIFFERS.get(name, set())


@pytest.mark.parametrize("name", WRAPPERS)
async def test_a_wrapper_passes_on_arguments_call_result_and_cancellation(name: str) -> None:
    inner = Plain()
    wrapper = WRAPPERS[name](inner)
    call = ToolCall(id="7", name=wrapper.spec.name, arguments={"a": [1]})
    assert (await ToolExecutor([wrapper]).call(call)).unwrap() == {"plain": True}
    [(arguments, seen)] = inner.seen
    assert (arguments, seen.id, seen.arguments) == ({"a": [1]}, "7", {"a": [1]})

    class Slow(Plain):
        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            require_executor(self, call)
            await anyio.sleep(5)
            return {}

    with anyio.move_on_after(0.02) as scope:
        await ToolExecutor([WRAPPERS[name](Slow())]).call(call)
    assert scope.cancelled_caught
