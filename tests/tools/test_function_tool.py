"""A function as a tool: what it gets, what its value becomes, and that nothing it raises gets out."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.errors import UnavailableError
from prowess.tools import ToolCall, ToolExecutor
from prowess.tools.functions.annotations import UnsupportedFunctionError
from prowess.tools.functions.function_tool import FunctionFailedError, FunctionTimeoutError, FunctionTool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from prowess.tools import ToolResult

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Report:
    path: str
    findings: list[str]


async def run(tool: FunctionTool, **arguments: object) -> ToolResult:
    return await ToolExecutor([tool]).call(ToolCall(id="1", name=tool.spec.name, arguments=arguments))


def analyze(path: str, depth: int = 2) -> Report:
    """Static analysis of one file."""
    return Report(path, ["deep"] * depth)


@pytest.mark.proves("runtime.function.wrap", "runtime.toolargs.defaults")
async def test_a_function_runs_with_its_defaults_and_its_value_is_the_result() -> None:
    result = await run(FunctionTool(analyze), path="a.py")
    assert result.unwrap() == {"path": "a.py", "findings": ["deep", "deep"]}


async def test_a_plain_function_runs_beside_the_event_loop() -> None:
    def where() -> str:
        return threading.current_thread().name

    tool = FunctionTool(where)
    assert (await run(tool)).unwrap()["result"] != threading.current_thread().name


async def test_an_async_function_runs_in_it() -> None:
    async def where(name: str) -> str:
        """Say where."""
        await anyio.lowlevel.checkpoint()
        return name + threading.current_thread().name

    assert (await run(FunctionTool(where), name="in ")).unwrap() == {"result": "in " + threading.current_thread().name}


async def test_a_plain_function_may_return_a_coroutine() -> None:
    async def inner(a: int) -> int:
        return a + 1

    @wraps(inner)
    def outer(a: int) -> Awaitable[int]:
        return inner(a)

    assert (await run(FunctionTool(outer), a=1)).unwrap() == {"result": 2}


async def test_methods_are_functions() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def up(self, by: int = 1) -> int:
            self.count += by
            return self.count

    assert (await run(FunctionTool(Counter().up), by=3)).unwrap() == {"result": 3}


def _nothing() -> None: ...


def _value_error() -> None:
    raise ValueError("secret")


def _assertion() -> None:
    raise AssertionError


def _stop() -> None:
    raise StopIteration


def _exit() -> None:
    raise SystemExit(3)


async def _async_exit() -> None:
    raise SystemExit(3)


def _unavailable() -> None:
    raise UnavailableError("the service", 3)


@pytest.mark.proves("runtime.function.exceptions")
@pytest.mark.parametrize("function", [_value_error, _assertion, _stop, _exit, _async_exit])
async def test_an_exception_is_a_failed_result_without_its_text(function: Callable[[], object]) -> None:
    result = await run(FunctionTool(function))
    assert result.error_detail is not None
    assert (result.success, result.result, result.error_detail["code"]) == (False, None, "internal")
    assert "secret" not in (result.error or "")
    assert "Traceback" not in (result.error or "")


@pytest.mark.proves("runtime.function.exceptions")
async def test_an_error_of_prowess_keeps_its_code() -> None:
    for readable in ((), (Exception,)):
        result = await run(FunctionTool(_unavailable, readable_errors=readable))
        assert result.error == "the service cannot be reached now; try again in 3 s"
        assert result.error_detail is not None
        assert result.error_detail["code"] == "unavailable"


async def test_an_exception_that_was_declared_readable_is_read() -> None:
    result = await run(FunctionTool(_value_error, readable_errors=(ValueError,)))
    assert result.error == "_value_error failed: secret"
    assert isinstance(result.cause, FunctionFailedError)
    assert (
        await run(FunctionTool(_assertion, readable_errors=(AssertionError,)))
    ).error == "_assertion failed: AssertionError"


async def test_a_value_without_a_json_form_is_an_error_that_names_it() -> None:
    def function() -> dict[str, object]:
        return {"a": [object()]}

    result = await run(FunctionTool(function))
    assert result.error == "the result of function.a[0] is of type 'object', which has no JSON form"


async def test_no_value_is_null() -> None:
    assert (await run(FunctionTool(_nothing))).unwrap() == {"result": None}


@pytest.mark.proves("runtime.toolargs.errors")
async def test_a_function_that_is_out_of_time_fails_and_nothing_waits_for_it() -> None:
    release = threading.Event()

    def slow() -> None:
        release.wait(5)

    async def slow_too() -> None:
        await anyio.sleep(5)

    with anyio.fail_after(3):
        for function in (slow, slow_too):
            result = await run(FunctionTool(function, timeout_seconds=0.05))
            assert result.error == f"Timeout exceeded: {function.__name__} did not finish within 0.05 s"
            assert isinstance(result.cause, FunctionTimeoutError)
    release.set()
    assert (await run(FunctionTool(_nothing, timeout_seconds=5))).success


async def test_a_cancelled_call_does_not_wait_for_a_thread() -> None:
    release = threading.Event()

    def slow() -> None:
        release.wait(5)

    with anyio.fail_after(3), anyio.move_on_after(0.05) as scope:
        await run(FunctionTool(slow))
    release.set()
    assert scope.cancelled_caught


def _generator() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (partial(analyze, "a"), "is not a function or method; write a function that calls it"),
        (Report, "is not a function or method"),
        (_generator, "_generator yields values; return them as a list"),
    ],
)
def test_what_is_no_plain_function_is_refused(function: Callable[..., object], why: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match=why):
        FunctionTool(function)


def test_a_tool_may_have_a_name_a_description_and_flags_of_its_own() -> None:
    spec = FunctionTool(
        analyze, name="code.analyze", description="Look.", read_only=True, open_world=True, needs_approval="costly"
    ).spec
    assert (spec.name, spec.description, spec.read_only, spec.idempotent) == ("code.analyze", "Look.", True, True)
    assert (spec.open_world, spec.destructive, spec.needs_approval) == (True, False, "costly")
    assert FunctionTool(analyze).spec.description == "Static analysis of one file."
