"""`prowess key`: keys are created for one user, and publishers are trusted by file, listed and forgotten."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from prowess.errors import ConfigurationError
from prowess.policy.packages import trusted_publishers
from tests.signing.authorities import Holder, root_authority

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _json(capfd: pytest.CaptureFixture[str], *arguments: str, expected: int = exit_codes.OK) -> dict[str, object]:
    capfd.readouterr()
    assert run([*arguments, "--json"]) == expected
    found: dict[str, object] = json.loads(capfd.readouterr().out)
    return found


@pytest.mark.parametrize("kind", ["p256", "ed25519"])
def test_a_new_key_is_private_and_never_overwritten(here: Path, capfd: pytest.CaptureFixture[str], kind: str) -> None:
    os.umask(0)
    try:
        found = _json(capfd, "key", "new", "k", "--type", kind)
    finally:
        os.umask(0o022)
    assert list(found) == ["key", "public", "type", "fingerprint"]
    assert (here / "k").stat().st_mode & 0o777 == 0o600
    assert (here / "k.pub").stat().st_mode & 0o777 == 0o644
    before = (here / "k").read_bytes()
    assert subprocess.run(["openssl", "pkey", "-in", "k", "-noout"], check=False).returncode == 0
    assert run(["key", "new", "k"]) == exit_codes.USAGE
    assert "never overwritten" in capfd.readouterr().err
    (here / "k").rename(here / "kept")
    assert run(["key", "new", "k"]) == exit_codes.USAGE  # because k.pub is there
    assert not (here / "k").exists()
    assert (here / "kept").read_bytes() == before
    assert run(["key", "new", "none/k"]) == exit_codes.FAILED


def test_publishers_are_trusted_listed_and_forgotten(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["key", "new", "k"])
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "s"], check=True)
    (here / "root.pem").write_bytes(root_authority().pem)
    assert run(["key", "list"]) == exit_codes.OK
    assert "no publisher is trusted" in capfd.readouterr().err
    for file, kind in (("k.pub", "key"), ("s.pub", "key"), ("root.pem", "certificate")):
        row = _json(capfd, "key", "trust", file, "--as", "acme")
        assert list(row) == ["publisher", "kind", "fingerprint", "path", "changed"]
        assert (row["publisher"], row["kind"], row["changed"]) == ("acme", kind, True)
        assert _json(capfd, "key", "trust", file, "--as", "acme")["changed"] is False
    identity = ("--identity", "ci@acme.example", "--issuer", "https://accounts.example", "--as", 'ac"me\\')
    assert _json(capfd, "key", "trust", *identity)["fingerprint"] == "ci@acme.example https://accounts.example"
    text = (here / "home" / "publishers.toml").read_text()
    assert text.count("[[publisher]]") == 4
    rows = _json(capfd, "key", "list")["publishers"]
    assert isinstance(rows, list)
    assert [row["publisher"] for row in rows] == ['ac"me\\', "acme", "acme", "acme"]
    assert len(_json(capfd, "key", "forget", str(rows[1]["fingerprint"]))["forgotten"]) == 1  # type: ignore[arg-type]
    assert len(_json(capfd, "key", "forget", "acme")["forgotten"]) == 2  # type: ignore[arg-type]
    assert _json(capfd, "key", "forget", "acme", expected=exit_codes.FAILED)["unknown"] == ["acme"]
    assert run(["key", "forget", 'ac"me\\']) == exit_codes.OK


def test_what_is_no_key_of_a_publisher_is_refused(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["key", "new", "k"])
    (here / "signer.pem").write_bytes(Holder("Signer", root_authority()).pem)
    (here / "two.pem").write_bytes(root_authority().pem + root_authority().pem)
    for arguments, reason in (
        (["k", "--as", "acme"], "private key"),
        (["none", "--as", "acme"], "cannot be read"),
        (["signer.pem", "--as", "acme"], "not of an authority"),
        (["two.pem", "--as", "acme"], "2 certificates"),
        (["k.pub", "--as", ""], "publisher's name"),
        (["k.pub", "--as", "a\nb"], "publisher's name"),
        (["k.pub", "--as", "x" * 200], "publisher's name"),
        (["--as", "acme"], "give FILE"),
        (["--as", "acme", "--identity", "x"], "give FILE"),
        (["k.pub", "--as", "acme", "--identity", "x", "--issuer", "y"], "give FILE"),
    ):
        assert run(["key", "trust", *arguments]) == exit_codes.USAGE, arguments
        assert reason in capfd.readouterr().err
    assert not (here / "home" / "publishers.toml").exists()


@pytest.mark.parametrize(
    "text",
    [
        "[[publisher]]\nname = 'a'\n",
        "[[publisher]]\nname = 'a'\nkey = 'AAAA'\n",
        "[[publisher]]\nname = 'a'\ncertificate = 'AAAA'\n",
        "[[publisher]]\nname = 'a'\nidentity = 'x'\n",
        "[[publisher]]\nname = 'a'\nidentity = 'x'\nissuer = ''\n",
        "[[publisher]]\nname = 'a'\nidentity = 'x'\nissuer = 'y'\nmore = 'z'\n",
        "[[publisher]]\nname = ' a'\nidentity = 'x'\nissuer = 'y'\n",
        "[[publisher]]\nidentity = 'x'\nissuer = 'y'\n",
        "[publisher]\nname = 'a'\n",
        "[other]\n",
        "publisher = 1\n",
        "junk\n",
    ],
)
def test_a_damaged_publishers_file_ends_each_verification(
    here: Path, capfd: pytest.CaptureFixture[str], text: str
) -> None:
    (here / "home").mkdir(mode=0o700)
    file = here / "home" / "publishers.toml"
    file.write_text(text)
    for arguments in (["verify", "x"], ["key", "list"], ["key", "forget", "a"]):
        assert run(arguments) == exit_codes.USAGE
        assert str(file) in capfd.readouterr().err
    assert file.read_text() == text


def test_a_publishers_file_that_others_could_change_is_not_used(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["key", "new", "k"])
    run(["key", "trust", "k.pub", "--as", "acme"])
    file = here / "home" / "publishers.toml"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o666)
    assert run(["key", "list"]) == exit_codes.USAGE
    assert "someone else could change it" in capfd.readouterr().err
    file.chmod(0o600)
    with pytest.raises(ConfigurationError, match="someone else could change it"):
        trusted_publishers.trusted_publishers(str(_writable_copy(here, file)))


def _writable_copy(here: Path, file: Path) -> Path:
    machine = here / "machine.toml"
    machine.write_bytes(file.read_bytes())
    machine.chmod(0o666)
    return machine
