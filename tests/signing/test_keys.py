"""Keys: read from PEM and OpenSSH forms, compared by their fingerprint; weak and foreign kinds are refused."""

from __future__ import annotations

import pickle
import subprocess
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa

from prowess.errors import SignatureError
from prowess.signing.keys import new_private_key, public_key_of, read_private_key, read_public_key, strict_base64

if TYPE_CHECKING:
    from pathlib import Path

    from prowess.signing.keys import NewKind


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_a_key_signs_and_its_public_half_verifies_that_and_nothing_else(kind: NewKind) -> None:
    key, other = new_private_key(kind), new_private_key(kind)
    signature = key.sign(b"text")
    assert key.public.verifies(signature, b"text")
    assert not key.public.verifies(signature, b"texT")
    assert not other.public.verifies(signature, b"text")
    assert read_private_key(key.pem(), "k").public == key.public == read_public_key(key.public.pem, "k.pub")


def test_the_pem_form_is_that_of_openssl(tmp_path: Path) -> None:
    key = new_private_key()
    (tmp_path / "k").write_bytes(key.pem())
    openssl = subprocess.run(["openssl", "pkey", "-in", tmp_path / "k", "-pubout"], check=True, capture_output=True)
    assert openssl.stdout == key.public.pem


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_public_keys_of_openssh_are_read(tmp_path: Path, kind: str) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", tmp_path / "k"], check=True)
    line = (tmp_path / "k.pub").read_bytes()
    if kind != "ed25519":  # ssh-keygen writes no PEM form of it
        export = ["ssh-keygen", "-e", "-m", "PKCS8", "-f", str(tmp_path / "k.pub")]
        pem = subprocess.run(export, check=True, capture_output=True).stdout
        assert read_public_key(line, "k.pub") == read_public_key(pem, "k.pem")
    if kind != "rsa":
        assert read_private_key((tmp_path / "k").read_bytes(), "k").public == read_public_key(line, "k.pub")


def test_keys_that_are_weak_or_of_another_kind_are_refused() -> None:
    for private in (
        ec.generate_private_key(ec.SECP256K1()),
        ec.generate_private_key(ec.SECP224R1()),
        ec.generate_private_key(ec.BrainpoolP256R1()),
        rsa.generate_private_key(65537, 1024),  # noqa: S505 -- the weak key that is refused
        dsa.generate_private_key(2048),
    ):
        with pytest.raises(SignatureError):
            public_key_of(private.public_key(), "k")
        data = private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        with pytest.raises(SignatureError):
            read_private_key(data, "k")


def test_a_private_key_is_not_taken_for_a_public_one_and_needs_its_password() -> None:
    key = new_private_key()
    with pytest.raises(SignatureError, match="give its public half"):
        read_public_key(key.pem(), "k")
    locked = serialization.load_pem_private_key(key.pem(), None).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    with pytest.raises(SignatureError, match="needs a password"):
        read_private_key(locked, "k")
    assert read_private_key(locked, "k", b"secret").public == key.public
    for junk in (b"", b"junk", b"ssh-ed25519 AAAA", b"-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----"):
        with pytest.raises(SignatureError):
            read_public_key(junk, "k")


def test_a_private_key_stays_out_of_pickles_and_texts() -> None:
    key = new_private_key()
    with pytest.raises(TypeError):
        pickle.dumps(key)
    assert "BEGIN" not in repr(key)


@pytest.mark.parametrize("text", ["QQ", "QR==", "QQ==\n", "Q Q==", "Qä==", "-_==", "QQ==QQ=="])
def test_base64_with_a_second_spelling_is_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        strict_base64(text, "it")
    assert strict_base64("QQ==", "it") == b"A"
    assert strict_base64("-_-_", "it", url_safe=True) == strict_base64("+/+/", "it")
