"""Replace a file atomically: after any failure, a reader sees either the old bytes or the new ones."""

from __future__ import annotations

import os
from contextlib import suppress

from prowess._internal.files.open_flags import NEW_FILE


def write_atomically(path: str, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Write `data` to `path` with `mode`. A link at `path` is replaced, not followed.

    With `sync` the bytes are on the disk before they replace the old file, and the new name is on the disk on return.
    Without `sync` the change is safe if the process is killed, but not if the power fails.

    Raises:
        OSError: the file was not changed.
    """
    directory, name = os.path.split(path)
    draft = os.path.join(directory, f".{name}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(draft, NEW_FILE, mode)
    try:
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)  # the umask may have removed bits
            write_all(descriptor, data)
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    if sync:
        _sync_directory(directory or ".")


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte. If OSError is raised, an unknown part of the bytes was written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_directory(directory: str) -> None:
    # The file is already in place. A system that cannot sync a directory (Windows) is no reason to report a failure.
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
