"""The audit service of a machine: takes records of every user at a socket, and keeps them in a log of its own.

A record is on disk before it is acknowledged. The kernel tells who has sent it (`SO_PEERCRED`). The records that wait
are written together with one sync (group commit), so many writers are not slower than one.

Nothing that a user sends can change or remove an earlier record. A user can send records about things that did not
happen; they have the verified user id of the sender.
"""

from __future__ import annotations

import os
import pwd
import resource
import selectors
import socket
import stat
import struct
import time
from collections import Counter, deque
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from prowess.audit.log import MAX_GROUP
from prowess.audit.machine_wire import (
    MAX_EVENT_BYTES,
    MAX_PACKET_BYTES,
    RefusedEventError,
    answer_bytes,
    error_bytes,
    part_of,
    read_event,
    sent_by,
)
from prowess.errors import AuditError
from prowess.governance.machine.central_answers import CentralAnswers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.audit.log import JsonlAuditLog
    from prowess.audit.record import AuditEvent
    from prowess.governance.machine.central_answers import Collector

_CREDENTIALS = struct.Struct("3i")  # process, user, group
_LONGEST_PAUSE = 0.001  # seconds
_MAX_CONNECTIONS = 4096
_MAX_UNFINISHED = 4 * MAX_EVENT_BYTES  # of one user
_MAX_OF_ONE_USER = 512  # so that a user cannot take all connections


class _Sender:
    """A connection, and the user at its other end. `is_central`: the organisation must have the present request too."""

    __slots__ = ("connection", "is_central", "parts", "size", "uid")

    def __init__(self, connection: socket.socket, uid: int) -> None:
        self.connection, self.uid, self.is_central = connection, uid, False
        self.parts: list[bytes] = []  # of a request that has not come as a whole
        self.size = 0


