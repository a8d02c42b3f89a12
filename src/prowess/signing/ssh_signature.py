"""SSH signatures, as `ssh-keygen -Y sign` makes them.

A signature names its key, a namespace and a hash. The namespace keeps uses apart: a signature of a git commit (`git`)
is none of a file (`file`). Source: OpenSSH, PROTOCOL.sshsig. Keys in hardware (`sk-`), certificates and RSA with SHA-1
are refused.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from typing import Literal

from msgspec import Struct

from prowess.errors import SignatureError
from prowess.signing.keys import PublicKey, read_public_key, strict_base64

BEGIN = b"-----BEGIN SSH SIGNATURE-----"
_ARMOR = re.compile(rb"-----BEGIN SSH SIGNATURE-----\n((?:[A-Za-z0-9+/=]{1,76}\n)+)-----END SSH SIGNATURE-----\n?")
_MAGIC = b"SSHSIG"
_WHAT = "the SSH signature"
_ALGORITHMS = {
    "ssh-ed25519": "ed25519",
    "ecdsa-sha2-nistp256": "p256",
    "ecdsa-sha2-nistp384": "p384",
    "ecdsa-sha2-nistp521": "p521",
    "rsa-sha2-256": "rsa",
    "rsa-sha2-512": "rsa",
}


class SshSignature(Struct, frozen=True, kw_only=True):
    """A signature and the key that claims to have made it. `signature` is in the form that `PublicKey` verifies."""

    key: PublicKey
    namespace: str
    hash: Literal["sha256", "sha512"]
    rsa_hash: Literal["sha256", "sha512"]
    signature: bytes

    def verifies(self, message: bytes) -> bool:
        """Return whether the key that the signature names made it over `message`."""
        digest = hashlib.new(self.hash, message).digest()
        signed = _MAGIC + b"".join(map(_string, (self.namespace.encode(), b"", self.hash.encode(), digest)))
        return self.key.verifies(self.signature, signed, rsa_hash=self.rsa_hash)


def read_ssh_signature(data: bytes) -> SshSignature:
    """Read a signature in its armoured form. Raises SignatureError."""
    match = _ARMOR.fullmatch(data.replace(b"\r\n", b"\n"))
    if match is None:
        raise SignatureError(_WHAT, "it is damaged")
    blob = _Reader(strict_base64(match.group(1).replace(b"\n", b"").decode(), _WHAT))
    if blob.take(len(_MAGIC)) != _MAGIC or blob.take(4) != b"\0\0\0\1":
        raise SignatureError(_WHAT, "it is not of version 1")
    key_blob, namespace, reserved, hash_name, signature = (blob.string() for _ in range(5))
    blob.end()
    if reserved or not namespace:
        raise SignatureError(_WHAT, "it has no namespace, or a field that is reserved")
    key = _key(key_blob)
    algorithm, raw = _parts(signature)
    if _ALGORITHMS.get(algorithm) != key.kind:
        raise SignatureError(_WHAT, f"the algorithm {algorithm!r} does not belong to its key")
    return SshSignature(
        key=key,
        namespace=_text(namespace),
        hash=_hash(_text(hash_name)),
        rsa_hash="sha512" if algorithm == "rsa-sha2-512" else "sha256",
        signature=_as_der(raw) if key.kind in {"p256", "p384", "p521"} else raw,
    )


def _hash(name: str) -> Literal["sha256", "sha512"]:
    if name == "sha256":
        return "sha256"
    if name == "sha512":
        return "sha512"
    raise SignatureError(_WHAT, f"the hash {name!r} is not accepted")


def _key(blob: bytes) -> PublicKey:
    kind = _text(_Reader(blob).string())
    if kind not in {*_ALGORITHMS, "ssh-rsa"}:
        raise SignatureError(_WHAT, f"keys of the type {kind!r} are not accepted")
    return read_public_key(kind.encode() + b" " + b64encode(blob), _WHAT)


def _parts(signature: bytes) -> tuple[str, bytes]:
    reader = _Reader(signature)
    algorithm, raw = _text(reader.string()), reader.string()
    reader.end()
    return algorithm, raw


def _as_der(raw: bytes) -> bytes:
    """Return an ECDSA signature of OpenSSH (two numbers) in DER form."""
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

    reader = _Reader(raw)
    r, s = reader.integer(), reader.integer()
    reader.end()
    return encode_dss_signature(r, s)


def _text(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise SignatureError(_WHAT, "a name in it is not ASCII") from None


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


class _Reader:
    """Reads the fields of OpenSSH's binary form (RFC 4251) from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) != count:
            raise SignatureError(_WHAT, "it is cut off")
        self._at += count
        return part

    def string(self) -> bytes:
        return self.take(int.from_bytes(self.take(4), "big"))

    def integer(self) -> int:
        """Read a positive number that is spelled as short as possible."""
        data = self.string()
        value = int.from_bytes(data, "big")
        if not data or data[0] & 0x80 or value == 0 or (data[0] == 0 and not data[1] & 0x80):
            raise SignatureError(_WHAT, "a number in it is malformed")
        return value

    def end(self) -> None:
        if self._at != len(self._data):
            raise SignatureError(_WHAT, "it has bytes after its end")
