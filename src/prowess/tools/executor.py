"""The executor that every tool call goes through.

A call passes these steps: resolve the name, measure the arguments, check them against the schema, ask the gates, record
the start, run the tool, record the end. Each step may end the call. The outcome is always a result, never an exception.
Every call leaves `tool.refused`, or `tool.started` and `tool.finished`, in the audit log:

- If `tool.started` cannot be written, the tool does not run (`unavailable`).
- If `tool.finished` cannot be written, the result is withheld. The call fails with `unavailable`, and the message
  states that the tool did run, so that no model or person believes that the tool did not run.
- A cancelled call is recorded as finished with the outcome `cancelled`; then the cancellation continues.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import anyio
from msgspec.structs import replace

from prowess._internal.schema_subset import require_fitting
from prowess._internal.text.canonical_json import NotJsonError, canonical_json, sha256_of
from prowess._internal.text.near_words import near_words
from prowess.errors import ApprovalRequiredError, AuditError, InvalidArgumentsError, SkillError, ToolNotFoundError
from prowess.tools.call_audit import AuditRecorder, CallAudit, matched_facts, shortened, skill_facts
from prowess.tools.functions.json_values import NotJsonValueError, require_finite
from prowess.tools.gates import Refuse
from prowess.tools.result import ToolResult, followed_by
from prowess.tools.running_call import RunningCall
from prowess.tools.script_audit import RUN_TOOL, command_facts, command_of
from prowess.tools.spec import ToolCall, spelling_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from prowess.audit.record import AuditLog
    from prowess.policy.policy_in_force import PolicyInForce
    from prowess.tools.call_audit import CallObserver, Outcome
    from prowess.tools.gates import Gate, Proceed
    from prowess.tools.running_call import Usage
    from prowess.tools.spec import Tool, ToolSpec

    Complete = Callable[[ToolCall], Awaitable[ToolCall]]

MAX_ARGUMENT_BYTES = 1024 * 1024  # of canonical JSON
REPEATED = "This same call failed before; do not repeat it unchanged."
_MAX_REMEMBERED = 256


class ToolExecutor:
    """Runs tool calls for one session.

    `clock` returns monotonic nanoseconds. `observer` is notified of each call. `policy` is read once for each call.
    `complete` fills in arguments that a call leaves to the session; gates and tool then see equal arguments. Calls may
    overlap; `call_all` runs the calls of one message in their order.

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
        observer: CallObserver | None = None,
        policy: PolicyInForce | None = None,
        complete: Complete | None = None,
    ) -> None:
        self._recorder = AuditRecorder(audit, session_id)
        self._gates, self._clock = tuple(gates), clock
        self._policy, self._complete = policy, complete
        self._tools: dict[str, Tool] = {}
        self._spellings: dict[str, str] = {}
        self._register(tools)
        self._failures = _FailedCalls()
        self._observer = observer

    def add(self, *tools: Tool) -> None:
        """Add tools, available from the next call on. Raise ValueError and add none if two would share a spelling."""
        self._register((*self._tools.values(), *tools))

    def remove(self, name: str) -> None:
        """Remove a tool by its canonical name, or raise ToolNotFoundError. Running calls continue."""
        if name not in self._tools:
            raise ToolNotFoundError(name[:80])
        self._register(tool for known, tool in self._tools.items() if known != name)

    def _register(self, tools: Iterable[Tool]) -> None:
        listed = tuple(tools)
        names = [tool.spec.name for tool in listed]
        self._spellings = spelling_table(names, {tool.spec.name: tool.spec.aliases for tool in listed})
        self._tools = dict(zip(names, listed, strict=True))

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the specifications of the tools, in the order of registration."""
        return tuple(tool.spec for tool in self._tools.values())

    def resolve(self, name: str) -> Tool:
        """Return the tool with this name, in any accepted spelling. Raise ToolNotFoundError with similar names."""
        if name in self._spellings:
            return self._tools[self._spellings[name]]
        near = near_words(name[:80], self._spellings, most=3)
        raise ToolNotFoundError(name[:80], tuple(dict.fromkeys(self._spellings[spelling] for spelling in near)))

    async def call_all(self, calls: Iterable[ToolCall]) -> list[ToolResult]:
        """Run the calls of one message one after another. The results are in the order of the calls."""
        return [await self.call(call) for call in calls]

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call and return its result. Only cancellation raises. Do not change the arguments during the call."""
        with nullcontext() if self._policy is None else self._policy.during_call() as policy:
            return await self._call(call, None if policy is None else policy.recorded_version)

    async def _call(self, call: ToolCall, policy_version: str | None) -> ToolResult:
        begun = self._clock()
        # Shorten the id once, here, so that every record of the call, also by the tool, has the same valid id.
        if (short := shortened(call.id)) != call.id:
            call = replace(call, id=short)
        audit = CallAudit(self._recorder, call.id, policy_version)
        audit.call["trigger"] = call.trigger
        measured: bytes | None = None
        try:
            measured = _canonical(call.arguments)
            audit.measure(call.arguments, measured)
            # The only checkpoint that every call passes: other tasks run, and the call can be cancelled. The steps
            # after it may complete without waiting.
            await anyio.sleep(0)  # noqa: ASYNC115 -- `checkpoint` does the same, but its module imports dataclasses
            tool = self.resolve(call.name)
            spec = tool.spec
            audit.tool = spec.name
            given = ToolCall(
                id=call.id, name=spec.name, arguments=_fitting(call, spec), called=call.name, trigger=call.trigger
            )
            ready = await self._pass_gates(await self._completed(given, audit), spec, audit)
        except SkillError as error:
            audit.tool = audit.tool or shortened(call.name)
            remark = None
            try:
                await audit.refused(error.code)
            except AuditError as fault:
                remark = _unrecorded(fault)
            await self._tell_refused(audit, call.id, error.code)
            result = ToolResult.failed(error, duration_ms=self._since(begun), remark=remark, called=call.name)
        except BaseException:
            audit.tool = audit.tool or shortened(call.name)
            await audit.cancelled(self._since(begun))
            await self._tell_refused(audit, call.id, "cancelled")
            raise
        else:
            result = await self._run(tool, ready, audit, begun)
        return self._failures.remark(audit.tool, measured, result)

    async def _completed(self, call: ToolCall, audit: CallAudit) -> ToolCall:
        ready = call if self._complete is None else await self._complete(call)
        if self._recorder.has_log:
            audit.about = skill_facts(ready)
            audit.decided(matched_facts(ready))
            if call.name == RUN_TOOL:
                keeps = self._policy is not None and self._policy.now().audit_command == "kept"
                given = ready.arguments.get("env")
                values = [one for one in given.values() if isinstance(one, str)] if isinstance(given, dict) else []
                audit.decided(command_facts(command_of(ready.arguments), kept=keeps, known=values))
        return ready

    async def _pass_gates(self, call: ToolCall, spec: ToolSpec, audit: CallAudit) -> ToolCall:
        """Return the call that may run. If a gate changes the arguments, all earlier gates check the new arguments."""
        for place, gate in enumerate(self._gates):
            decision = await _passed(gate, call, spec, audit)
            if decision.by is not None:
                audit.allowed_by = decision.by
            if decision.arguments is not None:
                changed = replace(call, arguments=decision.arguments)
                audit.measure(changed.arguments, _canonical(changed.arguments))
                call = await self._completed(replace(changed, arguments=_fitting(changed, spec)), audit)
                for earlier in self._gates[:place]:
                    again = await _passed(earlier, call, spec, audit)
                    _require_agreement(again, call, spec)
                    spec = _asking(spec, again)
            spec = _asking(spec, decision)
        return call

    async def _run(self, tool: Tool, call: ToolCall, audit: CallAudit, begun: int) -> ToolResult:
        running, observer, told = RunningCall(tool, call, audit.facts), self._observer, False
        try:
            await audit.started()
            if observer is not None and observer.wanted:
                told = True
                await observer.started(call)
            outcome: Any = await _attempt(running)
        except AuditError as error:  # always the audit log's: `_attempt` returns those of the tool
            await self._tell_refused(audit, call.id, error.code)
            return ToolResult.failed(error, duration_ms=self._since(begun), remark=_NOT_RUN, called=call.called)
        except BaseException:
            await audit.cancelled(self._since(begun))
            if told:
                await self._tell_finished(call, "cancelled", "cancelled", begun)
            else:
                await self._tell_refused(audit, call.id, "cancelled")
            raise
        duration_ms, usage = self._since(begun), running.usage
        failure = outcome if isinstance(outcome, SkillError) else None
        # The tool raises AuditError if one of its own records was not written. Its earlier effects have happened.
        remarks = [_RUN_BUT_NOT_ALL_RECORDED] if isinstance(failure, AuditError) else []
        try:
            code = None if failure is None else failure.code
            await audit.finished(duration_ms, code, usage.approved_by, usage.tokens)
        except AuditError as error:
            remarks.append(_RUN_BUT_NOT_RECORDED if failure is None else _unrecorded(error))
            failure = error if failure is None else failure
        if failure is not None:
            await self._tell_finished(call, "failure", failure.code, begun)
            remark = " ".join(remarks) or None
            failed = ToolResult.failed(failure, duration_ms=duration_ms, remark=remark, called=call.called)
            return _with_usage(failed, usage)
        value: Mapping[str, object] = outcome
        if observer is not None and observer.wanted:
            await self._tell_finished(call, "success", None, begun, value)
        return _with_usage(ToolResult(success=True, result=value, duration_ms=duration_ms), usage)

    async def _tell_finished(
        self,
        call: ToolCall,
        outcome: Outcome,
        code: str | None,
        begun: int,
        result: Mapping[str, object] | None = None,
    ) -> None:
        if self._observer is not None and self._observer.wanted:
            with anyio.CancelScope(shield=True):  # an observer that was told of the start is also told of the end
                await self._observer.finished(call, outcome, code, self._since(begun), result)

    async def _tell_refused(self, audit: CallAudit, call_id: str, code: str) -> None:
        if self._observer is not None and self._observer.wanted:
            with anyio.CancelScope(shield=True):
                await self._observer.refused(audit.tool, call_id, code, audit.rule, audit.skill)

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


