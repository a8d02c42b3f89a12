"""SSH signatures of files, tags and commits, made by `ssh-keygen` and `git` themselves."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

import pytest

from prowess.errors import SignatureError
from prowess.signing.allowed_signers import read_allowed_signers
from prowess.signing.git_object import read_commit, read_tag
from prowess.signing.keys import read_public_key
from prowess.signing.trust import Trust, TrustedKey
from prowess.signing.verification import Verifier
from tests.signing.authorities import DAY, NOW

if TYPE_CHECKING:
    from pathlib import Path

KINDS = (("ed25519", "256"), ("ecdsa", "256"), ("ecdsa", "384"), ("ecdsa", "521"), ("rsa", "2048"))


def _key(directory: Path, kind: str = "ed25519", bits: str = "256", name: str = "k") -> Path:
    path = directory / name
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-b", bits, "-N", "", "-f", path], check=True)
    return path


def _signed(key: Path, data: bytes, namespace: str = "file", *options: str) -> bytes:
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", namespace, *options]
    return subprocess.run(command, input=data, check=True, capture_output=True).stdout


def _trusting(key: Path) -> Verifier:
    public = read_public_key(key.with_suffix(".pub").read_bytes(), "k.pub")
    return Verifier(Trust(keys=(TrustedKey(key=public, publisher="acme"),)), NOW)


def _allowing(lines: str, now: dt.datetime = NOW) -> Verifier:
    return Verifier(Trust(allowed_signers=read_allowed_signers(lines.encode(), "allowed")), now)


@pytest.mark.parametrize(("kind", "bits"), KINDS)
def test_signatures_of_ssh_keygen_are_verified_and_no_flipped_byte_is(tmp_path: Path, kind: str, bits: str) -> None:
    key = _key(tmp_path, kind, bits)
    verifier = _trusting(key)
    for options in ((), ("-O", "hashalg=sha256"), ("-O", "hashalg=sha512")):
        signature = _signed(key, b"data", "file", *options)
        verdict = verifier.content(b"data", signature)
        assert (verdict.status, verdict.format, verdict.publisher) == ("verified", "ssh", "acme"), verdict
        assert verifier.content(b"datA", signature).status == "invalid"
    for at, byte in enumerate(signature[:-1]):  # the line break after the end may be missing
        other = signature[:at] + bytes((byte ^ 1,)) + signature[at + 1 :]
        assert verifier.content(b"data", other).status != "verified", at


def test_a_signature_for_another_namespace_is_none_of_a_file(tmp_path: Path) -> None:
    key = _key(tmp_path)
    for namespace in ("git", "email", "File", "file2"):
        verdict = _trusting(key).content(b"data", _signed(key, b"data", namespace))
        assert (verdict.status, repr(namespace) in str(verdict.reason)) == ("invalid", True)


def test_allowed_signers_limit_keys_by_namespace_and_time(tmp_path: Path) -> None:
    key, signature = _key(tmp_path), b""
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    signature = _signed(key, b"data")
    for line, status in (
        (f"ann@example.org,bob {public} comment here", "verified"),
        (f'"ann smith" {public}', "verified"),
        (f'ann namespaces="file" {public}', "verified"),
        (f'ann namespaces="git,fi*" {public}', "verified"),
        (f'ann namespaces="git" {public}', "untrusted"),
        (f'ann namespaces="!file,*" {public}', "untrusted"),
        (f'ann valid-after="20261129Z" {public}', "verified"),
        (f'ann valid-after="202611290001Z" {public}', "untrusted"),
        (f'ann valid-before="20261129Z" {public}', "untrusted"),
        (f'ann valid-before="20261129000001Z",namespaces="file" {public}', "verified"),
        (f"ann cert-authority {public}", "untrusted"),
        (f"# ann {public}\n\n", "untrusted"),
    ):
        verdict = _allowing(line).content(b"data", signature)
        assert verdict.status == status, line
        if status == "verified":
            assert verdict.publisher in {"ann@example.org", "ann smith", "ann"}
    assert (
        _allowing(f'ann valid-before="20261130Z" {public}', NOW + DAY).content(b"data", signature).status != "verified"
    )


def test_ssh_keygen_reads_the_same_allowed_signers(tmp_path: Path) -> None:
    key = _key(tmp_path)
    public = " ".join(key.with_suffix(".pub").read_text().split()[:2])
    (tmp_path / "s").write_bytes(_signed(key, b"data"))
    now = dt.datetime.now(dt.UTC)
    for line in (
        f"ann@example.org {public}",
        f'ann@example.org namespaces="git" {public}',
        f'ann@example.org namespaces="f?le" {public}',
        f'ann@example.org namespaces="!file,*" {public}',
        f'ann@example.org valid-before="{now - DAY:%Y%m%d}" {public}',
        f'ann@example.org valid-before="{now + 2 * DAY:%Y%m%d}" {public}',
        f'ann@example.org valid-after="{now + 2 * DAY:%Y%m%d%H%M}" {public}',
        f'ann@example.org unknown="x" {public}',
        f"ann@example.org ssh-ed25519 {public}",
        "ann@example.org",
    ):
        (tmp_path / "allowed").write_text(line + "\n")
        command = ["ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "ann@example.org", "-n", "file", "-s", "s"]
        theirs = subprocess.run(command, input=b"data", cwd=tmp_path, check=False, capture_output=True).returncode == 0
        try:
            ours = _allowing(line, now).content(b"data", (tmp_path / "s").read_bytes()).status == "verified"
        except SignatureError:
            ours = False
        assert ours == theirs, line


def test_a_line_that_cannot_be_read_is_an_error_with_its_number() -> None:
    for line in ("ann", "ann ssh-ed25519", "ann ssh-ed25519 AAAA", 'ann namespaces="x ssh-ed25519 AAAA', "ann x y z"):
        with pytest.raises(SignatureError, match="line 2"):
            read_allowed_signers(f"# comment\n{line}\n".encode(), "allowed")
    with pytest.raises(SignatureError):
        read_allowed_signers(b"\xff", "allowed")


def _unarmoured(armoured: bytes) -> bytes:
    return b64decode(b"".join(armoured.split(b"\n")[1:-2]))


def _armoured(blob: bytes) -> bytes:
    text = b64encode(blob)
    cut = [text[at : at + 70] for at in range(0, len(text), 70)]
    return b"\n".join((b"-----BEGIN SSH SIGNATURE-----", *cut, b"-----END SSH SIGNATURE-----", b""))


def test_malformed_signatures_are_invalid(tmp_path: Path) -> None:
    key, armour = _key(tmp_path), _armoured
    armoured = _signed(key, b"data")
    lines, blob = armoured.split(b"\n"), _unarmoured(armoured)
    assert _trusting(key).content(b"data", armour(blob)).status == "verified"
    cases = [armour(blob[:-1]), armour(blob + b"x"), armour(b"SSHSIG" + b"\0\0\0\2" + blob[10:]), armour(b"")]
    cases += [armour(blob.replace(b"file\0\0\0\0", b"file\0\0\0\1x"))]  # the field that is reserved
    cases += [lines[0], lines[0] + b"\n" + lines[-2], armoured + armoured, armoured.replace(b"END", b"end")]
    cases += [armour(blob[:10] + b"\xff\xff\xff\xff" + blob[14:]), armour(blob.replace(b"sha512", b"md5512"))]
    for data in cases:
        assert _trusting(key).content(b"data", data).status == "invalid"
    assert _trusting(key).content(b"data", armoured.replace(b"\n", b"\r\n")).status == "verified"


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def test_a_number_of_a_signature_has_one_spelling(tmp_path: Path) -> None:
    key = _key(tmp_path, "ecdsa")
    blob = _unarmoured(_signed(key, b"data"))
    whole = blob.rindex(b"ecdsa-sha2-nistp256") - 8  # where the signature begins: its length, its kind, two numbers
    kind = blob[whole + 4 : whole + 27]
    size = int.from_bytes(blob[whole + 31 : whole + 35], "big")
    first, second = blob[whole + 35 : whole + 35 + size], blob[whole + 35 + size :]

    def with_first(number: bytes) -> bytes:
        return _armoured(blob[:whole] + _field(kind + _field(_field(number) + second)))

    assert _trusting(key).content(b"data", with_first(first)).status == "verified"
    for number in (b"\0" + first, b"\0\0" + first, b"", b"\0", b"\x80"):
        assert _trusting(key).content(b"data", with_first(number)).status == "invalid"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with a signed commit and a signed tag."""
    key = _key(tmp_path)
    git = tmp_path / "repository"
    settings = {"user.name": "Ann", "user.email": "ann@example.org", "gpg.format": "ssh", "user.signingkey": str(key)}
    subprocess.run(["git", "init", "-q", "-b", "main", git], check=True)
    for name, value in settings.items():
        subprocess.run(["git", "-C", git, "config", name, value], check=True)
    (git / "SKILL.md").write_text("text\n")
    subprocess.run(["git", "-C", git, "add", "."], check=True)
    for command in (["commit", "-q", "-S", "-m", "First\n\nText"], ["tag", "-s", "-m", "Version 1", "v1.0.0"]):
        subprocess.run(["git", "-C", git, *command], check=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull})
    return git


