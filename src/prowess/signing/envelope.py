"""DSSE envelopes: a typed payload with its signatures.

The signature covers the payload type too (pre-authentication encoding), so bytes that were signed as one type are never
read as another. Source: DSSE 1.0, protocol and envelope. A key that is not defined there and base64 with a second
spelling are refused, so that two files never mean the same envelope.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from prowess.errors import SignatureError
from prowess.signing.keys import strict_base64

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from prowess.signing.keys import PrivateKey

IN_TOTO = "application/vnd.in-toto+json"
_WHAT = "the envelope"


class EnvelopeSignature(Struct, frozen=True, kw_only=True):
    """One signature over the envelope. `keyid` is a hint that nobody signed; empty if there is none."""

    signature: bytes
    keyid: str = ""


class Envelope(Struct, frozen=True, kw_only=True):
    """A payload, its type, and one or more signatures over both."""

    payload_type: str
    payload: bytes
    signatures: tuple[EnvelopeSignature, ...]

    @property
    def signed_bytes(self) -> bytes:
        """The bytes that a signature covers."""
        return pre_authentication_encoding(self.payload_type, self.payload)


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes to sign for a payload of this type (DSSE, PAE)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def read_envelope(value: object) -> Envelope:
    """Read an envelope from JSON that was parsed. Raises SignatureError if it is not one of in-toto type."""
    fields = members(value, _WHAT, required=("payload", "payloadType", "signatures"))
    if fields["payloadType"] != IN_TOTO:
        raise SignatureError(_WHAT, f"its payload type is not {IN_TOTO}")
    found = fields["signatures"]
    if not isinstance(found, list) or not found:
        raise SignatureError(_WHAT, "it has no signature")
    return Envelope(
        payload_type=IN_TOTO,
        payload=_bytes(fields["payload"], "the payload"),
        signatures=tuple(_signature(one) for one in found),
    )


def signed_envelope(payload: bytes, key: PrivateKey) -> Envelope:
    """Sign an in-toto payload with one key."""
    signature = key.sign(pre_authentication_encoding(IN_TOTO, payload))
    return Envelope(payload_type=IN_TOTO, payload=payload, signatures=(EnvelopeSignature(signature=signature),))


def members(
    value: object, what: str, *, required: Collection[str] = (), optional: Collection[str] = ()
) -> Mapping[str, object]:
    """Return a JSON object that has all of `required` and nothing beside `optional`. Raises SignatureError."""
    if not isinstance(value, dict):
        raise SignatureError(what, "it is not a JSON object")
    for name in required:
        if name not in value:
            raise SignatureError(what, f"it has no {name!r}")
    for name in value:
        if name not in required and name not in optional:
            raise SignatureError(what, f"it has the unknown key {name!r}")
    return value


def _signature(value: object) -> EnvelopeSignature:
    fields = members(value, "a signature of the envelope", required=("sig",), optional=("keyid",))
    keyid = fields.get("keyid", "")
    if not isinstance(keyid, str):
        raise SignatureError(_WHAT, "a key id is not a text")
    return EnvelopeSignature(signature=_bytes(fields["sig"], "a signature"), keyid=keyid)


def _bytes(value: object, what: str) -> bytes:
    if not isinstance(value, str):
        raise SignatureError(what, "it is not a text")
    return strict_base64(value, what, url_safe="-" in value or "_" in value)
