"""Directory trees on disk: copied, made read-only, removed, and compared. Links in them are never followed."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.open_flags import NEW_FILE, READ

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_ONLY = 0o500  # of directories and executable files
_CHUNK = 1 << 20


def copy_tree(source: str, place: str) -> None:
    """Copy the files and directories of a stored skill to the new directory `place`, writable for the user.

    Only regular files and directories are copied; a stored skill has no others.

    Raises:
        OSError: the copy is incomplete.
    """
    os.mkdir(place, 0o755)
    with os.scandir(source) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        target = os.path.join(place, entry.name)
        if entry.is_dir(follow_symlinks=False):
            copy_tree(entry.path, target)
        elif entry.is_file(follow_symlinks=False):
            _copy_file(entry.path, target)


def _copy_file(source: str, target: str) -> None:
    reader = os.open(source, READ)
    try:
        mode = 0o755 if os.fstat(reader).st_mode & stat.S_IXUSR else 0o644
        writer = os.open(target, NEW_FILE, mode)
        try:
            while chunk := os.read(reader, _CHUNK):
                write_all(writer, chunk)
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def make_read_only_below(directory: str) -> None:
    """Take write access from every file and directory below `directory`. Others than the user get no access.

    The directory itself stays writable, because a directory without write access cannot be moved to another one.
    """
    for path, is_directory in _below(directory):
        mode = os.lstat(path).st_mode
        os.chmod(path, READ_ONLY if is_directory or mode & stat.S_IXUSR else 0o400)


def _below(directory: str) -> Iterator[tuple[str, bool]]:
    with os.scandir(directory) as found:
        entries = list(found)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
            yield entry.path, True
        elif entry.is_file(follow_symlinks=False):
            yield entry.path, False


def remove_tree(path: str) -> None:
    """Remove a file, a link, or a directory with everything in it, read-only or not. A missing path is no error.

    Raises:
        OSError: a part cannot be removed.
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        os.unlink(path)
        return
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(path, 0o700)
    with os.scandir(path) as found:
        names = [entry.name for entry in found]
    for name in names:
        remove_tree(os.path.join(path, name))
    os.rmdir(path)