def _object(git: Path, name: str, kind: str) -> bytes:
    return subprocess.run(["git", "-C", git, "cat-file", kind, name], check=True, capture_output=True).stdout


def _id(git: Path, name: str) -> str:
    return subprocess.run(
        ["git", "-C", git, "rev-parse", name], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_tags_and_commits_that_git_signed_are_verified(repository: Path, tmp_path: Path) -> None:
    verifier = _trusting(tmp_path / "k")
    verdict, tag = verifier.git_tag(_object(repository, "v1.0.0", "tag"))
    assert (verdict.status, verdict.format, verdict.publisher) == ("verified", "git-ssh", "acme")
    assert tag is not None
    assert (tag.target, tag.name) == (_id(repository, "HEAD"), "v1.0.0")
    verdict, commit = verifier.git_commit(_object(repository, "HEAD", "commit"))
    assert verdict.status == "verified"
    assert commit is not None
    assert (commit.target, commit.name) == (_id(repository, "HEAD^{tree}"), None)


def test_a_commit_of_a_repository_with_sha256_names_is_verified(tmp_path: Path) -> None:
    key = _key(tmp_path)
    git = ["git", "-C", str(tmp_path / "r"), "-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    git += ["-c", "gpg.format=ssh", "-c", f"user.signingkey={key}"]
    subprocess.run(["git", "init", "-q", "--object-format=sha256", tmp_path / "r"], check=True)
    subprocess.run([*git, "commit", "-q", "-S", "--allow-empty", "-m", "First"], check=True)
    data = _object(tmp_path / "r", "HEAD", "commit")
    assert b"\ngpgsig-sha256 " in data
    assert _trusting(key).git_commit(data)[0].status == "verified"


@pytest.mark.parametrize("kind", ["tag", "commit"])
def test_no_flipped_byte_of_an_object_is_accepted(repository: Path, tmp_path: Path, kind: str) -> None:
    data = _object(repository, "v1.0.0" if kind == "tag" else "HEAD", kind)
    verifier = _trusting(tmp_path / "k")
    verify = verifier.git_tag if kind == "tag" else verifier.git_commit
    for at, byte in enumerate(data[:-1]):
        assert verify(data[:at] + bytes((byte ^ 1,)) + data[at + 1 :])[0].status != "verified", at


def test_objects_with_two_signatures_or_of_openpgp_are_not_accepted(repository: Path, tmp_path: Path) -> None:
    verifier = _trusting(tmp_path / "k")
    tag, commit = _object(repository, "v1.0.0", "tag"), _object(repository, "HEAD", "commit")
    signature = tag[tag.index(b"-----BEGIN") :]
    twice = verifier.git_tag(tag + signature)[0]
    assert (twice.status, "two signatures" in str(twice.reason)) == ("invalid", True)
    header = commit[commit.index(b"gpgsig ") : commit.index(b"\n\n") + 1]
    assert verifier.git_commit(commit.replace(header, header + header))[0].status == "invalid"
    other = header.replace(b"gpgsig ", b"gpgsig-sha256 ")
    assert verifier.git_commit(commit.replace(header, other + header))[0].status == "invalid"
    pgp = tag.replace(b"SSH SIGNATURE", b"PGP SIGNATURE")
    verdict, _ = verifier.git_tag(pgp)
    assert (verdict.status, "OpenPGP" in str(verdict.reason)) == ("untrusted", True)
    plain = tag[: tag.index(b"-----BEGIN")]
    assert verifier.git_tag(plain)[0].status == "unsigned"
    assert verifier.git_tag(b"junk") == (verifier.git_tag(b"junk")[0], None)
    for data in (b"", b"object x\ntype commit\ntag v1\n\n", b"tree \n\n"):
        assert verifier.git_tag(data)[0].status == verifier.git_commit(data)[0].status == "invalid"
    with pytest.raises(SignatureError):
        read_tag(commit)
    with pytest.raises(SignatureError):
        read_commit(tag)


def test_a_signature_of_a_file_is_none_of_a_tag(repository: Path, tmp_path: Path) -> None:
    tag = _object(repository, "v1.0.0", "tag")
    payload = tag[: tag.index(b"-----BEGIN")]
    forged = payload + _signed(tmp_path / "k", payload, "file")
    assert _trusting(tmp_path / "k").git_tag(forged)[0].status == "invalid"
