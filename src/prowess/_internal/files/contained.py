"""Open files below one directory, without any way to leave that directory.

The text of a path is checked first: a path that could mean another place on any system is refused before a file is
touched. Then the root is opened once, and every component is opened relative to its parent without following links. So
exchanging a directory for a link between check and use cannot lead outside. The result is an open descriptor of a
regular file. No file is opened again by its name.

If the system cannot open a file relative to a directory (Windows), each component is examined by name instead, and the
opened file is compared with the examined one. That protection is weaker: it stops hostile packages, but not a process
of the same user that exchanges directories at the right moment.

Rules: runtime protocol 002, read; security practice for hostile packages (links, hard links, pipes, devices).
"""

from __future__ import annotations

import errno
import os
import stat

from prowess._internal.files.open_flags import READ, READ_DIRECTORY, READ_ROOT, Closing
from prowess._internal.text.terminal_text import is_unicode
from prowess.errors import UnsafePathError

_CHUNK = 1 << 20
_OPENS_BENEATH = os.open in os.supports_dir_fd
_REPARSE_POINT = 0x400  # Windows: a link, a junction, or another entry that leads to a different place


def opens_beneath() -> bool:
    """Return whether this system can open files relative to an open directory."""
    return _OPENS_BENEATH


def check_relative(path: str, base: str = "the skill's directory") -> tuple[str, ...]:
    """Return the components of a relative path, without `.` and empty components. `.` itself gives an empty tuple.

    The path is not decoded: `%2e`, `~`, `$HOME` and compatibility characters are ordinary names. `base` is the name of
    the root directory in error messages.

    Raises:
        UnsafePathError: the path is empty, absolute or not valid text, or it has a drive, a backslash, a NUL or a `..`.
    """
    if not path:
        raise UnsafePathError(path, f"it is empty; name a file relative to {base}")
    if "\0" in path:
        raise UnsafePathError(path, "it holds a NUL character")
    if "\\" in path:
        raise UnsafePathError(path, "it holds a backslash; separate components with /")
    if path[0] == "/":
        raise UnsafePathError(path, f"it is absolute; give a path relative to {base}")
    if path[1:2] == ":" and path[0].isascii() and path[0].isalpha():
        raise UnsafePathError(path, f"it begins with a drive letter; give a path relative to {base}")
    if not is_unicode(path):
        raise UnsafePathError(path, "it is not valid Unicode text")
    components = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in components:
        raise UnsafePathError(path, f"a '..' component could leave {base}")
    return components


class OpenedFile(Closing):
    """An open regular file; a context manager. `path` is normalised, `stat` was read from the descriptor."""

    __slots__ = ("fd", "path", "stat")

    def __init__(self, *, path: str, fd: int, stat: os.stat_result) -> None:
        self.path, self.fd, self.stat = path, fd, stat

    @property
    def size(self) -> int:
        """Size in bytes when the file was opened."""
        return self.stat.st_size

    def read(self, limit: int | None = None, offset: int = 0) -> bytes:
        """Return at most `limit` bytes from `offset`, and fewer only at the end of the file. None reads to the end."""
        os.lseek(self.fd, offset, os.SEEK_SET)
        chunks: list[bytes] = []
        left = limit
        while left is None or left > 0:
            chunk = os.read(self.fd, _CHUNK if left is None else min(_CHUNK, left))
            if not chunk:
                break
            chunks.append(chunk)
            if left is not None:
                left -= len(chunk)
        return b"".join(chunks)

    def close(self) -> None:
        """Close the descriptor. Closing twice has no effect."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class ContainedRoot(Closing):
    """A directory that is opened once; a context manager.

    The root itself may be a link, because the caller named it. Below the root no link is followed.

    Raises:
        OSError: the root does not exist or is not a directory.
    """

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self._by_name = not opens_beneath()
        if self._by_name:
            self._fd = -1
            if not stat.S_ISDIR(os.stat(self.root).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), root)
        else:
            self._fd = os.open(self.root, READ_ROOT)

    def open(self, path: str, *, allow_hard_links: bool = False) -> OpenedFile:
        """Open a regular file below the root for reading.

        Raises:
            UnsafePathError: the path's text is refused, a component is a link, or the file is not regular
                or has a second hard link.
            IsADirectoryError: the path is a directory.
            FileNotFoundError: the file does not exist.
            PermissionError: the file system does not let this process read the file.
        """
        components = check_relative(path)
        normalised = "/".join(components)
        if not components:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        try:
            if self._by_name:
                place = _below(_directory_by_name(self.root, components[:-1], path), components[-1], normalised)
                return _open_file(place, normalised, allow_hard_links=allow_hard_links)
            parent = self._walk(components[:-1], path)
        except NotADirectoryError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
        try:
            return _open_file(components[-1], normalised, parent=parent, allow_hard_links=allow_hard_links)
        finally:
            os.close(parent)

    def entries(self, path: str = ".") -> list[tuple[str, str]]:
        """Return the entries of a directory as (name, kind), sorted. The kind is file, directory, link or special.

        Raises:
            UnsafePathError, FileNotFoundError: as in `open`.
            NotADirectoryError: the path is a file.
        """
        components = check_relative(path or ".")
        if self._by_name:
            with os.scandir(_directory_by_name(self.root, components, path)) as found:
                return sorted((entry.name, _kind_of_entry(entry)) for entry in found)
        fd = self._walk(components, path)
        try:
            with os.scandir(fd) as found:
                return sorted((entry.name, _kind_of_entry(entry)) for entry in found)
        finally:
            os.close(fd)

    def close(self) -> None:
        """Close the root. Closing twice has no effect."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _walk(self, components: tuple[str, ...], path: str) -> int:
        """Open the directory at `components`. The caller must close the descriptor."""
        fd = os.dup(self._fd)
        try:
            for name in components:
                below = _open_directory(fd, name, path)
                os.close(fd)
                fd = below
        except BaseException:
            os.close(fd)
            raise
        return fd


