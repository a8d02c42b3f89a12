"""Try again where trying again is harmless and may help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from prowess.errors import StoreError, UnavailableError
from prowess.tools.running_call import current_usage
from prowess.tools.wrappers.wrapper import ToolWrapper

if TYPE_CHECKING:
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import Tool

TRANSIENT: tuple[type[Exception], ...] = (UnavailableError, StoreError, ConnectionError)


class Retrying(ToolWrapper):
    """Runs a tool up to `attempts` times while it fails with one of `transient`; the last error stands.

    Between two attempts it waits `pause` seconds, twice as long each time, or what the error asks for
    (`retry_after`); where that is more than `longest_pause`, the error stands at once. `retry_count` of the result
    counts the attempts after the first. The executor, the audit log included, sees one call.

    Raises:
        ValueError: the tool is neither `read_only` nor `idempotent`, so that a second run might do the thing twice.
    """

    def __init__(
        self,
        wrapped: Tool,
        *,
        attempts: int = 3,
        pause: float = 0.2,
        longest_pause: float = 5.0,
        transient: tuple[type[Exception], ...] = TRANSIENT,
    ) -> None:
        super().__init__(wrapped)
        if not (wrapped.spec.read_only or wrapped.spec.idempotent):
            message = f"{wrapped.spec.name} is neither read-only nor idempotent, so it must not be repeated"
            raise ValueError(message)
        if attempts < 1:
            raise ValueError("there must be at least one attempt")
        self._attempts, self._pause, self._longest = attempts, pause, longest_pause
        self._transient = transient

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool, again where that may help."""
        for number in range(1, self._attempts):
            try:
                # A copy, because a tool may change what it is given.
                return await super().around(dict(arguments), call)
            except self._transient as error:
                pause = _asked_for(error)
                pause = self._pause * 2 ** (number - 1) if pause is None else pause
                if pause > self._longest:
                    raise
            await anyio.sleep(pause)
            if (usage := current_usage()) is not None:
                usage.add(retries=1)
        return await super().around(dict(arguments), call)


def _asked_for(error: Exception) -> float | None:
    return error.retry_after if isinstance(error, UnavailableError) else None
