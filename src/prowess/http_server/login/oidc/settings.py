"""Settings of the issuer: where it is, who this server is there, and which claims say who a person is."""

from __future__ import annotations

from msgspec import Struct


class OidcSettings(Struct, frozen=True, kw_only=True):
    """An issuer, and the claims of its ID tokens that are used.

    `client_secret` is None for a client without a secret, which PKCE alone protects. `user_claim` names the person in
    policies, votes and the audit log. `sub` is the only claim that an issuer never gives to somebody else later.
    Without `tenant_claim`, everybody belongs to the tenant `default`. `scopes` are asked for beside `openid`.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    user_claim: str = "sub"
    groups_claim: str = "groups"
    tenant_claim: str | None = None
    team_claim: str | None = None
    scopes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The issuer as people know it: its host."""
        return self.issuer.partition("://")[2].partition("/")[0]
