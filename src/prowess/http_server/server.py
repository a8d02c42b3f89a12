"""The server of an organisation: its store, its tenants, its key, and the owners of its tokens.

The interface, the pages and the logins share one `OrganisationServer`.
"""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from anyio import to_thread

from prowess.errors import StoreError
from prowess.governance.organisation import token_digest
from prowess.governance.service.service_call import Actor, ServiceCall
from prowess.http_server.live_records import LiveRecords
from prowess.http_server.login.login_server import LoginServer
from prowess.http_server.login.settings import LoginSettings
from prowess.http_server.metrics import ServerMetrics
from prowess.http_server.skill_texts import SkillTexts
from prowess.store.shared.organisation import OrganisationStore
from prowess.store.shared.tokens import SharedTokenStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request

    from prowess.audit.transparency.sequencer import LogSigner
    from prowess.governance.service.call_limit import CallLimit
    from prowess.store.shared.database import SharedDatabase

_MOST_CLIENT = 200
MOST_THREADS = 8  # below the number of connections of one process to the database


class OrganisationServer:
    """The organisation of the store at `url`. `signer` is its key, None if that is not on this machine.

    Raises:
        StoreError: the store cannot be used.
    """

    def __init__(self, url: str, signer: LogSigner | None = None, login: LoginSettings | None = None) -> None:
        store = OrganisationStore(url)
        self.database, self.signer = store.database, signer
        self.organisation = store.organisation()
        self.metrics = ServerMetrics()
        self.is_ending = False  # set by who ends the listener; streams end then
        self.logins = LoginServer(store, login or LoginSettings())
        self._store, self._tokens = store, SharedTokenStore(store.database)
        self._views: dict[str, SharedDatabase] = {EVERY: self.database}
        self.streams: Counter[str] = Counter()  # how many each token or login has open
        self._live: dict[str, LiveRecords] = {}
        self.skill_texts = SkillTexts()

    def close(self) -> None:
        """Close the connections to the store."""
        self.database.close()

    def owner(self, text: str) -> Actor | None:
        """Return the owner of a token, None if it is unknown or has ended. Blocks, and raises StoreError."""
        token = self._tokens.use_token(token_digest(text), time.time())
        return None if token is None else Actor.of_token(token)

    def call(
        self, actor: Actor, request: Request, tenant: str | None = None, limit: CallLimit | None = None
    ) -> ServiceCall | None:
        """Return a call of `actor` in a tenant, by default the actor's own. Blocks.

        None if there is no such tenant, or it is not the actor's: an outsider must not learn which of both.
        """
        wanted = actor.tenant if tenant is None else tenant
        if actor.tenant not in {wanted, EVERY} or (view := self.view(wanted)) is None:
            return None
        client = request.headers.get("user-agent", "")[:_MOST_CLIENT]
        return ServiceCall(actor, view, tenant=wanted, client=client, limit=limit)

    def tenants(self) -> tuple[str, ...]:
        """Return the names of all tenants, sorted. Blocks, and raises StoreError."""
        return self._store.tenants()

    def live(self, tenant: str) -> LiveRecords:
        """Return the feed of new records of a tenant, which all its streams in this process share."""
        if tenant not in self._live:
            self._live[tenant] = LiveRecords(self.database.of_tenant(tenant), lambda: self.is_ending)
        return self._live[tenant]

    def view(self, tenant: str) -> SharedDatabase | None:
        """Return the store as a tenant sees it, None if there is no such tenant. Blocks, and raises StoreError."""
        # Kept, because a new view checks schema and tenant once more. Tenants are never removed.
        if tenant not in self._views:
            if tenant not in self._store.tenants():
                return None
            self._views[tenant] = self.database.of_tenant(tenant)
        return self._views[tenant]

    def readiness(self) -> dict[str, Any]:
        """Return the state of the store, for `/readyz` and `/metrics`. Blocks and raises StoreError.

        `checkpoint_age_seconds` is how long the oldest record has waited for its place in the log, 0 if none waits.
        """
        since = self._store.waiting_since()
        age = 0.0 if since is None else max(0.0, time.time() - datetime.fromisoformat(since).timestamp())
        return {"status": "ready", "schema": self._store.schema(), "checkpoint_age_seconds": round(age, 3)}

    async def state(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the document of `/readyz`."""
        try:
            return 200, await to_thread.run_sync(self.readiness)
        except StoreError as fault:
            self.metrics.store_failed()
            return 503, {"status": "not ready", "reason": "store", "code": fault.code}
