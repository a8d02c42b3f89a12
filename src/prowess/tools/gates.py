"""Gates decide whether a valid call may run: policy, restriction, hooks, approval. The first refusal ends the call.

A gate receives the canonical tool name and structured arguments, never rendered text. No gate can overrule the refusal
of another gate.

The gates of every session run in this order: policy, restriction, hooks of skills, approval. The policy gate refuses
calls that the policy denies. If the policy asks about a call, the call passes the policy gate, and the approval gate
asks. The restriction gate refuses calls that the active skills do not allow. It reads the active skills at each call,
from the state of the session that makes the call. So a restriction holds from activation to the end of the skill, and
in no other session.

The approval gate runs last: if the policy or a hook asks, a person must approve the call. It decides again instead of
receiving the decisions of the earlier gates, because deciding is pure and cheap, and the active skills may have
changed. The pre-approval of a skill is enough if the policy asks by default. The pre-approval is not enough if a rule
or a hook asks, or if the host marked the tool (`ToolSpec.needs_approval`). Each answer is recorded, with the approver,
before it takes effect; if recording fails, the call is refused. An approver is a person at the terminal, the host's own
code, or `NoApprover`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TextIO

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.process_user import login
from prowess._internal.text.terminal_text import printable, printable_line
from prowess.audit.caller import Caller
from prowess.errors import (
    ApprovalRequiredError,
    AuditError,
    InvalidArgumentsError,
    PolicyDeniedError,
    PolicyError,
    SkillError,
    ToolNotAllowedError,
)
from prowess.policy import decision as policy_decision
from prowess.policy.approval import Approval, ApprovalMemory, ApprovalRequest, Refusal, Unanswered
from prowess.policy.decision import Ask, Deny, denial_of, rule_of, strictest, would_be
from prowess.policy.restriction import Restriction, decide
from prowess.policy.rule import PolicyCall
from prowess.policy.tool_names import SKILL_TOOLS, canonical_tool_name
from prowess.tools.call_audit import shortened, skill_facts

if TYPE_CHECKING:
    from prowess.policy.approval import Answer, Approver
    from prowess.policy.decision import Decision
    from prowess.policy.policy import PolicySource
    from prowess.tools.spec import ToolCall, ToolSpec

    Record = Callable[[str, str, Mapping[str, object]], Awaitable[None]]
    Approve = Callable[[ApprovalRequest], object]  # returns an Answer, a bool, or an awaitable of one


class Proceed(Struct, frozen=True, kw_only=True):
    """This gate does not object to the call.

    `by` names the rule, person or skill that permits the call. `by` is recorded, so it must not quote arguments.
    `arguments` replace the arguments of the call: they are validated, and the earlier gates check them again. `asks` is
    a reason to ask a person first, even if the policy permits the call. `rule` is the rule of the policy that decided,
    `approval` the id of the request that a person answered. `monitored` is recorded with the call: the rules that would
    have refused it if they were enforced.
    """

    by: str | None = None
    rule: str | None = None
    approval: str | None = None
    arguments: Mapping[str, object] | None = None
    asks: str | None = None
    monitored: Mapping[str, object] = MappingProxyType({})


PROCEED = Proceed()  # shared, because all are equal and every call passes several gates


class Refuse(Struct, frozen=True, kw_only=True):
    """The call is not run and fails with `error`. `rule` and `skill` are recorded, so they must not quote arguments."""

    error: SkillError
    rule: str | None = None
    skill: str | None = None
    approval: str | None = None
    monitored: Mapping[str, object] = MappingProxyType({})


ActiveRestrictions = Callable[[], Awaitable[Sequence[Restriction]]]  # called at each tool call


class Gate(Protocol):
    """Decides about one call. If a gate raises an exception, the call is refused."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Return the decision about the call."""


def policy_call(call: ToolCall, spec: ToolSpec) -> PolicyCall:
    """Return a call as a policy sees it, with the names of the arguments that its tool accepts."""
    properties = spec.input_schema.get("properties")
    closed = spec.input_schema.get("additionalProperties") is False and isinstance(properties, Mapping)
    accepts = frozenset(map(str, properties)) if closed and isinstance(properties, Mapping) else None
    return PolicyCall(tool=call.name, arguments=call.arguments, accepts=accepts, skills=call.skills)


