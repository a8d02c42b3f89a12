"""What was on disk when a skill was loaded: its body and the hash of each of its files.

A store keeps digests only, so another process builds the manifest again and believes it when the digest agrees. A body
is kept under the digest it was read under: the text in the instructions is the text that was loaded, or none.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.open_flags import READ
from prowess._internal.files.tree_digest import read_tree
from prowess.catalog.entry import signature_of
from prowess.errors import DigestChangedError, SkillError, UnavailableError
from prowess.format.fields.extended_fields import extended_fields
from prowess.format.limits import COMMAND_MARK, MAX_DOCUMENT_BYTES
from prowess.runtime.state import ActiveSkill

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.catalog import Catalog
    from prowess.catalog.entry import SkillEntry
    from prowess.format.fields.extended_fields import ExtendedFields
    from prowess.format.manifest.manifest import Sidecar
    from prowess.format.skill import Skill

_KEPT = 64  # more than any session has active skills


class Snapshot(Struct, frozen=True, kw_only=True):
    """One skill at one moment: hashes, facts and texts belong together; `text` is the whole file as written.

    `sidecar` is what its `skill.manifest.yaml` says, `fields` are those of the front matter that the runtime obeys.
    `is_plain`: it has no hooks, no tools or order to look after, and no commands, so nothing has to be done before it
    comes into force.
    """

    skill: ActiveSkill
    manifest: TreeManifest
    body: str
    text: str
    sidecar: Sidecar
    fields: ExtendedFields
    is_plain: bool


class _Taken(Struct, kw_only=True):
    """A snapshot, what it was made from, and signature and digest of SKILL.md as it was then."""

    skill: Skill
    snapshot: Snapshot
    seen: tuple[int, str] | None = None


class Snapshots:
    """Bodies and manifests of this process, for one session. Methods may read the disk and block."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._bodies: dict[tuple[str, str], str] = {}
        self._manifests: dict[tuple[str, str], TreeManifest] = {}
        self._taken: dict[str, _Taken] = {}  # the texts in it are those that the catalog keeps
        self._seen: dict[str, tuple[int, str]] = {}  # location -> signature and digest of the file as last looked at

    def take(self, name: str, location: str | None = None) -> Snapshot:
        """Read a listed skill as it is now.

        Raises:
            SkillNotFoundError: the catalog does not list it.
            SkillParseError: it can no longer be read as a skill.
            UnavailableError: it changes faster than it can be read.
        """
        signature = _signature_of(self._catalog.get(name, location).location)  # before it is read: never too new
        skill = self._catalog.skill(name, location)
        taken = _Taken(skill=skill, snapshot=_snapshot(self._catalog.get(name, skill.location), skill))
        if signature is not None:
            taken.seen = (signature, skill.document_digest)
        if len(self._taken) >= _KEPT:
            self._taken.pop(next(iter(self._taken)), None)
        self._taken[taken.snapshot.skill.location] = taken
        self._remember(taken)
        return taken.snapshot

    def retake(self, entry: SkillEntry) -> Snapshot | None:
        """Return what `take` returned before, where a few calls of `stat` show that nothing has moved since.

        None says only that `take` has to look for itself. Does not block.
        """
        taken = self._taken.get(entry.location)
        if taken is None or taken.skill is not self._catalog.at_rest(entry):
            return None
        self._remember(taken)
        return taken.snapshot

    def _remember(self, taken: _Taken) -> None:
        self.keep(taken.snapshot)
        if taken.seen is not None:
            self._seen[taken.snapshot.skill.location] = taken.seen

    def keep(self, snapshot: Snapshot) -> None:
        """Remember a snapshot that was taken here, or by another session."""
        skill = snapshot.skill
        self._bodies[skill.location, skill.document_digest] = snapshot.body
        self._manifests[skill.location, skill.content_digest] = snapshot.manifest

    def body(self, skill: ActiveSkill) -> str | None:
        """Return the body that was loaded, or None where the disk no longer has it and this process never read it."""
        known = self._bodies.get((skill.location, skill.document_digest))
        if known is not None:
            return known
        try:
            found = self._catalog.skill(skill.name, skill.location)
        except SkillError:
            return None
        if found.document_digest != skill.document_digest:
            return None
        self._bodies[skill.location, skill.document_digest] = found.body
        return found.body

    def is_touched(self, skill: ActiveSkill) -> bool:
        """Tell whether SKILL.md is no longer what was loaded; it is read only where its signature is a new one."""
        signature = _signature_of(skill.location)
        if signature is None:
            return True
        try:
            known = self._seen.get(skill.location)
            if known is None or known[0] != signature:
                known = (signature, _digest_of(skill.location))
                self._seen[skill.location] = known
        except OSError:
            return True
        return known[1] != skill.document_digest

    def is_edited(self, skill: ActiveSkill) -> bool:
        """Tell whether the files on disk are no longer those that were loaded."""
        try:
            return _read_tree(skill.name, skill.root_dir).content_digest != skill.content_digest
        except UnavailableError:
            return False

    def manifest(self, skill: ActiveSkill) -> TreeManifest:
        """Return the hashes under which the skill was loaded.

        Raises:
            DigestChangedError: this process does not know them and the files are no longer the same.
            UnavailableError: the directory cannot be read.
        """
        known = self._manifests.get((skill.location, skill.content_digest))
        if known is not None:
            return known
        manifest = _read_tree(skill.name, skill.root_dir)
        if manifest.content_digest != skill.content_digest:
            raise DigestChangedError(skill.name, ".")
        self._manifests[skill.location, skill.content_digest] = manifest
        return manifest

    def keep_only(self, skills: Iterable[ActiveSkill]) -> None:
        """Forget what belongs to no active skill."""
        active = tuple(skills)
        if len(active) == len(self._bodies) == len(self._manifests) == len(self._seen):
            return  # as after nearly every load; and no more is kept than is active, whoever made it so
        bodies = {(skill.location, skill.document_digest) for skill in active}
        manifests = {(skill.location, skill.content_digest) for skill in active}
        self._bodies = {key: body for key, body in self._bodies.items() if key in bodies}
        self._manifests = {key: manifest for key, manifest in self._manifests.items() if key in manifests}
        self._seen = {skill.location: seen for skill in active if (seen := self._seen.get(skill.location)) is not None}


