"""Let a tool run for some arguments only, by a rule of the host that no policy file can express."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from prowess.errors import PolicyDeniedError
from prowess.tools.wrappers.wrapper import ToolWrapper

if TYPE_CHECKING:
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import Tool

Keep = Callable[[Mapping[str, object]], bool]


class Filtered(ToolWrapper):
    """Runs the tool where `keep(arguments)` is true, and otherwise fails with `policy_denied` and `reason`.

    `keep` is called once per run, with arguments that fit the schema. It is a second fence and no replacement for a
    policy: a refusal here is recorded as a run that failed.
    """

    def __init__(self, wrapped: Tool, keep: Keep, reason: str) -> None:
        super().__init__(wrapped)
        self.keep, self.reason = keep, reason

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run it or refuse.

        Raises:
            PolicyDeniedError: the filter does not let these arguments through.
        """
        if not self.keep(arguments):
            raise PolicyDeniedError(f"the filter of {self.spec.name}", self.reason)
        return await super().around(arguments, call)