def is_link(found: os.stat_result) -> bool:
    """Return whether an `lstat` result is of a symbolic link or, on Windows, of a junction."""
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_file_attributes", 0) & _REPARSE_POINT)


def _look(name: str, path: str) -> os.stat_result:
    found = _lstat(None, name, path)
    if is_link(found):
        raise UnsafePathError(path, f"{os.path.basename(name)!r} is a symbolic link")
    return found


def _directory_by_name(root: str, components: tuple[str, ...], path: str) -> str:
    place = root
    for name in components:
        place = _below(place, name, path)
        if not stat.S_ISDIR(_look(place, path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return place


def _open_file(place: str, path: str, *, parent: int | None = None, allow_hard_links: bool) -> OpenedFile:
    """Open the file at `place`: a name in the directory `parent`, or a path if `parent` is None."""
    # Examined before it is opened: opening a device can have effects, and opening a pipe would count as a reader.
    seen = _look(place, path) if parent is None else _lstat(parent, place, path)
    _require_regular(seen, path, allow_hard_links=allow_hard_links)
    try:
        fd = os.open(place, READ, dir_fd=parent)
    except OSError as fault:
        raise _as_refusal(fault, path) from None
    try:
        found = os.fstat(fd)
        if parent is None:
            _require_same(seen, found, path)
        _require_regular(found, path, allow_hard_links=allow_hard_links)
    except BaseException:
        os.close(fd)
        raise
    return OpenedFile(path=path, fd=fd, stat=found)


def _require_same(seen: os.stat_result, found: os.stat_result, path: str) -> None:
    if not os.path.samestat(seen, found):
        raise UnsafePathError(path, "it was replaced while it was being opened")


def _below(parent: str, name: str, path: str) -> str:
    if ":" in name and os.name == "nt":
        raise UnsafePathError(path, "it names a stream of a file; remove the colon")
    return os.path.join(parent, name)


def _lstat(parent: int | None, name: str, path: str) -> os.stat_result:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError as fault:
        raise _as_refusal(fault, path) from None


def _open_directory(parent: int, name: str, path: str) -> int:
    try:
        return os.open(name, READ_DIRECTORY, dir_fd=parent)
    except OSError as fault:
        if fault.errno in (errno.ENOTDIR, errno.ELOOP):
            # Linux reports ENOTDIR for a link too. Only an `lstat` shows whether the entry is a link or a file.
            if stat.S_ISLNK(_lstat(parent, name, path).st_mode):
                raise UnsafePathError(path, f"{name!r} is a symbolic link") from None
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None
        raise _as_refusal(fault, path) from None


def _require_regular(found: os.stat_result, path: str, *, allow_hard_links: bool) -> None:
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(mode):
        raise UnsafePathError(path, "it is a symbolic link")
    if not stat.S_ISREG(mode):
        raise UnsafePathError(path, "it is not a regular file but a pipe, a socket or a device")
    if found.st_nlink > 1 and not allow_hard_links:
        raise UnsafePathError(path, "it has a second hard link, so its content may belong to another place")


def _as_refusal(fault: OSError, path: str) -> OSError | UnsafePathError:
    match fault.errno:
        case errno.ELOOP:
            return UnsafePathError(path, "it is a symbolic link")
        case errno.ENXIO:
            return UnsafePathError(path, "it is not a regular file but a pipe, a socket or a device")
        case errno.ENOENT | errno.ENOTDIR | errno.ENAMETOOLONG:
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        case _:
            return fault


def _kind_of_entry(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "special"
