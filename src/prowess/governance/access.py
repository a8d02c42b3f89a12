"""Explains the decision about a skill step by step, and names the smallest change that would turn it.

Each step asks the code that decides in sessions: the catalog's resolution for layer, scope and trust, and the parts of
`Policy` for the others. The result is `Policy.decide` itself. Changes are found by applying them to the policy and
deciding again, one obstacle after the other, until the decision turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess.governance.changes import Change, changes_to_allow, changes_to_deny
from prowess.policy.blocks.blocked import NO_BLOCKS
from prowess.policy.decision import Allow, effect_of
from prowess.policy.policy_file import FINDINGS_FACT
from prowess.policy.restriction import Restriction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess.catalog import Copy, Resolution, SkillEntry
    from prowess.policy.decision import Decision
    from prowess.policy.policy import Policy
    from prowess.policy.rule import PolicyCall, PolicyRule

StepName = Literal["layer", "scope", "trust", "block", "role", "approval", "scan", "rule", "restriction"]
_HIDDEN: dict[str, StepName] = {"held_back": "trust", "out_of_scope": "scope", "disabled": "scope"}
_OFFERED: dict[StepName, str] = {
    "layer": "",
    "scope": "visible to this agent, tenant and environment",
    "trust": "its source is trusted",
}


class AccessStep(Struct, frozen=True, kw_only=True):
    """The answer of one step about the skill. `origin` is the file and line of the rule, None if there is none."""

    step: StepName
    effect: Literal["allow", "ask", "deny"]
    reason: str
    rule: str | None = None
    origin: str | None = None


class AccessExplanation(Struct, frozen=True, kw_only=True):
    """The effective decision about one skill for one requester.

    `changes` together turn it into `turns_to`; they are empty if no change of policy turns it. `origin` as in steps.
    """

    effect: Literal["allow", "ask", "deny"]
    reason: str
    rule: str
    origin: str | None
    steps: tuple[AccessStep, ...]
    changes: tuple[Change, ...]
    turns_to: Literal["allow", "deny"]


def explain_access(found: Resolution, call: PolicyCall | None, policy: Policy) -> AccessExplanation:
    """Explain the decision about loading a skill.

    `call` loads the copy in use, with the facts of this copy and of the requester; None if no copy is used.
    """
    offered = tuple(_steps_of_catalog(found))
    if call is None:
        copy = next((copy for copy in found.copies if copy.advice is not None), found.copies[0])
        return AccessExplanation(
            effect="deny",
            reason=f"no copy is used: it is {copy.reason}",
            rule=copy.rule,
            origin=copy.location,
            steps=offered,
            changes=() if copy.advice is None else (Change(kind="catalog", text=copy.advice),),
            turns_to="allow",
        )
    restricted = () if found.winner is None else (_restriction(policy, call, found.winner),)
    return explain_call(call, policy, before=offered, behind=restricted)


def explain_call(
    call: PolicyCall, policy: Policy, *, before: tuple[AccessStep, ...], behind: tuple[AccessStep, ...] = ()
) -> AccessExplanation:
    """Explain the decision about a call that loads one skill. The steps of policy come between those that are given."""
    decision = policy.decide(call)
    is_allowed = isinstance(decision, Allow)
    changes = (changes_to_deny if is_allowed else changes_to_allow)(policy, call)
    return AccessExplanation(
        effect=effect_of(decision),
        reason=decision.reason,
        rule=decision.rule,
        origin=None if decision.origin is None else str(decision.origin),
        steps=(*before, *_steps_of_policy(policy, call), *behind),
        changes=tuple(change for change, _ in changes),
        turns_to="deny" if is_allowed else "allow",
    )


def _steps_of_catalog(found: Resolution) -> Iterator[AccessStep]:
    used = found.copies[0] if found.winner is not None else None
    if used is None:
        copy = next((copy for copy in found.copies if copy.state in _HIDDEN), found.copies[0])
        yield _hidden(copy, _HIDDEN.get(copy.state, "layer"))
        return
    active = next((copy for copy in found.copies if copy.state == "active"), used)
    shadowed = len(found.shadowed)
    others = f", before {shadowed} other {'copy' if shadowed == 1 else 'copies'}" if shadowed else ""
    reason = f"the copy of the layer {active.layer.value} in {active.location} is used{others}"
    yield AccessStep(step="layer", effect="allow", reason=reason, rule=active.rule)
    for step in ("scope", "trust"):
        yield AccessStep(step=step, effect="allow", reason=_OFFERED[step])


def _hidden(copy: Copy, step: StepName) -> AccessStep:
    return AccessStep(step=step, effect="deny", reason=f"it is {copy.reason}", rule=copy.rule, origin=copy.location)


def _steps_of_policy(policy: Policy, call: PolicyCall) -> Iterator[AccessStep]:
    yield _step("block", policy.blocks.refusal(call), "it is not blocked")
    yield _step("role", policy.role_denial("use", call.who), "the roles permit to use skills")
    yield _step("approval", policy.approval_denial(call), "no approval is missing")
    yield _scan(policy, call)
    files = tuple(
        replace(file, roles=None, approval_rules=(), rules=tuple(one for one in file.rules if not _demands_scan(one)))
        for file in policy.files
    )
    decision = replace(policy, blocks=NO_BLOCKS, files=files).decide(call)
    yield _step("rule", decision, decision.reason)


def _demands_scan(rule: PolicyRule) -> bool:
    return rule.effect != "allow" and any(match.argument == FINDINGS_FACT for match in rule.matches)


def _scan(policy: Policy, call: PolicyCall) -> AccessStep:
    """Return the answer of the rules that deny or ask because of what a scan found, or could not find out."""
    demanding = [tuple(filter(_demands_scan, file.rules)) for file in policy.files]
    if not any(demanding):
        return AccessStep(step="scan", effect="allow", reason="no policy file demands a scan")
    files = (
        replace(file, roles=None, approval_rules=(), rules=rules, default="allow", packages=None)
        for file, rules in zip(policy.files, demanding, strict=True)
        if rules
    )
    decision = replace(policy, blocks=NO_BLOCKS, files=tuple(files)).decide(call)
    worst = next((skill.findings for skill in call.about if skill.findings is not None), None)
    found = {None: "the scan is not known", "none": "the scan found nothing"}.get(worst, f"the scan found: {worst}")
    if isinstance(decision, Allow):
        return AccessStep(step="scan", effect="allow", reason=f"{found}; no rule refuses that")
    return _step("scan", decision, found)


def _restriction(policy: Policy, call: PolicyCall, entry: SkillEntry) -> AccessStep:
    (skill,) = call.about
    limits = Restriction.of_properties(skill.name or entry.name, entry.properties, mode=policy.mode_of_sessions())
    return AccessStep(step="restriction", effect="allow", reason=_limited(limits))


def _step(name: StepName, decision: Decision | None, otherwise: str) -> AccessStep:
    if decision is None:
        return AccessStep(step=name, effect="allow", reason=otherwise)
    return AccessStep(
        step=name,
        effect=effect_of(decision),
        reason=decision.reason,
        rule=decision.rule,
        origin=None if decision.origin is None else str(decision.origin),
    )


def _limited(limits: Restriction) -> str:
    """Return which tools the skill's fields permit while it is active, as a sentence."""
    if limits.fault is not None or limits.denial_fault is not None:
        return "while it is active, no tool may be called, because its allowed-tools or disallowed-tools cannot be read"
    told = []
    if limits.tokens is not None:
        verb = {"restrict": "only these tools may be called", "ask": "other tools than these need an approval"}
        said = verb.get(limits.mode, "these tools need no approval by default")
        told.append(f"while it is active, {said}: {', '.join(limits.permitted) or 'none'}")
    if limits.denied:
        told.append(f"these may not be called: {', '.join(map(str, limits.denied))}")
    return "; ".join(told) or "it restricts no tools"
