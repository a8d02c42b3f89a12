"""Hosts of URLs, parsed in one way for rules that permit and for rules that refuse.

Programs interpret unusual URLs differently: a user name before the host, a backslash, a number in place of an address.
Such a URL has no certain host here: a rule that permits does not match it, and a rule that refuses does. The port is
not part of the host. A host is compared in lower case, in its ASCII form (IDNA) and without a final dot.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

_URL = re.compile(r"(?i:https?)://([^/?#]+)(?:[/?#].*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# Only these four characters are encoded differently by the two generations of IDNA.
_DEVIANT = re.compile("[\u00df\u03c2\u200c\u200d]")
_MAX_HOST, _MAX_PORT = 253, 65535


def host_of_url(url: str) -> str | None:
    """Return the host of an http or https URL; None if programs could disagree about it.

    host_of_url("https://Docs.Example.com.:8443/a")  # "docs.example.com"
    """
    if "\\" in url or not url.isprintable() or " " in url:
        return None
    whole = _URL.fullmatch(url)
    authority = None if whole is None else _AUTHORITY.fullmatch(whole[1])
    if authority is None or int(authority[2] or 0) > _MAX_PORT:
        return None
    return host_name(authority[1])


def host_name(text: str) -> str | None:
    """Return a host in its comparable form; None if the text is not a host."""
    if text.startswith("["):
        return _bracketed(text)
    if not text.isascii():
        if _DEVIANT.search(text):
            return None
        try:
            text = text.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _MAX_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        return None
    # Every program treats this as an IPv4 address, in any of its notations.
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]):
        try:
            return str(IPv4Address(name))
        except AddressValueError:
            return None
    return name


def _bracketed(text: str) -> str | None:
    try:
        address = IPv6Address(text[1:-1] if text.endswith("]") else "")
    except AddressValueError:
        return None
    # `::ffff:127.0.0.1` leads to the same machine as the address within it.
    return f"[{address.compressed}]" if address.ipv4_mapped is None else str(address.ipv4_mapped)


def host_pattern(text: str) -> str | None:
    """Return a host pattern for `fits_host`; None if it cannot match any host.

    `*.example.com` matches every name below `example.com`, at any depth, but not that name itself. Elsewhere `*`
    matches characters except a dot. A single `*` matches every host.
    """
    if "*" not in text:
        return host_name(text)
    name = text.lower().removesuffix(".")
    labels = name.split(".")
    plain = all(_LABEL.fullmatch(label.replace("*", "x")) for label in labels)
    return name if plain and len(name) <= _MAX_HOST else None


def fits_host(host: str, pattern: str) -> bool:
    """Return whether a host returned by `host_of_url` matches a pattern returned by `host_pattern`."""
    if pattern == "*":
        return True
    below = pattern.startswith("*.")
    names, wanted = host.split("."), (pattern[2:] if below else pattern).split(".")
    if below:
        names = names[-len(wanted) :] if len(names) > len(wanted) else []
    return len(names) == len(wanted) and all(
        re.fullmatch(re.escape(one).replace(r"\*", "[^.]*"), name) for name, one in zip(names, wanted, strict=True)
    )