class MachineAuditService:
    """The service of one log. The socket is at `path`, in a directory that its user alone can change.

    `facts` are in every record, such as the tenant that an enrolled machine was given. `collector` sends the log to the
    organisation of an enrolled machine.
    """

    def __init__(
        self,
        log: JsonlAuditLog,
        path: str,
        facts: Mapping[str, str] | None = None,
        collector: Collector | None = None,
    ) -> None:
        self.path = os.path.abspath(path)
        self._log = log
        self._facts = {"host": os.uname().nodename, **(facts or {})}
        self._senders: Counter[int] = Counter()  # connections of each user
        self._unfinished: Counter[int] = Counter()  # bytes of unfinished requests of each user
        self._turns: dict[_Sender, None] = {}  # in the order in which they became ready
        self._last_groups: deque[frozenset[_Sender]] = deque(maxlen=2)
        self._write_seconds = 0.0  # of the last group
        self._selector = selectors.DefaultSelector()
        self._central = None if collector is None else CentralAnswers[_Sender](collector)

    def run(self, wake: int) -> None:
        """Serve until the descriptor `wake` becomes readable. Raises OSError if the socket cannot be made."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, _MAX_CONNECTIONS + 64)), hard))
        listener = self._listener()
        try:
            if self._central is not None:
                self._selector.register(self._central.descriptor, selectors.EVENT_READ, self._central)
            self._selector.register(listener, selectors.EVENT_READ, None)
            self._selector.register(wake, selectors.EVENT_READ, wake)
            while self._serve(listener):
                pass
        finally:
            listener.close()
            with suppress(OSError):
                os.unlink(self.path)
            for key in list(self._selector.get_map().values()):
                if isinstance(key.data, _Sender):
                    key.data.connection.close()
            self._selector.close()
            if self._central is not None:
                self._central.close()

    def _listener(self) -> socket.socket:
        """Return the listening socket. It replaces the one of a service that was killed, in one step."""
        directory = os.path.dirname(self.path)
        os.makedirs(directory, mode=0o755, exist_ok=True)
        with suppress(FileNotFoundError):
            if not stat.S_ISSOCK(os.lstat(self.path).st_mode):
                raise FileExistsError(17, "is not a socket; remove it", self.path)
        draft = f"{self.path}.{os.getpid()}"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            listener.bind(draft)
            os.chmod(draft, 0o666)  # noqa: S103 -- every user sends records
            listener.listen(128)
            listener.settimeout(0)
            os.rename(draft, self.path)
        except BaseException:
            listener.close()
            with suppress(OSError):
                os.unlink(draft)
            raise
        return listener

    def _serve(self, listener: socket.socket) -> bool:
        """Take records that have come, write them, acknowledge them. Return False when the service must end."""
        if not self._take(listener, None if not self._turns else 0):
            return False
        # Those who were just answered send again at once. Without a pause they would always miss the next sync.
        if frozenset[_Sender]().union(*self._last_groups) - self._turns.keys():
            time.sleep(min(self._write_seconds / 4, _LONGEST_PAUSE))
            if not self._take(listener, 0):
                return False
        group: list[tuple[_Sender, AuditEvent]] = []
        while self._turns and len(group) < MAX_GROUP:
            del self._turns[sender := next(iter(self._turns))]
            try:
                event = self._received(sender)
            except RefusedEventError as fault:
                self._answer(sender, error_bytes(str(fault)))
                continue
            if event is not None:
                group.append((sender, event))
        self._last_groups.append(frozenset(sender for sender, _ in group))
        if group:
            begun = time.monotonic()
            self._record(group)
            self._write_seconds = time.monotonic() - begun
        return True

    def _take(self, listener: socket.socket, seconds: float | None) -> bool:
        """Wait for senders and remember them. Return False when the service must end."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._accept(listener)
            elif isinstance(key.data, _Sender):
                self._turns.setdefault(key.data)
            elif isinstance(key.data, CentralAnswers):
                self._answer_due(key.data)
            else:
                return False
        return True

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:  # the other side has gone, or there are no descriptors left
            return
        given = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        uid = _CREDENTIALS.unpack(given)[1]
        if self._senders[uid] >= _MAX_OF_ONE_USER or self._senders.total() >= _MAX_CONNECTIONS:
            connection.close()
            return
        connection.settimeout(0)
        self._senders[uid] += 1
        self._selector.register(connection, selectors.EVENT_READ, _Sender(connection, uid))

    def _received(self, sender: _Sender) -> AuditEvent | None:
        """Return the next event of a sender. None if it has not come as a whole. Raises RefusedEventError."""
        try:
            packet = sender.connection.recv(MAX_PACKET_BYTES + 1)
        except BlockingIOError:
            return None
        except OSError:
            packet = b""
        if not packet:
            self._drop(sender)
            return None
        try:
            part = part_of(packet)
            self._keep(sender, part.data)
        except RefusedEventError:
            self._forget(sender)
            raise
        if not part.is_last:
            return None
        sender.is_central = part.is_central
        message = b"".join(sender.parts)
        self._forget(sender)
        return sent_by(read_event(message), uid=sender.uid, user=_login(sender.uid), machine=self._facts)

    def _keep(self, sender: _Sender, part: bytes) -> None:
        if sender.size + len(part) > MAX_EVENT_BYTES:
            raise RefusedEventError(f"it takes more than {MAX_EVENT_BYTES} bytes")
        if self._unfinished[sender.uid] + len(part) > _MAX_UNFINISHED:
            raise RefusedEventError("this user sends too many long records at once; try again")
        sender.parts.append(part)
        sender.size += len(part)
        self._unfinished[sender.uid] += len(part)

    def _forget(self, sender: _Sender) -> None:
        self._unfinished[sender.uid] -= sender.size
        if not self._unfinished[sender.uid]:
            del self._unfinished[sender.uid]
        sender.parts, sender.size = [], 0

    def _record(self, group: list[tuple[_Sender, AuditEvent]]) -> None:
        try:
            records = self._log.append_group([event for _, event in group])
        except AuditError as fault:
            if len(group) == 1:
                self._answer(group[0][0], error_bytes(fault.reason))
                return
            for one in group:  # an event that cannot be recorded must not take others with it
                self._record([one])
            return
        for (sender, _), record in zip(group, records, strict=True):
            if not sender.is_central:
                self._answer(sender, answer_bytes(record))
            elif self._central is None:
                self._answer(sender, error_bytes("this machine is not enrolled, so no organisation can acknowledge it"))
            else:
                self._central.add(sender, record)

    def _answer_due(self, central: CentralAnswers[_Sender]) -> None:
        for sender, record, fault in central.due():
            self._answer(sender, answer_bytes(record) if fault is None else error_bytes(fault))

    def _answer(self, sender: _Sender, answer: bytes) -> None:
        try:
            sender.connection.send(answer)
        except OSError:  # gone, or it sends without reading the answers
            self._drop(sender)

    def _drop(self, sender: _Sender) -> None:
        if sender.connection.fileno() == -1:
            return
        self._forget(sender)
        self._selector.unregister(sender.connection)
        sender.connection.close()
        self._senders[sender.uid] -= 1
        if not self._senders[sender.uid]:
            del self._senders[sender.uid]


@lru_cache(maxsize=1024)
def _login(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None
