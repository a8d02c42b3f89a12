"""Signatures beside an artifact in a registry, as other tools put them there."""

from __future__ import annotations

from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.sources.http.client import HttpClient
from prowess.distribution.sources.oci.manifest import INDEX_TYPE, MANIFEST_TYPE, Descriptor, canonical_json
from prowess.distribution.sources.oci.registry import Repository

_BUNDLE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def add_bundle(location: str, artifact: str, bundle: bytes) -> None:
    """Put a bundle beside the artifact with this digest, under the fallback tag."""
    layer = {"mediaType": _BUNDLE_TYPE, "digest": sha256_of(bundle), "size": len(bundle)}
    manifest = canonical_json({"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": layer, "layers": [layer]})
    row = Descriptor(media_type=MANIFEST_TYPE, digest=sha256_of(manifest), size=len(manifest))
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [row.as_json()]})
    with HttpClient() as client:
        repository = Repository(location, client)
        repository.push_blob(bundle, sha256_of(bundle))
        repository.push_manifest(manifest, MANIFEST_TYPE, row.digest)
        repository.push_manifest(index, INDEX_TYPE, artifact.replace(":", "-"))
