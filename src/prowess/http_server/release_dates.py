"""Renews the dates of deployments while the server runs, so that machines go on to trust the present release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.errors import DistributionError, StoreError
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.audit.transparency.sequencer import LogSigner
    from prowess.http_server.server import OrganisationServer

_SECONDS = 3600.0
_DAYS = 6  # of the seven that a date holds
_ACTOR = Actor(user="the server", roles=("administrator",), tenant=EVERY, identified_by="system")


class ReleaseDates:
    """Looks once an hour. `tell` gets a sentence for each fault; another process may have renewed a date just now."""

    def __init__(self, server: OrganisationServer, signer: LogSigner, tell: Callable[[str], None]) -> None:
        self._server, self._signer, self._tell = server, signer, tell

    async def run(self) -> None:
        """Renew dates until cancelled."""
        while True:
            await to_thread.run_sync(self.look)
            await anyio.sleep(_SECONDS)

    def look(self) -> None:
        """Renew the date of each deployment that ends soon. Blocks."""
        try:
            for tenant in (EVERY, *self._server.tenants()):
                call = ServiceCall(_ACTOR, self._server.database, tenant=tenant)
                StoreReleases(call, self._signer.key).refresh(_DAYS)
        except (DistributionError, StoreError) as fault:
            self._tell(str(fault))
