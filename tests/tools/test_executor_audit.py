"""Every call leaves its records, no argument's value is among them, and a log that fails shuts the door."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING

import anyio
import pytest

from prowess.audit import AuditEvent, AuditRecord, JsonlAuditLog, read_tail, verify_log
from prowess.errors import AuditError, PolicyDeniedError, SkillNotFoundError
from prowess.tools import Refuse, ToolCall, ToolExecutor, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from prowess.tools import Proceed

pytestmark = pytest.mark.anyio


class Act:
    """A tool that does what it is told."""

    def __init__(self, act: Callable[[], Awaitable[dict[str, object]]] | None = None) -> None:
        properties = {"path": {"type": "string"}, "env": {"type": "object"}, "limit": {"type": "number"}}
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        self.spec = ToolSpec(name="test.act", description="", input_schema=schema)
        self._act = act
        self.runs = 0

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        self.runs += 1
        return {} if self._act is None else await self._act()


def call(call_id: str = "1", name: str = "test.act", **arguments: object) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments)


@pytest.fixture
def log(tmp_path: Path) -> JsonlAuditLog:
    return JsonlAuditLog(tmp_path / "audit" / "audit.jsonl", "second")


def records(log: JsonlAuditLog) -> list[AuditRecord]:
    return [record for record in read_tail(log.path, 10_000) if record is not None]


async def test_a_call_leaves_its_start_and_its_end(log: JsonlAuditLog) -> None:
    await ToolExecutor([Act()], audit=log, session_id="s1").call(call("c1", "test_act", path="a"))
    started, finished = records(log)
    assert (started.kind, started.session_id, started.call_id) == ("tool.started", "s1", "c1")
    assert (finished.kind, finished.session_id, finished.call_id) == ("tool.finished", "s1", "c1")
    assert started.data["tool"] == finished.data["tool"] == "test.act"
    assert finished.data["outcome"] == "success"
    assert isinstance(finished.data["duration_ms"], int)


async def test_the_start_is_on_record_before_the_tool_runs(log: JsonlAuditLog) -> None:
    async def look() -> dict[str, object]:
        return {"seen": [record.kind for record in records(log)]}

    result = await ToolExecutor([Act(look)], audit=log).call(call())
    assert result.unwrap() == {"seen": ["tool.started"]}


async def test_no_value_of_an_argument_is_recorded(log: JsonlAuditLog) -> None:
    secret = "hunter2-hunter2"
    executor = ToolExecutor([Act()], audit=log)
    await executor.call(call(path=secret, env={"TOKEN": secret}, limit=0.5))
    await executor.call(call(path=1, colour=secret))
    assert secret not in await anyio.Path(log.path).read_text(encoding="utf-8")
    data = records(log)[0].data
    assert data["arguments"] == {"env": 27, "limit": 3, "path": 17}
    assert data["env"] == ["TOKEN"]
    assert str(data["arguments_sha256"]).startswith("sha256:")
    assert data["arguments_bytes"] == 72


async def test_the_same_arguments_have_the_same_digest_in_any_order(log: JsonlAuditLog) -> None:
    executor = ToolExecutor([Act()], audit=log)
    await executor.call(call(path="a", limit=1))
    await executor.call(call(limit=1.0, path="a"))
    first, _, second, _ = (record.data.get("arguments_sha256") for record in records(log))
    assert first == second


async def test_very_many_argument_names_are_counted(log: JsonlAuditLog) -> None:
    await ToolExecutor([Act()], audit=log).call(call("1", "test.act", **{f"x{number:03}": 1 for number in range(100)}))
    sizes = records(log)[0].data["arguments"]
    assert isinstance(sizes, dict)
    assert len(sizes) == 65
    assert sizes["…"] == 36


class Closed:
    """A gate that refuses."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        return Refuse(error=PolicyDeniedError("r", "no"), rule="policy.toml:7")


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (call(name="nobody"), "tool_not_found"),
        (call(path=1), "invalid_arguments"),
        (call(path="x" * 1_100_000), "limit_exceeded"),
        (call(path=float("inf")), "invalid_arguments"),
    ],
)
async def test_a_refusal_leaves_one_record_with_its_code(log: JsonlAuditLog, request_: ToolCall, code: str) -> None:
    await ToolExecutor([Act()], audit=log).call(request_)
    assert [(record.kind, record.data["code"]) for record in records(log)] == [("tool.refused", code)]


async def test_a_refusal_by_a_gate_names_its_rule(log: JsonlAuditLog) -> None:
    await ToolExecutor([Act()], audit=log, gates=[Closed()]).call(call())
    (record,) = records(log)
    assert (record.kind, record.data["code"], record.data["rule"]) == ("tool.refused", "policy_denied", "policy.toml:7")


