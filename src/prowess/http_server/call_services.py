"""Services that need more than the call: the key of the organisation, or the files of deployed skills."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from prowess._internal.files.tree_digest import read_tree
from prowess.distribution.deployment.release_storage import SharedStorage
from prowess.distribution.deployment.repository import DeploymentRepository
from prowess.distribution.deployment.store_releases import StoreReleases
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.errors import SkillError
from prowess.execution.interpreters import has_interpreter
from prowess.format.reading import read_skill
from prowess.governance.service.approvals import ApprovalService
from prowess.governance.service.deployments import DeploymentService
from prowess.policy.facts.capabilities import file_facts
from prowess.store.shared.deployers import SharedDeployerStore
from prowess.store.shared.release_files import SharedReleaseFiles
from prowess.store.tenants import EVERY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from prowess.audit.transparency.sequencer import LogSigner
    from prowess.distribution.deployment.release import ReleasedSkill
    from prowess.governance.service.service_call import ServiceCall

_MOST_BYTES = 16 * 1024 * 1024  # of the files of a skill that a page compares


class CallServices:
    """Services for one call. `signer` has the key of the organisation, None if that is not on this machine."""

    def __init__(self, call: ServiceCall, signer: LogSigner | None) -> None:
        self._call, self._key = call, None if signer is None else signer.key

    def deployments(self) -> DeploymentService:
        """Return the deployment of the tenant."""
        return DeploymentService(self._call, StoreReleases(self._call, self._key))

    def contents(self, tree: str) -> Mapping[str, bytes] | None:
        """Return the files of a skill by path, if a release of the tenant or the organisation has this tree digest.

        Raises:
            DistributionError: the deployment is damaged.
            StoreError: the store cannot be used.
        """
        return next((self.unpacked(files, skill) for files, skill in self._with_tree(tree)), None)

    def approvals(self) -> ApprovalService:
        """Return the questions to people, with the capabilities of deployed skills."""
        return ApprovalService(self._call, self.capabilities)

    def capabilities(self, tree: str, script_dirs: Sequence[str]) -> tuple[str, ...] | None:
        """Return the capabilities of a released skill; None if it is not here, or cannot be read."""
        with suppress(SkillError):
            for files, skill in self._with_tree(tree):
                if (archive := files.read(f"targets/{skill.file}")) is not None:
                    return _capabilities_in(archive, skill, script_dirs)
        return None

    def present(self) -> Iterator[tuple[SharedReleaseFiles, ReleasedSkill]]:
        """Yield the skills of the present releases, and where their archives are. Raises as `contents`."""
        return self._released(only_present=True)

    def unpacked(self, files: SharedReleaseFiles, skill: ReleasedSkill) -> Mapping[str, bytes] | None:
        """Return the files of a released skill by path; None if they are too large, or are not here."""
        archive = files.read(f"targets/{skill.file}")
        return None if archive is None else _unpacked(archive, skill)

    def _with_tree(self, tree: str) -> Iterator[tuple[SharedReleaseFiles, ReleasedSkill]]:
        """Yield the skills of releases with this digest, of the newest first.

        Each release is verified before its skills are known; none is if nobody deployed this digest.
        """
        if SharedDeployerStore(self._call.database).deployers(tree):
            yield from (pair for pair in self._released(only_present=False) if pair[1].tree == tree)

    def _released(self, *, only_present: bool) -> Iterator[tuple[SharedReleaseFiles, ReleasedSkill]]:
        for tenant in dict.fromkeys((self._call.tenant, EVERY)):
            files = SharedReleaseFiles(self._call.database, tenant)
            repository = DeploymentRepository("", SharedStorage(files))
            if not repository.exists:
                continue
            for release in islice(repository.releases(), 1 if only_present else None):
                for skill in release.skills:
                    yield files, skill


def _capabilities_in(archive: bytes, skill: ReleasedSkill, script_dirs: Sequence[str]) -> tuple[str, ...] | None:
    with TemporaryDirectory(prefix="prowess-pages-") as place:
        unpack_archive(archive, place, "skill", what=skill.target)
        found = read_skill(os.path.join(place, "skill"))
        return file_facts(found, script_dirs, has_interpreter)["capabilities"] if found.digest == skill.tree else None


def _unpacked(archive: bytes, skill: ReleasedSkill) -> dict[str, bytes] | None:
    with TemporaryDirectory(prefix="prowess-pages-") as place:
        unpack_archive(archive, place, "skill", what=skill.target)
        root = os.path.join(place, "skill")
        records = read_tree(root).files
        if sum(record.size for record in records) > _MOST_BYTES:
            return None
        found = {}
        for record in records:  # paths of a tree that was unpacked here, without links
            with open(os.path.join(root, *record.path.split("/")), "rb") as file:
                found[record.path] = file.read()
        return found
