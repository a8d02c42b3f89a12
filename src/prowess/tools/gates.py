"""Gates stand between a valid call and its run: policy, restriction, approval, hooks. The first that refuses wins.

A gate sees the canonical name and structured arguments, never rendered text. It cannot permit what another refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from prowess.errors import SkillError
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Proceed:
    """This gate has nothing against the call.

    `by` says who or what let it through: a rule, a person, a skill. It is recorded, so it holds no argument.
    """

    by: str | None = None


PROCEED = Proceed()  # all are alike, and every call passes several gates


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """The call is not run; the result carries `error`, the audit log its code, `rule` and the `skill` behind it.

    `rule` and `skill` must hold nothing of the arguments.
    """

    error: SkillError
    rule: str | None = None
    skill: str | None = None


class Gate(Protocol):
    """Decides on one call. An exception from a gate refuses the call: a gate that fails stays shut."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Proceed | Refuse:
        """Return the decision."""


@runtime_checkable
class SettlingGate(Gate, Protocol):
    """A gate that can tell beforehand about which tools it will never have a say; the door then does not ask it.

    It counts where the class of the gate itself has both methods. A class that is derived from another, or a gate that
    was given a method of its own, may check in another way than what was settled, and is asked about every call.
    """

    def settled(self, spec: ToolSpec) -> Proceed | None:
        """Return what `check` returns for every call of this tool, always; None where a call or a state can count."""


def settled(gate: Gate, spec: ToolSpec) -> Proceed | None:
    """Return the answer of a gate that need not be asked about this tool, None for every other."""
    if not isinstance(gate, SettlingGate) or not vars(type(gate)).keys() >= _METHODS:
        return None
    return None if _METHODS & getattr(gate, "__dict__", {}).keys() else gate.settled(spec)


_METHODS = frozenset({"check", "settled"})
