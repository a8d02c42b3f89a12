"""Where the files of a deployment repository are kept: a directory, or the rows of a shared store.

A release is published as a whole: in a directory by the replacement of its timestamp, which is written last; in a store
by one transaction.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from prowess._internal.files.atomic_write import remove_drafts, write_atomically
from prowess._internal.files.file_lock import locked
from prowess.distribution.deployment.signed_index import place_index
from prowess.distribution.installation.disk.staging import nothing_changed
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from prowess.distribution.deployment.release import ReleasedIndex
    from prowess.store.shared.release_files import SharedReleaseFiles

TIMESTAMP = "metadata/timestamp.json"
_MODE = 0o644
LOCK = ".deploy.lock"
_PENDING = "pending.json"


class ReleaseStorage(Protocol):
    """Files by their paths below the repository, with `/`. `shown` is its name in messages.

    Raises:
        DistributionError: by `read`, if the file cannot be read; by `commit`, if others changed the repository.
        StoreError: by every operation, if the storage cannot be used. The present release was kept.
    """

    shown: str

    def has(self, path: str) -> bool:
        """Whether there is a file."""

    def read(self, path: str) -> bytes:
        """Return the content of a file, which must be there."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file. It counts at the latest with `commit`."""

    def clear_pending(self) -> None:
        """Remove the release that waits for signatures, and its archives."""

    def place_index(self, index: ReleasedIndex) -> None:
        """Publish the signed index of a registry, with the artifacts that wait beside it."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Let no other program change the repository, or notice it at `commit`."""

    def commit(self, *, is_act: bool = True) -> None:
        """Make everything that was written hold. `is_act` states whether the deployed skills may change by it."""


class DirectoryStorage:
    """A `ReleaseStorage` in a directory. `exclusive` takes a lock, which waits for other commands."""

    def __init__(self, directory: str) -> None:
        self.shown = os.path.abspath(directory)

    def path(self, path: str) -> str:
        """Return the path of a file in the file system."""
        return os.path.join(self.shown, path)

    def has(self, path: str) -> bool:
        """See `ReleaseStorage`."""
        return os.path.lexists(self.path(path))

    def read(self, path: str) -> bytes:
        """See `ReleaseStorage`."""
        try:
            with open(self.path(path), "rb") as file:
                return file.read()
        except OSError as fault:
            raise DistributionError(f"{self.path(path)} cannot be read: {fault.strerror}") from None

    def write(self, path: str, data: bytes) -> None:
        """See `ReleaseStorage`."""
        os.makedirs(os.path.dirname(self.path(path)), mode=0o755, exist_ok=True)
        write_atomically(self.path(path), data, _MODE)

    def clear_pending(self) -> None:
        """See `ReleaseStorage`."""
        if os.path.exists(self.path(_PENDING)):
            os.unlink(self.path(_PENDING))
        folder = self.path("pending")
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)

    def place_index(self, index: ReleasedIndex) -> None:
        """See `ReleaseStorage`."""
        place_index(self.shown, index)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """See `ReleaseStorage`."""
        with nothing_changed(self.shown, "the present release was kept"), locked(self.path(LOCK)):
            for directory in (self.shown, *map(self.path, ("metadata", "targets", "pending"))):
                remove_drafts(directory)
            if not os.path.exists(self.path(_PENDING)):
                self.clear_pending()  # archives of a command that was killed
            yield

    def commit(self, *, is_act: bool = True) -> None:
        """Every file is there already; the timestamp was written last."""


class SharedStorage:
    """A `ReleaseStorage` in a shared store. What was written is kept in memory until `commit`, which is a transaction.

    Nothing waits for others: if the release changed meanwhile, `commit` fails, and nothing was written.
    """

    def __init__(self, files: SharedReleaseFiles) -> None:
        self._files = files
        whose = "the organisation" if files.tenant == "*" else f"the tenant {files.tenant}"
        self.shown = f"the deployment of {whose} in {files.database.url}"
        self._written: dict[str, bytes] = {}
        self._seen: dict[str, bytes | None] = {}

    def has(self, path: str) -> bool:
        """See `ReleaseStorage`."""
        return path in self._written or self._stored(path) is not None

    def read(self, path: str) -> bytes:
        """See `ReleaseStorage`."""
        found = self._written[path] if path in self._written else self._stored(path)
        if found is None:
            raise DistributionError(f"{self.shown} has no {path}; restore the store from a backup")
        return found

    def write(self, path: str, data: bytes) -> None:
        """See `ReleaseStorage`."""
        self._written[path] = data

    def clear_pending(self) -> None:
        """See `ReleaseStorage`. The organisation signs alone, so nothing waits in the store."""
        self._written = {path: data for path, data in self._written.items() if not path.startswith("pending")}

    def place_index(self, index: ReleasedIndex) -> None:
        """Refuse: published skills are in a directory or at a registry."""
        raise DistributionError(
            f"{self.shown} has an index of published skills ({index.file}), which a store cannot have"
        )

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """See `ReleaseStorage`."""
        self._written, self._seen = {}, {}
        try:
            yield
        finally:
            self._written, self._seen = {}, {}

    def commit(self, *, is_act: bool = True) -> None:
        """See `ReleaseStorage`."""
        self.clear_pending()
        expected = {path: data for path, data in self._seen.items() if path == TIMESTAMP or ".root.json" in path}
        if not self._files.publish(self._written, expected, is_act=is_act):
            raise DistributionError(f"{self.shown} was changed just now; nothing was published, run this again")
        self._written, self._seen = {}, {}

    def _stored(self, path: str) -> bytes | None:
        if path not in self._seen:
            self._seen[path] = self._files.read(path)
        return self._seen[path]
