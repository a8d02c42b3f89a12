"""What a call used stands in its result, and in no other call's."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from prowess.errors import UnavailableError
from prowess.tools import ToolCall, ToolExecutor, ToolSpec, report_usage, require_executor
from prowess.tools.running_call import Usage, current_usage

pytestmark = pytest.mark.anyio


class Model:
    """A tool that asks a model and says what that took."""

    spec = ToolSpec(
        name="model",
        description="",
        input_schema={"type": "object", "properties": {"tokens": {"type": "integer"}, "fail": {"type": "boolean"}}},
    )

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        tokens = arguments["tokens"]
        assert isinstance(tokens, int)
        report_usage(tokens=tokens, cost_usd=0.25)
        await anyio.lowlevel.checkpoint()
        await anyio.to_thread.run_sync(lambda: report_usage(tokens=1))
        if arguments.get("fail"):
            raise UnavailableError("the model")
        return {}


@pytest.mark.proves("runtime.toolresult.tokens", "runtime.toolresult.cost")
async def test_tokens_and_cost_are_what_the_tool_reported_for_this_call() -> None:
    executor = ToolExecutor([Model()])
    results: dict[int, tuple[int, float]] = {}

    async def ask(tokens: int) -> None:
        result = await executor.call(ToolCall(id="1", name="model", arguments={"tokens": tokens}))
        results[tokens] = result.tokens_used, result.cost_usd

    async with anyio.create_task_group() as group:
        for tokens in (10, 20, 30):
            group.start_soon(ask, tokens)
    assert results == {10: (11, 0.25), 20: (21, 0.25), 30: (31, 0.25)}


@pytest.mark.proves("runtime.toolresult.tokens", "runtime.toolresult.cost")
async def test_a_tool_without_a_model_used_nothing() -> None:
    class Plain:
        spec = ToolSpec(name="plain", description="", input_schema={"type": "object"})

        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            require_executor(self, call)
            return {}

    result = await ToolExecutor([Plain()]).call(ToolCall(id="1", name="plain", arguments={}))
    assert (result.tokens_used, result.cost_usd, result.cached, result.retry_count) == (0, 0.0, False, 0)


async def test_a_failed_call_reports_what_it_used_all_the_same() -> None:
    arguments = {"tokens": 5, "fail": True}
    result = await ToolExecutor([Model()]).call(ToolCall(id="1", name="model", arguments=arguments))
    assert (result.success, result.tokens_used, result.cost_usd) == (False, 6, 0.25)


def test_outside_of_a_call_a_report_goes_nowhere() -> None:
    report_usage(tokens=3)
    assert current_usage() is None


def test_nothing_can_be_given_back() -> None:
    with pytest.raises(ValueError, match="usage cannot be negative"):
        Usage().add(tokens=-1)
