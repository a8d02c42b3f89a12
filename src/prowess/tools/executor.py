"""The one door that every tool call goes through.

A call is resolved, measured, checked against the schema, shown to the gates, recorded as started, run, and recorded
as finished. Each step may end the call; what it says is a result, never an exception. A call leaves `tool.refused`,
or `tool.started` and `tool.finished`, in the audit log, whatever happens:

- where `tool.started` cannot be written, the tool does not run (`unavailable`);
- where `tool.finished` cannot be written, the result is withheld: the call fails with `unavailable` and says that the
  tool did run, so that neither a model nor a person takes it for untried;
- a call that is cancelled is recorded as finished with the outcome `cancelled`, then the cancellation goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from types import coroutine
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import checkpoint

from prowess._internal.canonical_json import MAX_DEPTH, NotJsonError, TooDeepError, TooLargeError, canonical_json
from prowess.errors import AuditError, InvalidArgumentsError, LimitExceededError, SkillError, ToolNotFoundError
from prowess.tools.call import ToolCall
from prowess.tools.door import Passage
from prowess.tools.gates import Refuse
from prowess.tools.json_values import NotJsonValueError, require_finite
from prowess.tools.names import spelling_table
from prowess.tools.repeated_failure import RepeatedFailure
from prowess.tools.result import ToolResult
from prowess.tools.trail import Trail, shortened
from prowess.tools.validation import require_fitting
from prowess.tools.way import Way

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence

    from prowess.policy.audit_event import AuditLog
    from prowess.tools.gates import Gate
    from prowess.tools.spec import Tool, ToolSpec
    from prowess.tools.usage import Usage
    from prowess.tools.witness import CallWitness, Outcome

MAX_ARGUMENT_BYTES = 1024 * 1024  # of canonical JSON


class ToolExecutor:
    """Runs calls of its tools, for one session.

    `clock` gives nanoseconds that never go back; `witness` is told what becomes of each call. Calls may overlap;
    `call_all` keeps the order of a message.

    Raises:
        ValueError: two tools share a name or a spelling.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        audit: AuditLog | None = None,
        gates: Sequence[Gate] = (),
        session_id: str | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
        witness: CallWitness | None = None,
    ) -> None:
        self._audit, self._gates, self._session_id, self._clock = audit, tuple(gates), session_id, clock
        self._ways: dict[str, Way] = {}
        self._spellings: dict[str, str] = {}
        self._register(tools)
        self._failures = RepeatedFailure()
        self._witness = witness

    def add(self, *tools: Tool) -> None:
        """Offer more tools from the next call on.

        Raises:
            ValueError: two tools would share a name or a spelling; then none is added.
        """
        self._register((*(way.tool for way in self._ways.values()), *tools))

    def remove(self, name: str) -> None:
        """Take a tool away, under its canonical name; ToolNotFoundError where there is none. Running calls end."""
        if name not in self._ways:
            raise ToolNotFoundError(name[:80])
        self._register(way.tool for known, way in self._ways.items() if known != name)

    def _register(self, tools: Iterable[Tool]) -> None:
        listed = tuple(tools)
        names = [tool.spec.name for tool in listed]
        self._spellings = spelling_table(names, {tool.spec.name: tool.spec.aliases for tool in listed})
        self._ways = {name: Way(tool, self._gates) for name, tool in zip(names, listed, strict=True)}

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return what is offered, in the order of registration."""
        return tuple(way.tool.spec for way in self._ways.values())

    def resolve(self, name: str) -> Tool:
        """Return the tool that answers to this spelling.

        Raises:
            ToolNotFoundError: with the names that may have been meant.
        """
        return self._way(name).tool

    def _way(self, name: str) -> Way:
        if name in self._spellings:
            canonical = self._spellings[name]
            way = self._ways[canonical] = self._ways[canonical].renewed()
            return way
        # Imported here, not at the top: only a wrong name pays for it.
        from difflib import get_close_matches

        near = get_close_matches(name[:80], list(self._spellings), n=3)
        raise ToolNotFoundError(name[:80], tuple(dict.fromkeys(self._spellings[spelling] for spelling in near)))

    async def call_all(self, calls: Iterable[ToolCall]) -> list[ToolResult]:
        """Run the calls of one message one after another; the results stand in the order of the calls."""
        return [await self.call(call) for call in calls]

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call and return its result; only cancellation raises. Its arguments must not change meanwhile."""
        begun = self._clock()
        # Once and here: every record of the call, those of the tool too, has the same identifier, and one that fits.
        if (short := shortened(call.id)) != call.id:
            call = replace(call, id=short)
        trail = Trail(self._audit, call, self._session_id)
        measured: bytes | None = None
        try:
            measured = _canonical(call.arguments)
            trail.measure(call.arguments, measured)
            # The one place where every call lets other tasks run and can be cancelled: what follows may never wait.
            await _give_way()
            way = self._way(call.name)
            trail.tool = way.spec.name
            ready = ToolCall(id=call.id, name=trail.tool, arguments=_fitting(call, way))
            trail.allowed_by = way.allowed_by
            if way.gates:
                await self._pass_gates(ready, way, trail)
        except SkillError as error:
            trail.tool = trail.tool or shortened(call.name)
            remark = await _record_refusal(trail, error)
            await self._tell_refused(trail, call.id, error.code)
            result = ToolResult.failed(error, duration_ms=self._since(begun), remark=remark)
        except BaseException:
            trail.tool = trail.tool or shortened(call.name)
            await trail.cancelled(self._since(begun))
            await self._tell_refused(trail, call.id, "cancelled")
            raise
        else:
            result = await self._run(way, ready, trail, begun)
        if result.success and self._failures.is_empty:
            return result
        return self._failures.remark(trail.tool, measured or _canonical_or_none(call.arguments), result)

    @staticmethod
    async def _pass_gates(call: ToolCall, way: Way, trail: Trail) -> None:
        for gate in way.gates:
            try:
                decision = await gate.check(call, way.spec)
            except SkillError:
                raise
            except Exception as fault:  # a gate that fails stays shut, whatever went wrong in it
                raise _defect(f"a gate before tool {call.name!r}", fault) from fault
            if isinstance(decision, Refuse):
                trail.rule, trail.skill = decision.rule, decision.skill
                raise decision.error
            if decision.by is not None:
                trail.allowed_by = decision.by

    async def _run(self, way: Way, call: ToolCall, trail: Trail, begun: int) -> ToolResult:
        opened, witness, told = Passage(way.tool, call), self._witness, False
        try:
            if self._audit is not None:
                await trail.started()
            if witness is not None and witness.wanted:
                told = True
                await witness.started(call)
            outcome: Any = await _attempt(opened, is_finite=way.is_finite)
        except AuditError as error:  # from the trail alone: an attempt returns its errors
            await self._tell_refused(trail, call.id, error.code)
            return ToolResult.failed(error, duration_ms=self._since(begun), remark=_NOT_RUN)
        except BaseException:
            await trail.cancelled(self._since(begun))
            if told:
                await self._tell_finished(call, "cancelled", "cancelled", begun)
            else:
                await self._tell_refused(trail, call.id, "cancelled")
            raise
        duration_ms, usage = (self._clock() - begun) // 1_000_000, opened.usage
        failure = outcome if isinstance(outcome, SkillError) else None
        # A record of the tool's own that could not be written: what went before it has happened.
        remarks = [_RUN_BUT_NOT_ALL_RECORDED] if isinstance(failure, AuditError) else []
        if self._audit is not None:
            code, approved_by = None if failure is None else failure.code, None if usage is None else usage.approved_by
            try:
                await trail.finished(duration_ms, code, approved_by)
            except AuditError as error:
                remarks.append(_RUN_BUT_NOT_RECORDED if failure is None else _unrecorded(error))
                failure = error if failure is None else failure
        if failure is not None:
            await self._tell_finished(call, "failure", failure.code, begun)
            remark = " ".join(remarks) or None
            return _with_usage(ToolResult.failed(failure, duration_ms=duration_ms, remark=remark), usage)
        value: Mapping[str, object] = outcome
        if witness is not None and witness.wanted:
            await self._tell_finished(call, "success", None, begun, value)
        result = ToolResult(success=True, result=value, duration_ms=duration_ms)
        return result if usage is None else _with_usage(result, usage)

    async def _tell_finished(
        self,
        call: ToolCall,
        outcome: Outcome,
        code: str | None,
        begun: int,
        result: Mapping[str, object] | None = None,
    ) -> None:
        if self._witness is not None and self._witness.wanted:
            with anyio.CancelScope(shield=True):  # whoever heard of a beginning hears of the end
                await self._witness.finished(call, outcome, code, self._since(begun), result)

    async def _tell_refused(self, trail: Trail, call_id: str, code: str) -> None:
        if self._witness is not None and self._witness.wanted:
            with anyio.CancelScope(shield=True):
                await self._witness.refused(trail.tool, call_id, code, trail.rule, trail.skill)

    def _since(self, begun: int) -> int:
        return (self._clock() - begun) // 1_000_000