APPROVAL = "approval"


class ApprovalGate:
    """Asks `approver` if the policy, a skill or the tool requires approval of a call.

    Answers for the session are reused while `memory` exists. `record` logs a kind, the id of the call, and data.
    `typed_by` is the person who typed the command that makes the calls. This answers the questions of a default, and
    not those of a rule.
    """

    def __init__(
        self,
        policy: PolicySource,
        active: ActiveRestrictions,
        approver: Approver,
        memory: ApprovalMemory,
        *,
        session_id: str | None = None,
        workspace: str | None = None,
        record: Record | None = None,
        typed_by: str | None = None,
    ) -> None:
        self._policy, self._active, self._approver, self._memory = policy, active, approver, memory
        self._typed_by = typed_by
        self._session_id, self._workspace = session_id, workspace
        self._record = record
        self._asking: dict[str, anyio.Event] = {}

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse a call that needs an approval and has none."""
        active: Sequence[Restriction] | None = None
        decision = self._decide(call, spec)
        if canonical_tool_name(call.name) not in SKILL_TOOLS:
            active = await self._active()
            if any(item.mode == "ask" for item in active):
                by_skills = decide(call.name, call.arguments, active, self._workspace)
                decision = strictest((decision, by_skills)) if isinstance(by_skills, Ask) else decision
        if isinstance(decision, Deny):  # only if this gate is used without the policy gate before it
            return Refuse(error=denial_of(decision, call.name), rule=rule_of(decision))
        if isinstance(decision, policy_decision.Allow):
            return PROCEED
        active = await self._active() if active is None else active
        rule = rule_of(decision)
        if decision.by_default and self._typed_by is not None:
            return Proceed(by=self._typed_by, rule=rule)
        if decision.by_default and (skill := self._preapproved_by(call, active)) is not None:
            return Proceed(by=f"allowed-tools of skill {skill!r}", rule=rule)
        request = ApprovalRequest(
            tool=call.name,
            arguments=call.arguments,
            reason=decision.reason,
            skills=tuple(item.digest for item in active if item.digest is not None),
            session_id=self._session_id,
        )
        answer, remembered = await self._ask(request)
        if isinstance(answer, Unanswered):
            return Refuse(
                error=ApprovalRequiredError(call.name, request.id, decision.reason, answer.instead),
                rule=rule,
                skill=decision.skill,
                approval=request.id,
            )
        by = shortened(answer.by or "unknown")
        said: dict[str, object] = {
            "tool": call.name,
            "request": request.id,
            "rule": shortened(rule),
            "approval": request.id,
            "trigger": call.trigger,
            "by": by,
            "policy_version": self._policy.now().recorded_version,
            **skill_facts(call),
        }
        if isinstance(answer, Refusal):
            await self._note("approval.refused", call, {**said, "remembered": remembered})
            return Refuse(error=PolicyDeniedError(APPROVAL, answer.reason), rule=APPROVAL, approval=request.id)
        await self._note("approval.given", call, {**said, "scope": answer.scope, "remembered": remembered})
        return Proceed(by=by, rule=rule, approval=request.id)

    def _decide(self, call: ToolCall, spec: ToolSpec) -> Decision:
        decision = self._policy.now().decide(policy_call(call, spec), self._workspace)
        if spec.needs_approval is None:
            return decision
        return strictest((decision, Ask(rule="needs-approval", reason=spec.needs_approval)))

    def _preapproved_by(self, call: ToolCall, active: Sequence[Restriction]) -> str | None:
        listed = decide(call.name, call.arguments, active, self._workspace)
        return listed.preapproved_by if isinstance(listed, policy_decision.Allow) else None

    async def _note(self, kind: str, call: ToolCall, data: Mapping[str, object]) -> None:
        if self._record is not None:
            await self._record(kind, call.id, data)

    async def _ask(self, request: ApprovalRequest) -> tuple[Answer, bool]:
        """Return the answer, and whether the answer was remembered from an earlier request."""
        # If a parallel call makes the same request, it waits for the first answer instead of asking again.
        while request.id in self._asking:
            await self._asking[request.id].wait()
        if (known := self._memory.ask(request)) is not None:
            return known, True
        answered = self._asking[request.id] = anyio.Event()
        try:
            answer = await asked(self._approver.approve, request)
            if isinstance(answer, Unanswered):
                self._memory.unanswered(request)
            else:
                self._memory.answered(request, answer)
            return answer, False
        finally:
            del self._asking[request.id]
            answered.set()


_MOST_CHARACTERS = 4000  # of the arguments, on a terminal
_MOST_SHOWN = 80  # characters of an invalid answer
_NO_TERMINAL = (
    "No person can be asked without a terminal: run the program in a terminal, or allow the call in a policy file."
)
_QUESTION = "Run it? [y]es once, yes for this [s]ession, [N]o: "


class NoApprover:
    """Asks no person. The call is refused with `approval_required` until a person approves its request."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return `Unanswered`."""
        del request
        return Unanswered()


