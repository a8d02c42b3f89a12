"""A gate for a policy that wants every call recorded, in a session that has no log: it refuses them all.

Where there is a log, the door itself refuses what it cannot record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import AuditError
from prowess.tools.gates.gate import Refuse

if TYPE_CHECKING:
    from prowess.tools.call import ToolCall
    from prowess.tools.spec import ToolSpec


class NoLogGate:
    """Refuses every call with `unavailable`, because nothing would record it."""

    async def check(self, call: ToolCall, spec: ToolSpec) -> Refuse:
        """Refuse."""
        del call, spec
        reason = "there is none, and the policy permits no call without a record (audit.required)"
        return Refuse(error=AuditError(None, reason), rule="audit.required")
