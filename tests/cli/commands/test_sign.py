"""`prowess sign`: a signature in each skill, in one spelling, that `model_signing` accepts.

`PROWESS_MODEL_SIGNING` names the program `model_signing` (model-signing 1.1.1) for the tests with this counterpart.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import serialization

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill
from tests.cli.terminal import rest_of, terminal_process

if TYPE_CHECKING:
    from pathlib import Path

MODEL_SIGNING = os.environ.get("PROWESS_MODEL_SIGNING", "")


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_skill(tmp_path / "skills" / "ours")
    write_skill(tmp_path / "skills" / "theirs")
    assert run(["key", "new", "k"]) == exit_codes.OK
    return tmp_path / "skills" / "ours"


def test_each_skill_below_a_path_is_signed(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    assert run(["sign", "skills", "--key", "k", "--json"]) == exit_codes.OK
    rows = json.loads(capfd.readouterr().out)["signed"]
    assert [(row["path"], row["name"]) for row in rows] == [("skills/ours", "ours"), ("skills/theirs", "theirs")]
    assert all(list(row) == ["path", "name", "version", "tree", "signer"] for row in rows)
    assert run(["verify", "skills", "--key", "k.pub"]) == exit_codes.OK
    assert sorted(file.name for file in skill.iterdir()) == ["SKILL.md", "skill.oms.sig"]


def test_signing_changes_no_digest_and_a_second_signature_replaces_the_first(
    skill: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    trees = set()
    for _ in range(2):
        capfd.readouterr()
        run(["sign", str(skill), "--key", "k", "--json"])
        trees.add(json.loads(capfd.readouterr().out)["signed"][0]["tree"])
    assert len(trees) == 1


def test_keys_of_openssh_and_with_a_password_sign(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here = skill.parent.parent
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "s"], check=True)
    assert run(["sign", str(skill), "--key", "s"]) == exit_codes.OK
    assert run(["verify", str(skill), "--key", "s.pub"]) == exit_codes.OK
    assert "not private" not in capfd.readouterr().err
    (here / "s").chmod(0o644)
    assert run(["sign", str(skill), "--key", "s"]) == exit_codes.OK
    assert "this key is not private: s is open to other users; run `chmod 600 s`" in capfd.readouterr().err
    (here / "s").chmod(0o600)
    key = serialization.load_pem_private_key((here / "k").read_bytes(), None)
    locked = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
    )
    (here / "locked").write_bytes(locked)
    assert run(["sign", str(skill), "--key", "locked"]) == exit_codes.USAGE
    assert "needs a password" in capfd.readouterr().err
    with terminal_process(here, "sign", str(skill), "--key", "locked") as (process, ours):
        shown = b""
        while b"Password of locked" not in shown:  # what is typed before the question is thrown away
            shown += os.read(ours, 4096)
        os.write(ours, b"secret\n")
        rest_of(ours)
        assert process.wait(60) == exit_codes.OK
    assert run(["verify", str(skill), "--key", "k.pub"]) == exit_codes.OK


def test_what_cannot_be_signed_is_refused_with_a_reason(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (skill / "link").symlink_to("SKILL.md")
    assert run(["sign", str(skill), "--key", "k"]) != exit_codes.OK
    assert "'link' is a link" in capfd.readouterr().err
    assert not (skill / "skill.oms.sig").exists()
    (skill / "link").unlink()
    here = skill.parent.parent
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "", "-f", "rsa"], check=True)
    os.mkfifo("fifo")
    for name, data in {
        "empty": b"",
        "nul": b"\0" * 99,
        "cut": (here / "k").read_bytes()[:-60],
        "a\nb\x1b[1m": b"",
    }.items():
        (here / name).write_bytes(data)
    with (here / "large").open("wb") as file:
        file.truncate(100_000_000)
    for name, reason in (
        ("empty", "the file holds no private key"),
        ("nul", "the file holds no private key"),
        ("cut", "the file holds no private key"),
        ("k.pub", "the file holds no private key"),
        ("rsa", "a key that signs is on P-256, P-384 or P-521, or is Ed25519"),
        ("fifo", "it is not a regular file"),
        (".", "it is not a regular file"),
        ("large", "it has more than 1048576 bytes"),
        ("none", "No such file"),
        ("a\nb\x1b[1m", "the file holds no private key"),
    ):
        capfd.readouterr()
        assert run(["sign", str(skill), "--key", name]) == exit_codes.USAGE
        sentence = capfd.readouterr().err.partition("Error: ")[2]
        assert reason in sentence
        assert sentence.count("\n") == 1
        assert "\x1b" not in sentence
    (skill / "skill.oms.sig").mkdir()
    assert run(["sign", str(skill), "--key", "k"]) == exit_codes.DENIED
    assert "skill.oms.sig is a directory; remove it" in capfd.readouterr().err
    (skill / "skill.oms.sig").rmdir()
    for arguments in ([str(skill), "--key", "k.pub"], [str(skill), "--key", "none"], ["none", "--key", "k"]):
        assert run(["sign", *arguments]) == exit_codes.USAGE
    assert not (skill / "skill.oms.sig").exists()


@pytest.mark.skipif(not MODEL_SIGNING, reason="PROWESS_MODEL_SIGNING is not set")
def test_model_signing_accepts_our_signatures_and_we_accept_its(skill: Path) -> None:
    (skill / ".gitignore").write_text("*.log\n")
    (skill / "scripts").mkdir()
    (skill / "scripts" / "go.py").write_text("print(1)\n")
    for curve in ("prime256v1", "secp384r1", "secp521r1"):
        subprocess.run(["openssl", "ecparam", "-name", curve, "-genkey", "-noout", "-out", curve], check=True)
        subprocess.run(["openssl", "pkey", "-in", curve, "-pubout", "-out", f"{curve}.pub"], check=True)
        assert run(["sign", str(skill), "--key", curve]) == exit_codes.OK
        common = [str(skill), "--signature", str(skill / "skill.oms.sig")]
        subprocess.run([MODEL_SIGNING, "verify", "key", *common, "--public_key", f"{curve}.pub"], check=True)
        subprocess.run([MODEL_SIGNING, "sign", "key", *common, "--private_key", curve], check=True)
        assert run(["verify", str(skill), "--key", f"{curve}.pub"]) == exit_codes.OK
    (skill / "scripts" / "go.py").write_text("print(2)\n")
    assert run(["verify", str(skill), "--key", f"{curve}.pub"]) == exit_codes.FAILED
