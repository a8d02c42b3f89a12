"""The logs that must have a record before a call goes on: the session's own, and the machine's if the policy says so.

The log of the machine belongs to root. Sessions send their records to its service through a socket, and go on when the
record is on disk (`prowess machine run`). The policy is asked for each record, so a new value of `audit.sink` holds
from the next call on in every running session.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import sys
import threading
from typing import TYPE_CHECKING

from prowess._internal.places import bundle_folder
from prowess.audit.machine_wire import (
    AUDIT_SOCKET,
    MAX_ANSWER_BYTES,
    RefusedEventError,
    event_bytes,
    packets,
    read_acknowledgement,
)
from prowess.errors import AuditError
from prowess.policy.machine.offline import SEE_STATUS

if TYPE_CHECKING:
    from prowess.audit.record import AuditEvent, AuditLog, AuditRecord
    from prowess.policy.policy import PolicySource

_WAIT_SECONDS = 10.0
_HELP = f"{SEE_STATUS}an administrator starts the service with `prowess machine run`"
_CREDENTIALS = struct.Struct("3i")  # process, user, group
_ROOT = 0


class MachineLog:
    """The audit log of this machine, behind the socket at `path`. Safe to use from several threads.

    `owner` is the numeric id of the user who must run the service. A record is never sent twice, so if the service ends
    before its answer, the call is refused although the record may be in the log.
    """

    def __init__(self, path: str = AUDIT_SOCKET, *, owner: int = _ROOT, wait_seconds: float = _WAIT_SECONDS) -> None:
        self.path, self._owner, self._wait_seconds = path, owner, wait_seconds
        self._lock = threading.Lock()
        self._open: tuple[int, socket.socket] | None = None  # with the process that opened it

    def append(self, event: AuditEvent, *, central: bool = False) -> AuditRecord:
        """Return the record when it is on disk; if `central`, when the organisation's server has it too.

        Raises:
            AuditError: the service has not acknowledged the record; the message names the reason and a remedy.
        """
        try:
            message = event_bytes(event)
            with self._lock:
                return read_acknowledgement(self._answer(message, central=central), event)
        except RefusedEventError as fault:
            raise AuditError(self.path, f"the audit service of this machine refused the record: {fault}") from None

    def check(self) -> None:
        """Raise AuditError if the service cannot be reached, or belongs to another user."""
        with self._lock:
            self._connected()

    def forget(self) -> None:
        """Drop the connection and the lock after a fork: a thread that no longer exists may have held the lock."""
        self._lock = threading.Lock()
        self._close()

    def _answer(self, message: bytes, *, central: bool) -> bytes:
        connection = self._connected()
        try:
            try:
                _send(connection, message, central=central)
            except (BrokenPipeError, ConnectionResetError):  # the service has ended, and has not got the whole message
                self._close()
                connection = self._connected()
                _send(connection, message, central=central)
            answer = connection.recv(MAX_ANSWER_BYTES)
        except TimeoutError:
            self._close()  # so that a late answer is not taken for that of the next record
            raise AuditError(self.path, f"no answer within {self._wait_seconds:g} s; {_HELP}") from None
        except OSError as fault:
            self._close()
            raise AuditError(self.path, f"{fault.strerror or fault}; {_HELP}") from fault
        except BaseException:
            self._close()
            raise
        if not answer:
            self._close()
            raise AuditError(self.path, f"the service ended before it acknowledged the record; {_HELP}")
        return answer

    def _connected(self) -> socket.socket:
        if self._open is not None:
            process, known = self._open
            if process == os.getpid() and not _has_ended(known):
                return known
            self._close()
        if sys.platform != "linux":
            raise AuditError(self.path, "the audit log of a machine needs Linux; set audit.sink to file")
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connection.settimeout(self._wait_seconds)
            connection.connect(self.path)
            given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        except FileNotFoundError:
            connection.close()
            raise AuditError(self.path, f"the audit service of this machine does not run; {_HELP}") from None
        except OSError as fault:
            connection.close()
            reason = f"the audit service of this machine does not answer ({fault.strerror or fault})"
            raise AuditError(self.path, f"{reason}; {_HELP}") from fault
        if (user := _CREDENTIALS.unpack(given)[1]) != self._owner:
            connection.close()
            reason = f"the socket belongs to user {user}, not to user {self._owner}, so it is not used"
            raise AuditError(self.path, f"{reason}; {_HELP}")
        self._open = os.getpid(), connection
        return connection

    def _close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def _send(connection: socket.socket, message: bytes, *, central: bool) -> None:
    for packet in packets(message, central=central):
        connection.send(packet)


def _has_ended(connection: socket.socket) -> bool:
    """Whether the other side has closed a connection on which no answer is awaited."""
    waiting = select.poll()
    waiting.register(connection, select.POLLIN)
    return bool(waiting.poll(0))


MACHINE_LOG = MachineLog()  # one connection for all sessions of a process
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=MACHINE_LOG.forget)


class SinkLog:
    """The session's own log `wrapped`, and those that the policy demands (`audit.sink`).

    `machine`: the log of the machine. `central`: the log of the organisation. If the session shares the store of the
    organisation, `central` is that log. Otherwise, and always on an enrolled machine, whose user could name another
    store, the service of the machine answers when the server of its organisation has the record.
    """

    def __init__(
        self,
        wrapped: AuditLog | None,
        policy: PolicySource,
        central: AuditLog | None = None,
        *,
        machine: MachineLog = MACHINE_LOG,
    ) -> None:
        self.wrapped, self._policy, self._machine, self._central = wrapped, policy, machine, central

    @property
    def in_use(self) -> bool:
        """Whether a record goes to a log now."""
        return self.wrapped is not None or self._policy.now().audit_sink != "file"

    def append(self, event: AuditEvent) -> AuditRecord:
        """Write the record to each log, first to the demanded ones. Raise AuditError if one of them has not got it."""
        sinks, record = self._policy.now().audit_sinks, None
        if "central" in sinks and self._central is not None and bundle_folder() is None:
            record = self._central.append(event)
        elif "central" in sinks and not self._is_central:
            record = self._machine.append(event, central=True)
            sinks -= {"machine"}  # its log has the record
        if "machine" in sinks:
            record = self._machine.append(event)
        if self.wrapped is not None:
            return self.wrapped.append(event)
        if record is None:  # the policy has changed since `in_use`
            raise AuditError(None, "the policy has just changed; call again")
        return record

    @property
    def _is_central(self) -> bool:
        """Whether the session's own log is that of the organisation. A user of an enrolled machine could name another.

        The class of that log is not asked for, because importing it takes long.
        """
        return bool(getattr(self.wrapped, "is_central", False)) and bundle_folder() is None
