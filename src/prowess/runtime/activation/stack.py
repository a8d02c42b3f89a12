"""The activation stack: a skill that needs another one activates it, nested in itself.

The stack is a tuple of comparison keys, the outermost first. It belongs to a session. A plain load does not nest, a
call of the `skill` tool does, and the session of a fork starts with its parent's stack. A skill on the stack is not
finished, so activating it again would never end. Platform requirements 003, circular skill dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import LimitExceededError, SkillError

if TYPE_CHECKING:
    from collections.abc import Collection

Stack = tuple[str, ...]

MAX_DEPTH = 5  # platform requirements 003


class ActivationCycleError(SkillError):
    """The skill is already on the activation stack. `cycle` starts and ends with the requested skill."""

    code = "activation_cycle"
    cycle: tuple[str, ...]

    def __str__(self) -> str:
        name = self.cycle[0]
        way = " → ".join(self.cycle)
        return f"{name!r} is running already, and activating it again would close a cycle: {way}; go on with its steps"


def entered(stack: Stack, key: str, limit: int = MAX_DEPTH) -> Stack:
    """Return the stack with one more activation. Raise ActivationCycleError, or LimitExceededError at `limit`."""
    if key in stack:
        raise ActivationCycleError((*stack[stack.index(key) :], key))
    if len(stack) >= limit:
        advice = f"{' → '.join((*stack, key))} would be the next; finish and unload one of them first"
        raise LimitExceededError("nested activations", limit, len(stack) + 1, advice)
    return (*stack, key)


def kept(stack: Stack, keys: Collection[str]) -> Stack:
    """Return the stack without activations that have ended, that is, only the keys in `keys`."""
    return tuple(key for key in stack if key in keys)
