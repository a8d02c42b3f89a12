"""Signatures of skills at installation: the signer is pinned, and a signature that does not fit is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from prowess._internal.places import prowess_home
from prowess.cli import exit_codes
from prowess.distribution.sources.protocol import Signature
from prowess.lockfile import read_lock
from tests.distribution.installation.projects import Commands, actions, codes, make_project, write_skill
from tests.distribution.sources.git_repository import commit, git, new_repository, skill


@pytest.fixture
def prowess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Commands:
    """A project; `../skills/alpha` is signed by the trusted key `../k`."""
    monkeypatch.delenv("CI", raising=False)
    found = Commands(make_project(tmp_path, "alpha", "beta"), monkeypatch, capfd)
    found.text("key", "new", "../k")
    found.text("key", "trust", "../k.pub", "--as", "Acme")
    found.text("sign", "../skills/alpha", "--key", "../k")
    return found


def _signer(prowess: Commands, name: str) -> str | None:
    (skill,) = read_lock(str(prowess.lock)).named(name)
    return skill.signer


def test_the_first_installation_pins_the_signer(prowess: Commands) -> None:
    report = prowess.report("install", "../skills", "--skill", "*")
    rows = {row["name"]: (row["status"], row["signer"]) for row in report["skills"]}
    assert rows["beta"] == ("unsigned", None)
    assert rows["alpha"][0] == "verified"
    assert rows["alpha"][1].startswith("key sha256:")
    assert _signer(prowess, "alpha") == rows["alpha"][1]
    stored = os.path.join(prowess_home(), "store", report["skills"][0]["tree"], "alpha", "skill.oms.sig")
    assert os.path.exists(stored)


def test_a_signature_that_does_not_fit_is_refused(prowess: Commands, tmp_path: Path) -> None:
    signature = tmp_path / "skills/alpha/skill.oms.sig"
    whole = signature.read_bytes()
    (tmp_path / "skills/alpha/more.md").touch()
    for data in (whole, whole[:-20], b"", whole.replace(b'"', b"'", 1)):
        signature.write_bytes(data)
        report = prowess.report("install", "../skills", "--skill", "alpha", code=exit_codes.DENIED)
        assert codes(report) == ["policy_denied"]
        assert "the signature of skill 'alpha' is not accepted" in prowess.err
    assert not prowess.lock.exists()
    assert not os.path.exists(os.path.join(prowess_home(), "store"))


def test_changed_files_are_refused_also_if_nobody_trusts_the_signer(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("key", "forget", "Acme")
    (tmp_path / "skills/alpha/more.md").touch()
    prowess.report("install", "../skills", "--skill", "alpha", code=exit_codes.DENIED)
    assert "files, or executable bits of files, are not as they were signed" in prowess.err
    assert not prowess.lock.exists()


def test_the_locked_signer_is_required_for_what_is_fetched_again(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("install", "../skills", "--skill", "alpha")
    text = prowess.lock.read_bytes()
    (tmp_path / "skills/alpha/skill.oms.sig").unlink()
    prowess.text("install", "--frozen")
    _remove_store()
    prowess.text("install", "--frozen", code=exit_codes.DENIED)
    assert "the lock names key sha256:" in prowess.err
    assert "but nobody signed it" in prowess.err
    prowess.text("sign", "../skills/alpha", "--key", "../k")
    prowess.text("install", "--frozen")
    assert prowess.lock.read_bytes() == text


def test_a_signature_that_comes_later_is_stored(prowess: Commands) -> None:
    prowess.text("install", "../skills", "--skill", "beta", "--target", "claude-code")
    prowess.text("sign", "../skills/beta", "--key", "../k")
    report = prowess.report("install", "../skills", "--skill", "beta")
    assert actions(report)["beta"] in {"install", "update"}
    assert _signer(prowess, "beta") is not None
    assert os.path.exists(os.path.join(prowess_home(), "store", report["skills"][0]["tree"], "beta", "skill.oms.sig"))
    assert prowess.report("install")["changed"] is False


@pytest.mark.parametrize(
    ("before", "after", "needs_consent"),
    [("none", "k", False), ("k", "none", True), ("k", "other", True), ("k", "k", False)],
)
def test_another_signer_or_none_needs_consent_and_the_first_one_does_not(
    before: str, after: str, *, needs_consent: bool, prowess: Commands, tmp_path: Path
) -> None:
    prowess.text("key", "new", "../other")
    prowess.text("key", "trust", "../other.pub", "--as", "Other")

    def release(version: str, key: str) -> None:
        write_skill(tmp_path / "skills/beta", version, script="print('beta')\n")
        (tmp_path / "skills/beta/skill.oms.sig").unlink(missing_ok=True)
        if key != "none":
            prowess.text("sign", "../skills/beta", "--key", f"../{key}")

    release("1.0.0", before)
    prowess.text("install", "../skills", "--skill", "beta")
    signer = _signer(prowess, "beta")
    assert (signer is None) == (before == "none")
    release("1.1.0", after)
    lock = prowess.lock.read_bytes()
    for command in (("update",), ("install", "../skills", "--skill", "beta"), ("lock",)):
        if needs_consent and command != ("lock",):  # which chooses no newer version
            prowess.text(*command, code=exit_codes.DENIED)
            assert f"beta: signer\n  - {signer}\n  + " in prowess.err
            prowess.text(*command[:1], "--accept", "major,source", *command[1:], code=exit_codes.DENIED)
        elif needs_consent:
            prowess.text(*command)
        assert prowess.lock.read_bytes() == lock
        if not needs_consent:
            break
    prowess.text("update", *(("--accept", "signer") if needs_consent else ()))
    assert (_signer(prowess, "beta") == signer) == (before == after)
    assert (_signer(prowess, "beta") is None) == (after == "none")
    prowess.text("install", "--frozen")


def test_allow_unsigned_accepts_no_signature_and_no_other_one(prowess: Commands, tmp_path: Path) -> None:
    def signed(name: str) -> tuple[str | None, bool]:
        (skill,) = read_lock(str(prowess.lock)).named(name)
        return skill.signer, skill.unsigned

    asked = ("install", "../skills", "--skill", "alpha", "--skill", "beta")
    prowess.text(*asked, "--allow-unsigned")
    key, _ = signed("alpha")
    assert key is not None
    assert signed("beta") == (None, True)
    prowess.text("key", "new", "../other")
    write_skill(tmp_path / "skills/alpha", "1.1.0", script="print('alpha')\n")
    prowess.text("sign", "../skills/alpha", "--key", "../other")
    prowess.text(*asked, "--allow-unsigned", code=exit_codes.DENIED)
    (tmp_path / "skills/alpha/skill.oms.sig").unlink()
    prowess.text(*asked, code=exit_codes.DENIED)
    prowess.text(*asked, "--allow-unsigned")
    assert signed("alpha") == (None, True)
    prowess.text("sign", "../skills/alpha", "--key", "../k")
    prowess.text(*asked)
    assert signed("alpha") == (key, False)


def test_a_signed_tag_is_verified_after_the_installation_without_its_repository(
    prowess: Commands, tmp_path: Path
) -> None:
    repository = new_repository(tmp_path / "repository")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "tags"], check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(tmp_path / "tags"))):
        git(repository, "config", name, value)
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    git(repository, "tag", "-s", "-m", "One", "v1.0.0")
    prowess.text("key", "trust", "../tags.pub", "--as", "Tagger")
    (row,) = prowess.report("install", f"git+file:{repository}")["skills"]
    assert row["status"] == "verified"
    shutil.rmtree(repository)
    (found,) = prowess.report("verify")["skills"]
    assert (found["status"], found["format"], found["signer"]) == ("verified", "git-ssh", row["signer"])
    prowess.text("key", "forget", "Tagger")
    (found,) = prowess.report("verify", code=exit_codes.FAILED)["skills"]
    assert (found["status"], found["signer"]) == ("untrusted", row["signer"])
    prowess.text("key", "trust", "../tags.pub", "--as", "Tagger")
    (kept,) = Path(prowess_home(), "store").glob("*/.signatures")
    kept.chmod(0o600)
    whole = kept.read_bytes()
    for damaged in (b"", b"[]", whole[:-9], whole.replace(b"git-tag", b"bundle"), whole.replace(b"git-tag", b"other")):
        kept.write_bytes(damaged)
        (found,) = prowess.report("verify", code=exit_codes.FAILED)["skills"]
        assert found["status"] in {"untrusted", "invalid"}


def test_a_signature_of_another_commit_of_the_same_signer_proves_nothing(prowess: Commands, tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "repository")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "keys"], check=True)
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(tmp_path / "keys")), ("commit.gpgsign", "true")):
        git(repository, "config", name, value)
    commit(repository, {"pdf/SKILL.md": skill("pdf")})
    git(repository, "tag", "-s", "-m", "One", "v1.0.0")
    prowess.text("key", "trust", "../keys.pub", "--as", "Ann")
    (row,) = prowess.report("install", f"git+file:{repository}@v1.0.0")["skills"]
    (kept,) = Path(prowess_home(), "store").glob("*/.signatures")
    kept.chmod(0o600)
    commit(repository, {"pdf/SKILL.md": skill("pdf") + "More."})
    git(repository, "tag", "-s", "-m", "Two", "v2.0.0")
    for kind, name in (("tag", "v1.0.0"), ("commit", "v1.0.0^0"), ("tag", "v2.0.0"), ("commit", "v2.0.0^0")):
        found = subprocess.run(["git", "-C", repository, "cat-file", kind, name], check=True, capture_output=True)
        signature = Signature(kind="git-tag" if kind == "tag" else "git-commit", data=found.stdout)
        kept.write_bytes(msgspec.json.encode([signature]))
        is_own = name.startswith("v1")
        (verified,) = prowess.report("verify", code=exit_codes.OK if is_own else exit_codes.FAILED)["skills"]
        assert (verified["status"], verified["signer"] == row["signer"]) == (
            ("verified", True) if is_own else ("untrusted", False)
        )


def _remove_store() -> None:
    from tests.distribution.installation.test_install import _remove

    _remove(os.path.join(prowess_home(), "store"))


def test_an_old_signed_skill_is_not_accepted_as_a_new_version(prowess: Commands, tmp_path: Path) -> None:
    prowess.text("publish", "../skills/alpha", "--to", "../registry")
    index = tmp_path / "registry" / ".well-known" / "agent-skills" / "index.json"
    text = index.read_text("utf-8")
    index.write_text(text.replace('"version": "1.0.0"', '"version": "2.0.0"'), "utf-8")
    prowess.text("install", "../registry", code=exit_codes.DENIED)
    assert "it was signed as version 1.0.0, but" in prowess.err
    assert "offers it as 2.0.0" in prowess.err
    prowess.text("key", "forget", "Acme")  # a signature of somebody else refuses too
    prowess.text("install", "../registry", code=exit_codes.DENIED)
    for version in ("v1.0.0", "1.0.0"):
        index.write_text(text.replace('"version": "1.0.0"', f'"version": "{version}"'), "utf-8")
        prowess.text("install", "../registry")
