"""Verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7): signature, issuer, audience, times, nonce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import (
    ClaimError,
    ExpiredTokenError,
    InvalidKeyIdError,
    JoseError,
    UnsupportedAlgorithmError,
)
from joserfc.jwk import JWKRegistry, KeySet
from joserfc.jws import JWSRegistry

from prowess.http_server.login.refusals import LoginRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from prowess.http_server.login.oidc.settings import OidcSettings
    from prowess.http_server.login.refusals import RefusalReason

_LEEWAY_SECONDS = 60
_RSA_BITS = 2048
_KINDS = {"RSA", "EC", "OKP"}
_REASONS: Mapping[str, RefusalReason] = {
    "iss": "issuer",
    "aud": "audience",
    "azp": "audience",
    "exp": "expiry",
    "iat": "expiry",
    "nbf": "expiry",
    "nonce": "nonce",
}


class _Algorithms(JWSRegistry):
    """The algorithms that are allowed. joserfc warns about the name EdDSA, which issuers use; the keys are the same."""

    def get_alg(self, name: str) -> Any:  # noqa: ANN401 -- joserfc does not export the type
        if name not in (self.allowed or ()) or name not in self.algorithms:
            raise UnsupportedAlgorithmError(f"Algorithm of {name[:50]!r} is not allowed")
        return self.algorithms[name]


def read_keys(published: Sequence[Mapping[str, Any]]) -> KeySet:
    """Return the keys for signatures among those that an issuer published. Others are left out."""
    keys = []
    for one in published:
        if one.get("kty") not in _KINDS or one.get("use", "sig") != "sig":
            continue
        public = {name: value for name, value in one.items() if name not in {"d", "p", "q", "dp", "dq", "qi", "oth"}}
        if public["kty"] == "RSA" and len(str(public.get("n"))) * 6 < _RSA_BITS:
            continue  # too short: 6 bits a character
        try:
            keys.append(JWKRegistry.import_key(public))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return KeySet(keys)


def verified_claims(
    text: str,
    keys: Callable[[bool], KeySet],
    algorithms: Sequence[str],
    settings: OidcSettings,
    *,
    nonce: str,
    now: float,
) -> dict[str, Any]:
    """Return the claims of an ID token. `keys(True)` reads the issuer's keys anew, because the token names another one.

    Raises:
        LoginRefusedError: it is forged, too old, or for another client or attempt.
    """
    registry = _Algorithms(algorithms=tuple(algorithms), strict_check_header=False)
    try:
        try:
            token = jwt.decode(text, keys(False), registry=registry)  # noqa: FBT003 -- the callback has no names
        except InvalidKeyIdError:
            token = jwt.decode(text, keys(True), registry=registry)  # noqa: FBT003 -- as above
    except UnsupportedAlgorithmError as fault:
        raise LoginRefusedError("algorithm", str(fault)[:100]) from None
    except (JoseError, ValueError, TypeError, KeyError) as fault:
        raise LoginRefusedError("signature", type(fault).__name__) from None
    claims = CodeIDToken(
        token.claims,
        token.header,
        options={
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "value": settings.client_id},
        },
        params={"nonce": nonce, "client_id": settings.client_id},
    )
    try:
        claims.validate(now=int(now), leeway=_LEEWAY_SECONDS)
    except ExpiredTokenError:
        raise LoginRefusedError("expiry", "exp") from None
    except ClaimError as fault:
        name = str(fault.claim)[:50]
        raise LoginRefusedError(_REASONS.get(name.partition(",")[0], "claims"), name) from None
    except (JoseError, ValueError, TypeError, OverflowError) as fault:
        raise LoginRefusedError("claims", type(fault).__name__) from None
    return dict(claims)
