"""Continues the logs of all tenants while the server runs, and signs a checkpoint each second in which something came.

Every process of the server does this; the lock of the store lets one at a time continue a log. Without the key of the
organisation, records wait in the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from prowess.audit.transparency.sequencer import continue_log
from prowess.errors import AuditError, PolicyError, SignatureError, StoreError
from prowess.governance.retention import apply_retention
from prowess.store.shared.audit_rows import SharedAuditRows, waiting_tenants
from prowess.store.shared.organisation import tenants_in
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.audit.transparency.sequencer import LogSigner
    from prowess.http_server.server import OrganisationServer

_SECONDS = 1.0
_RETENTION_SECONDS = 3600.0  # between two looks for records that are too old


class SequencerLoop:
    """Looks for waiting records every second. `tell` gets a sentence for each fault, once until another one comes."""

    def __init__(self, server: OrganisationServer, signer: LogSigner, tell: Callable[[str], None]) -> None:
        self._server, self._signer, self._tell = server, signer, tell
        self._told: dict[str, str] = {}

    async def run(self) -> None:
        """Continue the logs until cancelled."""
        removed = float("-inf")
        while True:
            begun = anyio.current_time()
            await to_thread.run_sync(self.look)
            if begun - removed >= _RETENTION_SECONDS:
                removed = begun
                await to_thread.run_sync(self.remove_old)
            await anyio.sleep(max(0.0, begun + _SECONDS - anyio.current_time()))

    def look(self) -> None:
        """Give every waiting record its place. Blocks."""
        try:
            waiting = waiting_tenants(self._server.database)
        except StoreError as fault:
            self._note("", str(fault))
            return
        self._note("", "")
        for tenant in waiting:
            self._continue(tenant)

    def remove_old(self) -> None:
        """Remove the bodies of records that are too old by policy, from the logs of all tenants. Blocks."""
        try:
            tenants = (*tenants_in(self._server.database), EVERY)
        except StoreError:
            return  # `look` tells
        for tenant in tenants:
            rows = SharedAuditRows(self._server.database.of_tenant(tenant))
            try:
                apply_retention(rows, self._signer)
            except (StoreError, AuditError, SignatureError, PolicyError, OSError) as fault:
                self._note(f"old {tenant}", f"old records of the tenant {tenant} are kept: {fault}")
            else:
                self._note(f"old {tenant}", "")

    def _continue(self, tenant: str) -> None:
        try:
            if (view := self._server.view(tenant)) is None:
                return
            rows = SharedAuditRows(view)
            while continue_log(rows, self._signer) is not None:
                self._server.metrics.signed()
        except (StoreError, AuditError, SignatureError, OSError) as fault:
            self._note(tenant, str(fault))
        else:
            self._note(tenant, "")

    def _note(self, tenant: str, fault: str) -> None:
        if fault and fault != self._told.get(tenant, ""):
            self._tell(fault)
        self._told[tenant] = fault