def _asking(spec: ToolSpec, decision: Proceed) -> ToolSpec:
    """Return the specification of a call with the reasons for which a gate wants a person to be asked."""
    if decision.asks is None:
        return spec
    told = () if spec.needs_approval is None else (spec.needs_approval,)
    if decision.asks in "; ".join(told).split("; "):
        return spec  # the gate checked the call twice
    return replace(spec, needs_approval="; ".join([*told, decision.asks]))


def _require_agreement(again: Proceed, call: ToolCall, spec: ToolSpec) -> None:
    """Require that a gate that checks changed arguments leaves them as they are: its change would be lost."""
    if again.arguments is None:
        return
    wanted = _fitting(replace(call, arguments=again.arguments), spec)
    if _canonical(wanted) != _canonical(call.arguments):
        raise InvalidArgumentsError(("two gates do not agree about the arguments, so the tool was not run",))


async def _passed(gate: Gate, call: ToolCall, spec: ToolSpec, audit: CallAudit) -> Proceed:
    try:
        decision = await gate.check(call, spec)
    except SkillError:
        raise
    except Exception as fault:  # a gate that fails refuses the call, whatever the error
        raise _defect(f"a gate before tool {call.name!r}", fault) from fault
    if decision.monitored:
        audit.decided(decision.monitored)
    known = {"rule": decision.rule, "approval": decision.approval}
    audit.call.update({key: shortened(value) for key, value in known.items() if value is not None})
    if isinstance(decision, Refuse):
        audit.rule, audit.skill = decision.rule, decision.skill
        raise decision.error
    return decision


