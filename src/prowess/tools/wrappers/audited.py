"""Record what a tool answered, beside that it was called.

The executor records every call: names and sizes of arguments, and how it ended. For some tools it matters later what
came back as well. The text itself may be secret, so its size and digest are kept: enough to prove that a given answer
was the one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from prowess._internal.text.canonical_json import canonical_json, sha256_of
from prowess.tools.call_audit import AuditRecorder
from prowess.tools.wrappers.wrapper import ToolWrapper

if TYPE_CHECKING:
    from prowess.audit.event import AuditLog
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import Tool


class Audited(ToolWrapper):
    """Writes `tool.answered` after each success: `tool`, and `result_bytes` and `result_sha256` of the canonical JSON.

    An answer that cannot be recorded is withheld: the call fails with `unavailable`, as it does if the executor
    itself cannot record.
    """

    def __init__(self, wrapped: Tool, log: AuditLog, *, session_id: str | None = None) -> None:
        super().__init__(wrapped)
        self._recorder = AuditRecorder(log, session_id)

    async def around(self, arguments: dict[str, object], call: ToolCall) -> dict[str, object]:
        """Run the tool and record its answer.

        Raises:
            AuditError: the answer is not recorded.
        """
        result = await super().around(arguments, call)
        text = canonical_json(result)
        data = {"tool": self.spec.name, "result_bytes": len(text), "result_sha256": sha256_of(text)}
        with anyio.CancelScope(shield=True):
            await self._recorder.record("tool.answered", call.id, data)
        return result
