"""Replace a file atomically, or write a new one: after any failure, a reader sees the old bytes or the new ones."""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress

from prowess._internal.files.open_flags import NEW_FILE, READ_ROOT

_DRAFT = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{12}\.tmp", re.DOTALL)


def write_atomically(path: str, data: bytes, mode: int = 0o600, *, sync: bool = True) -> None:
    """Write `data` to `path` with `mode`. A link at `path` is replaced, not followed.

    A device, a pipe or a socket is refused: a rename would destroy it, for example `/dev/null` if root names it.
    With `sync` the bytes are on the disk before they replace the old file, and the new name is on the disk on return.
    Without `sync` the change is safe if the process is killed, but not if the power fails.

    Raises:
        OSError: the file was not changed.
    """
    _require_replaceable(path)
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
        sync_directory(directory or ".")


def remove_drafts(directory: str, name: str | None = None) -> None:
    """Remove what processes left that were killed in `write_atomically`: drafts of the file `name`, or of every file.

    These files must not be written now. Other files stay, also those that other programs call `.NAME.tmp`.
    """
    for entry in os.listdir(directory) if os.path.isdir(directory) else ():
        draft = _DRAFT.fullmatch(entry)
        if draft is not None and name in {None, draft["name"]}:
            os.unlink(os.path.join(directory, entry))


def _require_replaceable(path: str) -> None:
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return  # there is no file, or opening the draft raises the right error
    if kind not in {stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR}:  # a rename over a directory fails by itself
        raise FileExistsError(errno.EEXIST, "it is a device, a pipe or a socket, which is not replaced", path)


def write_new(path: str, data: bytes, mode: int = 0o600, *, is_draft: bool = False) -> None:
    """Write a file that does not exist yet. It is on the disk on return; after a failure it does not exist.

    The name of a draft, which gets another one, is not brought to the disk.

    Raises:
        FileExistsError: it exists.
        OSError: it was not written.
    """
    descriptor = os.open(path, NEW_FILE, mode)
    try:
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if not is_draft:
            sync_directory(os.path.dirname(path) or ".")
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte. If OSError is raised, an unknown part of the bytes was written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_directory(directory: str) -> None:
    """Bring new names in a directory to the disk. A system that cannot sync a directory (Windows) is no failure."""
    with suppress(OSError):
        descriptor = os.open(directory, READ_ROOT)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
