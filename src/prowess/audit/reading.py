"""The last records of a log, for people: read from the end, so that a long log is no slower than a short one.

Nothing here judges. A line that is no record is handed on as None.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

from prowess._internal.files.open_flags import READ
from prowess.audit.record import BadLineError, ChangedRecordError, read_line
from prowess.errors import AuditReadError

if TYPE_CHECKING:
    from prowess.audit.record import AuditRecord

_BLOCK = 64 * 1024


def open_log(path: str) -> BinaryIO:
    """Open a log to read it; not through a link, and nothing but a plain file.

    Raises:
        AuditReadError: something else stands there.
        OSError: it cannot be opened.
    """
    if os.path.islink(path):
        raise AuditReadError(path, "is a link; name the file itself")
    descriptor = os.open(path, READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise AuditReadError(path, "is not a plain file")
    return open(descriptor, "rb")


def read_tail(path: str | os.PathLike[str], count: int) -> list[AuditRecord | None]:
    """Return the last `count` records in the order of the file; half a line at the end is left out.

    Raises:
        AuditReadError: there is no log, or it cannot be read.
    """
    log_path = os.path.abspath(path)
    try:
        with open_log(log_path) as stream:
            position = stream.seek(0, os.SEEK_END)
            tail = b""
            while position and tail.count(b"\n") <= count:
                step = min(_BLOCK, position)
                position = stream.seek(position - step)
                tail = stream.read(step) + tail
    except FileNotFoundError:
        raise AuditReadError(log_path, "there is no log here") from None
    except OSError as fault:
        raise AuditReadError(log_path, f"cannot be read: {fault.strerror or fault}") from fault
    lines = tail.split(b"\n")[:-1]
    return [_record(line) for line in lines[-count:]]


def _record(line: bytes) -> AuditRecord | None:
    try:
        return read_line(line)
    except (BadLineError, ChangedRecordError):
        return None
