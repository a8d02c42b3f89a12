"""`prowess mirror`, and `prowess install --from DIR --offline` on a machine that has nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from prowess.cli.dispatch import run
from tests.counterparts import counterpart
from tests.distribution.making import files_of, make_skill
from tests.distribution.referrers import add_bundle
from tests.distribution.registries import docker_registry


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with two installed skills, one with a signature file."""
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    make_skill(tmp_path / "skills", "pdf", "1.2.0+build")
    make_skill(tmp_path / "skills", "xlsx", None)
    monkeypatch.chdir(root)
    assert run(["key", "new", str(tmp_path / "project-key")]) == 0
    assert run(["sign", str(tmp_path / "skills" / "pdf"), "--key", str(tmp_path / "project-key")]) == 0
    assert run(["install", str(tmp_path / "skills"), "--skill", "*"]) == 0
    return root


def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "elsewhere") -> Path:
    """Return a project on a machine without these skills."""
    root = tmp_path / name
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PROWESS_HOME", str(tmp_path / f"home-of-{name}"))
    return root


def stored(home: str | Path) -> dict[str, tuple[bytes, bool]]:
    """Return the files of the skills in a store."""
    return {path: found for path, found in files_of(Path(home) / "store").items() if not path.endswith("/.files")}


def test_a_mirror_is_enough_to_install_offline(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert run(["mirror", "--to", str(tmp_path / "mirror"), "--json"]) == 0
    printed = json.loads(capfd.readouterr().out)
    assert [(row["name"], row["version"]) for row in printed["skills"]] == [("pdf", "1.2.0+build"), ("xlsx", None)]
    assert printed["lock"] == str(project / "prowess.lock")
    home = os.environ["PROWESS_HOME"]
    shutil.rmtree(tmp_path / "skills")
    other = elsewhere(tmp_path, monkeypatch)
    assert run(["install", "--from", str(tmp_path / "mirror"), "--offline", "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert (report["contacted"], [row["action"] for row in report["skills"]]) == ([], ["install", "install"])
    assert stored(os.environ["PROWESS_HOME"]) == stored(home)
    assert (other / "prowess.lock").read_bytes() == (project / "prowess.lock").read_bytes()


def test_the_locks_of_a_project_and_of_the_mirror_agree_with_frozen(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["mirror", "--to", str(tmp_path / "mirror")]) == 0
    other = elsewhere(tmp_path, monkeypatch)
    shutil.copy(project / "prowess.lock", other / "prowess.lock")
    assert run(["install", "--from", str(tmp_path / "mirror"), "--offline", "--frozen"]) == 0
    assert (other / "prowess.lock").read_bytes() == (project / "prowess.lock").read_bytes()


@pytest.mark.usefixtures("project")
def test_mirroring_twice_changes_no_byte_and_a_second_lock_keeps_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    assert run(["mirror", "--to", str(mirror)]) == 0
    first = files_of(mirror)
    assert run(["mirror", "--to", str(mirror)]) == 0
    assert files_of(mirror) == first
    elsewhere(tmp_path, monkeypatch, "second")
    make_skill(tmp_path / "more", "docx")
    assert run(["install", str(tmp_path / "more")]) == 0
    assert run(["mirror", "--to", str(mirror)]) == 0
    rows = json.loads((mirror / "index.json").read_bytes())["manifests"]
    names = {row["annotations"]["org.opencontainers.image.ref.name"] for row in rows}
    assert {name.partition("-")[0] for name in names} == {"docx", "pdf", "xlsx", "prowess.lock"}


@pytest.mark.usefixtures("project")
def test_every_changed_file_of_a_mirror_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    mirror = tmp_path / "mirror"
    assert run(["mirror", "--to", str(mirror)]) == 0
    used = 0
    for number, blob in enumerate(sorted((mirror / "blobs" / "sha256").iterdir())):
        other = elsewhere(tmp_path, monkeypatch, f"other-{number}")
        data = blob.read_bytes()
        blob.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        code = run(["install", "--from", str(mirror), "--offline"])
        blob.write_bytes(data)
        if data == b"{}" or b'"schemaVersion":"1"' in data:  # the configuration of an artifact is read by nobody
            assert code == 0
            continue
        used += 1
        assert code == 1
        assert "sha256:" in capfd.readouterr().err
        assert not (other / "prowess.lock").exists()
    assert used == 6  # two manifests and two layers of skills, the manifest and the layer of the lock


def test_a_signature_beside_a_skill_is_mirrored_so_that_its_signer_is_known_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    skill = make_skill(tmp_path, "pdf")
    elsewhere(tmp_path, monkeypatch, "first")
    key = str(tmp_path / "key")
    assert run(["key", "new", key]) == 0
    assert run(["key", "trust", f"{key}.pub", "--as", "Acme"]) == 0
    assert run(["sign", str(skill), "--key", key]) == 0
    bundle = (skill / "skill.oms.sig").read_bytes()
    (skill / "skill.oms.sig").unlink()
    with docker_registry(tmp_path / "registry") as host:
        capfd.readouterr()
        assert run(["publish", str(skill), "--to", f"oci://{host}/acme", "--json"]) == 0
        add_bundle(f"{host}/acme/pdf", json.loads(capfd.readouterr().out)["published"][0]["artifact"], bundle)
        assert run(["install", f"oci://{host}/acme/pdf"]) == 0
    capfd.readouterr()  # from here on, there is no registry
    assert run(["verify", "--json"]) == 0
    (found,) = json.loads(capfd.readouterr().out)["skills"]
    assert (found["status"], found["format"]) == ("verified", "oms")
    assert run(["mirror", "--to", str(tmp_path / "mirror")]) == 0
    (kept,) = Path(os.environ["PROWESS_HOME"], "store").glob("*/.signatures")
    kept.unlink()
    assert run(["mirror", "--to", str(tmp_path / "none")]) == 1
    assert "the store has no signature of pdf" in capfd.readouterr().err
    assert run(["verify", "--json"]) == 1
    (found,) = json.loads(capfd.readouterr().out)["skills"]
    assert (found["status"], found["signer"]) == ("untrusted", None)
    assert "the signature is not in the store any more" in found["reason"]
    publishers = Path(os.environ["PROWESS_HOME"], "publishers.toml")
    elsewhere(tmp_path, monkeypatch)
    os.makedirs(os.environ["PROWESS_HOME"], mode=0o700)
    shutil.copy(publishers, os.environ["PROWESS_HOME"])
    assert run(["install", "--from", str(tmp_path / "mirror"), "--offline", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["skills"]
    assert row["status"] == "verified"
    assert row["signer"].startswith("key sha256:")
    assert run(["verify"]) == 0


def test_a_skill_that_is_not_in_the_store_is_named(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    del project
    subprocess.run(["rm", "-rf", os.path.join(os.environ["PROWESS_HOME"], "store")], check=True)
    assert run(["mirror", "--to", "mirror"]) == 1
    assert "pdf is not in the store; run `prowess install` first" in capfd.readouterr().err


def test_a_directory_that_is_no_mirror_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    elsewhere(tmp_path, monkeypatch)
    assert run(["install", "--from", str(tmp_path), "--offline"]) == 1
    assert "is no mirror; `prowess mirror --to DIR` writes one" in capfd.readouterr().err


@pytest.mark.usefixtures("project")
def test_a_policy_about_the_source_holds_for_a_mirror_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["mirror", "--to", str(tmp_path / "mirror")]) == 0
    other = elsewhere(tmp_path, monkeypatch)
    os.makedirs(os.environ["PROWESS_HOME"], mode=0o700)
    policy = 'default = "allow"\n[packages]\nsources = ["https://skills.example.com/*"]\n'
    Path(os.environ["PROWESS_HOME"], "policy.toml").write_text(policy)
    assert run(["install", "--from", str(tmp_path / "mirror"), "--offline"]) == 3
    told = capfd.readouterr().err
    assert "only these sources of skills are permitted: https://skills.example.com/*; refused: " in told
    assert not (other / "prowess.lock").exists()


def _skopeo(*arguments: str | Path, cwd: Path) -> str:
    place = counterpart("skopeo")
    libraries = os.pathsep.join(str(place / above / "x86_64-linux-gnu") for above in ("usr/lib", "lib"))
    done = subprocess.run(
        [place / "usr/bin/skopeo", "--insecure-policy", *arguments],
        cwd=cwd,
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("project")
def test_skopeo_carries_a_mirror_to_a_registry_and_back_with_equal_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    mirror, back = tmp_path / "mirror", tmp_path / "back"
    capfd.readouterr()
    assert run(["mirror", "--to", str(mirror), "--json"]) == 0
    skills = json.loads(capfd.readouterr().out)["skills"]
    home = os.environ["PROWESS_HOME"]
    refs = [*((row["ref"], row["artifact"]) for row in skills), ("prowess.lock", None)]
    with docker_registry(tmp_path / "registry") as host:
        for ref, digest in refs:
            remote = f"docker://{host}/mirror:{ref}"
            _skopeo("copy", "--dest-tls-verify=false", f"oci:{mirror}:{ref}", remote, cwd=tmp_path)
            _skopeo("copy", "--src-tls-verify=false", remote, f"oci:{back}:{ref}", cwd=tmp_path)
            found = json.loads(_skopeo("inspect", "--raw", "--tls-verify=false", remote, cwd=tmp_path))
            assert found["schemaVersion"] == 2
            if digest is not None:
                assert (back / "blobs" / "sha256" / digest.removeprefix("sha256:")).exists()
        # What skopeo carried can be fetched from the registry, too.
        elsewhere(tmp_path, monkeypatch, "remote")
        assert run(["install", f"oci://{host}/mirror@{skills[0]['artifact']}"]) == 0
    elsewhere(tmp_path, monkeypatch)
    assert run(["install", "--from", str(back), "--offline"]) == 0
    assert stored(os.environ["PROWESS_HOME"]) == stored(home)


def test_the_python_client_oras_pulls_what_was_published(tmp_path: Path) -> None:
    python = counterpart("oras") / "bin" / "python"
    skill = make_skill(tmp_path, "pdf")
    with docker_registry(tmp_path / "registry") as host:
        assert run(["publish", str(skill), "--to", f"oci://{host}/acme"]) == 0
        (tmp_path / "pulled").mkdir()
        script = (
            "import sys, oras.client\n"
            "client = oras.client.OrasClient(insecure=True, tls_verify=False)\n"
            "print(*client.pull(target=sys.argv[1], outdir=sys.argv[2], allowed_media_type=[]), sep='\\n')\n"
        )
        done = subprocess.run(
            [python, "-c", script, f"{host}/acme/pdf:1.0.0", tmp_path / "pulled"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    pulled = [path for path in (tmp_path / "pulled").rglob("*") if path.is_file()]
    assert pulled, done.stdout
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    if len(pulled) == 1:
        subprocess.run(["tar", "-xzf", pulled[0], "-C", unpacked], check=True)
        assert files_of(unpacked / "pdf") == files_of(skill)
    else:
        assert {path.name for path in pulled} >= {"SKILL.md"}