class CallbackApprover:
    """Asks the function `ask` of the host. If its answer does not name the approver, `callback` is recorded."""

    def __init__(self, ask: Approve) -> None:
        self._ask = ask

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return the host's answer. Raise ApproverError if the function failed or returned no answer."""
        answer = await asked(self._ask, request)
        return answer if isinstance(answer, Unanswered) or answer.by is not None else replace(answer, by="callback")


class ApproverError(SkillError, TypeError):
    """The host's approver failed or returned no answer, so the call is not approved. `approver` is its name."""

    code = "internal"
    approver: str
    reason: str
    sentence = "the approver {approver} of this host {reason}; nothing was approved and the call was not run"


async def asked(ask: Approve, request: ApprovalRequest) -> Answer:
    """Return the answer of an approver's function. True is an `Approval` of this call, False a `Refusal`.

    Raise ApproverError if the function returned any other value or failed. A SkillError of the function is not
    converted.
    """
    name = str(getattr(ask, "__qualname__", type(ask).__qualname__))
    try:
        answer = ask(request)
        if isawaitable(answer):
            answer = await answer
    except SkillError:
        raise
    except Exception as fault:  # an approver that fails has not approved
        raise ApproverError(name, f"failed ({type(fault).__name__})") from fault
    match answer:
        case True:
            return Approval()
        case False:
            return Refusal()
        case Approval() | Refusal() | Unanswered():
            return answer
    shown = printable_line(repr(answer)[:_MOST_SHOWN])
    raise ApproverError(name, f"returned {shown}, which is not an Approval, Refusal, True or False")


def approver_of(approve: Approve | None, approver: Approver | None) -> Approver | None:
    """Return the host's approver: a function (wrapped), an object with `approve`, or None if neither is given.

    Raise InvalidArgumentsError if both are given, or the function is not callable.
    """
    if approve is None:
        return approver
    if approver is not None:
        raise InvalidArgumentsError(("give approve, a function, or approver, an object with `approve`, not both",))
    if not callable(approve):
        problem = f"approve must be a function that takes an ApprovalRequest, not {type(approve).__name__}"
        raise InvalidArgumentsError((problem,))
    return CallbackApprover(approve)


class TerminalApprover:
    """Asks the person at the terminal, one question at a time; no answer if `source` or `screen` is no terminal.

    The question is escaped, so that arguments can neither move the cursor nor imitate a question. The recorded approver
    is `terminal:` and the user name of this process.
    """

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source, self._screen = source or sys.stdin, screen or sys.stderr
        self._one_at_a_time = anyio.Lock()

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Show the call and wait for an answer. End of input, and every answer other than yes, refuses the call."""
        if not (self._source.isatty() and self._screen.isatty()):
            return Unanswered(instead=_NO_TERMINAL)
        async with self._one_at_a_time:
            # A person may never answer, and a cancelled call must not wait for an answer.
            return await to_thread.run_sync(self._ask, request, abandon_on_cancel=True)

    def _ask(self, request: ApprovalRequest) -> Answer:
        self._screen.write(f"{question(request)}\n{_QUESTION}")
        self._screen.flush()
        match self._source.readline().strip().lower():
            case "y" | "yes":
                return Approval(scope="once", by=_person())
            case "s" | "session":
                return Approval(scope="session", by=_person())
            case _:
                return Refusal(by=_person())


def _person() -> str:
    """Return the user at the terminal, by the system's user name."""
    return f"terminal:{login() or Caller.here().uid}"


