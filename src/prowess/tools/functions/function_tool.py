"""A Python function as a tool: its signature becomes the schema, and its docstring the description.

A parameter without an annotation, or whose annotation has no schema, is refused when the function is registered,
because any other schema would be a guess.

`FunctionRegistry` contains the functions of a host that models may call (platform requirements 003, FunctionRegistry).
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack, cast, overload

import anyio
from anyio import to_thread

from prowess._internal.text.near_words import near_words
from prowess.errors import SkillError, ToolNotFoundError
from prowess.tools.functions.annotations import JsonField, JsonForm, UnsupportedFunctionError, object_form
from prowess.tools.functions.docstrings import parse_docstring
from prowess.tools.functions.json_values import to_json
from prowess.tools.running_call import require_executor
from prowess.tools.spec import ToolSpec, spelling_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator, Mapping

    from anyio.lowlevel import RunVar

    from prowess.tools.spec import ToolCall

Function = Callable[..., object]

RESULT_KEY = "result"  # key of a value that is not an object

_THREADS = 32


class FunctionFailedError(SkillError):
    """A function raised an exception of a type that is declared readable for a model."""

    tool: str
    text: str
    sentence = "{tool} failed: {text}"


class FunctionTimeoutError(SkillError, TimeoutError):
    """A function did not return in time. `limit` is in seconds."""

    code = "timeout"
    tool: str
    limit: float
    sentence = "Timeout exceeded: {tool} did not finish within {limit:g} s"


class FunctionTool:
    """Runs one function: an async function in the event loop, any other function in a thread.

    `name` defaults to the name of the function, `description` to its docstring without the sections. The flags are
    those of `ToolSpec`. After `timeout_seconds` the call fails. Python cannot stop a thread, so a function that has
    timed out or was cancelled continues in the background, and its result is discarded.

    The result is a dataclass, a `msgspec.Struct`, a mapping or a model with `model_dump`; any other value becomes the
    value of the key `result`. A `SkillError` keeps its code. Any other exception is `internal`, and its text is for the
    host only, unless its type is in `readable_errors`: then a model reads it.

    Raises:
        UnsupportedFunctionError: a part of the signature has no schema (see `prowess.tools.functions.annotations`).
    """

    def __init__(
        self,
        function: Function,
        *,
        name: str | None = None,
        description: str | None = None,
        read_only: bool = False,
        destructive: bool = False,
        idempotent: bool = False,
        open_world: bool = False,
        needs_approval: str | None = None,
        timeout_seconds: float | None = None,
        readable_errors: tuple[type[Exception], ...] = (),
    ) -> None:
        if not (inspect.isroutine(function) and hasattr(function, "__name__")):
            raise UnsupportedFunctionError(f"{function!r} is not a function or method; write a function that calls it")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UnsupportedFunctionError(f"{function.__name__} yields values; return them as a list")
        self.function = function
        documented, self._form = function_schema(function)
        self._timeout, self._readable = timeout_seconds, readable_errors
        self.spec = ToolSpec(
            name=function.__name__ if name is None else name,
            description=documented if description is None else description,
            input_schema=self._form.schema,
            read_only=read_only,
            destructive=destructive,
            idempotent=idempotent or read_only,
            open_world=open_world,
            needs_approval=needs_approval,
        )

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Call the function and return its value as an object.

        Raise FunctionTimeoutError, FunctionFailedError, or NotJsonValueError for a value without a JSON form.
        """
        require_executor(self, call)
        keywords = cast("dict[str, object]", self._form.take(arguments))
        try:
            value = await self._within_time(keywords)
        except self._readable as fault:
            if isinstance(fault, SkillError):
                raise
            raise FunctionFailedError(self.spec.name, str(fault) or type(fault).__name__) from fault
        plain = to_json(value, f"the result of {self.spec.name}")
        return plain if isinstance(plain, dict) else {RESULT_KEY: plain}

    async def _within_time(self, keywords: dict[str, object]) -> object:
        if self._timeout is None:
            return await self._call(keywords)
        with anyio.move_on_after(self._timeout) as scope:
            return await self._call(keywords)
        assert scope.cancelled_caught  # noqa: S101 -- the only way to reach this line
        raise FunctionTimeoutError(self.spec.name, self._timeout)

    async def _call(self, keywords: dict[str, object]) -> object:
        def call() -> object:
            try:
                return self.function(**keywords)
            except (StopIteration, SystemExit) as fault:  # not raisable in a task: it would end the task or the loop
                raise _CannotPassError(type(fault).__name__) from fault

        if inspect.iscoroutinefunction(self.function):
            value = call()
        else:
            value = await to_thread.run_sync(call, abandon_on_cancel=True, limiter=_threads())
        try:
            # A function that is not async may return a coroutine, for example because of a decorator.
            return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value
        except SystemExit as fault:
            raise _CannotPassError("SystemExit") from fault


