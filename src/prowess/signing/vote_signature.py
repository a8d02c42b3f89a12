"""Signatures of votes about skills: a DSSE signature over an in-toto statement whose subject is the skill.

The signature has its public key beside it. It proves that the holder of this key agreed to exactly this vote. To whom
the key belongs is stated by a publishers file (`prowess.signing.publishers`).
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.canonical_json import canonical_json
from prowess.errors import SignatureError
from prowess.signing.envelope import IN_TOTO, pre_authentication_encoding, signed_envelope
from prowess.signing.keys import read_der_key, strict_base64
from prowess.signing.statement import STATEMENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.signing.keys import PrivateKey

PREDICATE_TYPE = "https://prowess/approval/v1"
_WHAT = "the signature of an approval"


class VoteSignature(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature and its public key (DER), both in base64."""

    public_key: str
    sig: str


def sign_vote(vote: Mapping[str, object], skill: str, tree: str, key: PrivateKey) -> VoteSignature:
    """Sign a vote about the skill with the digest `tree`."""
    (made,) = signed_envelope(vote_payload(vote, skill, tree), key).signatures
    return VoteSignature(
        public_key=b64encode(key.public.der).decode(),
        sig=b64encode(made.signature).decode(),
    )


def require_signed(
    signature: VoteSignature, vote: Mapping[str, object], skill: str, tree: str, fingerprint: str | None
) -> None:
    """Check that the key with this fingerprint signed exactly this vote.

    Raises:
        SignatureError: the signature is of another vote or key.
        MissingExtraError: `cryptography` is not installed.
    """
    key = read_der_key(strict_base64(signature.public_key, _WHAT), _WHAT)
    if key.fingerprint != fingerprint:
        raise SignatureError(_WHAT, "it was made with another key than the statement names")
    signed = pre_authentication_encoding(IN_TOTO, vote_payload(vote, skill, tree))
    if not key.verifies(strict_base64(signature.sig, _WHAT), signed):
        raise SignatureError(_WHAT, f"it is not valid for this statement about {skill!r}")


def vote_payload(vote: Mapping[str, object], skill: str, tree: str) -> bytes:
    """Return the in-toto statement that is signed."""
    return canonical_json(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": skill, "digest": {"sha256": tree.removeprefix("sha256:")}}],
            "predicateType": PREDICATE_TYPE,
            "predicate": vote,
        },
        floats=False,
    )