_NOT_RUN = "The tool was not run, because every call must be recorded first."
_RUN_BUT_NOT_RECORDED = (
    "The tool did run, but its end could not be recorded, so its result is withheld; "
    "do not repeat the call until the log works again."
)
_RUN_BUT_NOT_ALL_RECORDED = (
    "The tool did run, but not all that it did could be recorded, so its result is withheld; "
    "do not repeat the call until the log works again."
)


def _give_way() -> Awaitable[None]:
    """Return what to await for a checkpoint: a turn of the loop for the others, in which a call can be cancelled.

    anyio asks each time which library runs. Where trio was never imported it is asyncio, which gives a turn to the
    others whenever a task yields nothing, and that is a third cheaper.
    """
    return checkpoint() if "trio" in sys.modules else _turn()


@coroutine
def _turn() -> Generator[None, None, None]:
    yield


def _fitting(call: ToolCall, way: Way) -> dict[str, object]:
    if call.unreadable is not None:
        raise InvalidArgumentsError((call.unreadable,))
    return require_fitting(call.arguments, way.spec.input_schema)


async def _attempt(opened: Passage, *, is_finite: bool) -> Mapping[str, object] | SkillError:
    call = opened.call
    try:
        with opened:
            # A copy, because a tool may change what it is given.
            value: object = await opened.tool.run(dict(call.arguments), call)
    except SkillError as error:
        return error
    except Exception as fault:  # noqa: BLE001 -- the door answers for every tool behind it
        return _defect(f"tool {call.name!r}", fault)
    if type(value) is not dict and not isinstance(value, Mapping):
        return _defect(f"tool {call.name!r}", TypeError("result is not a mapping"))
    if is_finite:
        return value
    try:
        require_finite(value, "the result")  # every way out of here is JSON, or the shape of a provider
    except NotJsonValueError as error:
        return error
    return value


