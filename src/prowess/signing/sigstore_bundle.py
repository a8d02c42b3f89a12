"""Bundles of Sigstore: a short-lived certificate for an identity, proved by transparency logs and timestamps.

Verified by the library `sigstore` (extra `sigstore`), offline: by the trusted root that the library ships, or by one
that is given. The library's own cache of roots is not used, so that no other program decides what is trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess.errors import MissingExtraError, SignatureError
from prowess.signing.envelope import IN_TOTO
from prowess.signing.verdict import Signed, Untrusted

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.models import Bundle, TrustedRoot
    from sigstore.verify import Verifier

    from prowess.signing.trust import Trust

_WHAT = "the Sigstore bundle"
_ISSUER = "1.3.6.1.4.1.57264.1.1"
_SHIPPED = ("https%3A%2F%2Ftuf-repo-cdn.sigstore.dev", "trusted_root.json")


def verify_sigstore(data: bytes, digest: bytes | None, trust: Trust) -> Signed | Untrusted:
    """Verify a bundle that signs a statement, or the bytes with the SHA-256 `digest` if it is not None.

    Raises:
        SignatureError: the bundle is not valid for these bytes, whoever signed it.
        MissingExtraError: the library is not installed.
    """
    import logging  # only here, because it is slow to import

    try:
        from sigstore.errors import Error
        from sigstore.hashes import Hashed
        from sigstore.models import Bundle
        from sigstore.verify import Verifier
        from sigstore.verify.policy import Identity
        from sigstore_models.common.v1 import HashAlgorithm
    except ImportError as fault:
        raise MissingExtraError("verifying Sigstore bundles", "sigstore", str(fault)) from fault
    payload: bytes | None = None
    if not (log := logging.getLogger("sigstore")).handlers:
        log.addHandler(logging.NullHandler())  # its remarks would be printed; what matters is in the result
    try:
        bundle = Bundle.from_json(data)
        verifier = Verifier(trusted_root=_trusted_root(trust.sigstore_root))
        if digest is None:
            payload = _payload(verifier, bundle)
        else:
            verifier.verify_artifact(Hashed(algorithm=HashAlgorithm.SHA2_256, digest=digest), bundle, _Anyone())
    except SignatureError:
        raise
    except Exception as fault:  # noqa: BLE001 -- the library raises errors of many kinds; each of them refuses the bundle
        raise SignatureError(_WHAT, _shortened(fault)) from None
    for known in trust.identities:
        try:
            Identity(identity=known.identity, issuer=known.issuer).verify(bundle.signing_certificate)
        except Error:
            continue
        return Signed(signer=f"sigstore {known.identity} {known.issuer}", publisher=known.publisher, payload=payload)
    signer = _signer(bundle)
    return Untrusted(signer=signer, reason=f"it was signed by {signer}, whom nobody here trusts", payload=payload)


class _Anyone:
    """A policy of the library that accepts each identity: first the bundle is verified, then who signed it."""

    def verify(self, cert: Certificate) -> None:
        """Accept the certificate."""


def _payload(verifier: Verifier, bundle: Bundle) -> bytes:
    """Return the statement that the bundle signs."""
    kind, payload = verifier.verify_dsse(bundle, _Anyone())
    if kind != IN_TOTO:
        raise SignatureError(_WHAT, f"its payload type is not {IN_TOTO}")
    return payload


def _trusted_root(given: bytes | None) -> TrustedRoot:
    """Return the trusted root that was given, or the one in the library."""
    from importlib.resources import files

    from sigstore.models import TrustedRoot
    from sigstore_models.trustroot import v1

    if given is not None:
        try:
            return TrustedRoot(v1.TrustedRoot.from_json(given))
        except Exception as fault:  # noqa: BLE001 -- as above
            raise SignatureError("the given trusted root", f"it is none of Sigstore ({_shortened(fault)})") from None
    shipped = files("sigstore._store")
    for part in _SHIPPED:
        shipped = shipped.joinpath(part)
    return TrustedRoot(v1.TrustedRoot.from_json(shipped.read_bytes()))


def _shortened(fault: Exception) -> str:
    """Return the message on one line, without the references of the library that parses JSON."""
    return " ".join(str(fault).partition(" [type=")[0].split()) or type(fault).__name__


def _signer(bundle: Bundle) -> str:
    """Return the identity and the issuer that the certificate names."""
    from cryptography import x509

    extensions = bundle.signing_certificate.extensions
    names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    found = [str(name.value) for name in names]
    others = [one.value for one in extensions if one.oid.dotted_string == _ISSUER]
    found += [one.value.decode("utf-8", "replace") for one in others if isinstance(one, x509.UnrecognizedExtension)]
    return " ".join(("sigstore", *found))
