"""Copies of files that were hashed before: exactly the recorded bytes, or the copy is refused."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.open_flags import NEW_FILE
from prowess.errors import UnsafePathError

if TYPE_CHECKING:
    from prowess._internal.files.contained import ContainedRoot
    from prowess._internal.files.tree_digest import FileRecord

_CHUNK = 1 << 20


def copy_recorded(
    root: ContainedRoot, record: FileRecord, target: str, *, path: str | None = None, allow_hard_links: bool = False
) -> bool:
    """Copy the file `path`, by default that of the record, to the new file `target` (mode 0600).

    Returns whether the file still has the recorded size and bytes. If not, `target` may be missing or incomplete.

    Raises:
        OSError: the file cannot be read, or `target` cannot be written.
    """
    try:
        source = root.open(record.path if path is None else path, allow_hard_links=allow_hard_links)
    except (FileNotFoundError, IsADirectoryError, UnsafePathError):
        return False
    whole = hashlib.sha256()
    size = 0
    out = os.open(target, NEW_FILE, 0o600)
    try:
        with source:
            # Read at most one byte more than recorded: that is enough to see growth, and a growing file must not fill
            # the disk.
            while size <= record.size and (chunk := os.read(source.fd, min(_CHUNK, record.size + 1 - size))):
                whole.update(chunk)
                size += len(chunk)
                write_all(out, chunk)
    finally:
        os.close(out)
    return size == record.size and whole.hexdigest() == record.sha256
