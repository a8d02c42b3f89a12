"""A directory on this machine as a source. Its skills are copied, so later edits do not change what was installed."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.open_flags import Closing
from prowess._internal.files.tree_digest import FileRecord, read_tree
from prowess.distribution.sources.found_skills import find_skills
from prowess.distribution.sources.protocol import CHECK_PATH
from prowess.distribution.sources.staged_tree import StagedTree
from prowess.errors import DistributionError, UnavailableError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.distribution.sources.protocol import Access, Fetched, Offer
    from prowess.lockfile.source_reference import SourceReference

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


class LocalDirectory(Closing):
    """The skills in a directory (`SkillSource`)."""

    contacted: tuple[str, ...] = ()

    def __init__(self, reference: SourceReference, scratch: str, access: Access) -> None:
        del scratch, access  # nothing is written before `fetch`, and nothing is contacted
        self.reference = reference
        self.problems: tuple[str, ...] = ()

    def versions(self) -> tuple[str, ...]:
        """Return no versions: a directory has one state."""
        return ()

    def offers(self, version: str | None = None) -> tuple[Offer, ...]:
        """Return the skills in the directory as it is now, those with this version if one is given."""
        directory = self.reference.location
        if not os.path.isdir(directory):
            reason = "it is not a directory" if os.path.lexists(directory) else "it does not exist"
            raise UnavailableError(directory, None, reason, CHECK_PATH)
        found, self.problems = find_skills(directory, os.path.basename(directory) or None)
        return with_version(found, version, str(self.reference))

    def fetch(self, offer: Offer, into: str) -> Fetched:
        """Copy the skill. See `SkillSource.fetch`."""
        staged = copy_skill(os.path.join(self.reference.location, offer.path), into, offer.name)
        return staged.fetched(offer, self.reference.source)

    def close(self) -> None:
        """Do nothing: nothing is kept open."""


def with_version(offers: tuple[Offer, ...], version: str | None, what: str) -> tuple[Offer, ...]:
    """Return the offers with this version, or all if it is None.

    Raises:
        DistributionError: there are offers, but none with this version.
    """
    if version is None:
        return offers
    chosen = tuple(offer for offer in offers if offer.version == version)
    if offers and not chosen:
        known = ", ".join(sorted({offer.version for offer in offers if offer.version})) or "none"
        message = f"{what} has no skill with the version {version!r}; versions there: {known}"
        raise DistributionError(message)
    return chosen


def copy_skill(skill: str, into: str, name: str) -> StagedTree:
    """Copy the skill's directory to `into/<name>`.

    A link to a file of the same skill becomes a copy of that file.

    Raises:
        UnsafePathError: the skill has another link, a pipe, a socket, a device or an unsafe path.
        LimitExceededError: too many files, bytes or levels.
        IntegrityError: a file was changed while it was copied.
        UnavailableError: the skill cannot be read.
    """
    try:
        manifest = read_tree(skill)
        with ContainedRoot(skill) as root, StagedTree(into, name) as staged:
            for record, path in _files(manifest, os.path.realpath(skill)):
                staged.copy(root, record, path=path)
    except OSError as fault:
        if fault.errno in _NO_SPACE or str(fault.filename).startswith(os.path.abspath(into)):
            raise  # the copy cannot be written; the skill can be read
        raise UnavailableError(skill, None, fault.strerror or str(fault)) from fault
    return staged


def _files(manifest: TreeManifest, root: str) -> Iterator[tuple[FileRecord, str]]:
    """Yield each file's record, and the path at which its bytes are."""
    for record in (*manifest.files, *([manifest.signature] if manifest.signature else [])):
        yield record, record.path
    for path in manifest.obstacles:
        target = os.path.realpath(f"{root}/{path}")
        found = manifest.find(target[len(root) + 1 :]) if target.startswith(f"{root}/") else None
        if found is None or not os.path.islink(f"{root}/{path}"):
            reason = "it is a link, or no regular file that can be read; put the file itself there"
            raise UnsafePathError(path, f"in the skill {os.path.basename(root)!r}: {reason}")
        yield FileRecord(path=path, executable=found.executable, size=found.size, sha256=found.sha256), found.path
