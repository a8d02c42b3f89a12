"""`prowess verify`: statuses, reasons, files and exit codes for skills and files, offline."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64decode
from typing import TYPE_CHECKING

import pytest

from prowess.cli import exit_codes
from prowess.cli.dispatch import run
from tests.catalog.making import write_skill
from tests.signing.authorities import Holder, intermediate_authority, root_authority

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def skill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A signed skill in the working directory, with its key `k` and `k.pub`; nobody is trusted."""
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "skills" / "ours"
    write_skill(directory)
    (directory / "scripts").mkdir()
    (directory / "scripts" / "go.py").write_text("print(1)\n")
    assert run(["key", "new", "k"]) == exit_codes.OK
    assert run(["sign", "skills/ours", "--key", "k"]) == exit_codes.OK
    return directory


def _verify(capfd: pytest.CaptureFixture[str], *arguments: str, expected: int) -> dict[str, object]:
    capfd.readouterr()
    assert run(["verify", "--json", *arguments]) == expected
    document = json.loads(capfd.readouterr().out)
    assert list(document["summary"]) == ["verified", "changed", "untrusted", "unsigned", "invalid", "missing"]
    assert sum(document["summary"].values()) == len(document["skills"]) == 1
    row: dict[str, object] = document["skills"][0]
    assert list(row) == ["path", "name", "status", "format", "signer", "reason", "files"]
    assert document["summary"][row["status"]] == 1
    return row


def test_a_signed_skill_is_verified_by_the_key_that_is_given(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    row = _verify(capfd, "skills/ours", "--key", "k.pub", expected=exit_codes.OK)
    assert (row["path"], row["name"], row["status"], row["format"]) == ("skills/ours", "ours", "verified", "oms")
    assert str(row["signer"]).startswith("key sha256:")
    assert (row["reason"], row["files"]) == (None, [])
    assert run(["verify", "skills", "--key", "k.pub"]) == exit_codes.OK
    told = capfd.readouterr()
    assert "skills/ours: signed by key sha256:" in told.out
    assert told.err == "1 verified\n"
    assert skill.joinpath("skill.oms.sig").stat().st_mode & 0o777 == 0o644


def test_the_path_of_a_skill_md_selects_its_skill_unless_it_is_signed_itself(
    skill: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    row = _verify(capfd, "skills/ours/SKILL.md", "--key", "k.pub", expected=exit_codes.OK)
    assert (row["path"], row["status"], row["format"]) == ("skills/ours", "verified", "oms")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "s"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", "s", "-n", "file", skill / "SKILL.md"], check=True)
    row = _verify(capfd, "skills/ours/SKILL.md", "--key", "s.pub", expected=exit_codes.OK)
    assert (row["name"], row["format"]) == ("SKILL.md", "ssh")


def test_nobody_is_trusted_until_a_publisher_is(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    row = _verify(capfd, str(skill), expected=exit_codes.FAILED)
    assert row["status"] == "untrusted"
    assert "not trusted here" in str(row["reason"])
    assert run(["key", "trust", "k.pub", "--as", "acme"]) == exit_codes.OK
    assert _verify(capfd, str(skill), expected=exit_codes.OK)["status"] == "verified"
    run(["verify", str(skill)])
    assert "signed by acme (key sha256:" in capfd.readouterr().out
    run(["key", "new", "other"])
    assert _verify(capfd, str(skill), "--key", "other.pub", expected=exit_codes.FAILED)["status"] == "untrusted"
    assert run(["key", "forget", "acme"]) == exit_codes.OK
    assert _verify(capfd, str(skill), expected=exit_codes.FAILED)["status"] == "untrusted"


def test_each_file_that_differs_is_named(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (skill / "scripts" / "go.py").write_text("print(2)\n")
    (skill / "notes.md").write_text("added\n")
    (skill / ".github").mkdir()
    (skill / ".github" / "x.md").write_text("added\n")
    row = _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)
    assert row["status"] == "changed"
    assert row["files"] == ["notes.md", "scripts/go.py"]
    shutil.rmtree(skill / "scripts")
    (skill / "notes.md").unlink()
    (skill / "link.md").symlink_to("SKILL.md")
    row = _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)
    assert row["files"] == ["link.md", "scripts/go.py"]


@pytest.mark.parametrize("path", [".gitignore", ".github/x.md", ".gitattributes"])
def test_a_git_file_that_the_list_leaves_out_is_covered_by_the_tree_digest(
    skill: Path, capfd: pytest.CaptureFixture[str], path: str
) -> None:
    file = skill / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("*.log\n")
    row = _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)
    assert (row["status"], row["files"]) == ("changed", [path])
    run(["sign", str(skill), "--key", "k"])
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.OK)["status"] == "verified"
    file.write_text("*.tmp\n")
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)["files"] == [path]


