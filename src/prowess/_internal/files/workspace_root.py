"""A directory that tools work on: read as any contained root, and written to without a way out of it.

A file is replaced as a whole: a draft is written beside it and takes its place by a rename, both relative to the
descriptor of the directory, so that no exchange of a directory for a link can lead the bytes elsewhere. Links are not
followed, not even to places inside: what a link points to can change between two looks.

What an absolute path into a workspace means is decided here too, for tools and policies alike.
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

SANDBOX_NAME = "/workspace"  # what scripts and models call it, whatever it is called on this machine


def relative_to_workspace(path: str, *roots: str) -> str | None:
    """Return what an absolute path means relative to the workspace; None if it names a place outside.

    `roots` are the names of the workspace on this machine. They come before `SANDBOX_NAME`: a workspace may lie below
    a directory of that name. The rest of the path may still climb out with `..`.
    """
    for name in (*roots, SANDBOX_NAME):
        prefix = name.rstrip("/") + "/"
        if path == name or path.startswith(prefix):
            return path[len(prefix) :].lstrip("/") or "."
    return None


def ignores_case(directory: str) -> bool:
    """Tell whether names below this directory mean the same in capitals, as they do by default on macOS and Windows.

    It is found out by naming the directory itself in the other case; a directory whose name has no letters counts as
    its parent does.
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


_NEW_MODE = 0o666  # less the umask, as any program's
_NEW_DIRECTORY = 0o777
_WRITE_BITS = 0o222
_RIGHTS = 0o777  # kept of a file's mode; not what lets a program run as its owner


class Entry(Struct, frozen=True, kw_only=True):
    """What a directory holds: `kind` is file, directory, link or special; `size` in bytes."""

    name: str
    kind: str
    size: int
    mtime_ns: int


class ChangedMeanwhileError(OSError):
    """The file is no longer the one that was read; nothing was written."""


class WorkspaceRoot(ContainedRoot):
    """As `ContainedRoot`, with facts about entries and with writing."""

    def scan(self, components: tuple[str, ...]) -> list[Entry]:
        """Return the entries of a directory, sorted by name; one that vanishes meanwhile is left out.

        Raises:
            UnsafePathError, FileNotFoundError, NotADirectoryError, PermissionError: as in `entries`.
        """
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
        """Return the facts of an entry, of a link itself; None where there is none.

        Raises:
            UnsafePathError: a link stands on the way.
        """
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
        """Put `data` at `path`, with the mode and owner of the file that is there; return whether there was none.

        Missing directories are made. With `expected`, the facts of the file as it was read, nothing is written where
        it has changed since. A second hard link of the old file keeps the old bytes.

        Raises:
            UnsafePathError: the path's text is refused, or a link or no regular file is in the way.
            IsADirectoryError, NotADirectoryError, PermissionError, OSError: nothing was changed.
            ChangedMeanwhileError: see above.
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
            with suppress(OSError):  # the file is in place; a system that cannot sync a directory is no failure
                os.fsync(parent)
        finally:
            os.close(parent)
        return old is None

    def _make(self, components: tuple[str, ...], path: str) -> int:
        """Open the directory at `components`, making what is missing; the caller closes it."""
        for depth in range(len(components) + 1):
            try:
                fd = self._walk(components[:depth], path)
            except FileNotFoundError:
                above = self._walk(components[: depth - 1], path)
                try:
                    with suppress(FileExistsError):  # another program was faster
                        os.mkdir(components[depth - 1], _NEW_DIRECTORY, dir_fd=above)
                finally:
                    os.close(above)
                fd = self._walk(components[:depth], path)
            if depth < len(components):
                os.close(fd)
        return fd


def _replaceable(parent: int, name: str, path: str) -> os.stat_result | None:
    """Return the facts of the file that is to be replaced; None where there is none."""
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(found.st_mode):
        raise UnsafePathError(path, "it is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise UnsafePathError(path, "it is no regular file but a pipe, a socket or a device")
    if not found.st_mode & _WRITE_BITS:
        # A rename would not mind; whoever took the bits away did.
        raise PermissionError(errno.EACCES, "the file is marked read-only", path)
    return found


def _write_draft(parent: int, draft: str, data: bytes, old: os.stat_result | None) -> None:
    mode = _NEW_MODE if old is None else stat.S_IMODE(old.st_mode) & _RIGHTS
    fd = os.open(draft, NEW_FILE, mode, dir_fd=parent)
    try:
        if old is not None:
            here = os.fstat(fd)
            if (here.st_uid, here.st_gid) != (old.st_uid, old.st_gid):
                with suppress(PermissionError):  # only root may give a file away; the bytes matter more than its owner
                    os.chown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, mode)  # the umask may have taken bits away
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
