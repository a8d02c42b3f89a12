"""The way to one tool: what is the same for all its calls, found out when it is registered and not in each call.

A gate that never has a say about the tool (`prowess.tools.gates.SettlingGate`) does not stand on its way. All others
do, in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.tools.gates import settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.tools.gates import Gate
    from prowess.tools.spec import Tool


class Way:
    """The way to `tool`: its `spec`, the `gates` that have to be asked.

    `allowed_by` is what the gates before the first of them, which need not be asked, have to say for it. `is_finite`:
    the tool says (`finite = True`) that its results never hold a floating-point number, so none has to be looked for.
    """

    __slots__ = ("_all_gates", "allowed_by", "gates", "is_finite", "spec", "tool")

    def __init__(self, tool: Tool, gates: Sequence[Gate]) -> None:
        self.tool, self.spec = tool, tool.spec
        self.is_finite: bool = getattr(tool, "finite", False)
        self.allowed_by: str | None = None
        self._all_gates = gates
        asked: list[Gate] = []
        for gate in gates:
            answer = settled(gate, self.spec)
            if answer is None or (answer.by is not None and asked):
                asked.append(gate)  # or it names a rule, in its turn
            elif answer.by is not None:
                self.allowed_by = answer.by
        self.gates = tuple(asked)

    def renewed(self) -> Way:
        """Return this way, or another one where the tool has changed its specification since."""
        spec = self.tool.spec
        # Some wrappers make a specification each time they are asked; equal ones have one way.
        return self if spec is self.spec or spec == self.spec else Way(self.tool, self._all_gates)