def test_another_executable_bit_is_a_change(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (skill / "scripts" / "go.py").chmod(0o755)
    row = _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)
    assert (row["status"], row["files"]) == ("changed", ["scripts/go.py"])
    assert "executable bit" in str(row["reason"])


def test_unsigned_missing_and_invalid(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    signature = skill / "skill.oms.sig"
    data = signature.read_bytes()
    signature.write_bytes(data[:-1])
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)["status"] == "invalid"
    signature.unlink()
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.OK)["status"] == "unsigned"
    signature.symlink_to("SKILL.md")
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)["status"] == "invalid"
    signature.unlink()
    elsewhere = skill.parent.parent / "kept.sig"
    elsewhere.write_bytes(data)
    row = _verify(capfd, str(skill), "--key", "k.pub", "--signature", str(elsewhere), expected=exit_codes.OK)
    assert row["status"] == "verified"
    row = _verify(capfd, "skills/none", "--key", "k.pub", expected=exit_codes.FAILED)
    assert (row["status"], row["path"]) == ("missing", "skills/none")


def test_unsigned_is_an_error_if_the_policy_asks_for_signatures(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (skill / "skill.oms.sig").unlink()
    policy = skill.parent.parent / "home" / "policy.toml"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text("[packages]\nrequire_signature = true\n")
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.FAILED)["status"] == "unsigned"
    policy.write_text("[packages]\nrequire_signature = false\n")
    assert _verify(capfd, str(skill), "--key", "k.pub", expected=exit_codes.OK)["status"] == "unsigned"


def test_a_chain_of_certificates_ends_at_the_given_root(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = root_authority()
    signer = Holder("Skill Signer", intermediate_authority(root))
    oms = json.loads((skill / "skill.oms.sig").read_bytes())
    payload = b64decode(oms["dsseEnvelope"]["payload"])
    (skill / "skill.oms.sig").write_bytes(signer.bundle(payload))
    (skill.parent.parent / "root.pem").write_bytes(root.pem)
    (skill.parent.parent / "other.pem").write_bytes(root_authority("Other Root").pem)
    row = _verify(capfd, str(skill), "--root", "root.pem", expected=exit_codes.OK)
    assert str(row["signer"]).startswith("x509 sha256:")
    assert str(row["signer"]).endswith(" CN=Skill Signer")
    row = _verify(capfd, str(skill), "--root", "other.pem", expected=exit_codes.FAILED)
    assert row["status"] == "untrusted"
    assert "ends at CN=Test Root" in str(row["reason"])
    assert run(["key", "trust", "root.pem", "--as", "acme"]) == exit_codes.OK
    assert _verify(capfd, str(skill), expected=exit_codes.OK)["status"] == "verified"


def test_ssh_signatures_of_files_by_an_allowed_signers_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.tar.gz").write_bytes(b"archive")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "s"], check=True)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", "s", "-n", "file", "a.tar.gz"], check=True)
    (tmp_path / "allowed").write_text(f"ann@example.org {(tmp_path / 's.pub').read_text()}")
    row = _verify(capfd, "a.tar.gz", "--allowed-signers", "allowed", expected=exit_codes.OK)
    assert (row["status"], row["format"], row["name"]) == ("verified", "ssh", "a.tar.gz")
    assert _verify(capfd, "a.tar.gz", "--key", "s.pub", expected=exit_codes.OK)["signer"] == row["signer"]
    assert _verify(capfd, "a.tar.gz", expected=exit_codes.FAILED)["status"] == "untrusted"
    (tmp_path / "a.tar.gz").write_bytes(b"Archive")
    assert _verify(capfd, "a.tar.gz", "--key", "s.pub", expected=exit_codes.FAILED)["status"] == "invalid"


def test_options_that_cannot_be_used_end_with_exit_2(skill: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["--key", "none.pub"],
        ["--key", "k"],
        ["--root", "k.pub"],
        ["--identity", "a@b"],
        ["--issuer", "u"],
        ["--identity", "", "--issuer", ""],
        ["--signature", "k.pub", "skills", "k"],
        ["--allowed-signers", "k.pub"],
    ):
        assert run(["verify", str(skill), *arguments]) == exit_codes.USAGE, arguments
        assert "Traceback" not in capfd.readouterr().err
