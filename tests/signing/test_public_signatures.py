"""Signatures that others made: a public skill with its chain of certificates, and bundles of Sigstore, offline.

Small samples are in `samples`, each with its source and licence. Two variables name complete checkouts:
`PROWESS_NVIDIA_SKILLS` (github.com/NVIDIA/skills at commit 7149a88) and `PROWESS_SIGSTORE_CONFORMANCE`
(github.com/sigstore/sigstore-conformance).
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.errors import SignatureError
from prowess.signing.certificates import read_certificates
from prowess.signing.keys import read_public_key
from prowess.signing.trust import Trust, TrustedIdentity, TrustedKey, TrustedRoot
from prowess.signing.verification import Verifier
from tests.signing.authorities import NOW
from tests.signing.making import manifest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLES = Path(__file__).parent / "samples"
NVIDIA = os.environ.get("PROWESS_NVIDIA_SKILLS", "")
CONFORMANCE = os.environ.get("PROWESS_SIGSTORE_CONFORMANCE", "")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> object:
        raise AssertionError("a verification opened a connection")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, closed)
    monkeypatch.setattr(socket, "getaddrinfo", closed)


def _sample(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((SAMPLES / name).read_text(encoding="utf-8"))
    return data


def test_a_public_skill_with_a_chain_of_certificates_is_verified_and_no_flipped_byte_is() -> None:
    sample = _sample("signed-skill.json")
    files = {path: text.encode() for path, text in sample["files"].items()}
    signature = files.pop("skill.oms.sig")
    (root,) = read_certificates(sample["root"].encode(), "root")
    verifier = Verifier(Trust(roots=(TrustedRoot(der=root, publisher="NVIDIA"),)), NOW)
    verdict = verifier.tree(manifest_of(files), signature)
    assert (verdict.status, verdict.publisher) == ("verified", "NVIDIA")
    assert verdict.signer is not None
    assert verdict.signer.endswith(" CN=NVIDIA Agent Skills Signing 001,O=NVIDIA Corporation,C=US")
    for path, data in files.items():
        for at in range(0, len(data), 7):
            changed = {**files, path: data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]}
            assert verifier.tree(manifest_of(changed), signature).files == (path,)
    for at in range(0, len(signature), 11):
        other = signature[:at] + bytes((signature[at] ^ 1,)) + signature[at + 1 :]
        assert verifier.tree(manifest_of(files), other).status != "verified", at
    nobody = Verifier(Trust(), NOW).tree(manifest_of(files), signature)
    assert nobody.status == "untrusted"
    assert "CN=NVIDIA Agent Capabilities CA" in str(nobody.reason)


def test_bundles_of_sigstore_are_verified_by_identity_and_issuer() -> None:
    sample = _sample("sigstore-bundles.json")
    artifact, identity, issuer = sample["artifact"].encode(), sample["identity"], sample["issuer"]
    known = TrustedIdentity(identity=identity, issuer=issuer, publisher="beacon")
    verifier = Verifier(Trust(identities=(known,)), NOW)
    for name in ("happy-path-v0.3", "happy-path-intoto-in-dsse-v3"):
        data = json.dumps(sample[name]).encode()
        verdict = verifier.content(artifact, data)
        assert (verdict.status, verdict.format, verdict.publisher) == ("verified", "sigstore", "beacon"), verdict
        assert verdict.signer == f"sigstore {identity} {issuer}"
        assert verifier.content(artifact + b"x", data).status in {"invalid", "changed"}
        for other in (
            TrustedIdentity(identity=identity + "x", issuer=issuer),
            TrustedIdentity(identity=identity, issuer=issuer + "x"),
            TrustedIdentity(identity="*", issuer=issuer),
        ):
            verdict = Verifier(Trust(identities=(other,)), NOW).content(artifact, data)
            assert verdict.status == "untrusted"
            assert identity in str(verdict.reason)
            assert verdict.signer is not None


def test_a_statement_of_another_payload_type_is_refused_though_it_was_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No public bundle signs another type, so only the type that the library returns is replaced."""
    sigstore = pytest.importorskip("sigstore.verify").Verifier
    sample, verify = _sample("sigstore-bundles.json"), sigstore.verify_dsse
    known = TrustedIdentity(identity=sample["identity"], issuer=sample["issuer"])
    verifier, data = (
        Verifier(Trust(identities=(known,)), NOW),
        json.dumps(sample["happy-path-intoto-in-dsse-v3"]).encode(),
    )
    for kind in ("application/vnd.in-toto+json", "text/plain", "application/vnd.in-toto+jsoN", ""):
        monkeypatch.setattr(sigstore, "verify_dsse", lambda *given, kind=kind: (kind, verify(*given)[1]))
        verdict = verifier.content(sample["artifact"].encode(), data)
        if kind == "application/vnd.in-toto+json":
            assert verdict.status == "verified"
        else:
            assert verdict.status == "invalid"
            assert "its payload type is not application/vnd.in-toto+json" in str(verdict.reason)


