"""What `prowess machine run` does on an enrolled machine: follows the bundle, sends records, and reports."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.uuid7 import uuid7
from prowess.audit.log import JsonlAuditLog
from prowess.distribution.machine.bundle_keeper import BundleKeeper
from prowess.distribution.machine.faults import MachineFaults
from prowess.distribution.machine.forwarding import RecordForwarder
from prowess.distribution.machine.inventory import InventoryKeeper
from prowess.governance.machine.reports import MACHINE_ID, MachineReport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prowess._internal.files.enrolment import Enrolment

ID_FILE = "machine.id"
_READABLE = 0o644
_MOST_FAULT = 4000  # characters


def machine_id(state: str) -> str:
    """Return the id of the machine whose files are in `state`; it gets one if it has none. Raises OSError."""
    path = os.path.join(state, ID_FILE)
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            found = file.read(100).strip()
    except FileNotFoundError:
        found = ""
    if re.fullmatch(MACHINE_ID, found) is None:
        found = uuid7()
        write_atomically(path, f"{found}\n".encode(), _READABLE)
    return found


def first_report(found: Enrolment, state: str, version: int) -> MachineReport:
    """Return the report of a machine that root has just enrolled. Raises OSError."""
    return MachineReport(
        id=machine_id(state),
        name=os.uname().nodename or "unknown",
        team=found.team,
        environment=found.environment,
        bundle=version,
        is_enrolment=True,
    )


class EnrolledService:
    """The threads of an enrolled machine. `collector` sends the log at `path`; it is for the audit service.

    `list_copies` is the command that lists the copies of skills of a user, see `InventoryKeeper`.
    """

    def __init__(
        self,
        enrolled: Enrolment,
        state: str,
        path: str,
        *,
        seconds: float,
        tell: Callable[[str], None],
        list_copies: Sequence[str],
        inventory_seconds: float,
    ) -> None:
        self._enrolled, self._id = enrolled, machine_id(state)
        self._faults = MachineFaults(state, tell)
        self._keeper = BundleKeeper(
            enrolled, state, seconds=seconds, tell=tell, faults=self._faults, audit=JsonlAuditLog(path)
        )
        self.collector = RecordForwarder(
            enrolled.url,
            path=path,
            state=state,
            seconds=seconds,
            report=self._report,
            remember=self._faults.of_records,
        )
        self._inventory = InventoryKeeper(list_copies, inventory_seconds, self.collector.wake)
        self._keeper.changed = self._changed

    def start(self) -> None:
        """Start the threads."""
        self._keeper.start()
        self.collector.start()
        self._inventory.start()

    def close(self) -> None:
        """End the threads."""
        self._inventory.close()
        self._keeper.close()
        self.collector.close()

    def _changed(self) -> None:
        self.collector.wake()
        self._inventory.look_soon()

    def _report(self) -> MachineReport:
        fault = self._faults.text
        return MachineReport(
            id=self._id,
            name=os.uname().nodename or "unknown",
            team=self._enrolled.team,
            environment=self._enrolled.environment,
            bundle=self._keeper.version,
            release=self._keeper.release,
            tenant_release=self._keeper.tenant_release,
            fault=None if fault is None else fault[:_MOST_FAULT],
            inventory=self._inventory.copies,
        )
