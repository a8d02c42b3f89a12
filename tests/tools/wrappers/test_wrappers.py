"""What each wrapper adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.errors import PolicyDeniedError, StoreError, UnavailableError
from prowess.tools import ToolCall, ToolExecutor, ToolSpec, report_usage, require_executor
from prowess.tools.wrappers import Audited, Caching, Filtered, NeedsApproval, Renamed, Retrying, prefixed
from tests.tools.wrappers.kept_log import KeptLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools import Tool, ToolResult

pytestmark = pytest.mark.anyio

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "integer"}}}


class Lookup:
    """A tool that counts its runs and fails as often as it is told, each time with the next of `errors`."""

    def __init__(self, errors: Sequence[Exception] = (), *, name: str = "lookup", read_only: bool = True) -> None:
        self.spec = ToolSpec(
            name=name, description="Look.", input_schema=SCHEMA, read_only=read_only, aliases=(f"{name}_it",)
        )
        self.errors = list(errors)
        self.runs = 0

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        require_executor(self, call)
        self.runs += 1
        report_usage(tokens=10)
        arguments.setdefault("b", 0)
        if self.errors:
            raise self.errors.pop(0)
        return {"arguments": arguments, "run": self.runs, "list": [1]}


async def run(tool: Tool, **arguments: object) -> ToolResult:
    return await ToolExecutor([tool]).call(ToolCall(id="1", name=tool.spec.name, arguments=arguments))


@pytest.mark.proves("runtime.toolresult.retries")
async def test_retries_are_counted_and_the_first_success_stands() -> None:
    tool = Lookup([UnavailableError("it"), StoreError("memory:", "busy")])
    result = await run(Retrying(tool, pause=0.001))
    assert (result.success, result.retry_count, tool.runs, result.tokens_used) == (True, 2, 3, 30)
    assert (await run(Retrying(tool))).retry_count == 0


@pytest.mark.proves("runtime.toolresult.retries")
async def test_the_last_error_stands_with_the_number_of_repeated_attempts() -> None:
    tool = Lookup([UnavailableError("it")] * 5)
    result = await run(Retrying(tool, attempts=3, pause=0.001))
    assert (result.success, result.retry_count, tool.runs) == (False, 2, 3)
    assert isinstance(result.cause, UnavailableError)


async def test_an_error_that_will_not_pass_is_not_tried_again() -> None:
    tool = Lookup([PolicyDeniedError("a", "b")])
    result = await run(Retrying(tool))
    assert (result.success, result.retry_count, tool.runs) == (False, 0, 1)


async def test_a_retry_waits_as_long_as_the_error_asks_and_not_longer_than_it_may() -> None:
    began = anyio.current_time()
    assert (await run(Retrying(Lookup([UnavailableError("it", 0.05)]), pause=0))).retry_count == 1
    assert anyio.current_time() - began >= 0.05
    tool = Lookup([UnavailableError("it", 60)])
    assert (await run(Retrying(tool))).retry_count == 0
    assert tool.runs == 1


def test_what_may_not_be_repeated_cannot_be_wrapped() -> None:
    with pytest.raises(ValueError, match="lookup is neither read-only nor idempotent, so it must not be repeated"):
        Retrying(Lookup(read_only=False))
    with pytest.raises(ValueError, match="at least one attempt"):
        Retrying(Lookup(), attempts=0)


@pytest.mark.proves("runtime.toolresult.cached")
async def test_cached_is_true_exactly_for_an_answer_that_was_kept() -> None:
    tool = Lookup()
    executor = ToolExecutor([Caching(tool)])
    results = [
        await executor.call(ToolCall(id="1", name="lookup", arguments=arguments))
        for arguments in ({"a": 1}, {}, {"b": 2, "a": 1}, {"a": 1, "b": 2})
    ]
    assert [(result.cached, result.tokens_used) for result in results] == [
        (False, 10),
        (True, 0),
        (False, 10),
        (True, 0),
    ]
    assert results[0].result == results[1].result
    assert tool.runs == 2


async def test_a_kept_answer_cannot_be_changed_by_whoever_got_it() -> None:
    wrapper = Caching(Lookup())
    for _ in range(3):
        answer = (await run(wrapper)).unwrap()
        kept = answer["list"]
        assert kept == [1]
        assert isinstance(kept, list)
        kept.append(2)


async def test_failures_are_not_kept() -> None:
    wrapper = Caching(Lookup([UnavailableError("it")]))
    assert [(await run(wrapper)).success, (await run(wrapper)).success] == [False, True]


async def test_an_answer_grows_old() -> None:
    now = [0.0]
    tool = Lookup()
    wrapper = Caching(tool, seconds=10, clock=lambda: now[0])
    for moment, runs in ((0, 1), (9.9, 1), (10, 2), (19, 2)):
        now[0] = moment
        await run(wrapper)
        assert tool.runs == runs
    wrapper.clear()
    await run(wrapper)
    assert tool.runs == 3


@pytest.mark.parametrize("bound", [{"entries": 2}, {"total_bytes": 120}])
async def test_what_was_not_asked_for_longest_is_forgotten_first(bound: dict[str, int]) -> None:
    wrapper = Caching(Lookup(), **bound)  # type: ignore[arg-type]  # either bound is an integer
    assert [(await run(wrapper, a=number)).cached for number in (1, 2, 1, 3, 1, 2)] == [
        *(False, False, True, False, True, False)
    ]


async def test_two_calls_at_once_leave_one_answer() -> None:
    class Slow(Lookup):
        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            await anyio.sleep(0.01)
            return await super().run(arguments, call)

    wrapper = Caching(Slow(), total_bytes=60)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(run, wrapper)
    assert (await run(wrapper)).cached


def test_what_is_not_read_only_is_not_cached() -> None:
    with pytest.raises(ValueError, match="lookup is not read-only, so its results must not be kept"):
        Caching(Lookup(read_only=False))


async def test_a_filter_lets_through_what_it_keeps() -> None:
    tool = Lookup()
    wrapper = Filtered(tool, lambda arguments: arguments["a"] == 1, "only the first page is public")
    assert (await run(wrapper)).success
    refused = await run(wrapper, a=2)
    assert refused.error == "denied by the filter of lookup: only the first page is public"
    assert tool.runs == 1


async def test_a_renamed_tool_answers_to_its_new_name_alone() -> None:
    executor = ToolExecutor([*prefixed([Lookup()], "docs"), Renamed(Lookup(), "find", "Find it.")])
    assert [(spec.name, spec.description) for spec in executor.specs()] == [
        ("docs.lookup", "Look."),
        ("find", "Find it."),
    ]
    for name, found in (("docs_lookup", True), ("find", True), ("lookup", False), ("lookup_it", False)):
        assert (await executor.call(ToolCall(id="1", name=name, arguments={}))).success is found
    with pytest.raises(ValueError, match="tool name"):
        Renamed(Lookup(), "no name")


def test_the_mark_for_approval_is_in_the_spec() -> None:
    assert NeedsApproval(Lookup(), "it costs money").spec.needs_approval == "it costs money"


async def test_an_answer_is_recorded_by_size_and_digest() -> None:
    log = KeptLog()
    result = await run(Audited(Lookup(), log, session_id="s"))
    [event] = log.events
    text = canonical_json(result.unwrap())
    assert (event.kind, event.session_id, event.call_id) == ("tool.answered", "s", "1")
    answer = {"tool": "lookup", "result_bytes": len(text), "result_sha256": sha256_of(text)}
    assert event.data == {**answer, "trigger": "model"}


async def test_a_failure_has_no_answer_to_record() -> None:
    log = KeptLog()
    assert not (await run(Audited(Lookup([UnavailableError("it")]), log))).success
    assert log.events == []


async def test_an_answer_that_cannot_be_recorded_is_withheld() -> None:
    result = await run(Audited(Lookup(), KeptLog(full=True)))
    assert (result.success, result.result) == (False, None)
    assert result.error_detail is not None
    assert result.error_detail["code"] == "unavailable"


async def test_wrappers_wrap_wrappers() -> None:
    tool = Lookup([UnavailableError("it")])
    wrapper = Renamed(Caching(Retrying(NeedsApproval(tool, "why"), pause=0.001)), "look")
    first, second = await run(wrapper), await run(wrapper)
    assert (first.retry_count, first.cached, second.retry_count, second.cached) == (1, False, 0, True)
    assert (wrapper.spec.name, wrapper.spec.needs_approval) == ("look", "why")
