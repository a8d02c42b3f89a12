"""`prowess publish --key`: a registry with signed releases, and clients that trust its root."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from prowess.cli.dispatch import run
from tests.distribution.deployment.deployments import Deployment, everything
from tests.distribution.making import files_of, make_skill
from tests.distribution.serving import serving

if TYPE_CHECKING:
    from pathlib import Path

    from tests.distribution.deployment.deployments import Printed

INDEX = ".well-known/agent-skills/index.json"


@pytest.fixture
def registry(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Deployment:
    """Return a registry without a release, as seen from a project."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return Deployment(tmp_path, capfd, name="registry")


def _publish(
    registry: Deployment,
    *names: str,
    version: str = "1.0.0",
    body: str = "Read.",
    signers: tuple[str, ...] = ("alice", "bob"),
    code: int = 0,
) -> Printed:
    skills = [str(make_skill(registry.place / "skills", name, version, body=body)) for name in names]
    return registry.signed_by(["publish", *skills, "--to", str(registry.directory)], *signers, code=code)


def _rows(report: Printed) -> list[tuple[str, str, str]]:
    return [(row["name"], row["version"], row["status"]) for row in report["published"]]


def _trust(registry: Deployment, source: str, code: int = 0) -> Printed:
    return registry.run(["registry", "trust", source, "--root", str(registry.root)], code)


def test_a_signed_publication_writes_metadata_beside_the_index(registry: Deployment) -> None:
    report = _publish(registry, "pdf", "xlsx")
    assert _rows(report) == [("pdf", "1.0.0", "published"), ("xlsx", "1.0.0", "published")]
    assert (report["release"], report["state"], len(report["signed_by"])) == (1, "published", 2)
    index = (registry.directory / INDEX).read_bytes()
    (signed,) = (registry.directory / "targets").iterdir()
    assert signed.name == f"{report['index'].removeprefix('sha256:')}.index.json"
    assert signed.read_bytes() == index
    before = files_of(registry.directory)
    assert _publish(registry, "pdf")["state"] == "unchanged"
    assert files_of(registry.directory) == before
    yanked = registry.signed_by(["publish", "--yank", "pdf@1.0.0", "--to", str(registry.directory)], "carol", "bob")
    assert (_rows(yanked), yanked["release"]) == ([("pdf", "1.0.0", "yanked")], 2)
    assert "other bytes" in _publish(registry, "xlsx", body="Changed.", code=1)


def test_a_publication_with_too_few_signatures_is_pending(registry: Deployment) -> None:
    _publish(registry, "pdf")
    before = everything(registry.directory)
    report = _publish(registry, "xlsx", signers=("alice",), code=3)
    assert (_rows(report), report["missing"]) == ([("xlsx", "1.0.0", "pending")], 1)
    assert {path: one for path, one in everything(registry.directory).items() if "pending" not in path} == before
    registry.run(["deploy", "--to", str(registry.directory), "--discard"])
    assert everything(registry.directory) == before
    _publish(registry, "xlsx", body="Corrected.", signers=("alice",), code=3)
    second = registry.signed_by(["publish", "--to", str(registry.directory)], "carol")
    assert (_rows(second), second["state"]) == ([("xlsx", "1.0.0", "published")], "published")
    assert not (registry.directory / "pending").exists()
    registry.run(["install", str(registry.directory), "--skill", "xlsx"])


def test_an_artifact_that_was_changed_while_it_waited_is_not_published(registry: Deployment) -> None:
    _publish(registry, "pdf")
    before = everything(registry.directory)
    _publish(registry, "xlsx", signers=("alice",), code=3)
    (waiting,) = (registry.directory / "pending").glob("xlsx*")
    waiting.write_bytes(waiting.read_bytes()[:-1] + b"x")
    assert "digest" in registry.signed_by(["publish", "--to", str(registry.directory)], "carol", code=1)
    assert {path: one for path, one in everything(registry.directory).items() if "pending" not in path} == before


def test_a_registry_with_keys_and_one_without_are_told_apart(registry: Deployment, tmp_path: Path) -> None:
    skill = str(make_skill(tmp_path / "skills", "pdf"))
    assert "give the key" in registry.run(["publish", skill, "--to", str(registry.directory)], 1)
    assert "registry init" in registry.signed_by(["publish", skill, "--to", str(tmp_path / "new")], "alice", code=1)
    assert not (tmp_path / "new").exists()
    assert "prowess sign" in registry.signed_by(["publish", skill, "--to", "oci://127.0.0.1:1/x"], "alice", code=1)
    (registry.keys / "stranger").write_bytes((registry.keys / "root").read_bytes())
    assert "no signer" in registry.signed_by(["publish", skill, "--to", str(registry.directory)], "stranger", code=1)
    assert not (registry.directory / INDEX).exists()


