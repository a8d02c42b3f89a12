"""What the routes of logins share: logins, tokens, the log, and the limit of failures. Everything here blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.audit.caller import Caller
from prowess.governance.login_log import LoginLog, LoginOrigin
from prowess.governance.organisation import token_digest
from prowess.http_listener.connections import network_of
from prowess.http_server.login.browser_logins import BrowserLogins, NewLogin
from prowess.http_server.login.refusals import LoginRefusedError
from prowess.store.shared.rate_limits import SharedRateLimitStore
from prowess.store.shared.tokens import SharedTokenStore

if TYPE_CHECKING:
    from starlette.requests import Request

    from prowess.governance.login_log import LoginMeans
    from prowess.governance.service.service_call import Actor
    from prowess.http_server.login.role_tables import RoleTables
    from prowess.http_server.login.settings import LoginSettings
    from prowess.store.shared.database import SharedDatabase

_WINDOW = 60  # seconds
MOST_TOKEN = 200  # characters


class LoginServer:
    """Logins in the store of an organisation; `database` is the organisation's.

    Failures are counted in the table `rate_limits`, so all processes of a server share the limit. An attempt is counted
    before it is looked at, and a successful one is taken back: attempts at the same time cannot pass together.
    """

    def __init__(self, database: SharedDatabase, settings: LoginSettings, roles: RoleTables) -> None:
        self.settings = settings
        self.logins = BrowserLogins(database, settings, roles)
        self.log = LoginLog(database)
        self._tokens, self._limits = SharedTokenStore(database), SharedRateLimitStore(database)

    def log_in_with_token(self, text: str, at: LoginOrigin) -> str:
        """Return the secret of a new login of the owner of a token.

        Raises:
            LoginRefusedError: the token is not valid, or is that of a machine.
            StoreError: the store cannot be used.
            AuditError: the login cannot be recorded, so there is none.
        """
        clipped = text.strip()
        token = None
        if clipped and len(clipped) <= MOST_TOKEN:
            token = self._tokens.use_token(token_digest(clipped), self.logins.clock())
        if token is None:
            raise LoginRefusedError("token")
        if token.role == "machine":
            raise LoginRefusedError("machine", f"token {token.id}")
        new = NewLogin(user=token.user, team=token.team, tenant=token.tenant, token_id=token.id)
        who = Caller(user=token.user, identified_by="login", team=token.team, roles=(token.role,), tenant=token.tenant)
        self.log.began(who, "token", at)
        return self.logins.begin(new)

    def end(self, secret: str, at: LoginOrigin) -> None:
        """End a login; nothing is recorded if there is none. Raises StoreError and AuditError."""
        if (found := self.logins.find(secret)) is not None:
            self.log.ended(caller_of(found.actor), at)
            self.logins.end(secret)

    def count_attempt(self, means: LoginMeans, at: LoginOrigin) -> int:
        """Count an attempt of an address; return the window for `forget_attempt`.

        Raises:
            LoginRefusedError: too many attempts failed in this minute. Only the first refusal is recorded.
            StoreError: the store cannot be used.
        """
        window = int(self.logins.clock()) // _WINDOW * _WINDOW
        counted = self._limits.count(_key(at), window)
        if counted > self.settings.failures:
            if counted == self.settings.failures + 1:
                self.log.failed(means, "limit", "", at)
            raise LoginRefusedError("limit")
        return window

    def forget_attempt(self, window: int, at: LoginOrigin) -> None:
        """Take an attempt back, because it succeeded. Raises StoreError."""
        self._limits.uncount(_key(at), window)


def origin_of(request: Request) -> LoginOrigin:
    """Return where a request comes from. Behind a proxy on this machine, it is the address that the proxy names."""
    address = "" if request.client is None else network_of(request.client.host)
    return LoginOrigin(address, request.headers.get("user-agent"))


def caller_of(actor: Actor) -> Caller:
    """Return the actor of a login as the caller of a record."""
    return Caller(user=actor.user, identified_by="login", team=actor.team, roles=actor.roles, tenant=actor.tenant)


def _key(at: LoginOrigin) -> str:
    return f"login:{at.address}"