def test_a_trusted_root_that_is_none_is_named_in_the_reason() -> None:
    sample = _sample("sigstore-bundles.json")
    known = TrustedIdentity(identity=sample["identity"], issuer=sample["issuer"])
    data = json.dumps(sample["happy-path-v0.3"]).encode()
    for root in (b"junk", b"{}", b""):
        verifier = Verifier(Trust(identities=(known,), sigstore_root=root), NOW)
        verdict = verifier.content(sample["artifact"].encode(), data)
        assert verdict.status == "invalid"
        assert str(verdict.reason).startswith("the given trusted root: it is none of Sigstore")
        assert "http" not in str(verdict.reason)


def test_a_key_signs_a_bundle_of_sigstore_without_a_certificate() -> None:
    sample = _sample("sigstore-bundles.json")
    key = TrustedKey(key=read_public_key(sample["key"].encode(), "key"))
    data = json.dumps(sample["managed-key-happy-path"]).encode()
    artifact = sample["artifact"].encode()
    assert Verifier(Trust(keys=(key,)), NOW).content(artifact, data).status == "verified"
    assert Verifier(Trust(keys=(key,)), NOW).content(artifact + b"x", data).status == "invalid"
    assert Verifier(Trust(), NOW).content(artifact, data).status == "untrusted"
    for key_of_digest, value in (("algorithm", "SHA2_512"), ("digest", "AAAA")):
        other = json.loads(data)
        other["messageSignature"]["messageDigest"][key_of_digest] = value
        assert Verifier(Trust(keys=(key,)), NOW).content(artifact, json.dumps(other).encode()).status == "invalid"


def _without(bundle: Mapping[str, Any], *keys: str) -> bytes:
    copy = json.loads(json.dumps(bundle))
    holder = copy
    for key in keys[:-1]:
        holder = holder[key]
    del holder[keys[-1]]
    return json.dumps(copy).encode()


def test_a_bundle_without_its_evidence_is_invalid() -> None:
    sample = _sample("sigstore-bundles.json")
    known = TrustedIdentity(identity=sample["identity"], issuer=sample["issuer"])
    verifier, artifact = Verifier(Trust(identities=(known,)), NOW), sample["artifact"].encode()
    for name in ("happy-path-v0.3", "happy-path-intoto-in-dsse-v3"):
        bundle = sample[name]
        for keys in (("verificationMaterial", "tlogEntries"), ("mediaType",), ("verificationMaterial",)):
            assert verifier.content(artifact, _without(bundle, *keys)).status == "invalid"
        bare = json.loads(json.dumps(bundle))
        bare["verificationMaterial"]["tlogEntries"] = []
        assert verifier.content(artifact, json.dumps(bare).encode()).status == "invalid"


