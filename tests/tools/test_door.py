"""A tool runs for its executor, for one call, and for nobody else."""

from __future__ import annotations

import pickle

import anyio
import anyio.to_thread
import pytest

from prowess.tools import NotThroughExecutorError, ToolCall, ToolExecutor, ToolSpec, require_executor
from prowess.tools.running_call import running_call

pytestmark = pytest.mark.anyio


class Guarded:
    """A tool that keeps the rule, and does something else first where a test asks it to."""

    def __init__(self, name: str = "guarded", *, inner: Guarded | None = None) -> None:
        self.spec = ToolSpec(name=name, description="", input_schema={"type": "object"})
        self.inner = inner
        self.seen: list[ToolCall] = []

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        self.seen.append(call)
        return {} if self.inner is None else await self.inner.run(arguments, call)


def call(name: str = "guarded") -> ToolCall:
    return ToolCall(id="1", name=name, arguments={})


async def test_the_executor_lets_a_call_through() -> None:
    assert (await ToolExecutor([Guarded()]).call(call())).success


async def test_running_a_tool_directly_does_nothing_and_says_why() -> None:
    tool = Guarded()
    with pytest.raises(NotThroughExecutorError, match=r"was not called through ToolExecutor\.call, so it did nothing"):
        await tool.run({}, call())
    assert tool.seen == []


async def test_a_tool_cannot_run_another_tool_with_its_own_call() -> None:
    other = Guarded("other")
    result = await ToolExecutor([Guarded(inner=other), other]).call(call())
    assert result.error == "tool 'other' was not called through ToolExecutor.call, so it did nothing"
    assert other.seen == []


async def test_a_call_of_an_earlier_moment_opens_nothing() -> None:
    tool = Guarded()
    await ToolExecutor([tool]).call(call())
    with pytest.raises(NotThroughExecutorError):
        await tool.run({}, tool.seen[0])


async def test_a_task_that_outlives_the_call_finds_the_door_closed() -> None:
    outcome: list[object] = []
    ended = anyio.Event()

    class Leaving(Guarded):
        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            require_executor(self, call)
            group.start_soon(later, self, call)
            return {}

    async def later(tool: Guarded, call: ToolCall) -> None:
        await ended.wait()
        try:
            require_executor(tool, call)
        except NotThroughExecutorError as error:
            outcome.append(error.tool)

    async with anyio.create_task_group() as group:
        assert (await ToolExecutor([Leaving()]).call(call())).success
        ended.set()
    assert outcome == ["guarded"]


async def test_a_thread_of_the_call_may_pass() -> None:
    class Threaded(Guarded):
        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            await anyio.to_thread.run_sync(require_executor, self, call)
            return {}

    assert (await ToolExecutor([Threaded()]).call(call())).success
    assert running_call() is None


def test_the_error_survives_pickling() -> None:
    again = pickle.loads(pickle.dumps(NotThroughExecutorError("a")))  # noqa: S301 -- our own bytes
    assert (again.tool, again.code) == ("a", "internal")