def _snapshot(entry: SkillEntry, skill: Skill) -> Snapshot:
    manifest = skill.manifest
    active = ActiveSkill(
        name=entry.name,
        key=entry.key,
        location=entry.location,
        root_dir=entry.root_dir,
        digest=skill.digest,
        content_digest=manifest.content_digest,
        document_digest=skill.document_digest,
        obstacle=manifest.obstacles[0] if manifest.obstacles else None,
        properties=skill.frontmatter.properties(),
        conflicts=() if skill.sidecar.composition is None else skill.sidecar.composition.conflicts,
    )
    sidecar, fields = skill.sidecar, extended_fields(active.properties)
    bound = sidecar.tools is not None or sidecar.composition is not None or bool(sidecar.faults)
    hooked = bool(fields.hooks.entries) or not fields.hooks.complete
    return Snapshot(
        skill=active,
        manifest=manifest,
        body=skill.body,
        text=skill.document.text,
        sidecar=sidecar,
        fields=fields,
        is_plain=not (bound or hooked or COMMAND_MARK in skill.body),
    )


def _signature_of(location: str) -> int | None:
    try:
        return signature_of(os.lstat(location))
    except OSError:
        return None


def _digest_of(location: str) -> str:
    descriptor = os.open(location, READ)
    with open(descriptor, "rb") as file:
        return f"sha256:{hashlib.sha256(file.read(MAX_DOCUMENT_BYTES + 1)).hexdigest()}"


def _read_tree(name: str, root: str) -> TreeManifest:
    try:
        return read_tree(root)
    except OSError as fault:
        raise UnavailableError(f"the directory of skill {name!r}", reason=fault.strerror) from fault
