"""Chains of certificates: they end at a trusted root, are valid now, and each certificate may do what it does."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.signing.authorities import DAY, NOW, Holder, intermediate_authority, root_authority, usage
from tests.signing.making import FILES, manifest_of, statement_of, trusting

ROOT = root_authority()
PAYLOAD = statement_of(FILES)
FOR_CODE = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING])
FOR_SERVERS = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
ANY_USE = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE])


def _status(signer: Holder, *roots: Holder, chain: tuple[bytes, ...] | None = None) -> tuple[str, str]:
    verdict = trusting(roots=roots or (ROOT,)).tree(manifest_of(FILES), signer.bundle(PAYLOAD, chain))
    return verdict.status, verdict.reason or ""


@pytest.mark.parametrize("curve", [ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()])
def test_a_chain_is_verified_with_and_without_the_root_in_it(curve: ec.EllipticCurve) -> None:
    root = root_authority(curve=curve)
    signer = Holder("Signer", intermediate_authority(root, curve=curve), curve=curve)
    for chain in (signer.chain, signer.chain[:-1]):
        assert _status(signer, root, chain=chain) == ("verified", "")
    assert _status(Holder("Signer", root, curve=curve), root)[0] == "verified"
    verdict = trusting(roots=(ROOT, root)).tree(manifest_of(FILES), signer.bundle(PAYLOAD))
    assert verdict.publisher == "acme"
    assert verdict.signer is not None
    assert verdict.signer.endswith(" CN=Signer")


@pytest.mark.parametrize(
    "extensions",
    [[usage("digital_signature"), FOR_CODE], [FOR_CODE], [usage("digital_signature", "content_commitment")]],
)
def test_a_certificate_may_be_for_code_signing(extensions: list[x509.ExtensionType]) -> None:
    assert _status(Holder("Signer", ROOT, extensions=extensions))[0] == "verified"


@pytest.mark.parametrize(
    "extensions",
    [
        [],
        [usage("key_encipherment")],
        [usage("key_cert_sign")],
        [usage("key_agreement"), FOR_CODE],
        [usage("digital_signature"), FOR_SERVERS],
        [usage("digital_signature"), ANY_USE],
        [FOR_SERVERS],
    ],
)
def test_a_certificate_for_another_use_is_invalid(extensions: list[x509.ExtensionType]) -> None:
    status, reason = _status(Holder("Signer", ROOT, extensions=extensions))
    assert (status, "CN=Signer" in reason) == ("invalid", True)


def test_an_authority_is_not_a_signer_and_a_signer_is_not_an_authority() -> None:
    both = [usage("digital_signature", "key_cert_sign")]
    assert _status(Holder("Signer", ROOT, is_authority=True, extensions=both))[0] == "invalid"
    not_one = Holder("Not an authority", ROOT, extensions=both)
    assert _status(Holder("Signer", not_one))[0] == "untrusted"
    forged = Holder("Signer", not_one).bundle(PAYLOAD)
    assert trusting(roots=(root_authority(),)).tree(manifest_of(FILES), forged).signer is None
    may_not_issue = Holder("May not issue", ROOT, is_authority=True, extensions=[usage("digital_signature")])
    assert _status(Holder("Signer", may_not_issue))[0] == "untrusted"
    for_servers = Holder("Servers", ROOT, is_authority=True, extensions=[usage("key_cert_sign"), FOR_SERVERS])
    assert _status(Holder("Signer", for_servers))[0] == "untrusted"


def test_a_path_that_is_longer_than_its_authority_allows_is_untrusted() -> None:
    short = Holder("Short", ROOT, is_authority=True, path_length=0)
    assert _status(Holder("Signer", short))[0] == "verified"
    assert _status(Holder("Signer", Holder("Below", short, is_authority=True)))[0] == "untrusted"


def test_a_chain_has_at_most_eight_certificates_and_an_authority() -> None:
    authority = root_authority()
    for level in range(7):
        authority = Holder(f"Level {level}", authority, is_authority=True)
    status, reason = _status(Holder("Signer", authority))
    assert (status, "more than 8 certificates" in reason) == ("invalid", True)
    alone = Holder("Alone", extensions=[usage("digital_signature")])
    status, reason = _status(alone, alone)
    assert (status, "certificate without an authority" in reason) == ("untrusted", True)


@pytest.mark.parametrize("which", ["signer", "intermediate", "root"])
@pytest.mark.parametrize(("since", "until", "word"), [(-9, -1, "expired on 2026-11-28"), (1, 9, "not valid before")])
def test_each_certificate_must_be_valid_now(which: str, since: int, until: int, word: str) -> None:
    wanted: dict[str, dict[str, object]] = {name: {} for name in ("signer", "intermediate", "root")}
    wanted[which] = {"since": NOW + since * DAY, "until": NOW + until * DAY}
    root = Holder("Test Root", is_authority=True, **wanted["root"])  # type: ignore[arg-type]  # dates
    signer = Holder("Signer", intermediate_authority(root, **wanted["intermediate"]), **wanted["signer"])  # type: ignore[arg-type]  # dates
    status, reason = _status(signer, root)
    assert (status, word in reason) == ("untrusted", True), reason


def test_a_chain_that_ends_elsewhere_names_the_authority_at_its_end() -> None:
    other = root_authority("Internal CA")
    signer = Holder("Signer", intermediate_authority(other))
    for chain in (signer.chain, signer.chain[:-1]):
        status, reason = _status(signer, chain=chain)
        assert status == "untrusted"
        assert "ends at CN=Internal CA, which is not a trusted root" in reason
    bundle = signer.bundle(PAYLOAD)
    before, after = (trusting(roots=(root,)).tree(manifest_of(FILES), bundle) for root in (ROOT, other))
    assert (before.status, after.status) == ("untrusted", "verified")
    assert before.signer == after.signer  # so that it can be pinned before it is trusted
    elsewhere = trusting(roots=(ROOT,)).tree(manifest_of(FILES | {"more.md": b""}), bundle)
    assert (elsewhere.status, elsewhere.signer) == ("untrusted", None)  # it has signed other files
    same_name = root_authority("Test Root")  # another key under the name of the trusted root
    assert _status(Holder("Signer", intermediate_authority(same_name)))[0] == "untrusted"
    assert _status(Holder("Signer", same_name), chain=Holder("Signer", same_name).chain[:1])[0] == "invalid"


def test_a_broken_chain_is_invalid() -> None:
    signer = Holder("Signer", intermediate_authority(ROOT))
    stranger = intermediate_authority(root_authority())
    leaf, middle, root = signer.chain
    for chain in (
        (leaf, root, middle),
        (leaf, stranger.der, root),
        (leaf, middle, stranger.der),
        (leaf, middle, root, root_authority("Extra").der),
        (leaf, leaf, middle, root),
        (middle, root),
        (leaf, middle, root) * 4,
        (leaf, middle[:-1], root),
        (b"", middle, root),
    ):
        assert _status(signer, chain=chain)[0] == "invalid"


def test_no_flipped_byte_of_a_certificate_is_accepted() -> None:
    signer = Holder("Signer", intermediate_authority(ROOT))
    while not any(der[-1] % 2 == 0 for der in signer.chain):  # unused bits in a signature could then change unnoticed
        signer = Holder("Signer", intermediate_authority(ROOT))
    for which, der in enumerate(signer.chain):
        for at, byte in enumerate(der):
            other = der[:at] + bytes((byte ^ 1,)) + der[at + 1 :]
            chain = (*signer.chain[:which], other, *signer.chain[which + 1 :])
            assert _status(signer, chain=chain)[0] != "verified", (which, at)


@pytest.mark.parametrize("curve", [ec.SECP256K1(), ec.SECP224R1(), ec.BrainpoolP256R1()])
def test_a_certificate_with_a_key_on_another_curve_is_invalid(curve: ec.EllipticCurve) -> None:
    status, reason = _status(Holder("Signer", ROOT, curve=curve))
    assert status == "invalid"
    assert "not accepted" in reason


def test_the_statement_must_be_signed_by_the_certificate_that_is_shown() -> None:
    signer, other = Holder("Signer", ROOT), Holder("Signer", ROOT)
    assert _status(signer, chain=other.chain)[0] == "invalid"
