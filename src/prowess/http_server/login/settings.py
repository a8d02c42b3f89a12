"""Settings of logins: the address that browsers use, how long a login lasts, and the issuer."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from prowess.distribution.sources.http.addresses import address_of, without_credentials
from prowess.errors import ConfigurationError, UnsafePathError

if TYPE_CHECKING:
    from prowess.distribution.sources.http.addresses import Address
    from prowess.http_server.login.oidc.settings import OidcSettings


class LoginSettings(Struct, frozen=True, kw_only=True):
    """Settings of logins. Times are in seconds.

    `public_url` is the origin of the server in browsers, such as `https://skills.example.com`. If it is None, it is
    taken from each request, whose `Host` was checked. A login ends after `idle` without a request, and in any case
    after `longest`. An address may fail `failures` times in a minute.
    """

    public_url: str | None = None
    idle: float = 30 * 60.0
    longest: float = 10 * 3600.0
    failures: int = 10
    oidc: OidcSettings | None = None


def public_origin(url: str, option: str) -> str:
    """Return the origin that an option names: `https://HOST[:PORT]`, or http on this machine.

    Raises:
        ConfigurationError: it is another kind of URL, or has more than an origin.
    """
    at = _address(url, option)
    parts = urlsplit(url)
    if parts.path not in {"", "/"} or "?" in url or "#" in url:
        raise ConfigurationError((f"{option} {without_credentials(url)}: give scheme, host and port alone",))
    return f"{at.scheme}://{at.shown}"


def checked_issuer(url: str) -> str:
    """Return the URL of an issuer, exactly as given, because it is compared with the name that the issuer gives itself.

    Raises:
        ConfigurationError: it is no https URL (or http on this machine), or has a query or fragment.
    """
    _address(url, "--oidc")
    if "?" in url or "#" in url:
        raise ConfigurationError((f"--oidc {without_credentials(url)}: an issuer has no query and no fragment",))
    return url


def _address(url: str, option: str) -> Address:
    try:
        return address_of(url)
    except UnsafePathError as fault:
        raise ConfigurationError((f"{option} {without_credentials(url)}: {fault.reason}",)) from None