def test_publications_and_deployments_share_releases_and_keep_apart(registry: Deployment) -> None:
    _publish(registry, "pdf")
    assert registry.deploy("mail")["release"] == 2
    _publish(registry, "xlsx")
    report = registry.sync("host")
    assert (report["release"], [one["name"] for one in report["skills"]]) == (3, ["mail"])
    registry.signed_by(["rollback", "1", "--deployment", str(registry.directory)], "alice", "bob")
    assert registry.sync("host")["skills"] == []
    listed = registry.run(["registry", "list", str(registry.directory)])
    assert [row["name"] for row in listed["skills"]] == ["pdf", "xlsx"]


def test_refresh_puts_the_signed_index_back_and_compares_artifacts(registry: Deployment) -> None:
    _publish(registry, "pdf")
    index = registry.directory / INDEX
    had = index.read_bytes()
    index.write_bytes(had.replace(b"Works with", b"Steals all"))
    registry.run(["registry", "refresh", str(registry.directory)])
    assert index.read_bytes() == had
    assert _publish(registry, "xlsx")["release"] == 2
    artifact = next((registry.directory / INDEX).parent.glob("artifacts/pdf-*"))
    artifact.write_bytes(b"changed")
    before = files_of(registry.directory / "metadata")
    assert "pdf-1.0.0" in registry.run(["registry", "refresh", str(registry.directory)], 1)
    assert files_of(registry.directory / "metadata") == before


@pytest.mark.parametrize("over", ["directory", "http"])
def test_a_client_that_trusts_the_root_refuses_every_other_index(registry: Deployment, over: str) -> None:
    _publish(registry, "pdf", "xlsx")
    shutil.copytree(registry.directory, registry.place / "release-1")
    _publish(registry, "mail")
    with serving(registry.answers()) as site:
        source = site.url if over == "http" else str(registry.directory)
        assert _trust(registry, source)["changed"] is True
        assert _trust(registry, source)["changed"] is False
        installed = registry.run(["install", source, "--skill", "pdf"])
        assert installed["skills"][0]["action"] == "install"
        assert installed["contacted"] == ([site.host] if over == "http" else [])
        changed = registry.directory / INDEX
        changed.write_bytes(changed.read_bytes().replace(b"Works with", b"Steals all"))
        site.answers.update(registry.answers())
        assert "Steals" not in json.dumps(registry.run(["registry", "list", source]))  # the signed one is read
        for target in (registry.directory / "targets").glob("*.index.json"):
            target.write_bytes(target.read_bytes().replace(b"Works with", b"Steals all"))
        site.answers.update(registry.answers())
        spellings = [source, f"{source}/{INDEX}"] if over == "http" else [source, f"{source}/../registry"]
        for spelling in spellings:
            assert "sha256:" in str(registry.run(["install", spelling, "--skill", "xlsx"], 1)), spelling
        shutil.rmtree(registry.directory)
        shutil.copytree(registry.place / "release-1", registry.directory)
        site.answers.clear()
        site.answers.update(registry.answers())
        assert "older than that" in str(registry.run(["install", source, "--skill", "xlsx"], 1))
        shutil.rmtree(registry.directory / "metadata")
        site.answers.clear()
        site.answers.update(registry.answers())
        assert "no release is published" in str(registry.run(["install", source, "--skill", "xlsx"], 4))
        assert registry.run(["registry", "forget", source])["changed"] is True
        registry.run(["install", source, "--skill", "xlsx"])
        assert registry.run(["registry", "forget", source], 1)["changed"] is False


def test_a_root_that_does_not_verify_is_not_trusted(registry: Deployment) -> None:
    foreign = Deployment(registry.place, registry.capfd, name="foreign")
    _publish(registry, "pdf")
    source = str(registry.directory)
    assert "signatures that it needs" in foreign.run(["registry", "trust", source, "--root", str(foreign.root)], 1)
    assert run(["registry", "forget", source]) == 1
    _trust(registry, source)
    assert "another root" in foreign.run(["registry", "trust", source, "--root", str(foreign.root)], 1)
    foreign.deploy("mail")
    assert "no signed index" in _trust(foreign, str(foreign.directory), 1)
    assert sorted(os.listdir(os.path.join(os.environ["PROWESS_HOME"], "registries"))) != []
