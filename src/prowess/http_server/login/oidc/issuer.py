"""An OpenID Connect issuer, as this server uses it: its pages for people, and its ID tokens.

Its metadata and keys are read when they are needed, and kept for an hour. A token with an unknown key lets the keys be
read anew, at most once a minute. Everything blocks.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import msgspec
from authlib.common.errors import AuthlibBaseError
from msgspec import Struct

from prowess.distribution.sources.http.client import HttpClient, HttpLimits
from prowess.errors import ConfigurationError, DistributionError, SkillError, UnavailableError
from prowess.http_server.login.oidc.id_token import read_keys, verified_claims
from prowess.http_server.login.oidc.issuer_metadata import WELL_KNOWN, IssuerMetadata, metadata_of
from prowess.http_server.login.oidc.token_request import client_authentication, oauth_client
from prowess.http_server.login.refusals import LoginRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from joserfc.jwk import KeySet

    from prowess.http_server.login.oidc.settings import OidcSettings

_LIMITS = HttpLimits(connect=5.0, idle=5.0, total=10.0)
_MOST_BYTES = 256 * 1024
_KEPT_SECONDS = 3600.0
_ANEW_SECONDS = 60.0
_FAILED_SECONDS = 5.0  # an issuer that cannot be reached is not asked again for so long
_NO_CREDENTIALS = {"authorization": ""}  # of the user whose process this is


class _PublishedKeys(Struct):
    keys: list[dict[str, Any]]


class Issuer:
    """One issuer. The clock is in seconds since the epoch."""

    def __init__(self, settings: OidcSettings, clock: Callable[[], float] = time.time) -> None:
        self.settings, self.clock = settings, clock
        self._lock = threading.Lock()  # of the two below; two threads may read at once
        self._metadata: tuple[float, IssuerMetadata] | None = None
        self._failed: tuple[float, SkillError] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def metadata(self) -> IssuerMetadata:
        """Return the metadata of the issuer.

        Raises:
            ConfigurationError: the issuer lacks what a login needs, or is another one.
            UnavailableError: it cannot be reached.
            DistributionError: it has no metadata.
        """
        with self._lock:
            kept, failed = self._metadata, self._failed
        if kept is not None and self.clock() - kept[0] <= _KEPT_SECONDS:
            return kept[1]
        if failed is not None and self.clock() - failed[0] <= _FAILED_SECONDS:
            raise failed[1].with_traceback(None)
        try:
            found = metadata_of(self._fetched(f"{self.settings.issuer.rstrip('/')}{WELL_KNOWN}"), self.settings)
        except SkillError as fault:
            with self._lock:
                self._failed = self.clock(), fault
            raise
        with self._lock:
            self._metadata, self._failed = (self.clock(), found), None
        return found

    def unreachable(self) -> str | None:
        """Return why people cannot log in by the issuer at the moment, None if they can. For the start of a server.

        Raises:
            ConfigurationError: the issuer lacks what a login needs, or is another one.
        """
        try:
            self.metadata()
        except SkillError as fault:
            if isinstance(fault, ConfigurationError):
                raise
            return str(fault)
        return None

    def authorization_url(self, *, state: str, nonce: str, verifier: str) -> str:
        """Return where the browser asks the issuer for a code. Raises LoginRefusedError."""
        with _Refusing():
            where = self.metadata().authorization_endpoint
        url, _ = oauth_client(self.settings).create_authorization_url(
            where, state=state, nonce=nonce, code_verifier=verifier
        )
        return str(url)

    def names_itself(self) -> bool:
        """Return whether each answer to a browser names the issuer (RFC 9207). Raises LoginRefusedError."""
        with _Refusing():
            return self.metadata().authorization_response_iss_parameter_supported

    def claims(self, code: str, *, verifier: str, nonce: str) -> dict[str, Any]:
        """Redeem a code, and return the claims of the ID token that the issuer gives for it.

        Raises:
            LoginRefusedError: the issuer refuses the code, cannot be reached, or the token is not valid.
        """
        with _Refusing():
            metadata = self.metadata()
            token = self._redeemed(metadata, code, verifier)
            return verified_claims(
                token, self._published, metadata.algorithms, self.settings, nonce=nonce, now=self.clock()
            )

    def _redeemed(self, metadata: IssuerMetadata, code: str, verifier: str) -> str:
        with HttpClient(limits=_LIMITS) as http:
            try:
                answer = oauth_client(self.settings, http).fetch_token(
                    metadata.token_endpoint,
                    code=code,
                    code_verifier=verifier,
                    grant_type="authorization_code",
                    auth=client_authentication(self.settings),
                )
            except (AuthlibBaseError, ValueError, msgspec.DecodeError) as fault:
                word = str(getattr(fault, "error", None) or type(fault).__name__)
                raise LoginRefusedError("code", word[:50]) from None
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise LoginRefusedError("claims", "no id_token")
        return token

    def _published(self, anew: bool) -> KeySet:  # noqa: FBT001 -- a callback of `verified_claims`
        with self._lock:
            kept = self._keys
        age = _KEPT_SECONDS + 1 if kept is None else self.clock() - kept[0]
        if kept is None or age > (_ANEW_SECONDS if anew else _KEPT_SECONDS):
            document = self._fetched(self.metadata().jwks_uri)
            try:
                published = msgspec.json.decode(document, type=_PublishedKeys).keys
            except msgspec.DecodeError:
                raise LoginRefusedError("signature", "the keys of the issuer cannot be read") from None
            kept = self.clock(), read_keys(published)
            with self._lock:
                self._keys = kept
        return kept[1]

    def _fetched(self, url: str) -> bytes:
        with HttpClient(limits=_LIMITS) as http:
            return http.get(url, most=_MOST_BYTES, headers=_NO_CREDENTIALS).require_success(
                f"issuer {self.settings.name}"
            )


class _Refusing:
    """Turns faults of an issuer into the refusal of a login."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, fault: BaseException | None, place: object) -> None:
        match fault:
            case UnavailableError():
                raise LoginRefusedError("unavailable", str(fault)[:200]) from fault
            case ConfigurationError() | DistributionError():
                raise LoginRefusedError("issuer", str(fault)[:200]) from fault
            case SkillError():
                raise LoginRefusedError("unavailable", str(fault)[:200]) from fault
            case _:
                return
