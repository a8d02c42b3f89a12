"""Public and private keys: read from any usual form, named by their fingerprint, used with one algorithm each.

A key of a type can make one kind of signature only (P-256 with SHA-256, P-384 with SHA-384, P-521 with SHA-512,
Ed25519), so no field of a signature chooses an algorithm. Keys on other curves, RSA keys below 2048 bits and DSA keys
are refused. RSA keys verify SSH signatures and certificates; new keys are P-256 or Ed25519.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from msgspec import Struct

from prowess.errors import MissingExtraError, SignatureError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
    from cryptography.hazmat.primitives.hashes import HashAlgorithm

    _Public = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey

KeyKind = Literal["p256", "p384", "p521", "ed25519", "rsa"]
NewKind = Literal["p256", "ed25519"]

_CURVES: dict[str, KeyKind] = {"secp256r1": "p256", "secp384r1": "p384", "secp521r1": "p521"}
_SMALLEST_RSA = 2048  # bits
_SSH_BEGIN = (b"ssh-", b"ecdsa-sha2-", b"sk-")


class PublicKey(Struct, frozen=True, kw_only=True):
    """A key that verifies signatures. `der` is its SubjectPublicKeyInfo, the one form in which keys are compared."""

    kind: KeyKind
    der: bytes

    @property
    def fingerprint(self) -> str:
        """`sha256:<64 hex>` of the DER form."""
        return f"sha256:{hashlib.sha256(self.der).hexdigest()}"

    @property
    def pem(self) -> bytes:
        """The PEM form, as `openssl pkey -pubout` writes it."""
        lines = base64.encodebytes(self.der).replace(b"\n", b"")
        wrapped = b"\n".join(lines[at : at + 64] for at in range(0, len(lines), 64))
        return b"-----BEGIN PUBLIC KEY-----\n" + wrapped + b"\n-----END PUBLIC KEY-----\n"

    def verifies(self, signature: bytes, message: bytes, *, rsa_hash: Literal["sha256", "sha512"] = "sha256") -> bool:
        """Return whether `signature` over `message` was made by this key. ECDSA signatures are in DER form."""
        return _verifies(_loaded(self.der), signature, message, rsa_hash)


class PrivateKey:
    """A key that makes signatures. It has no useful `repr` and cannot be pickled, so it stays out of logs."""

    __slots__ = ("_key", "public")

    def __init__(self, key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey, public: PublicKey) -> None:
        self._key, self.public = key, public

    def __reduce__(self) -> str | tuple[object, ...]:
        """Refuse to be pickled."""
        raise TypeError("a private key is not pickled")

    def sign(self, message: bytes) -> bytes:
        """Return the signature over `message`; of an elliptic curve other than Ed25519 in DER form."""
        from cryptography.hazmat.primitives.asymmetric import ec

        if isinstance(self._key, ec.EllipticCurvePrivateKey):
            return self._key.sign(message, ec.ECDSA(curve_hash(self._key.curve)))
        return self._key.sign(message)

    def pem(self) -> bytes:
        """Return the unencrypted PKCS #8 PEM form."""
        from cryptography.hazmat.primitives import serialization

        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def new_private_key(kind: NewKind = "p256") -> PrivateKey:
    """Return a new key. `model_signing` reads P-256 keys, but no Ed25519 keys."""
    require_cryptography()  # before the import, for a clear message
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    key = ec.generate_private_key(ec.SECP256R1()) if kind == "p256" else ed25519.Ed25519PrivateKey.generate()
    return PrivateKey(key, public_key_of(key.public_key(), "the new key"))


def read_private_key(data: bytes, what: str, password: bytes | None = None) -> PrivateKey:
    """Read a private key in PEM (PKCS #8 or SEC 1) or OpenSSH form. `what` is its name in messages.

    Raises:
        SignatureError: it is no private key, needs a password, or is of a kind that does not sign here.
    """
    require_cryptography()  # before the import, for a clear message
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    ssh = b"BEGIN OPENSSH PRIVATE KEY" in data[:200]
    load = serialization.load_ssh_private_key if ssh else serialization.load_pem_private_key
    try:
        key = load(data, password)
    except TypeError:
        reason = "it needs a password, which is asked for on a terminal" if password is None else "it has no password"
        raise SignatureError(what, f"the key cannot be read: {reason}") from None
    except UnsupportedAlgorithm as fault:
        if "bcrypt" in str(fault):
            reason = "reading an OpenSSH key with a password needs the Python package bcrypt; run: pip install bcrypt"
            raise SignatureError(what, reason) from None
        raise SignatureError(what, "its cipher or kind of key is not supported") from None
    except (ValueError, NotImplementedError):
        wrong = "the password is wrong, or " if password is not None else ""
        raise SignatureError(what, f"{wrong}the file holds no private key in PEM or OpenSSH form") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey):
        raise SignatureError(what, "a key that signs is on P-256, P-384 or P-521, or is Ed25519; make one: key new")
    return PrivateKey(key, public_key_of(key.public_key(), what))


