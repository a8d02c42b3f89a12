"""X.509 chains that end at a trusted root, verified offline with `cryptography`.

A chain has no trusted time of its own, so all its certificates must be valid now: who holds the key of an expired
certificate could sign with any date. The signing certificate must allow digital signatures (key usage, else the
extended key usage for code signing), and must not be an authority. Each certificate of the bundle must be issued by the
next one, also those that the path to the root does not need. Revocation is not checked, because that needs a
connection.
Source: RFC 5280, OpenSSF Model Signing 1.0.
"""

from __future__ import annotations

import hashlib
import warnings
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct

from prowess.errors import SignatureError
from prowess.signing.keys import public_key_of, require_cryptography
from prowess.signing.verdict import Untrusted

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence

    from cryptography import x509
    from cryptography.x509 import verification

    from prowess.signing.keys import PublicKey

_CHAIN = "the certificate chain"
_MAX_CERTIFICATES = 8
_EC_KINDS = frozenset({"p256", "p384", "p521"})


class VerifiedChain(Struct, frozen=True, kw_only=True):
    """A chain with a good path to a root. `root` is the DER form of the trusted certificate at its end.

    `signer` is the name to pin: the root's SHA-256 and the subject of the signing certificate.
    """

    key: PublicKey
    signer: str
    root: bytes


def read_certificates(data: bytes, what: str) -> tuple[bytes, ...]:
    """Return the certificates of a PEM file in DER form. Raises SignatureError if there is none."""
    require_cryptography()  # before the import, for a clear message
    from cryptography import x509

    if b"-----BEGIN CERTIFICATE-----" not in data:
        raise SignatureError(what, "the file holds no certificate in PEM form")
    with _readable(what):
        return tuple(_der(one) for one in x509.load_pem_x509_certificates(data))


def read_authority(data: bytes, what: str) -> bytes:
    """Return the one certificate of a PEM file in DER form. Raises SignatureError if it is not that of an authority."""
    from cryptography import x509

    found = read_certificates(data, what)
    if len(found) != 1:
        raise SignatureError(what, f"the file holds {len(found)} certificates; give the root certificate alone")
    (one,) = _load(found)
    try:
        is_authority = one.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except (x509.ExtensionNotFound, ValueError):
        is_authority = False
    if not is_authority:
        raise SignatureError(what, "it is the certificate of a signer, not of an authority")
    return found[0]


def read_der_certificate(der: bytes, what: str) -> str:
    """Return the subject of a certificate as one line (RFC 4514). Raises SignatureError if it is no certificate."""
    require_cryptography()  # before the import, for a clear message
    from cryptography import x509

    with _readable(what):
        return x509.load_der_x509_certificate(der).subject.rfc4514_string()


def fingerprint_of(der: bytes) -> str:
    """Return `sha256:<64 hex>` of a certificate."""
    return f"sha256:{hashlib.sha256(der).hexdigest()}"


def signing_key(certificates: Sequence[bytes]) -> PublicKey:
    """Return the key of the first certificate, before anything about it is verified. Raises SignatureError."""
    require_cryptography()  # before the import, for a clear message
    with _readable(_CHAIN):
        (leaf,) = _load(certificates[:1])
        key = public_key_of(leaf.public_key(), "the signing certificate")
    if key.kind not in _EC_KINDS:
        raise SignatureError("the signing certificate", f"a certificate with a key of kind {key.kind} is not accepted")
    return key


def verify_chain(certificates: Sequence[bytes], roots: Sequence[bytes], now: dt.datetime) -> VerifiedChain | Untrusted:
    """Verify a chain, signing certificate first, all in DER form, at the time `now`.

    The result is `Untrusted` if the chain ends at no root in `roots`, or a certificate is not valid now. It names the
    signer if the chain is good but for its root, so that a lock can pin the signer before anybody trusts the root.

    Raises:
        SignatureError: the chain is broken, or its first certificate is not for signing.
    """
    with _readable(_CHAIN):
        return _verified(certificates, roots, now)


def _verified(certificates: Sequence[bytes], roots: Sequence[bytes], now: dt.datetime) -> VerifiedChain | Untrusted:
    """Verify a chain; errors of the library are passed on."""
    key = signing_key(certificates)
    chain = _load(certificates)
    for issued, issuer in pairwise(chain):
        _require_issued(issued, issuer)
    _require_for_signing(chain[0])
    anchors = [anchor for root in roots for anchor in _load([root])]
    subject = chain[0].subject.rfc4514_string()
    if not _ends_at(chain, anchors):
        root, _ = _path(chain, chain[-1:], now)
        reason = f"its chain ends at {chain[-1].issuer.rfc4514_string()}, which is not a trusted root"
        return Untrusted(reason=reason, signer=None if root is None else _signer_name(root, subject))
    if untimely := next((why for one in chain if (why := _untimely(one, now))), None):
        return Untrusted(reason=untimely)
    root, fault = _path(chain, anchors, now)
    if root is None:
        return Untrusted(reason=f"no path leads from its certificate to a trusted root ({fault})")
    return VerifiedChain(key=key, signer=_signer_name(root, subject), root=root)


def _path(
    chain: Sequence[x509.Certificate], anchors: Sequence[x509.Certificate], now: dt.datetime
) -> tuple[bytes | None, str]:
    """Return the anchor to which a path leads in which each certificate may issue the one below; else None and why."""
    from cryptography.x509 import verification

    if chain[0] in anchors:
        return None, "it is a certificate without an authority"
    policy = verification.PolicyBuilder().store(verification.Store(list(anchors))).time(now)
    policy = policy.extension_policies(
        ca_policy=_authority_policy(), ee_policy=verification.ExtensionPolicy.permit_all()
    )
    try:
        return _der(policy.build_client_verifier().verify(chain[0], list(chain[1:])).chain[-1]), ""
    except verification.VerificationError as fault:
        return None, str(fault).removeprefix("validation failed: ")


