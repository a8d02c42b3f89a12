"""The tools `packages.*`, called by commands through a `ToolExecutor`: policy, approval and audit as for every tool.

No model is offered these tools: they belong to an executor of the command alone.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from msgspec.structs import replace

from prowess import lint
from prowess._internal.uuid7 import uuid7
from prowess.audit.caller import Caller, CallerLog
from prowess.errors import AuditError, SkillError
from prowess.execution.interpreters import has_interpreter
from prowess.format.reading import read_skill
from prowess.policy.facts.capabilities import file_facts
from prowess.policy.facts.skill_identity import SkillIdentity
from prowess.policy.policy_in_force import PolicyInForce
from prowess.policy.tool_names import PACKAGE_TOOLS
from prowess.tools import ToolCall, ToolExecutor, ToolSpec, require_executor
from prowess.tools.audit_sink import SinkLog
from prowess.tools.call_audit import AuditRecorder
from prowess.tools.gates import NoLogGate, standard_gates
from prowess.tools.spec import object_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from prowess.distribution.permission.facts import CallRules, PackageFacts
    from prowess.format.skill import Skill
    from prowess.policy.policy import Policy
    from prowess.policy.restriction import Restriction

T = TypeVar("T")
_FETCHED_LATER = frozenset({"digest", "file", "publisher", "capability", "findings"})
_UNSIGNED = ""  # a publisher that no rule names, instead of an unknown one
_NOT_YET = "nothing was changed; make it writable or free some space, then run this again"
_DONE = "the change was made, but its end is not recorded"
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


class PackageTool:
    """One kind of change. Its work is done in the thread of the command; without work, it is a question."""

    def __init__(self, name: str, works: dict[str, Callable[[], None]]) -> None:
        self.spec = ToolSpec(
            name=name,
            description=f"Changes the installed skills: {name.partition('.')[2]}.",
            input_schema=object_schema("skills scope", skills=_TEXTS, source=_TEXT, scope=_TEXT),
            destructive=True,
            open_world=True,
        )
        self._works = works

    async def run(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Do the work of this call."""
        require_executor(self, call)
        del arguments
        work = self._works.get(call.id)
        if work is not None:
            work()  # blocks the event loop, in which nothing else runs
        return {"done": work is not None}


class PackageCalls:
    """Makes the calls of one command."""

    def __init__(self, rules: CallRules) -> None:
        session = uuid7()
        self._policy = policy = rules.policy or PolicyInForce()
        audit = CallerLog(SinkLog(rules.audit, policy), rules.caller or Caller.here(), lambda _: {})
        self._works: dict[str, Callable[[], None]] = {}
        self._skills: dict[str, tuple[SkillIdentity, ...]] = {}
        gates = standard_gates(
            policy,
            _no_restrictions,
            approver=rules.approver,
            session_id=session,
            record=AuditRecorder(audit, session).record,
            typed_by=rules.typed_by,
        )
        self._executor = ToolExecutor(
            [PackageTool(name, self._works) for name in PACKAGE_TOOLS],
            audit=audit,
            gates=(*gates, NoLogGate(policy)) if rules.audit is None else gates,
            session_id=session,
            policy=policy,
            complete=self._with_skills,
        )

    def ask(self, tool: str, scope: str, facts: Sequence[PackageFacts], *, final: bool = False) -> None:
        """Ask whether a change is permitted. Unless `final`, it is asked again when all facts are known.

        Raises:
            PolicyDeniedError, ApprovalRequiredError, PolicyError: it is not permitted.
            AuditError: the question cannot be recorded.
        """
        try:
            self._call(tool, scope, self._identities(facts, final=final), facts, None)
        except AuditError as fault:
            raise _unrecorded(fault, _NOT_YET) from fault

    def do(self, tool: str, scope: str, facts: Sequence[PackageFacts], work: Callable[[], T]) -> T:
        """Do the work if it is permitted. Raises as `ask`, and whatever the work raises."""
        results: list[T] = []
        faults: list[Exception] = []
        skills = self._identities(facts, final=True)
        try:
            self._call(tool, scope, skills, facts, partial(_run, work, results, faults))
        except Exception as fault:
            if faults:
                raise faults[0] from None
            if isinstance(fault, AuditError):
                raise _unrecorded(fault, _DONE if results else _NOT_YET) from fault
            raise
        return results[0]

    def _call(
        self,
        tool: str,
        scope: str,
        skills: tuple[SkillIdentity, ...],
        facts: Sequence[PackageFacts],
        work: Callable[[], None] | None,
    ) -> None:
        call = ToolCall(id=uuid7(), name=tool, arguments=_arguments(scope, facts), trigger="user")
        self._skills[call.id] = skills
        if work is not None:
            self._works[call.id] = work
        result = anyio.run(self._executor.call, call)
        if not result.success:
            raise result.cause or RuntimeError(result.error)

    def _identities(self, facts: Sequence[PackageFacts], *, final: bool) -> tuple[SkillIdentity, ...]:
        policy = self._policy.now()
        return tuple(_identity(one, policy, final=final) for one in facts)

    async def _with_skills(self, call: ToolCall) -> ToolCall:
        return replace(call, skills=self._skills[call.id])


def _unrecorded(fault: AuditError, outcome: str) -> AuditError:
    return AuditError(fault.path, f"{fault.reason}; {outcome}")


def _run(work: Callable[[], T], results: list[T], faults: list[Exception]) -> None:
    try:
        results.append(work())
    except Exception as fault:
        faults.append(fault)
        raise


async def _no_restrictions() -> tuple[Restriction, ...]:
    return ()


def _arguments(scope: str, facts: Sequence[PackageFacts]) -> Mapping[str, object]:
    sources = dict.fromkeys(one.sources[0] for one in facts)
    named = [f"{one.name} {one.version}" if one.version else one.name for one in facts if one.name is not None]
    return {"skills": named, "scope": scope} | ({"source": ", ".join(sources)} if sources else {})


def _identity(facts: PackageFacts, policy: Policy, *, final: bool) -> SkillIdentity:
    later = frozenset() if final else _FETCHED_LATER
    contents: Mapping[str, Any] = {}
    if final and facts.directory is not None and (policy.needs_files or policy.needs_findings):
        with suppress(SkillError, OSError):  # if it cannot be read, its files are unknown
            contents = _contents(read_skill(facts.directory), facts, policy)
    return SkillIdentity(
        **contents,
        name=facts.name,
        digests=facts.digests,
        sources=facts.sources,
        layer=facts.layer,
        publisher=(facts.signer or _UNSIGNED) if final else None,
        pending=later if facts.name is not None else later | {"name"},
    )


def _contents(skill: Skill, facts: PackageFacts, policy: Policy) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if policy.needs_files:
        found |= file_facts(skill, policy.script_dirs, has_interpreter)
    if policy.needs_findings and skill.digest in facts.digests:  # the digest of the question
        found["findings"] = lint.worst_security_finding(skill)
    return found