def read_public_key(data: bytes, what: str) -> PublicKey:
    """Read a public key in PEM form or as a line of OpenSSH. `what` is its name in messages.

    Raises:
        SignatureError: it is no public key, or one that is not accepted.
    """
    require_cryptography()  # before the import, for a clear message
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    text = data.strip()
    if b"PRIVATE KEY-----" in text:
        raise SignatureError(what, "the file holds a private key; give its public half, FILE.pub")
    try:
        if text.startswith(_SSH_BEGIN):
            return public_key_of(serialization.load_ssh_public_key(text), what)
        return public_key_of(serialization.load_pem_public_key(text), what)
    except (ValueError, NotImplementedError, UnsupportedAlgorithm):
        raise SignatureError(what, "the file holds no public key in PEM or OpenSSH form") from None


def read_der_key(der: bytes, what: str) -> PublicKey:
    """Read a public key in DER form (SubjectPublicKeyInfo). Raises SignatureError."""
    require_cryptography()  # before the import, for a clear message
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    try:
        return public_key_of(serialization.load_der_public_key(der), what)
    except (ValueError, NotImplementedError, UnsupportedAlgorithm):
        raise SignatureError(what, "the public key cannot be read") from None


def public_key_of(key: object, what: str) -> PublicKey:
    """Return the public key for an object of `cryptography`. Raises SignatureError if its kind is not accepted."""
    require_cryptography()  # before the import, for a clear message
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    kind: KeyKind
    if isinstance(key, ec.EllipticCurvePublicKey):
        if key.curve.name not in _CURVES:
            raise SignatureError(what, f"keys on the curve {key.curve.name} are not accepted")
        kind = _CURVES[key.curve.name]
    elif isinstance(key, ed25519.Ed25519PublicKey):
        kind = "ed25519"
    elif isinstance(key, rsa.RSAPublicKey):
        if key.key_size < _SMALLEST_RSA:
            raise SignatureError(what, f"an RSA key of {key.key_size} bits is too short")
        kind = "rsa"
    else:
        raise SignatureError(what, "a key of this kind is not accepted")
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return PublicKey(kind=kind, der=der)


def curve_hash(curve: ec.EllipticCurve) -> HashAlgorithm:
    """Return the hash that belongs to a curve."""
    from cryptography.hazmat.primitives import hashes

    found: dict[str, HashAlgorithm] = {
        "secp256r1": hashes.SHA256(),
        "secp384r1": hashes.SHA384(),
        "secp521r1": hashes.SHA512(),
    }
    return found[curve.name]


def strict_base64(text: str, what: str, *, url_safe: bool = False) -> bytes:
    """Decode base64 that has one spelling: padded, without white space, unused bits zero.

    Raises:
        SignatureError: `text` is not that.
    """
    try:
        plain = text.encode("ascii")
        if url_safe:
            plain = plain.translate(bytes.maketrans(b"-_", b"+/"))
        data = base64.b64decode(plain, validate=True)
    except (ValueError, binascii.Error):
        raise SignatureError(what, "it is not base64") from None
    if base64.b64encode(data) != plain:
        raise SignatureError(what, "its base64 has a second spelling")
    return data


@lru_cache(maxsize=128)  # a few signers sign many skills
def _loaded(der: bytes) -> _Public:
    """Return the key as an object of `cryptography`."""
    from cryptography.hazmat.primitives import serialization

    return cast("_Public", serialization.load_der_public_key(der))  # `public_key_of` has checked the kind


def _verifies(key: _Public, signature: bytes, message: bytes, rsa_hash: Literal["sha256", "sha512"]) -> bool:
    """Verify with the one algorithm of the key's kind."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, message, ec.ECDSA(curve_hash(key.curve)))
        elif isinstance(key, rsa.RSAPublicKey):
            algorithm = hashes.SHA256() if rsa_hash == "sha256" else hashes.SHA512()
            key.verify(signature, message, padding.PKCS1v15(), algorithm)
        else:
            key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def require_cryptography() -> None:
    """Raise MissingExtraError if the library `cryptography` is not installed."""
    try:
        import cryptography.hazmat.primitives.serialization  # noqa: F401 -- only to see that it can be imported
    except ImportError as fault:
        raise MissingExtraError("signing and verifying", "install", str(fault)) from fault
