"""Writes a mirror: an OCI image layout with every skill that a lock names, its signature, and the lock.

`install --from DIR --offline` needs nothing else. Tools for container registries can carry the layout, because each
skill is an ordinary artifact with a name in the index.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.file_lock import locked
from prowess._internal.places import LOCK_FILE
from prowess.distribution.installation.disk.kept_signatures import kept_signatures
from prowess.distribution.publishing.oci_artifact import OciArtifact, descriptor, oci_artifact
from prowess.distribution.publishing.package import SkillPackage
from prowess.distribution.publishing.packing import read_skill_files
from prowess.distribution.signatures import signature_in
from prowess.distribution.sources.oci import manifest as oci
from prowess.distribution.sources.oci.layout import ImageLayout
from prowess.distribution.sources.oci.mirrored import (
    LOCK_KEY,
    LOCK_TYPE,
    SIGNATURE_LAYER,
    SIGNATURE_TYPE,
    TREE,
    mirrored_key,
    read_manifests,
)
from prowess.errors import DistributionError, IntegrityError
from prowess.lockfile import render_lock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prowess.distribution.installation.disk.store import SkillStore
    from prowess.distribution.sources.protocol import Signature
    from prowess.lockfile import LockedSkill, Lockfile

_EMPTY_TYPE, _EMPTY = "application/vnd.oci.empty.v1+json", b"{}"
_NOT_IN_REFS = re.compile(r"[^A-Za-z0-9._-]")
_DIGITS = 12


class MirroredSkill(Struct, frozen=True, kw_only=True):
    """One skill in a mirror. `artifact` is the digest of its manifest, `ref` its name in the layout."""

    name: str
    package: str
    version: str | None
    tree: str
    artifact: str
    ref: str


def write_mirror(lock: Lockfile, store: SkillStore, directory: str) -> tuple[MirroredSkill, ...]:
    """Write all skills of a lock, with their signatures, from the store. Skills of other locks in the mirror are kept.

    Raises:
        DistributionError: a skill or its signature is not in the store.
        IntegrityError: a skill in the store was changed.
        OSError: the directory cannot be written.
    """
    layout = ImageLayout(directory)
    os.makedirs(layout.directory, mode=0o755, exist_ok=True)
    with locked(os.path.join(layout.directory, ".mirror.lock")):
        rows = {mirrored_key(manifest): row for row, manifest in read_manifests(layout)}
        rows.pop(LOCK_KEY, None)
        refs = {row.annotations.get(oci.REF_NAME): key for key, row in rows.items()}
        mirrored: list[MirroredSkill] = []
        for skill in lock.skills:
            artifact = _artifact(skill, store)
            key = (skill.name, skill.tree)
            ref = _ref(skill)
            if refs.get(ref, key) != key:
                ref = f"{ref}-{_short(skill.tree)}"
            refs[ref] = key
            for data in (*artifact.blobs.values(), artifact.manifest):
                layout.add(data)
            row = descriptor(oci.MANIFEST_TYPE, artifact.manifest)
            rows[key] = replace(row, artifact_type=oci.SKILL_TYPE, annotations={oci.REF_NAME: ref})
            beside = kept_signatures(store, skill.tree, skill.name)
            _require_signature(skill, store.path(skill.tree, skill.name), beside)
            if beside:
                signed = _signatures(skill, beside, f"{ref}.signatures", layout)
                rows[skill.name, f"{SIGNATURE_TYPE} {skill.tree}"] = signed
            mirrored.append(
                MirroredSkill(
                    name=skill.name,
                    package=skill.package,
                    version=skill.version,
                    tree=skill.tree,
                    artifact=artifact.digest,
                    ref=ref,
                )
            )
        layout.replace_index((*(rows[key] for key in sorted(rows)), _mirrored_lock(lock, layout)))
    return tuple(mirrored)


def _artifact(skill: LockedSkill, store: SkillStore) -> OciArtifact:
    path = store.path(skill.tree, skill.name)
    if not os.path.isdir(path):
        raise DistributionError(f"{skill.name} is not in the store; run `prowess install` first")
    contents = read_skill_files(path)
    if contents.tree != skill.tree:
        raise IntegrityError(f"{skill.name} in the store", skill.tree, contents.tree)
    return oci_artifact(
        SkillPackage(
            name=skill.name,
            version=skill.version,
            description="",
            requires=skill.requires,
            allowed_tools=None,
            contents=contents,
        ),
        {TREE: skill.tree},
    )


def _require_signature(skill: LockedSkill, path: str, beside: Sequence[Signature]) -> None:
    """Refuse a skill without the signature of the signer whom the lock names: it could not be installed."""
    if skill.signer and not beside and signature_in(path) is None:
        reason = f"the store has no signature of {skill.name}, whose signer the lock names"
        raise DistributionError(f"{reason}; run `prowess update {skill.name}` first")


def _mirrored_lock(lock: Lockfile, layout: ImageLayout) -> oci.Descriptor:
    return _add(layout, LOCK_TYPE, [(LOCK_TYPE, render_lock(lock))], {}, LOCK_FILE)


def _signatures(skill: LockedSkill, found: Sequence[Signature], ref: str, layout: ImageLayout) -> oci.Descriptor:
    layers = [(f"{SIGNATURE_LAYER}{signature.kind}", signature.data) for signature in found]
    return _add(layout, SIGNATURE_TYPE, layers, {oci.NAME: skill.name, TREE: skill.tree}, ref)


def _add(
    layout: ImageLayout, kind: str, layers: Sequence[tuple[str, bytes]], annotations: Mapping[str, str], ref: str
) -> oci.Descriptor:
    rows = [descriptor(media_type, data) for media_type, data in layers]
    manifest = oci.render_manifest(descriptor(_EMPTY_TYPE, _EMPTY), rows, annotations, artifact_type=kind)
    for data in (_EMPTY, *(data for _, data in layers), manifest):
        layout.add(data)
    row = descriptor(oci.MANIFEST_TYPE, manifest)
    return replace(row, artifact_type=kind, annotations={oci.REF_NAME: ref})


def _ref(skill: LockedSkill) -> str:
    version = _short(skill.tree) if skill.version is None else skill.version.replace("+", "_")
    return _NOT_IN_REFS.sub("-", f"{skill.name}-{version}")


def _short(tree: str) -> str:
    return tree.removeprefix("sha256:")[:_DIGITS]
