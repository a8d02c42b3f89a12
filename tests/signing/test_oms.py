"""OMS signatures: what they cover; no statement is believed that is damaged, unusual or tries to hide files."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

import pytest

from prowess.errors import SignatureError
from prowess.signing.bundle import signed_bundle
from prowess.signing.envelope import pre_authentication_encoding
from prowess.signing.keys import new_private_key
from prowess.signing.statement import SignedSkill, render_statement
from prowess.signing.trust import Trust, TrustedKey
from prowess.signing.verification import Verifier
from tests.signing.authorities import NOW, Holder, intermediate_authority, root_authority
from tests.signing.making import FILES, KEY, manifest_of, statement_of, trusting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prowess.signing.keys import NewKind
    from prowess.signing.verdict import SignatureVerdict

    Change = Callable[[dict[str, Any]], object]

SIGNED = signed_bundle(statement_of(FILES), KEY)


def _flips(data: bytes) -> Iterator[bytes]:
    """Every byte, with its lowest bit and with all bits turned, and as a space."""
    for at, byte in enumerate(data):
        for other in {byte ^ 1, byte ^ 0x20, byte ^ 0xFF, 0x20} - {byte}:
            yield data[:at] + bytes((other,)) + data[at + 1 :]


def test_a_signed_tree_is_verified_and_names_its_signer() -> None:
    verdict = trusting(KEY).tree(manifest_of(FILES), SIGNED)
    assert (verdict.status, verdict.format, verdict.publisher) == ("verified", "oms", "acme")
    assert verdict.signer == f"key {KEY.public.fingerprint}"


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_no_flipped_byte_of_a_signature_file_is_accepted(kind: NewKind) -> None:
    key = new_private_key(kind)
    data = signed_bundle(statement_of({"SKILL.md": b"x"}), key)
    verifier, manifest = trusting(key), manifest_of({"SKILL.md": b"x"})
    assert verifier.tree(manifest, data).status == "verified"
    accepted = [one for one in _flips(data) if verifier.tree(manifest, one).status == "verified"]
    assert accepted == []


def test_no_flipped_byte_of_a_chain_of_certificates_is_accepted() -> None:
    root = root_authority()
    data = Holder("Signer", intermediate_authority(root)).bundle(statement_of({"SKILL.md": b"x"}))
    data = json.dumps(json.loads(data), separators=(",", ":")).encode()
    verifier, manifest = trusting(roots=(root,)), manifest_of({"SKILL.md": b"x"})
    assert verifier.tree(manifest, data).status == "verified"
    flipped = (data[:at] + bytes((byte ^ 1,)) + data[at + 1 :] for at, byte in enumerate(data))
    assert [one for one in flipped if verifier.tree(manifest, one).status == "verified"] == []


def test_a_statement_in_a_registry_may_be_about_the_manifest_from_which_the_files_came() -> None:
    subject = {"name": "registry.example/ours", "digest": {"sha256": "ab" * 32}}
    statement = {"_type": "https://in-toto.io/Statement/v1", "subject": [subject], "predicateType": "x"}
    data = signed_bundle(json.dumps(statement).encode(), KEY)
    verify = trusting(KEY).tree
    assert verify(manifest_of(FILES), data, artifact="sha256:" + "ab" * 32).status == "verified"
    assert verify(manifest_of(FILES), data, artifact="sha256:" + "ac" * 32).status == "changed"
    assert verify(manifest_of(FILES), data).status == "changed"
    linked = verify(manifest_of(FILES, "link"), data, artifact="sha256:" + "ab" * 32)
    assert (linked.status, linked.files) == ("changed", ("link",))
    assert verify(manifest_of(FILES), SIGNED, artifact="sha256:" + "ab" * 32).status == "verified"


def test_no_flipped_byte_of_a_file_is_accepted() -> None:
    verifier = trusting(KEY)
    for path, data in FILES.items():
        for other in _flips(data):
            verdict = verifier.tree(manifest_of({**FILES, path: other}), SIGNED)
            assert (verdict.status, verdict.files) == ("changed", (path,))


def test_added_removed_and_special_files_are_changes() -> None:
    verifier = trusting(KEY)
    assert verifier.tree(manifest_of({**FILES, "a.md": b""}), SIGNED).files == ("a.md",)
    assert verifier.tree(manifest_of({"SKILL.md": FILES["SKILL.md"]}), SIGNED).files == ("scripts/go.py",)
    assert verifier.tree(manifest_of(FILES, "pipe"), SIGNED).files == ("pipe",)
    with pytest.raises(SignatureError, match="pipe"):
        render_statement(manifest_of(FILES, "pipe"), SignedSkill(name="a", version=None, tree="sha256:0"))
    with pytest.raises(SignatureError, match="no file"):
        render_statement(manifest_of({}), SignedSkill(name="a", version=None, tree="sha256:0"))


def _changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a bundle, well signed by the trusted key, of a statement that was changed before it was signed."""
    statement = json.loads(statement_of(FILES))
    del statement["predicate"]["skill"]  # so that only OMS itself decides
    change(statement)
    return signed_bundle(json.dumps(statement).encode(), KEY)