def _fitting(call: ToolCall, spec: ToolSpec) -> dict[str, object]:
    if call.unreadable is not None:
        raise InvalidArgumentsError((call.unreadable,))
    return require_fitting(call.arguments, spec.input_schema)


async def _attempt(running: RunningCall) -> Mapping[str, object] | SkillError:
    call = running.call
    try:
        with running:
            value: object = await running.tool.run(dict(call.arguments), call)  # copied: a tool may change them
    except SkillError as error:
        return error
    except Exception as fault:  # noqa: BLE001 -- the executor turns every failure of a tool into a result
        return _defect(f"tool {call.name!r}", fault)
    if not isinstance(value, Mapping):
        return _defect(f"tool {call.name!r}", TypeError("result is not a mapping"))
    try:
        require_finite(value, "the result")  # every result is returned as JSON or in the format of a provider
    except NotJsonValueError as error:
        return error
    return value


def _with_usage(result: ToolResult, usage: Usage) -> ToolResult:
    if usage.is_empty:
        return result
    return replace(
        result,
        tokens_used=usage.tokens,
        cost_usd=usage.cost_usd,
        cached=usage.cached,
        retry_count=usage.retry_count,
    )


def _unrecorded(fault: AuditError) -> str:
    return f"This could not be recorded: {fault}."


def _defect(what: str, fault: Exception) -> SkillError:
    """Return an error with code `internal` for the exception of a tool or a gate. `fault` becomes its `__cause__`.

    The message has only the type of the exception, because its text may contain any data.
    """
    error = SkillError(f"{what} failed inside ({type(fault).__name__}); that is a defect of the tool, not of the call")
    error.__cause__ = fault
    return error


def _canonical(arguments: object) -> bytes:
    try:
        return canonical_json(arguments, what="the arguments", max_bytes=MAX_ARGUMENT_BYTES)
    except NotJsonError as fault:
        raise InvalidArgumentsError((f"Arguments are not JSON: {fault}",)) from None


class _FailedCalls:
    """Remembers failed calls. If an equal call fails again, its result states that the call failed before.

    A model that gets one message twice tends to try a third time. Two calls are equal if the tool and the canonical
    arguments are equal. A success removes the call from the memory.
    """

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str | None], None] = {}  # a dict, because it keeps the insertion order

    def remark(self, tool: str, arguments: bytes | None, result: ToolResult) -> ToolResult:
        """Return `result`, with a remark if a call with equal tool and canonical arguments has failed before."""
        if (result.success and not self._failed) or isinstance(result.cause, ApprovalRequiredError):
            return result  # a call that waits for an approval must be sent again
        key = (tool, None if arguments is None else sha256_of(arguments))
        known = key in self._failed
        self._failed.pop(key, None)
        if result.success:
            return result
        self._failed[key] = None
        if len(self._failed) > _MAX_REMEMBERED:
            del self._failed[next(iter(self._failed))]
        if not known:
            return result
        text = followed_by(result.error or "", REPEATED)
        return replace(result, error=text, error_detail={**(result.error_detail or {}), "message": text})