@pytest.mark.skipif(not NVIDIA, reason="PROWESS_NVIDIA_SKILLS is not set")
def test_the_skills_of_nvidia(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(NVIDIA)
    assert run(["verify", "skills", "--root", "nv-agent-root-cert.pem", "--json"]) == exit_codes.FAILED
    found = json.loads(capfd.readouterr().out)
    assert found["summary"] == {
        "verified": 333,
        "changed": 4,
        "untrusted": 6,
        "unsigned": 0,
        "invalid": 0,
        "missing": 0,
    }
    assert sum(len(row["files"]) for row in found["skills"] if row["status"] == "changed") == 14
    untrusted = [row["reason"] for row in found["skills"] if row["status"] == "untrusted"]
    assert all("CN=NVIDIA Internal Agent Capabilities CA" in reason for reason in untrusted)


# The library refuses both, which is safe: it takes no time from a log entry of the kind `intoto`, and it excludes the
# last second of the time in which a timestamp authority is valid.
_REFUSED_BY_THE_LIBRARY = {"intoto-with-custom-trust-root", "trust-root-tsa-validity-end-inclusive"}


@pytest.mark.skipif(not CONFORMANCE, reason="PROWESS_SIGSTORE_CONFORMANCE is not set")
def test_the_cases_of_sigstore_conformance() -> None:
    cases = Path(CONFORMANCE) / "test" / "assets" / "bundle-verify"
    sample = _sample("sigstore-bundles.json")
    wrong = {case.name for case in cases.iterdir() if case.is_dir() and not _is_right(case, sample)}
    assert wrong == _REFUSED_BY_THE_LIBRARY
    assert len([case for case in cases.iterdir() if case.is_dir()]) == 70


def _is_right(case: Path, sample: Mapping[str, Any]) -> bool:
    def text(name: str) -> str:
        file = case / name
        return file.read_text().strip() if file.exists() else str(sample[name])

    artifact = case / "artifact" if (case / "artifact").exists() else case.parent / "a.txt"
    root = case / "trusted_root.json"
    identity = TrustedIdentity(identity=text("identity"), issuer=text("issuer"))
    trust = Trust(identities=(identity,), sigstore_root=root.read_bytes() if root.exists() else None)
    try:
        if (case / "key.pub").exists():
            key = TrustedKey(key=read_public_key((case / "key.pub").read_bytes(), "key.pub"))
            trust = Trust(keys=(key,), sigstore_root=trust.sigstore_root)
        status = (
            Verifier(trust, NOW).content(artifact.read_bytes(), (case / "bundle.sigstore.json").read_bytes()).status
        )
    except SignatureError:
        status = "invalid"
    return (status == "verified") != case.name.endswith("_fail")


def test_the_samples_name_their_source_and_licence() -> None:
    for name in ("signed-skill.json", "sigstore-bundles.json"):
        sample = _sample(name)
        assert "commit" in sample["source"]
        assert "Apache-2.0" in sample["licence"]
    assert hashlib.sha256(_sample("sigstore-bundles.json")["artifact"].encode()).hexdigest().startswith("a0cf")


def test_a_malformed_certificate_in_a_bundle_of_sigstore_is_invalid() -> None:
    sample = _sample("sigstore-bundles.json")
    known = TrustedIdentity(identity=sample["identity"], issuer=sample["issuer"])
    verifier, bundle = Verifier(Trust(identities=(known,)), NOW), sample["happy-path-v0.3"]
    material = bundle["verificationMaterial"]
    holder = (
        material["certificate"] if "certificate" in material else material["x509CertificateChain"]["certificates"][0]
    )
    der = bytearray(b64decode(holder["rawBytes"]))
    for at in range(40):
        other = bytes((*der[:at], der[at] ^ 8, *der[at + 1 :]))
        holder["rawBytes"] = b64encode(other).decode()
        assert verifier.content(sample["artifact"].encode(), json.dumps(bundle).encode()).status == "invalid", at