@pytest.mark.parametrize("hidden", ["a.md", "scripts/x.py", ".github/x.md", "sub/.gitignore", ".gitmodules"])
def test_no_ignored_path_hides_a_file(hidden: str) -> None:
    def ignore(statement: dict[str, Any]) -> None:
        paths = [hidden, hidden.split("/", maxsplit=1)[0], ".", "", "*", "**", "../x", "/", hidden.upper()]
        statement["predicate"]["serialization"]["ignore_paths"] = paths

    verdict = trusting(KEY).tree(manifest_of({**FILES, hidden: b"x"}), _changed(ignore))
    assert (verdict.status, verdict.files) == ("changed", (hidden,))


def test_a_git_file_at_the_root_may_be_ignored_if_the_signer_says_so() -> None:
    manifest = manifest_of({**FILES, ".gitignore": b"*.log"})
    assert trusting(KEY).tree(manifest, _changed(lambda _: None)).status == "verified"

    def list_all(statement: dict[str, Any]) -> None:
        statement["predicate"]["serialization"]["ignore_paths"] = []

    assert trusting(KEY).tree(manifest, _changed(list_all)).files == (".gitignore",)


@pytest.mark.parametrize(
    "path",
    ["../SKILL.md", "/etc/passwd", "a/../SKILL.md", "./SKILL.md", "a//b", "C:/x", "a\\b", "a\0b", "", ".", "scripts/"],
)
def test_a_path_outside_the_skill_or_in_an_unusual_spelling_is_invalid(path: str) -> None:
    def rename(statement: dict[str, Any]) -> None:
        statement["predicate"]["resources"][0]["name"] = path

    assert trusting(KEY).tree(manifest_of(FILES), _changed(rename)).status == "invalid"


