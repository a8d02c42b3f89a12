"""Gates decide between a valid call and its run: policy, restriction, hooks, approval. The first that refuses wins.

A gate sees the canonical name and structured arguments, never rendered text. It cannot permit what another refuses.

The gates of every session are asked in this order: policy, restriction, hooks of skills, approval.
The first refuses what the policy denies; what it asks about passes, for the approval gate. The second refuses what the
active skills do not allow; they are looked up for each call, from the state of the session that makes it, so a
restriction holds from the first call after activation, ends with the skill, and never reaches another session.

The approval gate runs last: if the policy or a hook asks, somebody has to agree. It decides again instead of being
handed what the gates before it found, because deciding is pure and cheap, and what was active a moment ago may have
changed. A skill's pre-approval answers for a policy that asks by default, never for a rule or a hook that asks, nor for
a tool that its host marked (`ToolSpec.needs_approval`). Each answer is recorded before it counts, with who gave it; if
that fails, the call is refused. The approvers are a person at the terminal, the host's own code, or nobody.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Protocol, TextIO

import anyio
from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.text.terminal_text import printable, printable_line
from prowess.audit.caller import Caller, login
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
from prowess.policy.decision import Ask, Deny, rule_of, strictest
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
    # Returns an Answer or a bool, or an awaitable of one.
    Approve = Callable[[ApprovalRequest], object]


class Proceed(Struct, frozen=True, kw_only=True):
    """This gate has nothing against the call.

    `by` says who or what let it through: a rule, a person, a skill. It is recorded, so it holds no argument.
    `arguments` take the place of the call's: they are validated, and the gates before this one decide about them anew.
    `asks` is a reason to ask a person first, whatever the policy permits.
    """

    by: str | None = None
    arguments: Mapping[str, object] | None = None
    asks: str | None = None


PROCEED = Proceed()  # all are alike, and every call passes several gates


class Refuse(Struct, frozen=True, kw_only=True):
    """The call is not run; the result carries `error`, the audit log its code, `rule` and the `skill` behind it.

    `rule` and `skill` must hold nothing of the arguments.
    """

    error: SkillError
    rule: str | None = None
    skill: str | None = None


ActiveRestrictions = Callable[[], Awaitable[Sequence[Restriction]]]  # of each active skill, asked at each call


class Gate(Protocol):
    """Decides on one call. An exception from a gate refuses the call: a gate that fails stays shut."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Return the decision."""


def policy_call(call: ToolCall, spec: ToolSpec) -> PolicyCall:
    """Return a call as a policy sees it, with the arguments that its tool takes."""
    properties = spec.input_schema.get("properties")
    closed = spec.input_schema.get("additionalProperties") is False and isinstance(properties, Mapping)
    accepts = frozenset(map(str, properties)) if closed and isinstance(properties, Mapping) else None
    return PolicyCall(tool=call.name, arguments=call.arguments, accepts=accepts, skills=call.skills)


APPROVAL = "approval"


class ApprovalGate:
    """Asks `approver` about calls that `policy` or a skill asks about, once for the same bytes while `memory` lives.

    `record` writes to the log of the session: kind, id of the call, data.
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
    ) -> None:
        self._policy, self._active, self._approver, self._memory = policy, active, approver, memory
        self._session_id, self._workspace = session_id, workspace
        self._record = record
        self._asking: dict[str, anyio.Event] = {}

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what nobody approved."""
        active: Sequence[Restriction] | None = None
        decision = self._decide(call, spec)
        if canonical_tool_name(call.name) not in SKILL_TOOLS:
            active = await self._active()
            if any(item.mode == "ask" for item in active):
                by_skills = decide(call.name, call.arguments, active, self._workspace)
                decision = strictest((decision, by_skills)) if isinstance(by_skills, Ask) else decision
        if isinstance(decision, Deny):  # only where this gate stands without the policy gate before it
            return Refuse(error=PolicyDeniedError(decision.rule, decision.reason), rule=decision.rule)
        if isinstance(decision, policy_decision.Allow):
            return PROCEED
        active = await self._active() if active is None else active
        rule = rule_of(decision)
        if decision.by_default and (skill := self._preapproved_by(call, active)) is not None:
            return Proceed(by=f"allowed-tools of skill {skill!r}")
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
            )
        by = shortened(answer.by or "unknown")
        said: dict[str, object] = {
            "tool": call.name,
            "request": request.id,
            "rule": shortened(rule),
            "by": by,
            "policy_version": self._policy.now().recorded_version,
            **skill_facts(call),
        }
        if isinstance(answer, Refusal):
            await self._note("approval.refused", call, {**said, "remembered": remembered})
            return Refuse(error=PolicyDeniedError(APPROVAL, answer.reason), rule=APPROVAL)
        await self._note("approval.given", call, {**said, "scope": answer.scope, "remembered": remembered})
        return Proceed(by=by)

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
        """Return the answer, and whether it was known already."""
        # The same request of a parallel call waits for the answer to the first instead of being asked beside it.
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
_MOST_SHOWN = 80  # characters of a wrong answer
_NO_TERMINAL = "Nobody sits at a terminal to be asked: run it in one, or allow the call in a policy file."
_QUESTION = "Run it? [y]es once, yes for this [s]ession, [N]o: "


class NoApprover:
    """Asks nobody: the call is refused with `approval_required` and waits for somebody to approve its request."""

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return that nobody was asked."""
        del request
        return Unanswered()


class CallbackApprover:
    """Asks the host: `ask` gets the request and returns the answer, or true or false, at once or awaited.

    An answer that does not name who gave it was given by `callback`.
    """

    def __init__(self, ask: Approve) -> None:
        self._ask = ask

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Return what the host answered.

        Raises:
            ApproverError: that is no answer, or the function failed.
        """
        answer = await asked(self._ask, request)
        return answer if isinstance(answer, Unanswered) or answer.by is not None else replace(answer, by="callback")


