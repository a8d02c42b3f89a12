"""The conformance suite of sources, run for every source of Prowess."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from contextlib import ExitStack
from typing import TYPE_CHECKING, ClassVar

import pytest

from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.publishing.container_registry import publish_to_registry
from prowess.distribution.publishing.directory_registry import DirectoryRegistry
from prowess.distribution.publishing.package import read_package
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.oci import manifest as oci
from prowess.distribution.sources.oci.registry import Repository
from prowess.testing.conformance.sources import SourceConformance
from tests.catalog.installing import bare_project, install, install_node, site_of
from tests.distribution.registries import docker_registry
from tests.distribution.serving import Answer, serving
from tests.distribution.sources.git_repository import commit, git, new_repository, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from prowess.testing.conformance.hostile_archives import HostileArchive
    from prowess.testing.conformance.sources import Release


def tar_of(releases: Sequence[Release]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for one in releases:
            for path, data in one.files.items():
                info = tarfile.TarInfo(f"{one.name}/{path}")
                info.size, info.mode = len(data), 0o755 if path in one.executable else 0o644
                archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(releases: Sequence[Release]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in releases:
            for path, data in one.files.items():
                info = zipfile.ZipInfo(f"{one.name}/{path}")
                info.external_attr = (0o100755 if path in one.executable else 0o100644) << 16
                archive.writestr(info, data)
    return out.getvalue()


class TestDirectory(SourceConformance):
    has_versions: ClassVar[bool] = False

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        for one in releases:
            one.write_to(place)
        return str(place)


class TestArchive(SourceConformance):
    has_versions: ClassVar[bool] = False

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        (place / "skills.zip").write_bytes(zip_of(releases))
        return str(place / "skills.zip")

    def publish_archive(self, place: Path, archive: HostileArchive) -> str | None:
        (place / f"hostile{archive.suffix}").write_bytes(archive.make())
        return str(place / f"hostile{archive.suffix}")


class TestArchiveAtUrl(SourceConformance):
    has_versions: ClassVar[bool] = False
    is_remote: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def site(self) -> Iterator[None]:
        with serving() as self.served:
            yield

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        self.served.answers["/skills.tar.gz"] = Answer(tar_of(releases))
        return f"{self.served.url}/skills.tar.gz"

    def publish_archive(self, place: Path, archive: HostileArchive) -> str | None:
        self.served.answers["/hostile.tgz"] = Answer(archive.make())
        return f"{self.served.url}/hostile.tgz"


class TestGitDirectory(SourceConformance):
    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        repository = new_repository(place / "skills")
        for one in releases:
            one.write_to(repository)
            commit(repository, {})
            git(repository, "tag", "-f", f"v{one.version}")
        return f"git+file:{repository}"


class TestGitOverHttp(TestGitDirectory):
    is_remote: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def site(self, tmp_path: Path) -> Iterator[None]:
        with served(tmp_path / "place") as (self.address, _):
            yield

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        super().publish(place, releases)
        return f"git+{self.address}/skills"


class TestIndex(SourceConformance):
    is_remote: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def site(self) -> Iterator[None]:
        with serving() as self.served:
            yield

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        for number, one in enumerate(releases):
            skill = one.write_to(place / str(number))
            DirectoryRegistry(str(place / "site")).publish([read_package(str(skill))])
        for path in (place / "site").rglob("*"):
            if path.is_file():
                self.served.answers[f"/{path.relative_to(place / 'site').as_posix()}"] = Answer(path.read_bytes())
        return self.served.url

    def publish_archive(self, place: Path, archive: HostileArchive) -> str | None:
        data = archive.make()
        entry = {
            "name": "pdf",
            "type": "archive",
            "description": "Reads PDF files.",
            "url": f"pdf{archive.suffix}",
            "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
        }
        schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
        index = json.dumps({"$schema": schema, "skills": [entry]}).encode()
        self.served.answers["/.well-known/agent-skills/index.json"] = Answer(index)
        self.served.answers[f"/.well-known/agent-skills/pdf{archive.suffix}"] = Answer(data)
        return self.served.url

    def tamper(self, place: Path, reference: str) -> bool:
        for path, answer in self.served.answers.items():
            if not path.endswith("index.json") and isinstance(answer, Answer) and answer.body:
                self.served.answers[path] = Answer(answer.body[:-1] + bytes([answer.body[-1] ^ 1]))
        return True


class TestContainerRegistry(SourceConformance):
    has_many: ClassVar[bool] = False
    is_remote: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def registry(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        self.blobs = tmp_path_factory.mktemp("registry") / "place"
        with ExitStack() as stack:
            self.host = stack.enter_context(docker_registry(self.blobs))
            yield

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        for number, one in enumerate(releases):
            skill = one.write_to(place / str(number))
            with HttpClient() as client:
                publish_to_registry([read_package(str(skill))], f"{self.host}/acme/pdf", client)
        return f"oci://{self.host}/acme/pdf"

    def publish_archive(self, place: Path, archive: HostileArchive) -> str | None:
        blobs = (b"{}", archive.make())
        rows = [oci.Descriptor(media_type=oci.LAYER_TYPE, digest=sha256_of(blob), size=len(blob)) for blob in blobs]
        with HttpClient() as client:
            repository = Repository(f"{self.host}/acme/pdf", client)
            for blob in blobs:
                repository.push_blob(blob, sha256_of(blob))
            manifest = oci.render_manifest(rows[0], rows[1:], {oci.NAME: "pdf"})
            repository.push_manifest(manifest, oci.MANIFEST_TYPE, "1.0.0")
        return f"oci://{self.host}/acme/pdf"

    def tamper(self, place: Path, reference: str) -> bool:
        for path in self.blobs.rglob("data"):
            data = path.read_bytes()
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        return True


class TestPythonDistribution(SourceConformance):
    has_versions: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def project(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = bare_project(tmp_path_factory.mktemp("project"), monkeypatch)
        monkeypatch.setenv("PROWESS_HOME", str(self.root.parent / "home"))

    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        files = {f"acme/skills/{one.name}/{path}": data for one in releases for path, data in one.files.items()}
        site = site_of(self.root / ".venv")
        install(site, "acme", files, version=releases[-1].version)
        for one in releases:
            for path in one.executable:
                (site / "acme" / "skills" / one.name / path).chmod(0o755)
        return "python:acme"

    def tamper(self, place: Path, reference: str) -> bool:
        (self.root / ".venv/lib/python3.11/site-packages/acme/skills/pdf/.hidden").write_bytes(b"changed")
        return True


class TestNodePackage(TestPythonDistribution):
    def publish(self, place: Path, releases: Sequence[Release]) -> str:
        root = install_node(self.root / "node_modules", "acme", {}, version=releases[-1].version)
        for one in releases:
            one.write_to(root / "skills")
        return "npm:acme"

    def tamper(self, place: Path, reference: str) -> bool:
        return False