def _set(*keys: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(statement: dict[str, Any]) -> None:
        holder: Any = statement
        for key in keys[:-1]:
            holder = holder[key]
        holder[keys[-1]] = value

    return change


_RESOURCE = ("predicate", "resources", 0)


@pytest.mark.parametrize(
    "change",
    [
        _set("_type", value="https://in-toto.io/Statement/v0.1"),
        _set("subject", value=[]),
        _set("subject", 0, "digest", value={"sha256": "0" * 64}),
        _set("subject", 0, "digest", value={"sha512": "0" * 64}),
        _set("predicate", value=None),
        _set("predicate", "resources", value=[]),
        _set("predicate", "serialization", value={}),
        _set("predicate", "serialization", "method", value="shards"),
        _set("predicate", "serialization", "hash_type", value="blake2"),
        _set("predicate", "serialization", "ignore_paths", value="scripts"),
        _set(*_RESOURCE, "algorithm", value="sha1"),
        _set(*_RESOURCE, "digest", value="0"),
        _set(*_RESOURCE, "digest", value="0" * 64),
        _set(*_RESOURCE, "name", value="scripts/go.py"),
        lambda statement: statement["predicate"]["resources"].append(statement["predicate"]["resources"][-1]),
        _set("predicate", "skill", value={"name": 1}),
    ],
)
def test_a_statement_that_disagrees_with_itself_or_is_of_another_kind_is_invalid(change: Change) -> None:
    assert trusting(KEY).tree(manifest_of(FILES), _changed(change)).status == "invalid"


def _bundle(change: Callable[[dict[str, Any]], object]) -> bytes:
    bundle: dict[str, Any] = json.loads(SIGNED)
    change(bundle)
    return json.dumps(bundle).encode()


def test_a_payload_that_was_signed_as_another_type_is_not_taken_for_a_statement() -> None:
    statement = statement_of(FILES)
    for kind in ("text/plain", "application/vnd.in-toto+jsoN", ""):
        signature = b64encode(KEY.sign(pre_authentication_encoding(kind, statement))).decode()
        for claimed in (kind, "application/vnd.in-toto+json"):
            bundle = json.loads(SIGNED)
            bundle["dsseEnvelope"].update(payloadType=claimed, signatures=[{"sig": signature}])
            data = json.dumps(bundle).encode()
            assert trusting(KEY).tree(manifest_of(FILES), data).status == "invalid"
    bare = b64encode(KEY.sign(statement)).decode()  # without the pre-authentication encoding
    data = _bundle(lambda it: it["dsseEnvelope"].update(signatures=[{"sig": bare}]))
    assert trusting(KEY).tree(manifest_of(FILES), data).status == "invalid"


def test_two_signatures_of_which_one_is_bad_are_refused() -> None:
    good = json.loads(SIGNED)["dsseEnvelope"]["signatures"][0]
    bad = {"sig": b64encode(new_private_key().sign(b"other")).decode()}
    for several in ([good, bad], [bad, good], [good, good], []):
        data = _bundle(lambda it, s=several: it["dsseEnvelope"].update(signatures=s))  # type: ignore[misc]
        assert trusting(KEY).tree(manifest_of(FILES), data).status == "invalid"
        envelope = json.dumps(json.loads(data)["dsseEnvelope"]).encode()
        expected = "verified" if several == [good, good] else "invalid" if not several else "untrusted"
        assert trusting(KEY).tree(manifest_of(FILES), envelope).status == expected


def test_an_envelope_of_two_publishers_names_both_keys_and_no_publisher() -> None:
    other = new_private_key()
    payload = b64decode(json.loads(SIGNED)["dsseEnvelope"]["payload"])
    signed = pre_authentication_encoding("application/vnd.in-toto+json", payload)
    data = json.loads(SIGNED)["dsseEnvelope"]
    data["signatures"] = [{"sig": b64encode(key.sign(signed)).decode()} for key in (KEY, other)]
    known = [TrustedKey(key=key.public, publisher=name) for key, name in ((KEY, "acme"), (other, "octo"))]
    verdict = Verifier(Trust(keys=tuple(known)), NOW).tree(manifest_of(FILES), json.dumps(data).encode())
    assert (verdict.status, verdict.publisher) == ("verified", None)
    assert verdict.signer == f"key {KEY.public.fingerprint} key {other.public.fingerprint}"


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.update(mediaType="application/vnd.dev.sigstore.bundle.v0.2+json"),
        lambda it: it.update(more=1),
        lambda it: it["verificationMaterial"].update(x509CertificateChain={"certificates": []}),
        lambda it: it["verificationMaterial"].pop("publicKey"),
        lambda it: it["verificationMaterial"]["publicKey"].update(hint=1),
        lambda it: it["verificationMaterial"]["publicKey"].update(rawBytes=""),
        lambda it: it["verificationMaterial"].update(tlogEntries=""),
        lambda it: it["verificationMaterial"].update(tlogEntries=None),
        lambda it: it.pop("dsseEnvelope"),
        lambda it: it.update(messageSignature={"signature": ""}),
        lambda it: it["dsseEnvelope"].update(payload=it["dsseEnvelope"]["payload"] + "\n"),
        lambda it: it["dsseEnvelope"].update(payload=1),
        lambda it: it["dsseEnvelope"].update(more=1),
    ],
)
def test_a_bundle_of_another_form_is_invalid(change: Change) -> None:
    assert trusting(KEY).tree(manifest_of(FILES), _bundle(change)).status == "invalid"


