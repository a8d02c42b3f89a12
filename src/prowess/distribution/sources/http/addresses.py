"""Addresses that may be contacted: https, or http on this machine, and no credential inside the URL."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from prowess._internal.text.url_host import host_of_url
from prowess.errors import UnsafePathError

_PORTS = {"https": 443, "http": 80}


class Address(Struct, frozen=True, kw_only=True):
    """Where one URL leads. `host` is in its comparable form (`prowess._internal.text.url_host`)."""

    scheme: str
    host: str
    port: int

    @property
    def shown(self) -> str:
        """The host, and the port if it is not the usual one: `example.com`, `localhost:5000`."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine."""
        return is_loopback(self.host)

    def is_same_server(self, other: Address) -> bool:
        """Whether a redirect from here to `other` stays on one server. A step from http to https does."""
        if self.host != other.host:
            return False
        upgraded = (self.scheme, self.port, other.scheme, other.port) == ("http", 80, "https", 443)
        return upgraded or (self.scheme, self.port) == (other.scheme, other.port)


def address_of(url: str) -> Address:
    """Return the address of a URL that may be contacted.

    Raises:
        UnsafePathError: the URL is not https (or http on this machine), its host is not certain, or it holds a user
            name or a password. The message never repeats the credential.
    """
    if "@" in re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]:
        raise UnsafePathError(
            without_credentials(url), "a URL must not hold a user name or password; put them into ~/.netrc"
        )
    host = host_of_url(url)
    if host is None:
        raise UnsafePathError(without_credentials(url), "not an http or https URL with a plain host name")
    parts = urlsplit(url)
    address = Address(scheme=parts.scheme, host=host, port=parts.port or _PORTS[parts.scheme])
    if address.scheme == "http" and not address.is_loopback:
        raise UnsafePathError(without_credentials(url), "http is allowed on this machine only; use https")
    return address


def joined_url(base: str, url: str) -> str:
    """Return `url`, which a server sent, relative to `base`. Raises UnsafePathError if it is malformed."""
    try:
        return urljoin(base, url)
    except ValueError as fault:
        raise UnsafePathError(without_credentials(url), f"it is no URL ({fault})") from None


def without_credentials(url: str) -> str:
    """Return a URL for messages: no user name, password, query or fragment."""
    shown = re.split(r"[?#]", url, maxsplit=1)[0]
    scheme, separator, rest = shown.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}" if separator else shown


def is_loopback(host: str) -> bool:
    """Whether a host in its comparable form is this machine."""
    if host == "localhost":
        return True
    try:
        return (IPv6Address(host[1:-1]) if host.startswith("[") else IPv4Address(host)).is_loopback
    except ValueError:
        return False