def _with_usage(result: ToolResult, usage: Usage | None) -> ToolResult:
    if usage is None or usage.is_empty:
        return result
    return replace(
        result,
        tokens_used=usage.tokens,
        cost_usd=usage.cost_usd,
        cached=usage.cached,
        retry_count=usage.retry_count,
    )


async def _record_refusal(trail: Trail, error: SkillError) -> str | None:
    try:
        await trail.refused(error.code)
    except AuditError as fault:
        return _unrecorded(fault)
    return None


def _unrecorded(fault: AuditError) -> str:
    return f"This could not be recorded: {fault}."


def _defect(what: str, fault: Exception) -> SkillError:
    """Return an error with code `internal`. The exception is its cause, for the host; its text may hold anything."""
    error = SkillError(f"{what} failed inside ({type(fault).__name__}); that is a defect of the tool, not of the call")
    error.__cause__ = fault
    return error


def _canonical_or_none(arguments: object) -> bytes | None:
    try:
        return _canonical(arguments)
    except SkillError:
        return None


def _canonical(arguments: object) -> bytes:
    try:
        return canonical_json(arguments, max_bytes=MAX_ARGUMENT_BYTES)
    except NotJsonError as fault:
        raise InvalidArgumentsError((f"Arguments are not JSON: {fault}",)) from None
    except TooDeepError:
        raise LimitExceededError("levels of the arguments", MAX_DEPTH, None, "nest less") from None
    except TooLargeError:
        advice = "pass less, or write it to a file and pass its path"
        raise LimitExceededError("bytes of the arguments", MAX_ARGUMENT_BYTES, None, advice) from None