class _CannotPassError(RuntimeError):
    """The function raised an exception with a special meaning for the event loop."""


@cache
def _limiter() -> RunVar[anyio.CapacityLimiter]:
    from anyio.lowlevel import RunVar  # imported here: it imports dataclasses, which is slow

    return RunVar("prowess_function_threads")


def _threads() -> anyio.CapacityLimiter:
    """Return the limiter of separate threads, so that blocking functions do not delay reads of files and stores."""
    try:
        return _limiter().get()
    except LookupError:
        limiter = anyio.CapacityLimiter(_THREADS)
        _limiter().set(limiter)
        return limiter


def function_schema(function: Callable[..., object]) -> tuple[str, JsonForm]:
    """Return a function's description and the form of its keyword arguments, or raise UnsupportedFunctionError."""
    named = getattr(function, "__name__", repr(function))
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except NameError as fault:
        message = f"{named}: the annotation {fault.name!r} is not known; define it at the top level of its module"
        raise UnsupportedFunctionError(message) from None
    except (TypeError, ValueError) as fault:
        raise UnsupportedFunctionError(f"{named}: its signature cannot be read: {fault}") from None
    documented = parse_docstring(inspect.getdoc(function))
    fields = (_field(parameter, hints, f"{named}: parameter {parameter.name!r}") for parameter in parameters)
    return documented.text, object_form(fields, documented.parameters, dict)


def _field(parameter: inspect.Parameter, hints: Mapping[str, object], where: str) -> JsonField:
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            raise UnsupportedFunctionError(f"{where} takes any number of values; name each parameter")
        case inspect.Parameter.POSITIONAL_ONLY:
            raise UnsupportedFunctionError(f"{where} is positional only, and models name their arguments")
    if parameter.name not in hints:
        raise UnsupportedFunctionError(f"{where} has no type annotation; add one, because its type is not guessed")
    required = parameter.default is inspect.Parameter.empty
    annotation = hints[parameter.name]
    return JsonField(
        name=parameter.name, annotation=annotation, where=where, required=required, default=parameter.default
    )


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
    """Functions by tool name. Pass `tools()` to a `ToolExecutor` or a session.

        registry = FunctionRegistry()

        @registry.register
        def add(a: int, b: int) -> int:
            "Add two numbers."
            return a + b

    The function itself is unchanged and can be called as before.
    """

    def __init__(self) -> None:
        self._tools: dict[str, FunctionTool] = {}

    @overload
    def register(self, function: F, /, **options: Unpack[FunctionOptions]) -> F: ...
    @overload
    def register(self, /, **options: Unpack[FunctionOptions]) -> Callable[[F], F]: ...
    def register(self, function: F | None = None, /, **options: Unpack[FunctionOptions]) -> F | Callable[[F], F]:
        """Make a function callable by models. Use as a decorator, with or without options, or as a call.

        Raise UnsupportedFunctionError if its signature has no schema, ValueError if its name is in use or invalid.
        """
        if function is None:
            return lambda decorated: self.register(decorated, **options)
        tool = FunctionTool(function, **options)
        spelling_table([*self._tools, tool.spec.name])  # refuses a name or spelling that is in use
        self._tools[tool.spec.name] = tool
        return function

    def unregister(self, name: str) -> FunctionTool:
        """Remove a function and return its tool. ToolNotFoundError if there is no function of this name."""
        tool = self.get(name)
        del self._tools[name]
        return tool

    def get(self, name: str) -> FunctionTool:
        """Return the tool of this name. ToolNotFoundError, with similar names as suggestions, if there is none."""
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
