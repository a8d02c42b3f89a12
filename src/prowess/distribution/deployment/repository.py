"""A deployment repository: the directory with signed metadata and archives of skills from which hosts are supplied.

    metadata/1.root.json …      which keys sign, and how many of the signers must
    metadata/N.targets.json     release N, signed by the signers
    metadata/N.snapshot.json    signed with the online key
    metadata/timestamp.json     the present state, signed with the online key; replacing it publishes a release
    targets/                    archives, named by digest
    pending.json, pending/      a release that has too few signatures, and its archives
    .well-known/agent-skills/   the registry of skills that `prowess publish` writes here
    online-key                  the path of the online key's file
    hosts/                      the report of each host

Only `metadata/` and `targets/` need to be served. The formats are those of The Update Framework (TUF).
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from prowess.distribution.deployment.permitted import changed_skills, deployment_facts
from prowess.distribution.deployment.release import SkillRelease, release_of, targets_of
from prowess.distribution.deployment.release_storage import DirectoryStorage
from prowess.distribution.deployment.signing_keys import key_id, require_tuf, tuf_signer
from prowess.distribution.publishing.directory_registry import DirectoryRegistry
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tuf.api.metadata import Metadata, Root, Snapshot, Targets, Timestamp  # of the extra

    from prowess.distribution.deployment.release_storage import ReleaseStorage
    from prowess.distribution.permission.permission import Permission
    from prowess.signing.keys import PrivateKey

ROOT_DAYS, TARGETS_DAYS, SNAPSHOT_DAYS, TIMESTAMP_DAYS = 1825, 365, 365, 7
_RENEW_DAYS = 30  # metadata that expires sooner is renewed
_MODE = 0o644

_NONE: Mapping[str, str] = MappingProxyType({})
DeployState = Literal["published", "pending", "unchanged"]


class DeployReport(Struct, frozen=True, kw_only=True):
    """The result for a release. `before` is the present one, `missing` the number of signatures that it needs."""

    release: SkillRelease
    before: SkillRelease
    state: DeployState
    signed_by: tuple[str, ...] = ()
    missing: int = 0


class DeploymentRepository:
    """A deployment repository for those who sign. Hosts read it with `prowess.distribution.deployment.client`.

    Its files are in `directory`, unless another `storage` is given. Then `directory` is only its name in messages.
    """

    def __init__(self, directory: str, storage: ReleaseStorage | None = None) -> None:
        self._storage = DirectoryStorage(directory) if storage is None else storage
        self.directory = self._storage.shown

    @property
    def exists(self) -> bool:
        """Whether there is a first root."""
        return self._storage.has("metadata/1.root.json")

    def path(self, *parts: str) -> str:
        """Return the path of a file of the repository, for messages if it is in a store."""
        return os.path.join(self.directory, *parts)

    def online_file(self) -> str:
        """Return the path of the online key's file as it was at `registry init`."""
        return self._bytes("online-key").decode("utf-8", "surrogateescape").strip()

    def present(self) -> SkillRelease | None:
        """Return the published release, or None if there is none yet. Raises DistributionError."""
        root = self._root()
        documents = self._published(root)
        return None if documents is None else release_of(self._targets(root, documents[1]).signed)

    def former(self, number: int) -> SkillRelease:
        """Return an earlier release. Raises DistributionError if it is not here or its signatures do not hold."""
        present = self.present()
        if present is None or not 1 <= number <= present.number:
            last = "no release" if present is None else f"releases 1 to {present.number}"
            raise DistributionError(f"{self.directory} has no release {number}; it has {last}")
        return release_of(self._verified(self._root(), f"{number}.targets.json", "targets").signed)

    def releases(self) -> Iterator[SkillRelease]:
        """Yield all releases that were published, the present one first. Raises DistributionError as `former`."""
        present = self.present()
        if present is None:
            return
        root = self._root()
        yield present
        for number in range(present.number - 1, 0, -1):
            yield release_of(self._verified(root, f"{number}.targets.json", "targets").signed)

    def pending(self) -> DeployReport | None:
        """Return the release that waits for signatures, and who signed it, or None. Raises DistributionError."""
        root, document = self._root(), self._pending()
        before = self.present() or SkillRelease(number=0)
        if document is None or document.signed.version != before.number + 1:
            return None
        return _report(root, document, before)

    def discard_pending(self) -> SkillRelease | None:
        """Remove the release that waits for signatures, and return it."""
        with self.exclusive():
            document = self._pending()
            self._storage.clear_pending()
            return None if document is None else release_of(document.signed)

    def release(
        self,
        change: Callable[[SkillRelease], SkillRelease] | None,
        artifacts: Mapping[str, bytes],
        keys: Sequence[PrivateKey],
        online: Callable[[], PrivateKey],
        permission: Permission,
        *,
        directories: Mapping[str, str] = _NONE,
    ) -> DeployReport:
        """Sign a new release, and publish it if it has enough signatures. Otherwise it is kept as pending.

        `change` returns the new content for the present one; None signs the release that is pending. `artifacts` are
        archives by their name below `targets/`. `online` returns the online key, if none of `keys` is that key. The
        policy is told about the files of skills in `directories`, by name.

        Raises:
            DistributionError: another release is pending, or none is; a key is no signer's; or the repository was
                changed by others.
            StoreError: the repository cannot be written. The present release was kept.
        """
        with self.exclusive():
            root = self._root()
            documents = self._published(root)
            present = None if documents is None else self._targets(root, documents[1])
            before = SkillRelease(number=0) if present is None else release_of(present.signed)
            pending = self._pending()
            if pending is not None and pending.signed.version != before.number + 1:
                self._storage.clear_pending()  # of a command that was killed after it had published this release
                pending = None
            document = self._proposed(change, before, present, pending)
            if document is None:
                return DeployReport(release=before, before=before, state="unchanged")
            wanted = release_of(document.signed)
            signer_ids, online_ids = root.signed.roles["targets"].keyids, root.signed.roles["timestamp"].keyids
            for key in keys:
                if key_id(key.public) in signer_ids:
                    document.sign(tuf_signer(key), append=True)
                elif key_id(key.public) not in online_ids:
                    raise DistributionError(f"the key {key.public.fingerprint} is no signer of {self.directory}")

            def work() -> DeployReport:
                for name, data in artifacts.items():
                    self._write(("pending", name), data)
                self._write(("pending.json",), document.to_bytes())
                report = _report(root, document, before)
                if report.missing:
                    return report
                given = next((key for key in keys if key_id(key.public) in online_ids), None)
                self._publish(root, document, documents, given or online())
                self._storage.commit()
                return replace(report, state="published")

            changed = changed_skills(before, wanted)
            facts = [
                (permission.tool, deployment_facts(skill, self.directory, directories.get(skill.name)))
                for skill in changed
            ]
            return permission.carry_out(facts, work)

    def refresh(self, online: PrivateKey, root_key: PrivateKey | None = None) -> datetime | None:
        """Sign the timestamp anew, and the root if its key is given. Return when the timestamp expires, None without.

        An index that is not the signed one is replaced by it.

        Raises:
            DistributionError: a key is not the one of its role, or a published artifact is missing.
            IntegrityError: a published artifact was changed.
        """
        with self.exclusive():
            root = self._root()
            if root_key is not None:
                root.signed.version += 1
                root.signed.expires = in_days(ROOT_DAYS)
                root.sign(tuf_signer(root_key))
                self._require(root, root, "root", root_key)
                self._write(("metadata", f"{root.signed.version}.root.json"), root.to_bytes())
            documents = self._published(root)
            if documents is None:
                return None
            timestamp, snapshot = documents
            if (index := release_of(self._targets(root, snapshot).signed).index) is not None:
                self._storage.place_index(index)
                DirectoryRegistry(self.directory).refresh()
            if _expires_soon(snapshot.signed.expires):
                timestamp.signed.snapshot_meta.version += 1
                snapshot.signed.version += 1
                snapshot.signed.expires = in_days(SNAPSHOT_DAYS)
                self._sign(root, snapshot, "snapshot", online)
            self._sign_timestamp(root, timestamp, online)
            self._storage.commit(is_act=False)
            return timestamp.signed.expires

    def ends_within(self, days: int) -> bool:
        """Whether the timestamp of the present release expires within so many days. Raises DistributionError."""
        documents = self._published(self._root())
        return documents is not None and documents[0].signed.expires < in_days(days)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Let no other command change the repository. Raises DistributionError if there is none, StoreError."""
        self._require_exists()
        with self._storage.exclusive():
            yield

    def _proposed(
        self,
        change: Callable[[SkillRelease], SkillRelease] | None,
        before: SkillRelease,
        present: Metadata[Targets] | None,
        pending: Metadata[Targets] | None,
    ) -> Metadata[Targets] | None:
        """Return the metadata to sign: the pending one, or a new one; None if nothing would change."""
        from tuf.api.metadata import Metadata, Targets  # of the extra

        if change is None:
            if pending is None:
                raise DistributionError(f"no release is pending in {self.directory}; name the skills to deploy")
            return pending
        after = change(before)
        wanted = replace(
            after, number=before.number + 1, skills=tuple(sorted(after.skills, key=lambda skill: skill.name))
        )
        if pending is not None:
            if release_of(pending.signed) != wanted:
                raise DistributionError(
                    f"release {wanted.number} with other content is pending in {self.directory}; sign that one "
                    "(deploy without PATH), or drop it (deploy --discard)"
                )
            return pending
        is_same = (wanted.skills, wanted.index) == (before.skills, before.index)
        if present is not None and is_same and not _expires_soon(present.signed.expires):
            return None
        return Metadata(Targets(version=wanted.number, expires=in_days(TARGETS_DAYS), targets=targets_of(wanted)))

    def _publish(
        self,
        root: Metadata[Root],
        targets: Metadata[Targets],
        documents: tuple[Metadata[Timestamp], Metadata[Snapshot]] | None,
        online: PrivateKey,
    ) -> None:
        """Write archives, targets and snapshot, then the timestamp, which is the moment of publication."""
        from tuf.api.metadata import Metadata, MetaFile, Snapshot, Timestamp  # of the extra

        release = release_of(targets.signed)
        for skill in release.skills:
            if self._has("pending", skill.file):
                self._write(("targets", skill.file), self._bytes("pending", skill.file))
            elif not self._has("targets", skill.file):
                place = self.path("targets", skill.file)
                raise DistributionError(f"{place} is missing; deploy {skill.name} again by its path")
        if release.index is not None:
            self._storage.place_index(release.index)
        self._write(("metadata", f"{release.number}.targets.json"), targets.to_bytes())
        timestamp, snapshot = documents or (Metadata(Timestamp()), Metadata(Snapshot()))
        if documents is not None:
            snapshot.signed.version += 1
        snapshot.signed.expires = in_days(SNAPSHOT_DAYS)
        snapshot.signed.meta["targets.json"] = MetaFile(release.number)
        self._sign(root, snapshot, "snapshot", online)
        timestamp.signed.snapshot_meta = MetaFile(snapshot.signed.version)
        if documents is None:
            timestamp.signed.version = 0
        self._sign_timestamp(root, timestamp, online)
        with suppress(OSError):  # the release is published, and the next command forgets that it was pending
            self._storage.clear_pending()

    def _sign_timestamp(self, root: Metadata[Root], timestamp: Metadata[Timestamp], online: PrivateKey) -> None:
        timestamp.signed.version += 1
        timestamp.signed.expires = in_days(TIMESTAMP_DAYS)
        timestamp.sign(tuf_signer(online))
        self._require(root, timestamp, "timestamp", online)
        self._write(("metadata", "timestamp.json"), timestamp.to_bytes())

    def _sign(self, root: Metadata[Root], snapshot: Metadata[Snapshot], role: str, online: PrivateKey) -> None:
        snapshot.sign(tuf_signer(online))
        self._require(root, snapshot, role, online)
        self._write(("metadata", f"{snapshot.signed.version}.snapshot.json"), snapshot.to_bytes())

    def _require(self, root: Metadata[Root], document: Metadata[Any], role: str, key: PrivateKey) -> None:
        from tuf.api.exceptions import RepositoryError  # of the extra

        try:
            root.verify_delegate(role, document)
        except RepositoryError:
            fingerprint = key.public.fingerprint
            raise DistributionError(f"the key {fingerprint} is not the {role} key of {self.directory}") from None

    def _published(self, root: Metadata[Root]) -> tuple[Metadata[Timestamp], Metadata[Snapshot]] | None:
        if not self._has("metadata", "timestamp.json"):
            return None
        timestamp = self._verified(root, "timestamp.json", "timestamp")
        snapshot = self._verified(root, f"{timestamp.signed.snapshot_meta.version}.snapshot.json", "snapshot")
        return timestamp, snapshot

    def _targets(self, root: Metadata[Root], snapshot: Metadata[Snapshot]) -> Metadata[Targets]:
        return self._verified(root, f"{snapshot.signed.meta['targets.json'].version}.targets.json", "targets")

    def _root(self) -> Metadata[Root]:
        require_tuf()
        number = 1
        self._require_exists()
        root = self._parsed("1.root.json")
        self._check(root, root, "root", "1.root.json")
        while self._has("metadata", f"{number + 1}.root.json"):
            number += 1
            after = self._parsed(f"{number}.root.json")
            for judge in (root, after):
                self._check(judge, after, "root", f"{number}.root.json")
            root = after
        return root

    def _require_exists(self) -> None:
        if not self.exists:
            raise DistributionError(f"{self.directory} is no deployment; `prowess registry init` makes one")

    def _verified(self, root: Metadata[Root], name: str, role: str) -> Metadata[Any]:
        document = self._parsed(name)
        self._check(root, document, role, name)
        return document

    def _check(self, root: Metadata[Root], document: Metadata[Any], role: str, name: str) -> None:
        from tuf.api.exceptions import RepositoryError  # of the extra

        try:
            root.verify_delegate(role, document)
        except (RepositoryError, ValueError, TypeError, AttributeError):
            raise DistributionError(
                f"{self.path('metadata', name)} does not have the signatures that it needs; restore it from a copy"
            ) from None

    def _parsed(self, name: str) -> Metadata[Any]:
        return self._document(self._bytes("metadata", name), self.path("metadata", name))

    def _document(self, data: bytes, path: str) -> Metadata[Any]:
        from tuf.api.exceptions import RepositoryError  # of the extra
        from tuf.api.metadata import Metadata

        try:
            return Metadata.from_bytes(data)
        except RepositoryError:
            raise DistributionError(f"{path} is no metadata; restore it from a copy") from None

    def _pending(self) -> Metadata[Targets] | None:
        if not self._has("pending.json"):
            return None
        return self._document(self._bytes("pending.json"), self.path("pending.json"))

    def _write(self, parts: tuple[str, ...], data: bytes) -> None:
        self._storage.write("/".join(parts), data)

    def _bytes(self, *parts: str) -> bytes:
        return self._storage.read("/".join(parts))

    def _has(self, *parts: str) -> bool:
        return self._storage.has("/".join(parts))


def _report(root: Metadata[Root], document: Metadata[Targets], before: SkillRelease) -> DeployReport:
    result = root.signed.get_verification_result("targets", document.signed_bytes, document.signatures)
    return DeployReport(
        release=release_of(document.signed),
        before=before,
        state="pending",
        signed_by=tuple(sorted(f"sha256:{one}" for one in result.signed)),
        missing=max(0, root.signed.roles["targets"].threshold - len(result.signed)),
    )


def in_days(days: int) -> datetime:
    """Return the time after so many days, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)


def _expires_soon(expires: datetime) -> bool:
    return expires < in_days(_RENEW_DAYS)
