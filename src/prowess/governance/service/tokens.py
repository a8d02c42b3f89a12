"""Tokens of people and machines in one tenant: given, listed and removed.

A token is shown once, and stored as its SHA-256. A new token belongs to the tenant of the call, so only an
administrator of the organisation gives tokens of several tenants, or of the organisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from prowess._internal.text.user_names import NOT_PLAIN, is_plain_name
from prowess._internal.uuid7 import uuid7
from prowess.errors import InvalidArgumentsError, PolicyDeniedError
from prowess.governance.organisation import new_token
from prowess.governance.service.listing import ListPage, ListQuery, NoSuchItemError
from prowess.governance.service.service_call import ActorRole  # noqa: TC001 -- msgspec decodes it
from prowess.policy.packages.package_rules import seconds_of
from prowess.policy.roles import PERMITTED
from prowess.store.shared.tokens import SharedTokenStore
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from prowess.governance.service.service_call import ServiceCall
    from prowess.store.protocols import Token

_Name = Annotated[str, Meta(min_length=1, max_length=256, pattern=r"\S")]


class TokenRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to give. `expires` is a time from now such as `12h` or `90d`; None for no end."""

    role: ActorRole
    user: _Name
    team: _Name | None = None
    expires: Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,3}[smhd]$")] | None = None


class GivenToken(Struct, frozen=True, kw_only=True):
    """A token that was just given. `token` is its text, which is shown this once."""

    id: str
    token: str
    tenant: str
    role: str
    user: str
    team: str | None
    expires_at: float | None


class TokenService:
    """The tokens of the tenant of `call`; with the tenant `*`, those of all tenants.

    Raises:
        PolicyDeniedError: by every method, if no role of the actor permits to administer.
        StoreError: by every method, if the store cannot be used.
        AuditError: by every act, if it cannot be recorded; it was not done.
    """

    def __init__(self, call: ServiceCall) -> None:
        self._call, self._store = call, SharedTokenStore(call.database)

    def list(self, query: ListQuery) -> ListPage[Token]:
        """Return tokens without their texts, the oldest first."""
        self._call.require("administer")
        found = self._store.tokens_after(query.cursor, query.limit + 1)
        page = tuple(found[: query.limit])
        return ListPage(items=page, next=page[-1].id if len(found) > query.limit else None)

    def add(self, asked: TokenRequest) -> GivenToken:
        """Give a token.

        Raises:
            PolicyDeniedError: its role may do something that the giver may not.
            InvalidArgumentsError: it is of a machine, and the call is one for the organisation; or the name of its
                owner has invisible characters.
        """
        self._call.require("administer")
        self._require_not_above(asked.role)
        if not is_plain_name(asked.user):
            raise InvalidArgumentsError((f"user: {NOT_PLAIN}",))
        if asked.role == "machine" and self._call.tenant == EVERY:
            raise InvalidArgumentsError(("tenant: a machine belongs to one tenant; name it",))
        seconds = None if asked.expires is None else seconds_of(asked.expires)
        # The name of its owner is not recorded: the log would keep it beyond an erasure.
        with self._call.act("token", {"given": {"role": asked.role, "request": uuid7()}}):
            made = new_token(
                self._store,
                tenant=self._call.tenant,
                role=asked.role,
                user=asked.user,
                team=asked.team,
                seconds=seconds,
            )
        if made is None:
            raise NoSuchItemError("tenant", self._call.tenant)
        return GivenToken(
            id=made.token.id,
            token=made.text,
            tenant=made.token.tenant,
            role=made.token.role,
            user=made.token.user,
            team=made.token.team,
            expires_at=made.token.expires_at,
        )

    def remove(self, token_id: str) -> None:
        """Remove a token: it is refused from the next request on. Raises NoSuchItemError."""
        self._call.require("administer")
        if "\x00" in token_id or (known := self._store.token(token_id)) is None:
            raise NoSuchItemError("token", token_id)
        with self._call.act("token-removed", {"token": known.id}):
            if not self._store.remove_token(known.id):  # somebody else was faster
                raise NoSuchItemError("token", token_id)

    def _require_not_above(self, role: ActorRole) -> None:
        if role == "machine":
            return
        able = frozenset[str]().union(*(PERMITTED[own] for own in self._call.actor.roles if own != "machine"))
        if not able >= PERMITTED[role]:
            raise PolicyDeniedError("roles.administer", f"{self._call.actor.user} may not give the role {role}")
