"""Writes a skill into a private directory: all of it or nothing, with the digest of the files.

Every source writes its skills here, so that paths, limits and modes are the same for all.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.open_flags import NEW_FILE
from prowess._internal.files.tree_digest import (
    MAX_BYTES,
    SIGNATURE_FILE,
    FileRecord,
    TreeManifest,
    is_left_out,
)
from prowess._internal.files.verified_copy import copy_recorded
from prowess.distribution.sources.portable_paths import PortablePaths, is_portable_name
from prowess.distribution.sources.protocol import Fetched
from prowess.errors import DistributionError, IntegrityError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Self

    from prowess._internal.files.contained import ContainedRoot
    from prowess.distribution.sources.protocol import Offer, Signature


class StagedTree:
    """The new directory `into/<name>`, filled in a `with` block. An error in the block removes it.

    with StagedTree(into, "pdf") as staged:
        staged.write("SKILL.md", [b"..."], executable=False)
    staged.manifest.digest  # "sha256:..."

    Raises:
        DistributionError: `name` cannot be the name of a directory on every system, or `into/<name>` exists.
    """

    def __init__(self, into: str, name: str) -> None:
        if not is_portable_name(name):
            message = f"the skill {name!r} cannot be installed: its name is not the name of a directory"
            raise DistributionError(message)
        self.directory = os.path.join(os.path.abspath(into), name)
        self._what = f"the skill {name!r}"
        self._paths = PortablePaths(self._what)
        self._made: set[str] = set()
        self._records: list[FileRecord] = []
        self._bytes = 0

    def __enter__(self) -> Self:
        """Create the directory."""
        try:
            os.mkdir(self.directory, 0o700)
        except FileExistsError:
            message = f"{self.directory} exists; fetch into an empty directory"
            raise DistributionError(message) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        """Remove the directory if the block failed."""
        if kind is not None:
            shutil.rmtree(self.directory, ignore_errors=True)

    def write(self, path: str, parts: Iterable[bytes], *, executable: bool) -> None:
        """Write one file; one that no digest covers (`.git`) is left out, except for the skill's signature.

        Raises:
            UnsafePathError, LimitExceededError: see `PortablePaths`; or the tree has too many bytes.
            OSError: the file cannot be written.
        """
        path = self._paths.add_file(path)
        if is_left_out(path) and path != SIGNATURE_FILE:
            return
        whole = hashlib.sha256()
        size = 0
        out = os.open(self._place(path), NEW_FILE, 0o700 if executable else 0o600)
        try:
            for part in parts:
                size += len(part)
                self._charge(len(part))
                whole.update(part)
                write_all(out, part)
        finally:
            os.close(out)
        self._records.append(FileRecord(path=path, executable=executable, size=size, sha256=whole.hexdigest()))

    def copy(self, root: ContainedRoot, record: FileRecord, *, path: str | None = None) -> None:
        """Copy the recorded file from `root`, where it is called `path` if that is another name.

        Raises:
            IntegrityError: the file is not as recorded.
        """
        self._paths.add_file(record.path)
        self._charge(record.size)
        target = self._place(record.path)
        if not copy_recorded(root, record, target, path=path, allow_hard_links=True):
            what = f"{root.root}/{record.path}"
            raise IntegrityError(what, f"sha256:{record.sha256}", "another one, because it was changed meanwhile")
        if record.executable:
            os.chmod(target, 0o700)
        self._records.append(record)

    def _place(self, path: str) -> str:
        """Return where to write a file, and create the directories above it."""
        self._make(path.rpartition("/")[0])
        return f"{self.directory}/{path}"

    def _make(self, directory: str) -> None:
        if directory and directory not in self._made:
            self._make(directory.rpartition("/")[0])
            os.mkdir(f"{self.directory}/{directory}", 0o700)
            self._made.add(directory)

    def _charge(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MAX_BYTES:
            raise LimitExceededError(f"bytes in {self._what}", MAX_BYTES, None, "keep large data outside the skill")

    def fetched(
        self,
        offer: Offer,
        source: str,
        *,
        commit: str | None = None,
        artifact: str | None = None,
        signatures: tuple[Signature, ...] = (),
    ) -> Fetched:
        """Return what was written as the fetched skill of an offer. `source` is the reference without a version."""
        return Fetched(
            name=offer.name,
            package=offer.package,
            version=offer.version,
            source=source,
            path=offer.path,
            commit=commit,
            artifact=artifact,
            manifest=self.manifest,
            directory=self.directory,
            signatures=signatures,
        )

    @property
    def manifest(self) -> TreeManifest:
        """The files written so far, with the hashes of the bytes that were written."""
        records = sorted((one for one in self._records if not is_left_out(one.path)), key=lambda one: one.path.encode())
        signature = next((one for one in self._records if one.path == SIGNATURE_FILE), None)
        return TreeManifest(files=tuple(records), signature=signature)
