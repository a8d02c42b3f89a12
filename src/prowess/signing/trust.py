"""Whom a verification trusts: keys, certificate authorities, Sigstore identities, lines of an allowed signers file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess.signing.allowed_signers import AllowedSigner
    from prowess.signing.keys import PublicKey


class TrustedKey(Struct, frozen=True, kw_only=True):
    """A key, and the publisher to whom it belongs, or None if it was only given for one verification."""

    key: PublicKey
    publisher: str | None = None


class TrustedRoot(Struct, frozen=True, kw_only=True):
    """A certificate (DER) at which a chain may end. All signers whom this authority certifies are the publisher."""

    der: bytes
    publisher: str | None = None


class TrustedIdentity(Struct, frozen=True, kw_only=True):
    """An identity in Sigstore certificates, and the URL of the issuer that vouches for it."""

    identity: str
    issuer: str
    publisher: str | None = None


class Trust(Struct, frozen=True, kw_only=True):
    """All that is trusted. `sigstore_root` is a trusted root in JSON; None means the one that `sigstore` ships."""

    keys: tuple[TrustedKey, ...] = ()
    roots: tuple[TrustedRoot, ...] = ()
    identities: tuple[TrustedIdentity, ...] = ()
    allowed_signers: tuple[AllowedSigner, ...] = ()
    sigstore_root: bytes | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no signer at all is trusted."""
        return not (self.keys or self.roots or self.identities or self.allowed_signers)


def joined(parts: Iterable[Trust]) -> Trust:
    """Return all of several; the first `sigstore_root` counts."""
    several = tuple(parts)
    return Trust(
        keys=tuple(one for trust in several for one in trust.keys),
        roots=tuple(one for trust in several for one in trust.roots),
        identities=tuple(one for trust in several for one in trust.identities),
        allowed_signers=tuple(one for trust in several for one in trust.allowed_signers),
        sigstore_root=next((trust.sigstore_root for trust in several if trust.sigstore_root is not None), None),
    )