def question(request: ApprovalRequest) -> str:
    """Return the text shown to a person: tool, reason and arguments, escaped, with long arguments shortened."""
    lines = [f"Tool {printable_line(request.tool)} asks to run: {printable_line(request.reason)}"]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        left = len(text) - _MOST_CHARACTERS
        text = text if left <= 0 else f"{text[:_MOST_CHARACTERS]}… and {left} characters more"
        # Each line of a value is indented, so that no line can imitate the question.
        shown = "\n".join(f"    {line}" for line in printable(text).split("\n"))
        lines.append(f"  {printable_line(name)}:\n{shown}")
    return "\n".join(lines)


def standard_gates(
    policy: PolicySource,
    active: ActiveRestrictions,
    *,
    approver: Approver | None = None,
    memory: ApprovalMemory | None = None,
    session_id: str | None = None,
    workspace: str | None = None,
    record: Record | None = None,
    typed_by: str | None = None,
) -> tuple[Gate, ...]:
    """Return the policy, restriction and approval gates of one session.

    `active` is called at each call and returns the restriction of each active skill. If `approver` is None, no person
    is asked. Pass a `memory` to settle requests from outside. `workspace` is the directory that path globs are relative
    to. `record` is called with each answer. `typed_by` as in `ApprovalGate`.
    """
    return (
        PolicyGate(policy, workspace=workspace),
        RestrictionGate(active, workspace=workspace),
        ApprovalGate(
            policy,
            active,
            approver or NoApprover(),
            ApprovalMemory() if memory is None else memory,
            session_id=session_id,
            workspace=workspace,
            record=record,
            typed_by=typed_by,
        ),
    )


class PolicyGate:
    """Checks calls against `policy`. `workspace` is the directory that its path globs are relative to."""

    def __init__(self, policy: PolicySource, *, workspace: str | None = None) -> None:
        self._policy, self._workspace = policy, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse a call that the policy denies."""
        policy = self._policy.now()
        if policy.fault is not None:
            unreadable = PolicyError((f"the policy cannot be read, so nothing is permitted: {policy.fault}",))
            return Refuse(error=policy.store_fault or unreadable, rule="policy")
        decision = policy.decide(policy_call(call, spec), self._workspace)
        rule, monitored = rule_of(decision), would_be(decision)
        if isinstance(decision, Deny):
            return Refuse(error=denial_of(decision, call.name), rule=rule, monitored=monitored)
        return Proceed(by=None if isinstance(decision, Ask) else rule, rule=rule, monitored=monitored)


class RestrictionGate:
    """Checks calls against `allowed-tools` and `disallowed-tools` of the active skills, which `active` returns."""

    def __init__(self, active: ActiveRestrictions, *, workspace: str | None = None) -> None:
        self._active, self._workspace = active, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse a call that an active skill does not permit."""
        del spec
        if canonical_tool_name(call.name) in SKILL_TOOLS:  # never restricted, so the active skills need not be read
            return PROCEED
        decision = decide(call.name, call.arguments, await self._active(), self._workspace)
        if isinstance(decision, Deny):
            error = ToolNotAllowedError(call.name, decision.skill or "", decision.reason)
            return Refuse(error=error, rule=decision.rule, skill=error.skill)
        return PROCEED


class NoLogGate:
    """Gate of a session without audit log: refuses calls with `unavailable` while the policy requires its records."""

    def __init__(self, policy: PolicySource) -> None:
        self._policy = policy

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse the call if the policy requires a record."""
        del call, spec
        policy = self._policy.now()
        if not policy.audit_required or policy.audit_sink != "file":
            return PROCEED
        reason = "there is none, but the policy requires one (audit.required); give the session an audit log"
        return Refuse(error=AuditError(None, reason), rule="audit.required")
