"""Verifies a deployment repository and unpacks its present release: the one verifier of deployments.

The client of python-tuf checks signatures, thresholds, expiry and version numbers. Everything is done in a private
directory, so that a host is only changed after all of it was verified.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from prowess.distribution.deployment.origin import SourceFetcher
from prowess.distribution.deployment.release import release_of
from prowess.distribution.deployment.signing_keys import require_tuf
from prowess.distribution.installation.disk.store import tree_at
from prowess.distribution.installation.disk.trees import copy_tree
from prowess.distribution.sources.archives.unpacking import unpack_archive
from prowess.errors import DistributionError, IntegrityError

if TYPE_CHECKING:
    from tuf.api.metadata import Targets
    from tuf.ngclient import FetcherInterface

    from prowess.distribution.deployment.origin import DeploymentSource
    from prowess.distribution.deployment.release import ReleasedSkill, SkillRelease

ROOT_HISTORY = "root_history"  # the client keeps each root there


class ReleaseClient:
    """The client of one host. `metadata` is a private directory with the metadata that was verified last."""

    def __init__(self, origin: DeploymentSource, metadata: str, root: bytes) -> None:
        self._origin, self._metadata, self._root = origin, metadata, root

    def release(self) -> SkillRelease:
        """Fetch and verify the metadata, and return the present release.

        Raises:
            UnavailableError: the source cannot be reached, or has no release.
            DistributionError, LimitExceededError, UnsafePathError: the metadata is refused.
        """
        require_tuf()
        from tuf.api.exceptions import DownloadError, RepositoryError  # of the extra
        from tuf.api.metadata import Metadata
        from tuf.ngclient import Updater

        try:
            fetcher = cast("FetcherInterface", SourceFetcher(self._origin))  # its base class is in the extra
            updater = Updater(self._metadata, "metadata/", fetcher=fetcher, bootstrap=self._root)
            updater.refresh()
            targets: Metadata[Targets] = Metadata.from_file(os.path.join(self._metadata, "targets.json"))
            return release_of(targets.signed)
        except (RepositoryError, DownloadError) as fault:
            raise DistributionError(f"{self._origin.shown}: {_reason(fault)}") from fault
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
            raise DistributionError(f"{self._origin.shown}: its metadata is damaged") from fault

    def unpack(self, release: SkillRelease, into: str, before: str | None) -> None:
        """Write each skill of a verified release into the directory `into`, readable by everybody.

        Skills that the directory `before` has with the same digest are copied and not fetched.

        Raises:
            IntegrityError: an archive or a tree has another digest than the release states.
            UnavailableError, DistributionError, LimitExceededError, UnsafePathError: as `release`.
            OSError: it cannot be written.
        """
        for skill in release.skills:
            place = os.path.join(into, skill.name)
            present = None if before is None else os.path.join(before, skill.name)
            if present is not None and tree_at(present) == skill.tree:
                copy_tree(present, place)
            else:
                self._fetch(skill, into)
            for directory, _, files in os.walk(place):
                let_everybody_read(directory)
                for name in files:
                    let_everybody_read(os.path.join(directory, name))
            if (actual := tree_at(place)) != skill.tree:
                raise IntegrityError(place, skill.tree, str(actual))

    def _fetch(self, skill: ReleasedSkill, into: str) -> None:
        data = self._origin.read(f"targets/{skill.file}", skill.size)
        if data is None:
            raise DistributionError(f"{self._origin.shown} has no targets/{skill.file}, which its release names")
        place = f"{self._origin.shown}/targets/{skill.file}"
        unpack_archive(data, into, skill.name, what=place, digest=f"sha256:{skill.artifact}")


def let_everybody_read(path: str) -> None:
    """Let everybody read a file or directory, whatever the umask is, and nobody but the owner write."""
    os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)


def newest_root(metadata: str) -> bytes | None:
    """Return the newest root that a host has verified, None if it trusts none yet."""
    history = os.path.join(metadata, ROOT_HISTORY)
    try:
        numbers = [int(name.partition(".")[0]) for name in os.listdir(history) if name.endswith(".root.json")]
        with open(os.path.join(history, f"{max(numbers)}.root.json"), "rb") as file:
            return file.read()
    except (FileNotFoundError, ValueError):
        return None


def has_root(metadata: str, root: bytes) -> bool:
    """Whether a root is one of those that a host has verified."""
    history = os.path.join(metadata, ROOT_HISTORY)
    for name in os.listdir(history):
        with open(os.path.join(history, name), "rb") as file:
            if file.read() == root:
                return True
    return False


def copy_metadata(source: str, into: str) -> None:
    """Copy verified metadata into a private directory. Nothing is copied if there is none yet."""
    if os.path.isdir(source):
        copy_tree(source, into)
    else:
        os.mkdir(into, 0o700)


def _reason(fault: Exception) -> str:
    """Return the reason of python-tuf in plain words."""
    from tuf.api.exceptions import (  # of the extra
        BadVersionNumberError,
        ExpiredMetadataError,
        LengthOrHashMismatchError,
        UnsignedMetadataError,
    )

    match fault:
        case UnsignedMetadataError():
            return f"the metadata does not have the signatures that it needs ({fault})"
        case ExpiredMetadataError():
            return f"the metadata has expired ({fault}); its owner renews it with `prowess registry refresh`"
        case BadVersionNumberError():
            return f"the metadata is older than that of this host, or does not belong together ({fault})"
        case LengthOrHashMismatchError():
            return f"the metadata does not belong together ({fault})"
        case _:
            return f"the metadata is refused ({fault})"
