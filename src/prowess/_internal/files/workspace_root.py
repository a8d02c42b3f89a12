"""Read and write files below a workspace directory, without any way to leave it.

A file is replaced as a whole: a temporary file is written next to it and renamed over it. Both steps are relative to
the descriptor of the directory, so exchanging a directory for a link cannot redirect the bytes. Links are not followed,
even to places inside the workspace: the target of a link can change between two checks.

This module also maps absolute paths in a workspace to relative paths, for tools and policies.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from msgspec import Struct

from prowess._internal.files.atomic_write import write_all
from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.files.open_flags import NEW_FILE
from prowess.errors import UnsafePathError

SANDBOX_NAME = "/workspace"  # the workspace's path for scripts and models, whatever its path on this machine


def relative_to_workspace(path: str, *roots: str) -> str | None:
    """Return an absolute path relative to the workspace; None if it is outside.

    `roots` are the workspace's paths on this machine. The `roots` are tried before `SANDBOX_NAME`, because a workspace
    may be below a directory of that name. The result may still leave the workspace through `..`.
    """
    for name in (*roots, SANDBOX_NAME):
        prefix = name.rstrip("/") + "/"
        if path == name or path.startswith(prefix):
            return path[len(prefix) :].lstrip("/") or "."
    return None


def ignores_case(directory: str) -> bool:
    """Return whether file names below this directory ignore case, as they do by default on macOS and Windows.

    The test looks up the directory itself by its name in the other case. If the name has no letters, its parent is
    tested.
    """
    above, name = os.path.split(os.path.abspath(directory))
    if not name:
        return os.path.normcase("A") == "a"
    if (other := name.swapcase()) == name:
        return ignores_case(above)
    try:
        return os.path.samefile(directory, os.path.join(above, other))
    except (OSError, ValueError):
        return False


_NEW_MODE = 0o666  # before the umask is applied, as in any program
_NEW_DIRECTORY = 0o777
_WRITE_BITS = 0o222
_RIGHTS = 0o777  # bits kept of a file's mode; set-user-ID and set-group-ID are not kept


class Entry(Struct, frozen=True, kw_only=True):
    """Entry of a directory. `kind` is file, directory, link or special; `size` is in bytes."""

    name: str
    kind: str
    size: int
    mtime_ns: int


class ChangedMeanwhileError(OSError):
    """The file has changed since it was read, so it was not written."""


class WorkspaceRoot(ContainedRoot):
    """A `ContainedRoot` that can also write files and return facts about entries."""

    def scan(self, components: tuple[str, ...]) -> list[Entry]:
        """Return the entries of a directory, sorted by name, except those deleted meanwhile. Raises as `entries`."""
        fd = self._walk(components, "/".join(components) or ".")
        try:
            found = []
            for name in sorted(os.listdir(fd)):
                with suppress(FileNotFoundError):
                    facts = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    found.append(Entry(name=name, kind=_kind(facts), size=facts.st_size, mtime_ns=facts.st_mtime_ns))
            return found
        finally:
            os.close(fd)

    def look(self, components: tuple[str, ...]) -> os.stat_result | None:
        """Return the entry's `lstat` result, or None. Raises UnsafePathError if a directory in the path is a link."""
        try:
            fd = self._walk(components[:-1], "/".join(components))
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return os.stat(components[-1] if components else ".", dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        finally:
            os.close(fd)

    def replace(self, path: str, data: bytes, *, expected: os.stat_result | None = None) -> bool:
        """Write `data` to `path`, with the mode and owner of an existing file. Return whether the file is new.

        Missing directories are created. `expected` is the `stat` result from when the file was read; if the file has
        changed since, it is not written. Another hard link to the replaced file keeps the old bytes.

        Raises:
            UnsafePathError: the path's text is refused, or a component is a link, or the path is a special file.
            IsADirectoryError, NotADirectoryError, PermissionError, OSError: the file was not changed.
            ChangedMeanwhileError: the file differs from `expected`.
        """
        components = check_relative(path)
        if not components:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        parent = self._make(components[:-1], path)
        try:
            old = _replaceable(parent, components[-1], path)
            draft = f".{os.urandom(8).hex()}.tmp"
            try:
                _write_draft(parent, draft, data, old)
                if expected is not None:
                    _require_same(expected, _replaceable(parent, components[-1], path), path)
                os.rename(draft, components[-1], src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=parent)
                raise
            with suppress(OSError):  # the file is in place; that a system cannot sync a directory is no failure
                os.fsync(parent)
        finally:
            os.close(parent)
        return old is None

    def _make(self, components: tuple[str, ...], path: str) -> int:
        """Open the directory at `components`, and create missing directories. The caller must close the descriptor."""
        for depth in range(len(components) + 1):
            try:
                fd = self._walk(components[:depth], path)
            except FileNotFoundError:
                above = self._walk(components[: depth - 1], path)
                try:
                    with suppress(FileExistsError):  # another program created it first
                        os.mkdir(components[depth - 1], _NEW_DIRECTORY, dir_fd=above)
                finally:
                    os.close(above)
                fd = self._walk(components[:depth], path)
            if depth < len(components):
                os.close(fd)
        return fd


def _replaceable(parent: int, name: str, path: str) -> os.stat_result | None:
    """Return the `lstat` result of the file to be replaced; None if there is none."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(found.st_mode):
        raise UnsafePathError(path, "it is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise UnsafePathError(path, "it is not a regular file but a pipe, a socket or a device")
    if not found.st_mode & _WRITE_BITS:
        # A rename would succeed, but the user who removed the write bits does not want a change.
        raise PermissionError(errno.EACCES, "the file is marked read-only", path)
    return found


def _write_draft(parent: int, draft: str, data: bytes, old: os.stat_result | None) -> None:
    mode = _NEW_MODE if old is None else stat.S_IMODE(old.st_mode) & _RIGHTS
    fd = os.open(draft, NEW_FILE, mode, dir_fd=parent)
    try:
        if old is not None:
            here = os.fstat(fd)
            if (here.st_uid, here.st_gid) != (old.st_uid, old.st_gid):
                # Only root may change the owner, and the content matters more than the owner.
                with suppress(PermissionError):
                    os.chown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, mode)  # the umask may have removed bits
        write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def _require_same(expected: os.stat_result, found: os.stat_result | None, path: str) -> None:
    if found is None or _identity(expected) != _identity(found):
        raise ChangedMeanwhileError(errno.EAGAIN, "it has changed since it was read", path)


def _identity(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def _kind(facts: os.stat_result) -> str:
    if stat.S_ISLNK(facts.st_mode):
        return "link"
    if stat.S_ISDIR(facts.st_mode):
        return "directory"
    return "file" if stat.S_ISREG(facts.st_mode) else "special"
