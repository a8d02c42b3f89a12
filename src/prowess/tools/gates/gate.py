"""Gates decide between a valid call and its run: policy, restriction, approval, hooks. The first that refuses wins.

A gate sees the canonical name and structured arguments, never rendered text. It cannot permit what another refuses.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from prowess.policy.restriction import Restriction
from prowess.policy.rule import PolicyCall

if TYPE_CHECKING:
    from prowess.errors import SkillError
    from prowess.tools.spec import ToolCall, ToolSpec


class Proceed(Struct, frozen=True, kw_only=True):
    """This gate has nothing against the call.

    `by` says who or what let it through: a rule, a person, a skill. It is recorded, so it holds no argument.
    """

    by: str | None = None


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
    return PolicyCall(tool=call.name, arguments=call.arguments, accepts=accepts)