def _signer_name(root: bytes, subject: str) -> str:
    return f"x509 {fingerprint_of(root)} {subject}"


def _load(ders: Sequence[bytes]) -> list[x509.Certificate]:
    """Parse a few certificates. Raises SignatureError."""
    from cryptography import x509

    if len(ders) > _MAX_CERTIFICATES:
        raise SignatureError(_CHAIN, f"it has more than {_MAX_CERTIFICATES} certificates")
    with _readable(_CHAIN):
        certificates = [x509.load_der_x509_certificate(der) for der in ders]
    # The number of unused bits before a signature is not signed, and the library reads past it.
    if not all(der.endswith(b"\0" + one.signature) for der, one in zip(ders, certificates, strict=True)):
        raise SignatureError(_CHAIN, "the signature in a certificate is malformed")
    return certificates


def _ends_at(chain: Sequence[x509.Certificate], anchors: Sequence[x509.Certificate]) -> bool:
    """Return whether the chain leads to a root here. Its last certificate is verified too, also if no path needs it."""
    last = chain[-1]
    if last in anchors:
        return True
    if last.subject == last.issuer:
        _require_issued(last, last)
        return any(one in anchors or _issuers(one, anchors) for one in chain)
    above = _issuers(last, anchors)
    if above and not any(_is_issued(last, anchor) for anchor in above):
        _refuse_link(last, above[0])
    return bool(above)


def _issuers(one: x509.Certificate, anchors: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    return [anchor for anchor in anchors if anchor.subject == one.issuer]


def _require_issued(issued: x509.Certificate, issuer: x509.Certificate) -> None:
    if not _is_issued(issued, issuer):
        _refuse_link(issued, issuer)


def _refuse_link(issued: x509.Certificate, issuer: x509.Certificate) -> NoReturn:
    subject, above = issued.subject.rfc4514_string(), issuer.subject.rfc4514_string()
    raise SignatureError(_CHAIN, f"the certificate of {subject} was not issued by {above}")


def _is_issued(issued: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Return whether `issuer` has signed `issued`, and is named in it."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    try:
        issued.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _require_for_signing(leaf: x509.Certificate) -> None:
    """Raise SignatureError unless the certificate allows its holder to sign, and is not that of an authority."""
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    what = f"the certificate of {leaf.subject.rfc4514_string()}"
    by_kind = {type(one.value): one.value for one in leaf.extensions}
    constraints = by_kind.get(x509.BasicConstraints)
    if constraints is not None and constraints.ca:
        raise SignatureError(what, "it is that of an authority, not of a signer")
    usage, extended = by_kind.get(x509.KeyUsage), by_kind.get(x509.ExtendedKeyUsage)
    if usage is not None and not usage.digital_signature:
        raise SignatureError(what, "its key usage does not allow digital signatures")
    if extended is not None and ExtendedKeyUsageOID.CODE_SIGNING not in extended:
        raise SignatureError(what, "its extended key usage does not allow code signing")
    if usage is None and extended is None:
        raise SignatureError(what, "it has no key usage, so it is not for signing")


def _untimely(one: x509.Certificate, now: dt.datetime) -> str | None:
    subject = one.subject.rfc4514_string()
    if now > one.not_valid_after_utc:
        return f"the certificate of {subject} expired on {one.not_valid_after_utc:%Y-%m-%d}"
    if now < one.not_valid_before_utc:
        return f"the certificate of {subject} is not valid before {one.not_valid_before_utc:%Y-%m-%d}"
    return None


def _authority_policy() -> verification.ExtensionPolicy:
    """Return what each certificate above the first must be: one of an authority that may issue such certificates."""
    from cryptography import x509
    from cryptography.x509 import verification
    from cryptography.x509.oid import ExtendedKeyUsageOID

    def authority(_policy: object, _certificate: object, constraints: x509.BasicConstraints | None) -> None:
        if constraints is None or not constraints.ca:
            raise ValueError("a certificate in the chain is not that of an authority")

    def issuing(_policy: object, _certificate: object, usage: x509.KeyUsage | None) -> None:
        if usage is not None and not usage.key_cert_sign:
            raise ValueError("a certificate in the chain may not issue others")

    def for_code(_policy: object, _certificate: object, extended: x509.ExtendedKeyUsage | None) -> None:
        usages = {ExtendedKeyUsageOID.CODE_SIGNING, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
        if extended is not None and not usages & set(extended):
            raise ValueError("a certificate in the chain may not issue certificates for code signing")

    any_case = verification.Criticality.AGNOSTIC
    policy = verification.ExtensionPolicy.permit_all()
    policy = policy.require_present(x509.BasicConstraints, any_case, authority)
    policy = policy.may_be_present(x509.KeyUsage, any_case, issuing)
    return policy.may_be_present(x509.ExtendedKeyUsage, any_case, for_code)


@contextmanager
def _readable(what: str) -> Iterator[None]:
    """Raise SignatureError for each error or warning of the library about a malformed certificate."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm

    malformed = (ValueError, TypeError, Warning, UnsupportedAlgorithm, x509.InvalidVersion, x509.DuplicateExtension)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except malformed as fault:
        detail = "" if "://" in str(fault) else f" ({fault})"  # some errors send readers to pages of the library
        raise SignatureError(what, f"a certificate is malformed{detail}") from None
    except x509.UnsupportedGeneralNameType as fault:
        raise SignatureError(what, f"a certificate has a name of an unknown kind ({fault})") from None


def _der(certificate: x509.Certificate) -> bytes:
    """Return the DER form."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)
