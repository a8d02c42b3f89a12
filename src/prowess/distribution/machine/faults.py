"""Why the service of an enrolled machine does not do all its work: kept for `machine status`, told and reported."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

FAULT_FILE = "fault"
_READABLE = 0o644


class MachineFaults:
    """The present faults of the bundle and of the sending of records, each None or a sentence.

    `text` is what is kept in `STATE/fault`: the fault of the bundle, else that of the records. `tell` gets each new
    text. Threads may call this. A service without disk space goes on.
    """

    def __init__(self, state: str, tell: Callable[[str], None]) -> None:
        self.text: str | None = None
        self._path, self._tell = os.path.join(state, FAULT_FILE), tell
        self._bundle: str | None = None
        self._records: str | None = None
        self._kept: str | None = ""  # unknown
        self._lock = Lock()

    def of_bundle(self, fault: str | None) -> None:
        """Remember why the bundle could not be brought up to date."""
        with self._lock:
            self._bundle = fault
            self._keep()

    def of_records(self, fault: str | None) -> None:
        """Remember why the records could not be sent."""
        with self._lock:
            self._records = None if fault is None else f"records are not sent: {fault}"
            self._keep()

    def _keep(self) -> None:
        self.text = self._records if self._bundle is None else self._bundle
        if self.text == self._kept:
            return
        self._kept = self.text
        if self.text is not None:
            self._tell(self.text)
        with suppress(OSError):
            if self.text is None:
                with suppress(FileNotFoundError):
                    os.unlink(self._path)
            else:
                write_atomically(self._path, self.text.encode(), _READABLE, sync=False)
