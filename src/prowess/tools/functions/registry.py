"""The functions of a host that models may call (platform requirements 003, FunctionRegistry)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack, overload

from prowess._internal.text.near_words import near_words
from prowess.errors import ToolNotFoundError
from prowess.tools.functions.function_tool import FunctionTool
from prowess.tools.names import spelling_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.tools.functions.function_tool import Function

F = TypeVar("F", bound="Function")


class FunctionOptions(TypedDict, total=False):
    """The options of `FunctionTool`, under the same names."""

    name: str | None
    description: str | None
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    needs_approval: str | None
    timeout_seconds: float | None
    readable_errors: tuple[type[Exception], ...]


class FunctionRegistry:
    """Functions by the name of their tool. `tools()` is what a `ToolExecutor` or a session takes.

        registry = FunctionRegistry()

        @registry.register
        def add(a: int, b: int) -> int:
            "Add two numbers."
            return a + b

    The function itself stays what it was and can be called as before.
    """

    def __init__(self) -> None:
        self._tools: dict[str, FunctionTool] = {}

    @overload
    def register(self, function: F, /, **options: Unpack[FunctionOptions]) -> F: ...
    @overload
    def register(self, /, **options: Unpack[FunctionOptions]) -> Callable[[F], F]: ...
    def register(self, function: F | None = None, /, **options: Unpack[FunctionOptions]) -> F | Callable[[F], F]:
        """Make a function callable by models: as a decorator, with or without options, or as a call.

        Raises:
            UnsupportedFunctionError: its signature has no schema.
            ValueError: its name is taken, or no tool can have it.
        """
        if function is None:
            return lambda decorated: self.register(decorated, **options)
        tool = FunctionTool(function, **options)
        spelling_table([*self._tools, tool.spec.name])  # refuses a name that another function answers to
        self._tools[tool.spec.name] = tool
        return function

    def unregister(self, name: str) -> FunctionTool:
        """Take a function away and return its tool; ToolNotFoundError where there is none of this name."""
        tool = self.get(name)
        del self._tools[name]
        return tool

    def get(self, name: str) -> FunctionTool:
        """Return the tool of this name; ToolNotFoundError, with names that may have been meant, where there is none."""
        if name not in self._tools:
            raise ToolNotFoundError(name[:80], tuple(near_words(name[:80], self._tools, most=3)))
        return self._tools[name]

    def list(self) -> tuple[str, ...]:
        """Return the names, in the order of registration."""
        return tuple(self._tools)

    def tools(self) -> tuple[FunctionTool, ...]:
        """Return the tools, in the order of registration."""
        return tuple(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[FunctionTool]:
        return iter(self.tools())

    def __len__(self) -> int:
        return len(self._tools)
