"""Keys of `prowess.signing` as The Update Framework (TUF) uses them: one algorithm each, named by their fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess.errors import MissingExtraError, SignatureError

if TYPE_CHECKING:
    from securesystemslib.signer import Key, Signature, Signer

    from prowess.signing.keys import PrivateKey, PublicKey

_CURVES = {"p256": "ecdsa-sha2-nistp256", "p384": "ecdsa-sha2-nistp384", "p521": "ecdsa-sha2-nistp521"}
_RAW_ED25519 = 32  # the last bytes of its DER form


def require_tuf() -> None:
    """Raise MissingExtraError if the library `tuf` is not installed."""
    try:
        import tuf.api.metadata  # noqa: F401 -- only to see that it can be imported
    except ImportError as fault:
        raise MissingExtraError("deploying skills", "install", str(fault)) from fault


def key_id(key: PublicKey) -> str:
    """Return the identifier of a key in the metadata: the 64 hexadecimal digits of its fingerprint."""
    return key.fingerprint.removeprefix("sha256:")


def tuf_key(key: PublicKey, option: str) -> Key:
    """Return a public key in the form of the metadata. Raises SignatureError for an RSA key."""
    from securesystemslib.signer import SSlibKey  # of the extra

    if key.kind == "ed25519":
        return SSlibKey(key_id(key), "ed25519", "ed25519", {"public": key.der[-_RAW_ED25519:].hex()})
    if key.kind == "rsa":
        raise SignatureError(option, "an RSA key cannot sign deployments; make one: prowess key new")
    return SSlibKey(key_id(key), "ecdsa", _CURVES[key.kind], {"public": key.pem.decode("ascii")})


def tuf_signer(key: PrivateKey) -> Signer:
    """Return an object that signs metadata with this key."""
    return cast("Signer", _KeySigner(key))  # the base class can only be imported if the extra is installed


class _KeySigner:
    """The part of `securesystemslib.signer.Signer` that signing metadata uses."""

    def __init__(self, key: PrivateKey) -> None:
        self._key = key

    def sign(self, payload: bytes) -> Signature:
        from securesystemslib.signer import Signature  # of the extra

        return Signature(key_id(self._key.public), self._key.sign(payload).hex())