def test_a_key_twice_and_other_bytes_than_json_are_invalid() -> None:
    twice = SIGNED[:-1] + b',"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json"}'
    for data in (twice, b"", b"{", b"[]", b"null", SIGNED + b"x", b"\xff", b"{" * 100_000, b"x" * 100):
        assert trusting(KEY).tree(manifest_of(FILES), data).status == "invalid"


def test_the_hint_chooses_the_key_and_never_replaces_the_check() -> None:
    other = new_private_key()
    assert trusting(other).tree(manifest_of(FILES), SIGNED).status == "untrusted"
    assert trusting(other, KEY).tree(manifest_of(FILES), SIGNED).status == "verified"
    without = _bundle(lambda it: it["verificationMaterial"].update(publicKey={}))
    assert trusting(other, KEY).tree(manifest_of(FILES), without).status == "verified"
    assert trusting(other).tree(manifest_of(FILES), without).status == "invalid"
    claims = json.loads(signed_bundle(statement_of(FILES), other))
    claims["verificationMaterial"] = json.loads(SIGNED)["verificationMaterial"]
    assert trusting(KEY).tree(manifest_of(FILES), json.dumps(claims).encode()).status == "invalid"


def test_a_signature_of_one_file_does_not_cover_a_directory() -> None:
    message = {"signature": b64encode(KEY.sign(b"x")).decode()}

    def sign_bytes(bundle: dict[str, Any]) -> None:
        del bundle["dsseEnvelope"]
        bundle["messageSignature"] = message

    data = _bundle(sign_bytes)
    assert trusting(KEY).tree(manifest_of(FILES), data).status == "invalid"
    assert trusting(KEY).content(b"x", data).status == "verified"
    assert trusting(KEY).content(b"y", data).status == "invalid"
    message["messageDigest"] = {"algorithm": "SHA2_256", "digest": b64encode(b"y" * 32).decode()}  # type: ignore[assignment]
    assert trusting(KEY).content(b"x", _bundle(sign_bytes)).status == "invalid"


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_a_bare_envelope_states_the_digest_of_a_file_or_of_a_tree(kind: NewKind) -> None:
    key = new_private_key(kind)
    manifest = manifest_of(FILES)
    of_file = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"  # SHA-256 of `x`
    for digest in (of_file, str(manifest.digest).removeprefix("sha256:")):

        def verify(verifier: Verifier, envelope: bytes, *, is_file: bool = digest == of_file) -> SignatureVerdict:
            return verifier.content(b"x", envelope) if is_file else verifier.tree(manifest, envelope)

        subject = {"name": "x", "digest": {"sha256": digest}}
        statement = {"_type": "https://in-toto.io/Statement/v1", "subject": [subject], "predicateType": "x"}
        payload = json.dumps(statement).encode()
        bundle = json.loads(signed_bundle(payload, key))
        envelope = json.dumps(bundle["dsseEnvelope"]).encode()
        verdict = verify(trusting(key), envelope)
        assert (verdict.status, verdict.format, verdict.publisher) == ("verified", "dsse", "acme")
        other = json.dumps(json.loads(signed_bundle(payload.replace(b"1", b"2", 5), key))["dsseEnvelope"]).encode()
        assert verify(trusting(key), other).status != "verified"
        assert verify(trusting(KEY), envelope).status == "untrusted"
    assert b64decode(bundle["dsseEnvelope"]["payload"]) == payload
