"""Settings of a policy file about the machine.

    [audit]
    sink = "machine"    # file (the default), machine or central

`file`: records go to the log of the session, if it has one. `machine`: each record must be in the log of the machine
(`prowess machine run`) before the call goes on; the session's own log is written as well. `central`: the server of the
organisation must have acknowledged it too.
"""

from __future__ import annotations

from typing import Literal, get_args

AuditSink = Literal["file", "machine", "central"]
AUDIT_SINKS: tuple[AuditSink, ...] = get_args(AuditSink)  # from the mildest to the strictest
DEFAULT_MAX_OFFLINE = 24 * 3600  # seconds