@pytest.mark.parametrize(
    ("fault", "code"), [(SkillNotFoundError("x"), "skill_not_found"), (ZeroDivisionError(), "internal")]
)
async def test_a_failure_is_finished_with_its_code(log: JsonlAuditLog, fault: Exception, code: str) -> None:
    async def fail() -> dict[str, object]:
        raise fault

    await ToolExecutor([Act(fail)], audit=log).call(call())
    finished = records(log)[1]
    assert (finished.kind, finished.data["outcome"], finished.data["code"]) == ("tool.finished", "failure", code)


async def test_a_name_that_a_caller_made_up_is_recorded_short_and_printable(log: JsonlAuditLog) -> None:
    await ToolExecutor([Act()], audit=log).call(call("i" * 5000, "\x1b[31m" + "n" * 5000))
    (record,) = records(log)
    assert str(record.data["tool"]).startswith("\\x1b[31mnnn")
    assert len(str(record.data["tool"])) < 100
    assert record.call_id is not None
    assert len(record.call_id) < 100


# ── cancellation ─────────────────────────────────────────────────────────────────────────────────────────


async def test_a_cancelled_call_is_recorded_and_stays_cancelled(log: JsonlAuditLog) -> None:
    async def wait() -> dict[str, object]:
        await anyio.sleep(30)
        return {}

    with anyio.move_on_after(0.05) as scope:
        await ToolExecutor([Act(wait)], audit=log).call(call())
    assert scope.cancelled_caught
    assert [(record.kind, record.data.get("outcome")) for record in records(log)] == [
        ("tool.started", None),
        ("tool.finished", "cancelled"),
    ]


async def test_a_call_that_is_cancelled_before_it_starts_is_a_refusal(log: JsonlAuditLog) -> None:
    tool = Act()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await ToolExecutor([tool], audit=log).call(call())
    assert [(record.kind, record.data.get("code")) for record in records(log)] == [("tool.refused", "cancelled")]
    assert tool.runs == 0


async def test_a_call_that_is_cancelled_at_a_gate_is_a_refusal(log: JsonlAuditLog) -> None:
    class Slow:
        async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
            await anyio.sleep(30)
            raise AssertionError

    with anyio.move_on_after(0.02):
        await ToolExecutor([Act()], audit=log, gates=[Slow()]).call(call())
    assert [(record.kind, record.data.get("code")) for record in records(log)] == [("tool.refused", "cancelled")]


