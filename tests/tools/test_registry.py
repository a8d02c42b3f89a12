"""The registry of functions: by decorator or call, without duplicates, and useful to an executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from prowess import Catalog, Session
from prowess.errors import ToolNotFoundError
from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.functions.function_tool import FunctionRegistry

if TYPE_CHECKING:
    from pathlib import Path


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_functions_are_registered_by_decorator_and_by_call_and_stay_functions() -> None:
    registry = FunctionRegistry()

    @registry.register
    def one() -> int:
        return 1

    @registry.register(name="math.two", description="Two.", read_only=True)
    def two() -> int:
        return 2

    assert registry.register(add) is add
    assert (one(), two()) == (1, 2)
    assert registry.list() == ("one", "math.two", "add")
    assert [tool.spec.name for tool in registry] == ["one", "math.two", "add"]
    assert ("add" in registry, "sub" in registry, len(registry)) == (True, False, 3)
    assert registry.get("math.two").spec.description == "Two."
    assert registry.get("add").spec.description == "Add two numbers."


def test_a_name_is_given_once() -> None:
    registry = FunctionRegistry()
    registry.register(add)
    with pytest.raises(ValueError, match="tools 'add' and 'add' would both answer to 'add'"):
        registry.register(add)
    registry.register(add, name="math.add")
    with pytest.raises(ValueError, match="would both answer to 'math_add'"):
        registry.register(add, name="math_add")
    with pytest.raises(ValueError, match="tool name"):
        registry.register(add, name="not a name")
    assert registry.list() == ("add", "math.add")


def test_a_function_can_be_taken_away() -> None:
    registry = FunctionRegistry()
    registry.register(add)
    assert registry.unregister("add").function is add
    assert registry.list() == ()
    registry.register(add)
    with pytest.raises(ToolNotFoundError, match="did you mean 'add'"):
        registry.unregister("ad")


@pytest.mark.anyio
async def test_an_executor_runs_what_is_registered() -> None:
    registry = FunctionRegistry()
    registry.register(add)
    result = await ToolExecutor(registry.tools()).call(ToolCall(id="1", name="add", arguments={"a": 1, "b": 2}))
    assert result.unwrap() == {"result": 3}


@pytest.mark.anyio
@pytest.mark.proves("runtime.function.coexist")
async def test_functions_and_skills_stand_side_by_side_and_neither_needs_the_other(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "sums"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: sums\ndescription: Adds up.\n---\nCall add.\n", encoding="utf-8")
    registry = FunctionRegistry()
    registry.register(add)
    catalog, empty = Catalog(tmp_path / "skills"), Catalog()

    both = Session(catalog, extra_tools=registry.tools())
    await both.load(["sums"])
    assert (await both.call("add", {"a": 1, "b": 2})).unwrap() == {"result": 3}
    assert "add" in [spec.name for spec in both.tools()]

    functions_alone = Session(empty, extra_tools=registry.tools())
    assert [spec.name for spec in functions_alone.tools()] == ["add"]
    assert (await functions_alone.call("add", {"a": 1, "b": 2})).success

    skills_alone = Session(catalog)
    await skills_alone.load(["sums"])
    assert not (await skills_alone.call("add", {"a": 1, "b": 2})).success
