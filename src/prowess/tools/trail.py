"""The marks that one call leaves in the audit log; no raw argument is among them.

Blocking writes run in a worker thread. They are shielded from cancellation, and the two facts that decide what a
cancelled call must still write (has its start been written, may it still be) are kept under a lock, because the
worker may be writing the start at the moment in which the call is cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from prowess._internal.canonical_json import canonical_json, sha256_of
from prowess._internal.terminal_text import printable_line
from prowess.errors import AuditError
from prowess.policy.audit_event import AuditEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.policy.audit_event import AuditLog
    from prowess.tools.call import ToolCall

_MAX_TEXT = 80  # characters kept of a name that a caller made up
_MAX_NAMES = 64  # argument names, and names of one environment, that are listed
_ENVIRONMENT = "env"  # the names inside this argument are recorded too: which variables a script got matters later


class Trail:
    """Writes the records of one call; without a log it does nothing."""

    # Every call has a trail and few have a log, so what is not known yet is said by the class.
    tool = ""  # until it is known which tool the call means
    rule: str | None = None
    skill: str | None = None
    allowed_by: str | None = None
    _arguments: Mapping[str, object] = MappingProxyType({})
    _begun = _abandoned = False

    def __init__(self, log: AuditLog | None, call: ToolCall, session_id: str | None) -> None:
        self._log, self._session_id, self._call_id = log, session_id, call.id
        if log is not None:
            self._lock = threading.Lock()

    def measure(self, arguments: object, canonical: bytes) -> None:
        """Remember names, sizes in bytes and the digest of the arguments."""
        if self._log is None:
            return
        known: dict[str, object] = {"arguments_sha256": sha256_of(canonical), "arguments_bytes": len(canonical)}
        if isinstance(arguments, Mapping):
            known["arguments"] = _sizes(arguments)
            environment = arguments.get(_ENVIRONMENT)
            if isinstance(environment, Mapping):
                known["env"] = [shortened(name) for name in sorted(environment)[:_MAX_NAMES]]
        self._arguments = known

    async def started(self) -> None:
        """Record that the tool is about to run; AuditError where it must not."""
        if self._log is not None:
            await to_thread.run_sync(self._start, self._log)

    async def finished(self, duration_ms: int, code: str | None, approved_by: str | None = None) -> None:
        """Record how the run ended; `code` is None for a success. AuditError where it is not recorded.

        `approved_by` is who approved a part of it, where the tool itself had to ask.
        """
        outcome: dict[str, object] = {"outcome": "success"} if code is None else {"outcome": "failure", "code": code}
        if approved_by is not None:
            outcome["approved_by"] = shortened(approved_by)
        await self._shielded(lambda log: self._append(log, "tool.finished", {**outcome, "duration_ms": duration_ms}))

    async def refused(self, code: str) -> None:
        """Record that the call was refused. AuditError where it is not recorded."""
        by = {"rule": self.rule, "skill": self.skill}
        known = {name: shortened(text) for name, text in by.items() if text is not None}
        await self._shielded(lambda log: self._append(log, "tool.refused", {**self._arguments, "code": code, **known}))

    async def cancelled(self, duration_ms: int) -> None:
        """Record that the caller gave up. A log that fails here can tell nobody: the caller is gone."""
        await self._shielded(lambda log: self._cancel(log, duration_ms))

    async def _shielded(self, write: Callable[[AuditLog], None]) -> None:
        if self._log is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(write, self._log)

    def _start(self, log: AuditLog) -> None:
        with self._lock:
            if not self._abandoned:
                by = {} if self.allowed_by is None else {"allowed_by": shortened(self.allowed_by)}
                self._append(log, "tool.started", {**self._arguments, **by})
                self._begun = True

    def _cancel(self, log: AuditLog, duration_ms: int) -> None:
        with self._lock:
            self._abandoned = True
            try:
                if self._begun:
                    end = {"outcome": "cancelled", "code": "cancelled", "duration_ms": duration_ms}
                    self._append(log, "tool.finished", end)
                else:
                    self._append(log, "tool.refused", {**self._arguments, "code": "cancelled"})
            except AuditError:
                return

    def _append(self, log: AuditLog, kind: str, data: Mapping[str, object]) -> None:
        event = AuditEvent(
            kind=kind, session_id=self._session_id, call_id=self._call_id, data={"tool": self.tool, **data}
        )
        append(log, event)


def append(log: AuditLog, event: AuditEvent) -> None:
    """Write one record; AuditError where it is not written, whatever kept it from being."""
    try:
        log.append(event)
    except AuditError:
        raise
    except Exception as fault:  # a log of the host's own may fail in any way, and each of them means "not recorded"
        raise AuditError(type(log).__name__, f"failed with {type(fault).__name__}") from fault


def _sizes(arguments: Mapping[str, object]) -> dict[str, object]:
    names = sorted(arguments)
    sizes: dict[str, object] = {shortened(name): len(canonical_json(arguments[name])) for name in names[:_MAX_NAMES]}
    return sizes if len(names) <= _MAX_NAMES else {**sizes, "…": len(names) - _MAX_NAMES}


def shortened(text: str) -> str:
    """Return an identifier or a name that a caller made up as a short text that every log can hold."""
    if len(text) <= _MAX_TEXT and text.isascii() and text.isprintable():
        return text
    shown = printable_line(text[:_MAX_TEXT])
    return shown if len(text) <= _MAX_TEXT else f"{shown}…"
