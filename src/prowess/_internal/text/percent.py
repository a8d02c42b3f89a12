"""Percent-encoding of paths in link targets (RFC 3986, section 2.1)."""

from __future__ import annotations

import re

_ENCODED = re.compile("(?:%[0-9A-Fa-f]{2})+")
_RESERVED = re.compile(r"[^A-Za-z0-9_.~/-]+")


def percent_decoded(text: str) -> str:
    """Decode once; bytes that are not UTF-8 become replacement characters."""
    return _ENCODED.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace"), text)


def percent_encoded(path: str) -> str:
    """Encode everything but unreserved characters and `/`."""
    return _RESERVED.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape")), path
    )
