"""Logins of browsers in a store: begun, found by their cookie, extended while they are used, and ended.

A login has a random secret, which is in the cookie of the browser; the store has its SHA-256. Nothing about a person is
kept in a process: the token, the policies that give roles, and the login itself are read for each request.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.governance.service.service_call import Actor
from prowess.http_server.login.login_body import IssuerAttempt, PersonLogin, attempt_of, body_of, person_of
from prowess.store import LoginRow
from prowess.store.shared.logins import SharedLoginStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Callable

    from prowess.http_server.login.role_tables import RoleTables
    from prowess.http_server.login.settings import LoginSettings
    from prowess.store.shared.database import SharedDatabase

ATTEMPT_SECONDS = 600.0
_SECRET_BYTES = 32
_EXTEND_SECONDS = 60.0  # a login that is used is extended this often, not at each request


class NewLogin(Struct, frozen=True, kw_only=True):
    """Who logs in, as verified. `token_id` is the token that the login depends on."""

    user: str
    tenant: str
    team: str | None = None
    groups: tuple[str, ...] = ()
    issuer: str | None = None
    token_id: str | None = None


class FoundLogin(Struct, frozen=True, kw_only=True):
    """The login of a request: who it is now, and the value for its forms."""

    actor: Actor
    csrf: str


class BrowserLogins:
    """The logins of a store; `database` is that of the organisation. Blocking; every function raises StoreError."""

    def __init__(
        self,
        database: SharedDatabase,
        settings: LoginSettings,
        roles: RoleTables,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._settings, self._roles, self.clock = SharedLoginStore(database), settings, roles, clock

    def begin(self, new: NewLogin) -> str:
        """Add a login, and return its secret. Logins and attempts that ended are removed."""
        secret, now = secrets.token_urlsafe(_SECRET_BYTES), self.clock()
        ends_at = now + self._settings.longest
        person = PersonLogin(
            user=new.user,
            team=new.team,
            groups=new.groups,
            issuer=new.issuer,
            csrf=secrets.token_urlsafe(_SECRET_BYTES),
            created_at=now,
            ends_at=ends_at,
        )
        row = LoginRow(
            tenant=new.tenant,
            user=new.user,
            body=body_of(person),
            expires_at=min(ends_at, now + self._settings.idle),
            token_id=new.token_id,
        )
        self._store.expire_logins(now)
        self._store.add_login(_digest("login", secret), row)
        return secret

    def find(self, secret: str) -> FoundLogin | None:
        """Return the login with this secret, with the roles of this moment. None if there is none any more."""
        digest, now = _digest("login", secret), self.clock()
        row = self._store.login(digest, now)
        person = person_of(row)
        if row is None or person is None:
            return None
        until = min(person.ends_at, now + self._settings.idle)
        if until - row.expires_at > min(_EXTEND_SECONDS, self._settings.idle / 2):
            self._store.extend_login(digest, until)
        return FoundLogin(actor=self._actor(row, person), csrf=person.csrf)

    def end(self, secret: str) -> None:
        """Remove the login with this secret, if there is one."""
        self._store.take_login(_digest("login", secret), self.clock())

    def attempt(self, browser: str, *, nonce: str, verifier: str, next_path: str) -> str:
        """Add an attempt at the issuer by the browser with this secret, and return its `state`."""
        state, now = secrets.token_urlsafe(_SECRET_BYTES), self.clock()
        body = IssuerAttempt(browser=browser_digest(browser), nonce=nonce, verifier=verifier, next_path=next_path)
        self._store.expire_logins(now)
        row = LoginRow(tenant=EVERY, body=body_of(body), expires_at=now + ATTEMPT_SECONDS)
        self._store.add_login(_digest("attempt", state), row)
        return state

    def take_attempt(self, state: str) -> IssuerAttempt | None:
        """Remove the attempt with this state and return it. None if it was taken, is too old, or never was."""
        return attempt_of(self._store.take_login(_digest("attempt", state), self.clock()))

    def _actor(self, row: LoginRow, person: PersonLogin) -> Actor:
        if row.token_id is not None:
            roles: tuple[str, ...] = () if row.token_role is None else (row.token_role,)
        else:
            roles = self._roles.roles_of(row.tenant, row.generation, person.user, frozenset(person.groups))
        return Actor(
            user=person.user,
            roles=roles,  # type: ignore[arg-type]  # roles of tokens are checked when they are made
            tenant=row.tenant,
            team=person.team,
            identified_by="login",
            token_id=row.token_id,
        )


def browser_digest(browser: str) -> str:
    """Return the digest of the secret in the cookie of an attempt."""
    return _digest("browser", browser).hex()


def _digest(purpose: str, secret: str) -> bytes:
    """The purpose keeps the secret of one kind from being used as another kind. 256 random bits need no slow hash."""
    return hashlib.sha256(f"{purpose}:{secret}".encode("utf-8", "surrogatepass")).digest()