class ApproverError(SkillError, TypeError):
    """An approver of the host failed or returned no answer: `approver` names it. Nothing was approved."""

    code = "internal"
    approver: str
    reason: str
    sentence = "the approver {approver} of this host {reason}; nothing was approved and the call was not run"


async def asked(ask: Approve, request: ApprovalRequest) -> Answer:
    """Return the answer of an approver's function; true is an `Approval` of this one call, false a `Refusal`.

    Raises:
        ApproverError: it returned anything else, or failed.
        SkillError: what it raises of ours.
    """
    name = str(getattr(ask, "__qualname__", type(ask).__qualname__))
    try:
        answer = ask(request)
        if isawaitable(answer):
            answer = await answer
    except SkillError:
        raise
    except Exception as fault:  # whatever it is, nobody said yes
        raise ApproverError(name, f"failed ({type(fault).__name__})") from fault
    match answer:
        case True:
            return Approval()
        case False:
            return Refusal()
        case Approval() | Refusal() | Unanswered():
            return answer
    shown = printable_line(repr(answer)[:_MOST_SHOWN])
    raise ApproverError(name, f"returned {shown}, which is no Approval, Refusal, True or False")


def approver_of(approve: Approve | None, approver: Approver | None) -> Approver | None:
    """Return the one approver of a host that gave a function, an object with `approve`, or nothing.

    Raises:
        InvalidArgumentsError: both are given, or what was given as a function cannot be called.
    """
    if approve is None:
        return approver
    if approver is not None:
        raise InvalidArgumentsError(("give approve, a function, or approver, an object with `approve`, not both",))
    if not callable(approve):
        problem = f"approve is a function that gets an ApprovalRequest, not {type(approve).__name__}"
        raise InvalidArgumentsError((problem,))
    return CallbackApprover(approve)


class TerminalApprover:
    """Asks the person at the terminal, one question at a time.

    `source` and `screen` default to standard input and standard error. Where one of them is no terminal nobody is
    asked. Everything shown is escaped: arguments can neither move the cursor nor draw a question of their own. Answers
    are given by `terminal:` and the name of this process's user.
    """

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source, self._screen = source or sys.stdin, screen or sys.stderr
        self._one_at_a_time = anyio.Lock()

    async def approve(self, request: ApprovalRequest) -> Answer:
        """Show the call and wait for an answer; the end of input, and anything that is not yes, is no."""
        if not (self._source.isatty() and self._screen.isatty()):
            return Unanswered(instead=_NO_TERMINAL)
        async with self._one_at_a_time:
            # A person may never answer, and a cancelled call must not wait for that.
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
    """Return who sits at the terminal, as the system knows it."""
    return f"terminal:{login() or Caller.here().uid}"


def question(request: ApprovalRequest) -> str:
    """Return what a person is shown: tool, reason and arguments, escaped, long ones shortened."""
    lines = [f"Tool {printable_line(request.tool)} asks to run: {printable_line(request.reason)}"]
    for name, value in request.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        left = len(text) - _MOST_CHARACTERS
        text = text if left <= 0 else f"{text[:_MOST_CHARACTERS]}… and {left} characters more"
        # Each line of a value is set in, so that none can pass for the question.
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
) -> tuple[Gate, ...]:
    """Return the three gates of one session.

    `active` returns a restriction for each active skill, at each call. Without an approver nobody is asked. `memory`
    is shared with whoever settles requests from outside; `workspace` is what path globs hang from. `record` is told who
    approved what.
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
        ),
    )


class PolicyGate:
    """Holds calls against `policy`; `workspace` is the directory that its path globs hang from."""

    def __init__(self, policy: PolicySource, *, workspace: str | None = None) -> None:
        self._policy, self._workspace = policy, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what is denied."""
        policy = self._policy.now()
        if policy.fault is not None:
            return Refuse(
                error=PolicyError((f"the policy cannot be read, so nothing is permitted: {policy.fault}",)),
                rule="policy",
            )
        decision = policy.decide(policy_call(call, spec), self._workspace)
        if isinstance(decision, Deny):
            return Refuse(error=PolicyDeniedError(rule_of(decision), decision.reason), rule=rule_of(decision))
        if isinstance(decision, Ask):
            return PROCEED
        return Proceed(by=rule_of(decision))


class RestrictionGate:
    """Holds calls against what the skills that `active` returns allow and disallow, one for each active skill."""

    def __init__(self, active: ActiveRestrictions, *, workspace: str | None = None) -> None:
        self._active, self._workspace = active, workspace

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse what an active skill does not permit."""
        del spec
        if canonical_tool_name(call.name) in SKILL_TOOLS:  # never restricted, so nobody has to look what is active
            return PROCEED
        decision = decide(call.name, call.arguments, await self._active(), self._workspace)
        if isinstance(decision, Deny):
            error = ToolNotAllowedError(call.name, decision.skill or "", decision.reason)
            return Refuse(error=error, rule=decision.rule, skill=error.skill)
        return PROCEED


class NoLogGate:
    """Refuses calls with `unavailable` while the policy permits none without a record, because nothing records."""

    def __init__(self, policy: PolicySource) -> None:
        self._policy = policy

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Refuse if a record is required."""
        del call, spec
        if not self._policy.now().audit_required:
            return PROCEED
        reason = "there is none, and the policy permits no call without a record (audit.required)"
        return Refuse(error=AuditError(None, reason), rule="audit.required")
