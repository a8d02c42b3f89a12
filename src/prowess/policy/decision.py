"""What is decided about one call: it may run, it may not, or a person has to say. There is no fourth.

Each decision names the rule that made it and, where that rule stands in a file, the line.
"""

from __future__ import annotations

from msgspec import Struct


class RuleOrigin(Struct, frozen=True, kw_only=True):
    """The place of a rule; as text it is `path:line`."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Allow(Struct, frozen=True, kw_only=True):
    """The call may run. `preapproved_by` names the skill whose allowed-tools make asking unnecessary."""

    rule: str
    reason: str
    origin: RuleOrigin | None = None
    preapproved_by: str | None = None


class Deny(Struct, frozen=True, kw_only=True):
    """The call must not run. `skill` names the active skill that refuses it, None where a policy does.

    `reason` is for whoever called and may quote arguments; `rule` never does, so it may be recorded.
    """

    rule: str
    reason: str
    origin: RuleOrigin | None = None
    skill: str | None = None


class Ask(Struct, frozen=True, kw_only=True):
    """A person has to say. `by_default`: no rule asked for it, so a skill's pre-approval is answer enough.

    `skill` names the active skill that does not list the call, None if a policy asks.
    """

    rule: str
    reason: str
    origin: RuleOrigin | None = None
    by_default: bool = False
    skill: str | None = None


Decision = Allow | Deny | Ask

_SEVERITY: dict[type[Decision], int] = {Allow: 0, Ask: 1, Deny: 2}


def strictest(decisions: tuple[Decision, ...]) -> Decision:
    """Return the first of the strictest decisions; a rule that asks is stricter than a default that does."""
    return max(decisions, key=lambda one: (_SEVERITY[type(one)], isinstance(one, Ask) and not one.by_default))


def rule_of(decision: Decision) -> str:
    """Return what a record names as the rule: its place in a file, else its name."""
    return decision.rule if decision.origin is None else str(decision.origin)


def effect_of(decision: Decision) -> str:
    """Return `allow`, `deny` or `ask`."""
    return type(decision).__name__.lower()


class Fit(Struct, frozen=True, kw_only=True):
    """How an argument stands to a pattern: it fits for certain, it may fit, or it does not.

    Rules that permit need certainty; rules that refuse or ask need only the possibility. Keeping the two apart is what
    lets one grammar serve both without a gap between them.

    `certain` implies `possible`. If it is not certain, `reason` says why and `kind` is a short name for it. `kind`
    holds nothing of the arguments and may be recorded; `reason` may quote them.
    """

    certain: bool
    possible: bool
    kind: str = ""
    reason: str = ""


CERTAIN = Fit(certain=True, possible=True)
