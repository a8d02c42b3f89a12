"""A skill as an OCI artifact: the blobs and the manifest of one version. Equal skills give equal bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.publishing.packing import pack
from prowess.distribution.sources.oci import manifest as oci

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prowess.distribution.publishing.package import SkillPackage


class OciArtifact(Struct, frozen=True, kw_only=True):
    """The manifest of a skill, and its blobs by digest."""

    manifest: bytes
    blobs: dict[str, bytes]

    @property
    def digest(self) -> str:
        """The digest of the manifest."""
        return sha256_of(self.manifest)


def oci_artifact(package: SkillPackage, annotations: Mapping[str, str] | None = None) -> OciArtifact:
    """Return the artifact of a skill, with further annotations if some are given.

    Raises:
        LimitExceededError: it is too large to be installed.
    """
    name, version = package.name, package.version
    layer = pack(package.contents.files, prefix=f"{name}/")
    versioned = {} if version is None else {"version": version}
    config = oci.canonical_json({"schemaVersion": "1", "name": name, **versioned})
    stated = {
        oci.NAME: name,
        oci.VERSION: version,
        oci.DESCRIPTION: " ".join(package.description.split()),
        oci.REQUIRES: json.dumps(package.requires, ensure_ascii=False),
        **(annotations or {}),
    }
    manifest = oci.render_manifest(
        descriptor(oci.CONFIG_TYPE, config),
        [descriptor(oci.LAYER_TYPE, layer)],
        {key: value for key, value in stated.items() if value},
    )
    return OciArtifact(manifest=manifest, blobs={sha256_of(config): config, sha256_of(layer): layer})


def descriptor(media_type: str, data: bytes) -> oci.Descriptor:
    """Return the descriptor of some bytes."""
    return oci.Descriptor(media_type=media_type, digest=sha256_of(data), size=len(data))
