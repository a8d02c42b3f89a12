"""The door: what passes, what is refused, in which order, and that nothing gets out but results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import anyio
import pytest

from prowess.audit import JsonlAuditLog
from prowess.errors import (
    InvalidArgumentsError,
    LimitExceededError,
    PolicyDeniedError,
    SkillError,
    SkillNotFoundError,
    ToolNotFoundError,
)
from prowess.tools import Proceed, Refuse, ToolCall, ToolExecutor, ToolSpec, require_executor
from prowess.tools.executor import REPEATED

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

pytestmark = pytest.mark.anyio

_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "required": ["text"],
    "additionalProperties": False,
}


class Echo:
    """A tool that returns what it got, or does what it is told."""

    def __init__(self, name: str = "test.echo", act: Callable[[], Awaitable[object]] | None = None) -> None:
        self.spec = ToolSpec(name=name, description="Return the text.", input_schema=_SCHEMA)
        self.runs: list[dict[str, object]] = []
        self._act = act

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        self.runs.append(arguments)
        if self._act is not None:
            return await self._act()  # type: ignore[return-value]  # a broken tool may return anything
        return {"arguments": dict(arguments), "name": call.name}


def call(name: str = "test.echo", arguments: Mapping[str, object] | None = None, *, call_id: str = "1") -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments={"text": "hi"} if arguments is None else arguments)


@pytest.mark.proves("runtime.toolargs.defaults")
async def test_a_tool_gets_its_canonical_name_and_its_defaults() -> None:
    result = await ToolExecutor([Echo()]).call(call("test-echo"))
    assert result.unwrap() == {"arguments": {"text": "hi", "times": 1}, "name": "test.echo"}


async def test_specs_are_listed_in_the_order_of_registration() -> None:
    executor = ToolExecutor([Echo("b"), Echo("a")])
    assert [spec.name for spec in executor.specs()] == ["b", "a"]


async def test_tools_that_share_a_name_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="both answer"):
        ToolExecutor([Echo("a.b"), Echo("a_b")])


async def test_an_unknown_tool_is_a_result_with_suggestions() -> None:
    executor = ToolExecutor([Echo()])
    result = await executor.call(call("test_ecko"))
    assert (result.success, result.error) == (False, "no tool is called 'test_ecko'; did you mean 'test_echo'?")
    assert isinstance(result.cause, ToolNotFoundError)
    with pytest.raises(ToolNotFoundError):
        executor.resolve("nothing like it")


@pytest.mark.proves("runtime.tools.arguments", "runtime.toolargs.missing", "runtime.toolargs.type")
async def test_arguments_that_do_not_fit_are_named_and_the_tool_is_not_run() -> None:
    tool = Echo()
    result = await ToolExecutor([tool]).call(call(arguments={"times": "two", "loud": True}))
    assert result.error == (
        "Missing required parameter: text; "
        "Invalid parameter type: expected integer, got string (times); "
        "Unknown parameter: loud"
    )
    assert result.error_detail is not None
    assert result.error_detail["code"] == "invalid_arguments"
    assert tool.runs == []


async def test_arguments_that_are_no_object_are_refused() -> None:
    arguments: object = ["text"]
    result = await ToolExecutor([Echo()]).call(call(arguments=arguments))  # type: ignore[arg-type]  # as JSON may bring it
    assert result.error == "Invalid parameter type: expected object, got array (arguments)"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "\ud800", b"bytes"])
async def test_arguments_that_are_no_json_are_refused(value: object) -> None:
    result = await ToolExecutor([Echo()]).call(call(arguments={"text": value}))
    assert isinstance(result.cause, InvalidArgumentsError)
    assert "not JSON" in str(result.error)


@pytest.mark.unmeasured
async def test_arguments_are_bounded_in_depth_and_size() -> None:
    deep: object = "x"
    for _ in range(40):
        deep = [deep]
    executor = ToolExecutor([Echo()])
    for arguments, what in (
        ({"text": deep}, "levels"),
        ({"text": "x" * 1_100_000}, "bytes"),
        ({"text": [1] * 2**20}, "bytes"),
    ):
        result = await executor.call(call(arguments=arguments))
        assert isinstance(result.cause, LimitExceededError)
        assert what in result.cause.what
    assert (await executor.call(call(arguments={"text": "x" * 1_000_000}))).success


async def test_an_error_of_a_tool_keeps_its_code_and_suggestions() -> None:
    async def fail() -> object:
        raise SkillNotFoundError("pfd", ("pdf",))

    result = await ToolExecutor([Echo(act=fail)]).call(call())
    assert result.error_detail == {
        "code": "skill_not_found",
        "message": "no skill is called 'pfd'; did you mean 'pdf'?",
        "suggestions": ["pdf"],
    }


@pytest.mark.proves("runtime.toolresult.success")
@pytest.mark.parametrize("kind", [KeyError, RuntimeError, RecursionError, MemoryError, StopAsyncIteration, OSError])
async def test_a_defect_of_a_tool_is_internal_and_tells_a_model_nothing_of_it(kind: type[Exception]) -> None:
    async def fail() -> object:
        raise kind("password=hunter2")

    try:
        result = await ToolExecutor([Echo(act=fail)]).call(call())
    except Exception as escaped:  # noqa: BLE001 -- whatever it is, it should have been a result
        pytest.fail(f"{escaped!r} got out")
    assert result.success is False
    name = kind.__name__
    assert result.error == f"tool 'test.echo' failed inside ({name}); that is a defect of the tool, not of the call"
    assert result.error_detail is not None
    assert result.error_detail["code"] == "internal"
    assert result.cause is not None
    assert isinstance(result.cause.__cause__, kind)  # the host can see it


async def test_a_tool_that_returns_no_mapping_is_defective() -> None:
    async def wrong() -> object:
        return "text"

    result = await ToolExecutor([Echo(act=wrong)]).call(call())
    assert (result.success, result.result) == (False, None)
    assert "TypeError" in str(result.error)


@pytest.mark.proves("runtime.toolresult.duration")
async def test_the_duration_is_measured_in_whole_milliseconds() -> None:
    times = iter([1_000_000_000, 1_012_900_000])
    result = await ToolExecutor([Echo()], clock=lambda: next(times)).call(call())
    assert result.duration_ms == 12


# ── gates ────────────────────────────────────────────────────────────────────────────────────────────────


class Recorded:
    """A gate that says what it is told and notes what it saw."""

    def __init__(self, seen: list[str], name: str, decision: Proceed | Refuse | Exception) -> None:
        self._seen, self._name, self._decision = seen, name, decision

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        self._seen.append(f"{self._name} {call.name} {call.arguments['times']} {spec.name}")
        if isinstance(self._decision, Exception):
            raise self._decision
        return self._decision


async def test_gates_are_asked_in_order_with_structured_arguments_and_the_first_refusal_ends_it() -> None:
    seen: list[str] = []
    tool = Echo()
    no = Refuse(error=PolicyDeniedError("rule 7", "not today"), rule="rule 7")
    gates = [Recorded(seen, "first", Proceed()), Recorded(seen, "second", no), Recorded(seen, "third", Proceed())]
    result = await ToolExecutor([tool], gates=gates).call(call("test_echo"))
    assert seen == ["first test.echo 1 test.echo", "second test.echo 1 test.echo"]
    assert result.error == "denied by rule 7: not today"
    assert tool.runs == []


async def test_a_gate_that_asks_about_changed_arguments_is_heard_though_it_came_before_the_change() -> None:
    class Asking:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            return Proceed(asks="it deletes") if call.arguments["text"] == "rm" else Proceed()

    class Changing:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            return Proceed(arguments={"text": "rm"}, asks="it was changed")

    class Seeing:
        seen: ClassVar[list[str | None]] = []

        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            self.seen.append(spec.needs_approval)
            return Proceed()

    await ToolExecutor([Echo()], gates=[Asking(), Changing(), Seeing()]).call(call())
    assert Seeing.seen == ["it deletes; it was changed"]


async def test_a_call_whose_arguments_two_gates_change_in_turn_is_refused() -> None:
    class Sanitiser:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            return Proceed(arguments={"text": str(call.arguments["text"]).replace("rm", "SAFE")})

    class Setter:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            return Proceed(arguments={"text": "rm"})

    tool = Echo()
    result = await ToolExecutor([tool], gates=[Sanitiser(), Setter()]).call(call())
    assert result.error == "two gates do not agree about the arguments, so the tool was not run"
    assert tool.runs == []
    assert (await ToolExecutor([tool], gates=[Sanitiser(), Sanitiser()]).call(call())).success


async def test_a_reason_that_a_gate_gives_for_old_and_new_arguments_is_told_once() -> None:
    told: list[str | None] = []

    class Asking:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            return Proceed(asks="it deletes")

    class Setter:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed:
            told.append(spec.needs_approval)
            return Proceed(arguments={"text": "rm"}) if call.arguments["text"] != "rm" else Proceed()

    await ToolExecutor([Echo()], gates=[Asking(), Setter(), Setter()]).call(call())
    assert told == ["it deletes", "it deletes"]


async def test_a_call_that_does_not_fit_never_reaches_a_gate() -> None:
    seen: list[str] = []
    await ToolExecutor([Echo()], gates=[Recorded(seen, "gate", Proceed())]).call(call(arguments={}))
    assert seen == []


@pytest.mark.parametrize(
    ("fault", "code"), [(RuntimeError("x"), "internal"), (PolicyDeniedError("r", "x"), "policy_denied")]
)
async def test_a_gate_that_fails_stays_shut(fault: Exception, code: str) -> None:
    tool = Echo()
    result = await ToolExecutor([tool], gates=[Recorded([], "gate", fault)]).call(call())
    assert result.error_detail is not None
    assert result.error_detail["code"] == code
    assert tool.runs == []


# ── order and repetition ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("runtime.tools.chronology")
async def test_the_results_of_one_message_stand_in_the_order_of_its_calls() -> None:
    order: list[str] = []

    def waiting(name: str, seconds: float) -> Echo:
        async def act() -> object:
            await anyio.sleep(seconds)
            order.append(name)
            return {"name": name}

        return Echo(name, act)

    executor = ToolExecutor([waiting("slow", 0.03), waiting("fast", 0.0)])
    results = await executor.call_all([call("slow"), call("nothing"), call("fast"), call("slow")])
    assert [result.result and result.result["name"] for result in results] == ["slow", None, "fast", "slow"]
    assert order == ["slow", "fast", "slow"]


@pytest.mark.proves("runtime.tools.loop-breaker")
async def test_the_second_same_failure_says_that_it_is_the_second() -> None:
    executor = ToolExecutor([Echo()])
    first = await executor.call(call(arguments={"times": 1, "text": 2}))
    again = await executor.call(call("test-echo", arguments={"text": 2, "times": 1}, call_id="2"))
    assert REPEATED not in str(first.error)
    assert again.error == f"{first.error}. {REPEATED}"
    assert again.error_detail is not None
    assert again.error_detail["message"] == again.error
    assert again.cause is not None


async def test_another_call_or_a_success_between_is_no_repetition() -> None:
    outcomes = iter([SkillError("down"), None, SkillError("down"), SkillError("down")])

    async def act() -> object:
        if (outcome := next(outcomes)) is not None:
            raise outcome
        return {}

    executor = ToolExecutor([Echo(act=act)])
    errors = [(await executor.call(call())).error for _ in range(3)]
    assert errors == ["down", None, "down"]
    assert (await executor.call(call(arguments={"text": "other"}))).error == "down"


@pytest.mark.parametrize("audited", [True, False])
async def test_the_same_call_is_the_one_that_was_made_whatever_the_tool_does_to_its_arguments(
    tmp_path: Path, *, audited: bool
) -> None:
    class Greedy:
        spec = ToolSpec(
            name="greedy",
            description="Take.",
            input_schema={
                "type": "object",
                "properties": {"items": {"type": "array", "items": {"type": "string"}}},
                "required": ["items"],
            },
        )

        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            require_executor(self, call)
            items = arguments["items"]
            assert isinstance(items, list)
            items[:] = [object()]
            if down:
                raise SkillError("down")
            return {}

    down = True
    executor = ToolExecutor([Greedy()], audit=JsonlAuditLog(tmp_path / "audit.jsonl") if audited else None)

    async def error(*items: str) -> str | None:
        given = {"items": [*items]}
        outcome = await executor.call(ToolCall(id="1", name="greedy", arguments=given))
        assert given["items"] == [*items]
        return outcome.error

    assert [await error("a"), await error("b"), await error("a")] == ["down", "down", f"down. {REPEATED}"]
    down = False
    assert [await error("b"), await error("a")] == [None, None]
    down = True
    assert [await error("a"), await error("a")] == ["down", f"down. {REPEATED}"]


@pytest.mark.parametrize("audited", [True, False])
async def test_a_name_that_only_equals_a_declared_one_is_no_json_with_and_without_a_log(
    tmp_path: Path, *, audited: bool
) -> None:
    class Alike(str):
        __slots__ = ()

    class Equal:
        def __hash__(self) -> int:
            return hash("text")

        def __eq__(self, other: object) -> bool:
            return other == "text"

    executor = ToolExecutor([Echo()], audit=JsonlAuditLog(tmp_path / "audit.jsonl") if audited else None)
    strange: dict[Any, object] = {Equal(): "a"}
    refused = await executor.call(call(arguments=strange))
    assert "not JSON" in str(refused.error)
    again = await executor.call(call("test-echo", arguments=strange))
    assert REPEATED not in str(again.error)  # as spelled: what cannot be read belongs to no tool
    assert (await executor.call(call(arguments={Alike("text"): "a"}))).success


async def test_the_memory_of_failures_is_bounded() -> None:
    executor = ToolExecutor([Echo()])
    for number in range(300):
        await executor.call(call(f"none{number}"))
    assert REPEATED not in str((await executor.call(call("none0"))).error)
    assert REPEATED in str((await executor.call(call("none299"))).error)


async def test_fifty_tasks_share_one_executor() -> None:
    inside: list[int] = []

    async def act() -> object:
        inside.append(1)
        await anyio.sleep(0.01)
        return {"together": len(inside)}

    executor = ToolExecutor([Echo(act=act), Echo("test.other")])
    results: dict[int, object] = {}

    async def work(number: int) -> None:
        first = await executor.call(call("test.other", {"text": str(number)}))
        await executor.call(call())
        assert first.result is not None
        results[number] = first.result["arguments"]

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(work, number)
    assert results == {number: {"text": str(number), "times": 1} for number in range(50)}
    assert len(inside) == 50


async def test_tools_come_and_go_between_calls() -> None:
    executor = ToolExecutor([Echo("a")])
    executor.add(Echo("b"))
    assert [spec.name for spec in executor.specs()] == ["a", "b"]
    assert (await executor.call(call("b"))).success
    with pytest.raises(ValueError, match="would both answer to"):
        executor.add(Echo("c"), Echo("a"))
    assert [spec.name for spec in executor.specs()] == ["a", "b"]
    executor.remove("a")
    assert (await executor.call(call("a"))).success is False
    with pytest.raises(ToolNotFoundError):
        executor.remove("a")


async def test_arguments_that_nobody_could_read_are_refused() -> None:
    tool = Echo()
    unreadable = ToolCall(id="1", name="test.echo", arguments={}, unreadable="Arguments are no JSON")
    result = await ToolExecutor([tool]).call(unreadable)
    assert result.error_detail is not None
    assert (result.error, result.error_detail["code"]) == ("Arguments are no JSON", "invalid_arguments")
    assert tool.runs == []
