"""Publishes skills to a container registry: one repository for each skill, one tag for each version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prowess.distribution.publishing.directory_registry import Published
from prowess.distribution.publishing.oci_artifact import OciArtifact, oci_artifact
from prowess.distribution.sources.index.document import is_index_name
from prowess.distribution.sources.oci.manifest import MANIFEST_TYPE
from prowess.distribution.sources.oci.registry import Repository
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess.distribution.publishing.package import SkillPackage
    from prowess.distribution.sources.http.client import HttpClient

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def publish_to_registry(packages: Sequence[SkillPackage], location: str, client: HttpClient) -> tuple[Published, ...]:
    """Push skills to `registry/path/NAME`, or to `registry/path` itself if it ends with the skill's name.

    Every skill is compared with the registry before the first one is pushed.

    Raises:
        DistributionError: a skill has no version, or its version is there with other bytes, or the registry refuses.
        UnavailableError: the registry cannot be reached.
    """
    made = [_made(package, location, client) for package in packages]
    present = [repository.manifest(tag) for repository, tag, _ in made]
    for package, (repository, tag, artifact), found in zip(packages, made, present, strict=True):
        if found is not None and found[1] != artifact.digest:
            raise DistributionError(
                f"{repository.shown}:{tag} is published with other bytes (artifact {found[1]}); "
                f"raise metadata.version in SKILL.md of {package.name}"
            )
    results: list[Published] = []
    for package, (repository, tag, artifact), found in zip(packages, made, present, strict=True):
        if found is None:
            for digest, data in artifact.blobs.items():
                repository.push_blob(data, digest)
            repository.push_manifest(artifact.manifest, MANIFEST_TYPE, tag)
        results.append(
            Published(
                name=package.name,
                version=package.version,
                artifact=artifact.digest,
                status="published" if found is None else "unchanged",
            )
        )
    return tuple(results)


def _made(package: SkillPackage, location: str, client: HttpClient) -> tuple[Repository, str, OciArtifact]:
    name, version = package.name, package.version
    if version is None:
        raise DistributionError(f"{name} has no version, which a registry needs; write metadata.version in SKILL.md")
    tag = version.replace("+", "_")
    if _TAG.fullmatch(tag) is None or not is_index_name(name):
        raise DistributionError(f"{name} {version}: a registry allows no such name or tag")
    path = location if location.endswith(f"/{name}") else f"{location}/{name}"
    return Repository(path, client), tag, oci_artifact(package)
