"""Metadata of an issuer, and checks of the parts that a login needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from prowess.distribution.sources.http.addresses import address_of, without_credentials
from prowess.errors import ConfigurationError, UnsafePathError

if TYPE_CHECKING:
    from prowess.http_server.login.oidc.settings import OidcSettings

# Signatures whose key only the issuer has. Never `none`, and never HS256 and its kind, whose key a client has too.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
WELL_KNOWN = "/.well-known/openid-configuration"


class IssuerMetadata(Struct, frozen=True, kw_only=True):
    """The part of the metadata that is used (OpenID Connect Discovery 1.0, section 3; RFC 8414; RFC 9207)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    response_types_supported: tuple[str, ...]
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    code_challenge_methods_supported: tuple[str, ...] = ()
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms of ID tokens that are accepted."""
        return tuple(name for name in ALGORITHMS if name in self.id_token_signing_alg_values_supported)


def metadata_of(document: bytes, settings: OidcSettings) -> IssuerMetadata:
    """Return the metadata in a document.

    Raises:
        ConfigurationError: it is that of another issuer, malformed, or the issuer lacks what a login needs.
    """
    where = f"--oidc {without_credentials(settings.issuer)}"
    try:
        found = msgspec.json.decode(document, type=IssuerMetadata)
    except msgspec.DecodeError as fault:
        raise ConfigurationError((f"{where}: its {WELL_KNOWN} cannot be read: {fault}",)) from None
    if found.issuer != settings.issuer:
        raise ConfigurationError((f"{where}: it names itself {found.issuer[:200]!r}; write exactly that",))
    if faults := (*_endpoint_faults(found), *_missing(found, settings)):
        raise ConfigurationError(tuple(f"{where}: {fault}" for fault in faults))
    return found


def _endpoint_faults(found: IssuerMetadata) -> list[str]:
    faults = []
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        url: str = getattr(found, name)
        try:
            if address_of(url).scheme != address_of(found.issuer).scheme:
                faults.append(f"its {name} must use https too")
        except UnsafePathError as fault:
            faults.append(f"its {name} {fault.path}: {fault.reason}")
    return faults


def _missing(found: IssuerMetadata, settings: OidcSettings) -> list[str]:
    faults = []
    if "S256" not in found.code_challenge_methods_supported:
        faults.append("it does not support PKCE with S256, without which a stolen code could be used")
    if "code" not in found.response_types_supported:
        faults.append("it does not support the authorization code flow")
    if not found.algorithms:
        faults.append(f"it signs ID tokens with none of {', '.join(ALGORITHMS)}")
    method = "none" if settings.client_secret is None else f"client_secret_{settings.client_auth}"
    if method not in found.token_endpoint_auth_methods_supported:
        faults.append(f"it does not support {method} at its token endpoint; see --client-secret-file, --client-auth")
    return faults
