"""Signature files in JSON: bundles of Sigstore's format, which OMS uses too, and bare DSSE envelopes.

A bundle that names a key, or has a chain of certificates and no entry of a transparency log, is verified with
`cryptography` alone (OpenSSF Model Signing 1.0). A log entry beside a key is not looked at: it proves when the key was
used, and a key that is trusted is trusted at any time. Bundles with a certificate of Sigstore are left to
`sigstore_bundle`. Source: Sigstore bundle format 0.3.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.errors import SignatureError
from prowess.signing.envelope import Envelope, members, read_envelope, signed_envelope
from prowess.signing.keys import strict_base64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.signing.keys import PrivateKey, PublicKey

MAX_BYTES = 16 * 1024 * 1024  # 20 000 files in one statement take 4 MiB
MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_MATERIAL = "the verification material"
_CONTENTS = ("dsseEnvelope", "messageSignature")
_SIGNERS = ("publicKey", "x509CertificateChain", "certificate")
_EVIDENCE = ("tlogEntries", "timestampVerificationData")


class MessageSignature(Struct, frozen=True, kw_only=True):
    """A signature over the bytes of one file; `digest` is the SHA-256 that it names, or None."""

    signature: bytes
    digest: bytes | None


class KeyBundle(Struct, frozen=True, kw_only=True):
    """Signed with a key that the verifier has. `hint` names the key (see `key_hints`), or is empty."""

    content: Envelope | MessageSignature
    hint: str


class CertificateBundle(Struct, frozen=True, kw_only=True):
    """Signed with the key of the first of `certificates` (DER), each issued by the next."""

    envelope: Envelope
    certificates: tuple[bytes, ...]


class SigstoreBundle(Struct, frozen=True, kw_only=True):
    """A bundle with a certificate of Sigstore. `data` is the file; `is_envelope` if it signs a statement."""

    data: bytes
    is_envelope: bool


SignatureFile = KeyBundle | CertificateBundle | SigstoreBundle | Envelope


def read_signature_file(data: bytes) -> SignatureFile:
    """Read a signature file in JSON. Raises SignatureError if it is damaged or of an unknown form."""
    what = "the signature file"
    if len(data) > MAX_BYTES:
        raise SignatureError(what, f"it is larger than {MAX_BYTES} bytes")
    if data[:1] != b"{":
        raise SignatureError(what, "it is neither a bundle, nor a DSSE envelope, nor an SSH signature")
    try:
        value = strict_json(data, "it")
    except StrictJsonError as fault:
        raise SignatureError(what, str(fault)) from None
    if isinstance(value, dict) and "payloadType" in value:
        return read_envelope(value)
    fields = members(value, "the bundle", required=("mediaType", "verificationMaterial"), optional=_CONTENTS)
    if len(fields.keys() & set(_CONTENTS)) != 1:
        raise SignatureError("the bundle", "it must sign one statement or one file")
    material = members(fields["verificationMaterial"], _MATERIAL, optional=(*_SIGNERS, *_EVIDENCE))
    if len(material.keys() & set(_SIGNERS)) != 1:
        raise SignatureError(_MATERIAL, "it must name one key, one certificate or one chain")
    if not isinstance(material.get("tlogEntries", []), list):
        raise SignatureError(_MATERIAL, "its log entries are not a list")
    if "publicKey" not in material and any(key != "x509CertificateChain" and material[key] for key in material):
        return SigstoreBundle(data=data, is_envelope="dsseEnvelope" in fields)
    if fields["mediaType"] != MEDIA_TYPE:
        raise SignatureError("the bundle", f"its media type is not {MEDIA_TYPE}")
    if "publicKey" in material:
        return KeyBundle(content=_content(fields), hint=_hint(material["publicKey"]))
    content = _content(fields)
    if not isinstance(content, Envelope):
        raise SignatureError("the bundle", "a chain of certificates without a log must sign a statement")
    return CertificateBundle(envelope=content, certificates=_certificates(material["x509CertificateChain"]))


def signed_bundle(payload: bytes, key: PrivateKey) -> bytes:
    """Sign an in-toto payload and return the bundle, in one spelling, as `model_signing` reads it."""
    envelope = signed_envelope(payload, key)
    signatures = [{"sig": b64encode(one.signature).decode(), "keyid": one.keyid} for one in envelope.signatures]
    return encode(
        {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": {"publicKey": {"hint": key_hint(key.public)}, "tlogEntries": []},
            "dsseEnvelope": {
                "payload": b64encode(envelope.payload).decode(),
                "payloadType": envelope.payload_type,
                "signatures": signatures,
            },
        }
    )


def key_hints(key: PublicKey) -> tuple[str, str]:
    """Return how `model_signing` and how Sigstore's tools name a key in a bundle."""
    return key_hint(key), b64encode(hashlib.sha256(key.der).digest()).decode()


def key_hint(key: PublicKey) -> str:
    """Return how `model_signing` names a key: the SHA-256 of its PEM form in hex."""
    return hashlib.sha256(key.pem).hexdigest()


def _content(fields: Mapping[str, object]) -> Envelope | MessageSignature:
    if "dsseEnvelope" in fields:
        envelope = read_envelope(fields["dsseEnvelope"])
        if len(envelope.signatures) != 1:
            raise SignatureError("the bundle", "it must have one signature")
        return envelope
    what = "the signature of the bundle"
    message = members(fields["messageSignature"], what, required=("signature",), optional=("messageDigest",))
    digest = None
    if "messageDigest" in message:
        named = members(message["messageDigest"], "the digest of the bundle", required=("algorithm", "digest"))
        if named["algorithm"] != "SHA2_256":
            raise SignatureError("the digest of the bundle", "it is not SHA-256")
        digest = _base64(named["digest"], "the digest of the bundle")
    return MessageSignature(signature=_base64(message["signature"], what), digest=digest)


def _base64(value: object, what: str) -> bytes:
    if not isinstance(value, str):
        raise SignatureError(what, "it is not a text")
    return strict_base64(value, what)


def _hint(value: object) -> str:
    hint = members(value, "the public key", optional=("hint",)).get("hint", "")
    if not isinstance(hint, str):
        raise SignatureError("the public key", "its hint is not a text")
    return hint


def _certificates(chain: object) -> tuple[bytes, ...]:
    found = members(chain, "the certificate chain", required=("certificates",))["certificates"]
    if not isinstance(found, list) or not found:
        raise SignatureError("the certificate chain", "it is empty")
    return tuple(
        _base64(members(one, "a certificate", required=("rawBytes",))["rawBytes"], "a certificate") for one in found
    )
