"""Settings of the issuer: where it is, who this server is there, and which claims say who a person is."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

CALLBACK = "/login/oidc/callback"
ClientAuthentication = Literal["basic", "post"]


class OidcSettings(Struct, frozen=True, kw_only=True):
    """An issuer, this server as its client, and the claims of ID tokens that are used.

    `origin` is the origin of this server in browsers; the redirect URI is made of it, never of a request.
    `client_secret` is None for a client without a secret, which PKCE alone protects; `client_auth` is how the secret is
    sent. `user_claim` names the person in policies, votes and the audit log; `sub` is the only claim that an issuer
    never gives to somebody else later. Without `tenant_claim`, everybody belongs to the tenant `default`. `scopes` are
    asked for beside `openid`.
    """

    issuer: str
    origin: str
    client_id: str
    client_secret: str | None = None
    client_auth: ClientAuthentication = "basic"
    user_claim: str = "sub"
    groups_claim: str = "groups"
    tenant_claim: str | None = None
    team_claim: str | None = None
    scopes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The issuer as people know it: its host."""
        return self.issuer.partition("://")[2].partition("/")[0]

    @property
    def redirect_uri(self) -> str:
        """Where the issuer sends browsers back to, exactly as it is registered there."""
        return f"{self.origin}{CALLBACK}"
