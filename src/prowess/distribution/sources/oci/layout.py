"""An OCI image layout: a directory with an index and blobs, which registries' tools can carry.

Source: OCI image specification 1.1, image layout.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.contained import ContainedRoot
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.sources.oci.manifest import (
    INDEX_TYPE,
    MAX_MANIFEST,
    Descriptor,
    canonical_json,
    parse_manifest,
)
from prowess.distribution.sources.oci.registry import check_blob
from prowess.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Iterable

_INDEX, _MARK = "index.json", "oci-layout"


class ImageLayout:
    """The layout in one directory."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.abspath(directory)

    def manifests(self) -> tuple[Descriptor, ...]:
        """Return the rows of the index; empty if there is no layout. Raises DistributionError if it is no index."""
        try:
            data = self._read(_INDEX, MAX_MANIFEST)
        except FileNotFoundError:
            return ()
        return parse_manifest(data, os.path.join(self.directory, _INDEX)).manifests

    def blob(self, descriptor: Descriptor) -> bytes:
        """Return the bytes of a blob or manifest.

        Raises:
            IntegrityError: they do not have the descriptor's size and digest.
            DistributionError: the blob is missing.
        """
        path = _blob_path(descriptor.digest)
        what = os.path.join(self.directory, path)
        try:
            data = self._read(path, descriptor.size)
        except OSError as fault:
            raise DistributionError(f"{what} cannot be read: {fault.strerror}") from None
        check_blob(data, descriptor, what)
        return data

    def add(self, data: bytes) -> None:
        """Write a blob, unless it is there with these bytes. Raises OSError."""
        path = os.path.join(self.directory, *_blob_path(sha256_of(data)).split("/"))
        try:
            with open(path, "rb") as file:
                if file.read() == data:
                    return
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        write_atomically(path, data, 0o644)

    def replace_index(self, rows: Iterable[Descriptor]) -> None:
        """Write the index, after all its blobs. Raises OSError."""
        write_atomically(os.path.join(self.directory, _MARK), b'{"imageLayoutVersion":"1.0.0"}', 0o644)
        index = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [row.as_json() for row in rows]}
        write_atomically(os.path.join(self.directory, _INDEX), canonical_json(index), 0o644)

    def _read(self, path: str, most: int) -> bytes:
        with ContainedRoot(self.directory) as root, root.open(path) as opened:
            return opened.read(most + 1)


def _blob_path(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"
