"""Decisions about one tool call: allow, deny, or ask a person.

Each decision names the rule that made it and, if the rule is in a file, its file and line, and its id if it has one.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from prowess.errors import PolicyDeniedError, SkillApprovalRequiredError, SkillError


class RuleOrigin(Struct, frozen=True, kw_only=True):
    """File and line of a rule. `str()` returns `path:line`."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class ApprovalNeeded(Struct, frozen=True, kw_only=True):
    """A skill that is not approved: what a caller needs to know in order to ask people.

    `digest` is None if the skill cannot be approved, because its files cannot be read or it has links. `needed` and
    `given` are numbers of people. `how` is a sentence.
    """

    request: str
    skill: str
    digest: str | None
    rule: str
    needed: int
    given: int
    how: str


class Allow(Struct, frozen=True, kw_only=True):
    """The call may run. `preapproved_by` names the skill whose `allowed-tools` replace an approval.

    `monitored` are the decisions of rules that are only monitored.
    """

    rule: str
    reason: str
    origin: RuleOrigin | None = None
    preapproved_by: str | None = None
    id: str | None = None
    monitored: tuple[Deny | Ask, ...] = ()


class Deny(Struct, frozen=True, kw_only=True):
    """The call must not run. `skill` names the active skill that refuses it; None if a policy denies it.

    `reason` is for the caller and may quote arguments. `rule` never quotes arguments, so it may be recorded. `missing`
    is set if the call may run after people have approved its skill.
    """

    rule: str
    reason: str
    origin: RuleOrigin | None = None
    skill: str | None = None
    id: str | None = None
    monitored: tuple[Deny | Ask, ...] = ()
    missing: ApprovalNeeded | None = None


class Ask(Struct, frozen=True, kw_only=True):
    """A person must approve the call.

    `by_default` is true if the question comes from a policy's default and not from a rule. The pre-approval of a skill
    can then replace the question. `skill` names the active skill that does not list the call; None if a policy asks.
    """

    rule: str
    reason: str
    origin: RuleOrigin | None = None
    by_default: bool = False
    skill: str | None = None
    id: str | None = None
    monitored: tuple[Deny | Ask, ...] = ()


Decision = Allow | Deny | Ask

_SEVERITY: dict[type[Decision], int] = {Allow: 0, Ask: 1, Deny: 2}
_EFFECTS: dict[type[Decision], Literal["allow", "ask", "deny"]] = {Allow: "allow", Ask: "ask", Deny: "deny"}


def strictest(decisions: tuple[Decision, ...]) -> Decision:
    """Return the strictest decision, the first one of equals. A rule that asks is stricter than a default that asks."""
    if len(decisions) == 1:
        return decisions[0]
    return max(decisions, key=lambda one: (_SEVERITY[type(one)], isinstance(one, Ask) and not one.by_default))


def rule_of(decision: Decision) -> str:
    """Return the rule for audit records: its id, else its file and line, or its name if the rule is in no file."""
    return decision.id or (decision.rule if decision.origin is None else str(decision.origin))


def denial_of(decision: Deny, tool: str) -> SkillError:
    """Return the error of a call of `tool` that a policy denies: an approval is missing, or a rule forbids it."""
    if (missing := decision.missing) is None:
        return PolicyDeniedError(rule_of(decision), decision.reason)
    return SkillApprovalRequiredError(
        tool=tool,
        request=missing.request,
        reason=decision.reason,
        instead=missing.how,
        skill=missing.skill,
        digest=missing.digest,
        needed=missing.needed,
        given=missing.given,
    )


def would_be(decision: Decision) -> dict[str, list[str]]:
    """Return the rules that are only monitored, for audit records: `would_deny` and `would_ask`; empty without one."""
    found: dict[str, list[str]] = {}
    for one in decision.monitored:
        found.setdefault(f"would_{effect_of(one)}", []).append(rule_of(one))
    return found


def effect_of(decision: Decision) -> Literal["allow", "ask", "deny"]:
    """Return `allow`, `deny` or `ask`."""
    return _EFFECTS[type(decision)]


class Fit(Struct, frozen=True, kw_only=True):
    """How well an argument matches a pattern: certainly, possibly, or not at all.

    A rule that permits needs a certain match; for a rule that refuses or asks, a possible match is enough. An argument
    that cannot be compared with the pattern counts as a possible match, so the call is refused and not permitted.

    `certain` implies `possible`. If the match is not certain, `reason` explains why and `kind` is a short name for the
    reason. `reason` may quote arguments. `kind` never quotes arguments, so `kind` may be recorded.
    """

    certain: bool
    possible: bool
    kind: str = ""
    reason: str = ""


CERTAIN = Fit(certain=True, possible=True)
