"""Replace a file as a whole: a reader sees the old bytes or the new ones, never a mixture, whatever fails."""

from __future__ import annotations

import os
from contextlib import suppress

from prowess._internal.files.open_flags import NEW_FILE


def write_atomically(path: str, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Put `data` at `path` with `mode`. A link at `path` is replaced, not followed.

    With `sync` the bytes are on the disk before they take their place, and so is the name on return; without it the
    change is as safe against a killed process, but not against a loss of power.

    Raises:
        OSError: nothing was changed.
    """
    directory, name = os.path.split(path)
    draft = os.path.join(directory, f".{name}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(draft, NEW_FILE, mode)
    try:
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)  # the umask may have taken bits away
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
    """Write every byte; OSError where that is impossible, with an unknown part written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_directory(directory: str) -> None:
    # The file is in place already; a system that cannot sync a directory (Windows) is no reason to report failure.
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
