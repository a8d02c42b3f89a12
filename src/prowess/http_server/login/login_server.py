"""Parts that the routes of logins share: logins, tokens, the log, and the limit of failures. Everything here blocks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from prowess.audit.caller import Caller
from prowess.errors import StoreError
from prowess.governance.login_log import LoginLog, LoginOrigin
from prowess.governance.organisation import token_digest
from prowess.http_listener.connections import network_of
from prowess.http_server.login.browser_logins import BrowserLogins, NewLogin
from prowess.http_server.login.oidc.issuer import Issuer
from prowess.http_server.login.refusals import LoginRefusedError
from prowess.http_server.login.role_tables import RoleTables
from prowess.store.shared.rate_limits import SharedRateLimitStore
from prowess.store.shared.tokens import SharedTokenStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from prowess.governance.login_log import LoginMeans
    from prowess.governance.service.service_call import Actor
    from prowess.http_server.login.settings import LoginSettings
    from prowess.store.shared.organisation import OrganisationStore

_T = TypeVar("_T")
_WINDOW = 60  # seconds
_MOST_BEGINNINGS = 60  # attempts at the issuer that an address may begin in a minute
MOST_TOKEN = 200  # characters


class LoginServer:
    """Logins in the store of an organisation. `issuer` is None if people log in by tokens alone.

    Failures are counted in the table `rate_limits`, so all processes of a server share the limit. An attempt is counted
    before it is looked at, and a successful one is taken back: attempts at the same time cannot pass together.
    """

    def __init__(self, store: OrganisationStore, settings: LoginSettings) -> None:
        database, self.settings, self._store = store.database, settings, store
        self.logins = BrowserLogins(database, settings, RoleTables(database))
        self.log = LoginLog(database)
        self.issuer = None if settings.oidc is None else Issuer(settings.oidc)
        self._tokens, self._limits = SharedTokenStore(database), SharedRateLimitStore(database)

    def tenants(self) -> tuple[str, ...]:
        """Return the names of all tenants. Raises StoreError."""
        return self._store.tenants()

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
        return self.begin(new, "token", at)

    def begin(self, new: NewLogin, means: LoginMeans, at: LoginOrigin) -> str:
        """Record and begin the login of a person, and return its secret.

        Raises:
            LoginRefusedError: the token was removed meanwhile.
            StoreError: the store cannot be used.
            AuditError: the login cannot be recorded, so there is none.
        """
        secret = self.logins.begin(new)
        try:
            found = self.logins.find(secret)
            if found is not None:
                self.log.began(caller_of(found.actor), means, at, issuer=new.issuer)
        except BaseException:
            with suppress(StoreError):  # the secret is unknown everywhere
                self.logins.end(secret)
            raise
        if found is None:
            raise LoginRefusedError("token")
        return secret

    def end(self, secret: str, at: LoginOrigin) -> None:
        """Record and end a login; nothing is recorded if there is none. Raises StoreError and AuditError."""
        if (found := self.logins.find(secret)) is not None:
            self.log.ended(caller_of(found.actor), at)
            self.logins.end(secret)

    def counted(self, means: LoginMeans, at: LoginOrigin, attempt: Callable[[], _T]) -> _T:
        """Return the result of an attempt of an address. A refusal is recorded, and counts against the address.

        Raises:
            LoginRefusedError: the attempt was refused, or too many failed in this minute. Of those that are not even
                tried, only the first is recorded.
            StoreError: the store cannot be used.
            AuditError: a record cannot be written.
        """
        key, window = f"login:{at.address}", self._window()
        counted = self._limits.count(key, window)
        if counted > self.settings.failures:
            if counted == self.settings.failures + 1:
                self.log.failed(means, "limit", "", at)
            raise LoginRefusedError("limit")
        try:
            result = attempt()
        except LoginRefusedError as fault:
            self.log.failed(means, fault.reason, fault.detail, at)
            raise
        self._limits.uncount(key, window)
        return result

    def count_beginning(self, at: LoginOrigin) -> None:
        """Count an attempt at the issuer that an address begins. Raises LoginRefusedError and StoreError."""
        if self._limits.count(f"issuer:{at.address}", self._window()) > _MOST_BEGINNINGS:
            raise LoginRefusedError("limit")

    def _window(self) -> int:
        return int(self.logins.clock()) // _WINDOW * _WINDOW


def origin_of(request: Request) -> LoginOrigin:
    """Return where a request comes from. Behind a proxy on this machine, it is the address that the proxy names."""
    address = "" if request.client is None else network_of(request.client.host)
    return LoginOrigin(address, request.headers.get("user-agent"))


def caller_of(actor: Actor) -> Caller:
    """Return the actor of a login as the caller of a record."""
    return Caller(user=actor.user, identified_by="login", team=actor.team, roles=actor.roles, tenant=actor.tenant)
