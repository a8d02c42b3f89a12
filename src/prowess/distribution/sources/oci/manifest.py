"""OCI manifests of skills: read every form with one layer, write one.

A skill is written as the community's draft has it: `artifactType` and a config of its own, and one layer, a tar.gz
whose files are below `<name>/`. Manifests are read by what they contain, so images, `oras push` of one archive and
other tools' artifacts with one layer are read too.

Source: OCI image specification 1.1, distribution specification 1.1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence  # noqa: TC003 -- msgspec reads the annotations
from typing import Any

from msgspec import Struct

from prowess._internal.text.canonical_json import is_digest
from prowess._internal.text.strict_json import StrictJsonError, strict_json
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.errors import DistributionError, LimitExceededError

SKILL_TYPE = "application/vnd.agentskills.skill.v1"
CONFIG_TYPE = "application/vnd.agentskills.skill.config.v1+json"
LAYER_TYPE = "application/vnd.agentskills.skill.content.v1.tar+gzip"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
MANIFEST_TYPES = (
    MANIFEST_TYPE,
    INDEX_TYPE,
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
BUNDLE_TYPES = ("application/vnd.dev.sigstore.bundle", "application/vnd.oms.bundle")  # a version follows
NAME, REQUIRES = "io.agentskills.skill.name", "io.agentskills.skill.requires"
VERSION, DESCRIPTION = "org.opencontainers.image.version", "org.opencontainers.image.description"
REF_NAME = "org.opencontainers.image.ref.name"
MAX_MANIFEST = 4 * 1024 * 1024


class Descriptor(Struct, frozen=True, kw_only=True):
    """A blob or manifest: its type, digest (`sha256:<64 hex>`) and size in bytes."""

    media_type: str
    digest: str
    size: int
    artifact_type: str = ""
    annotations: Mapping[str, str] = {}

    def as_json(self) -> dict[str, Any]:
        """Return the descriptor as a manifest has it."""
        row: dict[str, Any] = {"mediaType": self.media_type, "digest": self.digest, "size": self.size}
        if self.artifact_type:
            row["artifactType"] = self.artifact_type
        return {**row, "annotations": dict(self.annotations)} if self.annotations else row


class Manifest(Struct, frozen=True, kw_only=True):
    """A manifest with layers, or an index with manifests. `artifact_type` is empty if it has none."""

    artifact_type: str
    annotations: Mapping[str, str]
    layers: tuple[Descriptor, ...] = ()
    manifests: tuple[Descriptor, ...] = ()
    config: Descriptor | None = None
    subject: Descriptor | None = None

    def only_layer(self, what: str) -> Descriptor:
        """Return the layer. Raises DistributionError if there is not exactly one."""
        if len(self.layers) != 1:
            raise DistributionError(f"{what} has {len(self.layers)} layers; a skill has one")
        return self.layers[0]


def parse_manifest(data: bytes, what: str) -> Manifest:
    """Read a manifest or index.

    Raises:
        DistributionError: it is neither, or a descriptor in it is not valid.
        LimitExceededError: it names a blob that is larger than any archive may be.
    """
    try:
        found = strict_json(data, what)
    except StrictJsonError as fault:
        raise DistributionError(f"{what} is no OCI manifest: {fault}") from None
    if not isinstance(found, dict) or found.get("schemaVersion") != 2:  # noqa: PLR2004 -- as the specification has it
        raise DistributionError(f"{what} is no OCI manifest of schema version 2")
    if "layers" not in found and "manifests" not in found:
        raise DistributionError(f"{what} is an OCI manifest without layers and without manifests")
    if "layers" in found and "manifests" in found:
        raise DistributionError(f"{what} is an OCI manifest with layers and manifests, which programs read differently")
    config = None if found.get("config") is None else _descriptor(found["config"], what)
    stated = found.get("artifactType")
    return Manifest(
        artifact_type=stated if isinstance(stated, str) and stated else "" if config is None else config.media_type,
        annotations=_annotations(found),
        layers=_descriptors(found.get("layers"), what),
        manifests=_descriptors(found.get("manifests"), what),
        config=config,
        subject=None if found.get("subject") is None else _descriptor(found["subject"], what),
    )


def render_manifest(
    config: Descriptor, layers: Sequence[Descriptor], annotations: Mapping[str, str], *, artifact_type: str = SKILL_TYPE
) -> bytes:
    """Return the manifest of an artifact. Equal arguments give equal bytes."""
    return canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "artifactType": artifact_type,
            "config": config.as_json(),
            "layers": [layer.as_json() for layer in layers],
            "annotations": dict(annotations),
        }
    )


def canonical_json(value: Mapping[str, Any]) -> bytes:
    """Return JSON with sorted keys and without spaces."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _descriptors(listed: object, what: str) -> tuple[Descriptor, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise DistributionError(f"{what} is no OCI manifest: a list of descriptors is expected")
    return tuple(_descriptor(row, what) for row in listed)


def _descriptor(row: object, what: str) -> Descriptor:
    if not isinstance(row, dict):
        raise DistributionError(f"{what} is no OCI manifest: a descriptor is no object")
    media_type, digest, size = row.get("mediaType"), row.get("digest"), row.get("size")
    if not isinstance(media_type, str) or not isinstance(digest, str) or not is_digest(digest):
        raise DistributionError(f"{what}: a descriptor needs mediaType and a digest sha256:…")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise DistributionError(f"{what}: a descriptor needs its size in bytes")
    if size > MAX_PACKED:
        raise LimitExceededError(f"bytes in a blob of {what}", MAX_PACKED, size)
    kind = row.get("artifactType")
    return Descriptor(
        media_type=media_type,
        digest=digest,
        size=size,
        artifact_type=kind if isinstance(kind, str) else "",
        annotations=_annotations(row),
    )


def _annotations(row: Mapping[str, object]) -> dict[str, str]:
    found = row.get("annotations")
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(key, str) and isinstance(value, str)}
