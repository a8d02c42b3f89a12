"""The index of a registry in a deployment repository: a target of its releases, so that nobody can change or hide it.

`targets/<digest>.index.json` is the signed index. The same bytes are at the place where readers that know nothing of
signatures find it, `.well-known/agent-skills/index.json`. Its artifacts need no signatures of their own, because the
index has the digest of each.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING
from urllib.parse import unquote

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.deployment.release import ReleasedIndex
from prowess.distribution.publishing.directory_registry import DirectoryRegistry, entries_of
from prowess.errors import DistributionError, IntegrityError

if TYPE_CHECKING:
    from prowess.distribution.sources.index.document import IndexEntry


def released_index(data: bytes) -> ReleasedIndex:
    """Return the target for an index."""
    return ReleasedIndex(sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def signed_entries(directory: str, index: ReleasedIndex | None, folder: str = "targets") -> dict[str, IndexEntry]:
    """Return the skills of a signed index in `targets/` or `pending/` by name; of the unsigned one if `index` is None.

    Raises:
        DistributionError: it cannot be read, or is not the one that was signed.
    """
    if index is None:
        return DirectoryRegistry(directory).entries()
    path = os.path.join(directory, folder, index.file)
    return entries_of(_signed(path, index), path)


def draft_name(path: str) -> str:
    """Return the name in `pending/` of the artifact at this path beside the index."""
    return os.path.basename(path)


def place_index(directory: str, index: ReleasedIndex) -> None:
    """Write an index that has its signatures, with the artifacts that wait in `pending/`, before it is published.

    Raises:
        IntegrityError: a file in `pending/` was changed.
        DistributionError: an artifact is there with other bytes.
    """
    draft, target = (os.path.join(directory, folder, index.file) for folder in ("pending", "targets"))
    data = _signed(draft if os.path.exists(draft) else target, index)
    files: dict[str, bytes] = {}
    for entry in entries_of(data, draft).values():
        for artifact in entry.artifacts:
            path = unquote(artifact.url)
            place = os.path.join(directory, "pending", draft_name(path))
            if os.path.exists(place):
                with open(place, "rb") as file:
                    files[path] = file.read()
                if (actual := sha256_of(files[path])) != artifact.digest:
                    raise IntegrityError(place, artifact.digest, actual)
    write_atomically(target, data, 0o644)
    DirectoryRegistry(directory).place(files, data)


def _signed(path: str, index: ReleasedIndex) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as fault:
        raise DistributionError(f"{path} cannot be read: {fault.strerror}") from None
    if released_index(data) != index:
        raise IntegrityError(path, f"sha256:{index.sha256}", sha256_of(data))
    return data