class Slow:
    """A log whose writes can be held up."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.entered, self.go_on = threading.Event(), threading.Event()

    def append(self, event: AuditEvent) -> AuditRecord:
        self.entered.set()
        assert self.go_on.wait(10)
        self.kinds.append(event.kind)
        return AuditRecord(sequence=1, at="", kind="", session_id=None, call_id=None, data={}, previous=None, hash="")


async def test_a_task_that_is_cancelled_while_its_start_is_being_written_is_finished_after_it() -> None:
    log, tool = Slow(), Act()
    task = asyncio.create_task(ToolExecutor([tool], audit=log).call(call()))
    await asyncio.to_thread(log.entered.wait, 10)
    task.cancel()  # not anyio's own way: the worker goes on writing
    await asyncio.sleep(0.02)
    log.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log.kinds == ["tool.started", "tool.finished"]
    assert tool.runs == 0


async def test_a_log_that_fails_does_not_swallow_a_cancellation() -> None:
    async def wait() -> dict[str, object]:
        await anyio.sleep(30)
        return {}

    with anyio.move_on_after(0.02) as scope:
        await ToolExecutor([Act(wait)], audit=Failing("tool.finished")).call(call())
    assert scope.cancelled_caught


# ── a log that fails ─────────────────────────────────────────────────────────────────────────────────────


class Failing:
    """A log that cannot write one kind of record."""

    def __init__(self, kind: str, fault: Exception | None = None) -> None:
        self._kind, self._fault = kind, fault or AuditError("/var/audit.jsonl", "disk full")

    def append(self, event: AuditEvent) -> AuditRecord:
        if event.kind == self._kind:
            raise self._fault
        return AuditRecord(sequence=1, at="", kind="", session_id=None, call_id=None, data={}, previous=None, hash="")


@pytest.mark.parametrize("fault", [None, ConnectionError("secret")])
async def test_a_call_whose_start_cannot_be_recorded_is_not_run(fault: Exception | None) -> None:
    tool = Act()
    result = await ToolExecutor([tool], audit=Failing("tool.started", fault)).call(call())
    assert tool.runs == 0
    assert result.error_detail is not None
    assert result.error_detail["code"] == "unavailable"
    assert str(result.error).endswith("The tool was not run, because every call must be recorded first.")
    assert "secret" not in str(result.error)


async def test_a_result_whose_end_cannot_be_recorded_is_withheld_and_says_that_the_tool_ran() -> None:
    tool = Act()
    result = await ToolExecutor([tool], audit=Failing("tool.finished")).call(call())
    assert tool.runs == 1
    assert (result.success, result.result) == (False, None)
    assert result.error_detail is not None
    assert result.error_detail["code"] == "unavailable"
    assert "disk full. The tool did run" in str(result.error)


async def test_a_failure_whose_end_cannot_be_recorded_keeps_its_own_code() -> None:
    async def fail() -> dict[str, object]:
        raise SkillNotFoundError("pdf")

    result = await ToolExecutor([Act(fail)], audit=Failing("tool.finished")).call(call())
    assert result.error_detail is not None
    assert result.error_detail["code"] == "skill_not_found"
    assert "This could not be recorded" in str(result.error)


async def test_a_refusal_that_cannot_be_recorded_stays_one_and_says_so() -> None:
    result = await ToolExecutor([Act()], audit=Failing("tool.refused")).call(call(path=1))
    assert result.error_detail is not None
    assert result.error_detail["code"] == "invalid_arguments"
    assert "could not be recorded: audit log /var/audit.jsonl: disk full" in str(result.error)


async def test_without_a_log_nothing_is_recorded_and_nothing_refused() -> None:
    async def wait() -> dict[str, object]:
        await anyio.sleep(30)
        return {}

    tool = Act()
    executor = ToolExecutor([tool])
    assert (await executor.call(call(env={"A": "b"}))).success
    assert not (await executor.call(call(path=1))).success
    with anyio.move_on_after(0.01) as scope:
        await ToolExecutor([Act(wait)]).call(call())
    assert scope.cancelled_caught
    assert tool.runs == 1


async def test_a_log_that_is_open_to_others_shuts_the_door(log: JsonlAuditLog) -> None:
    tool = Act()
    executor = ToolExecutor([tool], audit=log)
    assert (await executor.call(call())).success
    os.chmod(log.path, 0o644)
    assert not (await executor.call(call())).success
    assert tool.runs == 1


# ── many at once ─────────────────────────────────────────────────────────────────────────────────────────


async def test_fifty_tasks_leave_two_records_a_call_in_order(log: JsonlAuditLog) -> None:
    async def pause() -> dict[str, object]:
        await anyio.sleep(0.001)
        return {}

    executor = ToolExecutor([Act(pause)], audit=log)

    async def work(number: int) -> None:
        for turn in range(4):
            assert (await executor.call(call(f"{number}.{turn}"))).success

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(work, number)
    found: dict[str | None, list[str]] = {}
    for record in records(log):
        found.setdefault(record.call_id, []).append(record.kind)
    assert len(found) == 200
    assert all(kinds == ["tool.started", "tool.finished"] for kinds in found.values())
    assert verify_log(log.path).ok


@pytest.mark.parametrize("call_id", ["\ud800", "i" * 4 * 1024 * 1024, "a\x1b[31m\n", "\U000e0041", ""])
async def test_an_identifier_is_the_same_in_every_record_and_always_fits(log: JsonlAuditLog, call_id: str) -> None:
    class Recording(Act):
        async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
            log.append(AuditEvent(kind="test.acted", call_id=call.id))
            return {"id": call.id}

    result = await ToolExecutor([Recording()], audit=log).call(call(call_id))

    identifier = str(result.unwrap()["id"])
    assert [record.kind for record in records(log)] == ["tool.started", "test.acted", "tool.finished"]
    assert {record.call_id for record in records(log)} == {identifier}
    assert len(identifier) <= 81
    assert identifier.isprintable()


@pytest.mark.parametrize("end_too", [False, True])
async def test_a_record_of_the_tool_that_fails_does_not_hide_that_it_ran(*, end_too: bool) -> None:
    kept = Failing("tool.finished") if end_too else None

    async def act() -> dict[str, object]:
        raise AuditError("/var/audit.jsonl", "disk full")

    tool = Act(act)
    result = await ToolExecutor([tool], audit=kept).call(call())

    assert tool.runs == 1
    assert result.error_detail is not None
    assert result.error_detail["code"] == "unavailable"
    assert "disk full. The tool did run" in str(result.error)
    assert str(result.error).count("could not be recorded") == (1 if end_too else 0)
