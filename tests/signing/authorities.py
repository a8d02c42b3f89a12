"""Certificate authorities for tests: a root, an intermediate and a signer, each with what a test wants wrong."""

from __future__ import annotations

import datetime as dt
import json
from base64 import b64encode
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from prowess.signing.envelope import pre_authentication_encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = dt.datetime(2026, 11, 29, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def usage(*allowed: str) -> x509.KeyUsage:
    """Return a key usage that allows these."""
    return x509.KeyUsage(**{name: name in allowed for name in _USAGES})


class Holder:
    """A certificate, its key, and the holder who issued it (None: itself)."""

    def __init__(
        self,
        name: str,
        issuer: Holder | None = None,
        *,
        curve: ec.EllipticCurve | None = None,
        is_authority: bool = False,
        path_length: int | None = None,
        extensions: Sequence[x509.ExtensionType] | None = None,
        since: dt.datetime = NOW - 30 * DAY,
        until: dt.datetime = NOW + 30 * DAY,
    ) -> None:
        self.key = ec.generate_private_key(curve or ec.SECP256R1())
        self.issuer = issuer
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = x509.CertificateBuilder(
            issuer_name=issuer.certificate.subject if issuer else subject,
            subject_name=subject,
            public_key=self.key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=since,
            not_valid_after=until,
        )
        if extensions is None:
            extensions = [usage("key_cert_sign") if is_authority else usage("digital_signature")]
        builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=path_length), critical=True)
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.KeyUsage))
        self.certificate: x509.Certificate = builder.sign(issuer.key if issuer else self.key, hashes.SHA256())

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def chain(self) -> tuple[bytes, ...]:
        """This certificate and those above it, the root last."""
        return (self.der, *(self.issuer.chain if self.issuer else ()))

    def bundle(self, payload: bytes, chain: Sequence[bytes] | None = None) -> bytes:
        """Sign an in-toto payload as `model_signing sign certificate` does."""
        kind = "application/vnd.in-toto+json"
        size = self.key.curve.key_size
        algorithm = {256: hashes.SHA256(), 384: hashes.SHA384()}.get(size, hashes.SHA512())
        signature = self.key.sign(pre_authentication_encoding(kind, payload), ec.ECDSA(algorithm))
        certificates = [{"rawBytes": b64encode(der).decode()} for der in (chain or self.chain)]
        envelope = {
            "payload": b64encode(payload).decode(),
            "payloadType": kind,
            "signatures": [{"sig": b64encode(signature).decode(), "keyid": ""}],
        }
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
                "verificationMaterial": {"x509CertificateChain": {"certificates": certificates}, "tlogEntries": []},
                "dsseEnvelope": envelope,
            }
        ).encode()


def root_authority(name: str = "Test Root", **wanted: object) -> Holder:
    """Return a root."""
    return Holder(name, is_authority=True, **wanted)  # type: ignore[arg-type]  # passed through


def intermediate_authority(root: Holder, **wanted: object) -> Holder:
    """Return an authority below a root."""
    return Holder("Test Intermediate", root, is_authority=True, **wanted)  # type: ignore[arg-type]  # passed through
