"""Digest of a directory tree.

The digest is the SHA-256 over one line for each regular file, sorted by the path's UTF-8 bytes:

    path NUL ("x" or "-") NUL size NUL sha256(bytes) LF

The path is relative with `/`; `x` means that the owner may execute the file; size is decimal; the inner hash is
lower-case hex. `.git` at any depth, empty directories, times and owners are left out, so that a directory, a zip and a
tar of one skill have the same digest. The file `skill.oms.sig` at the root is left out too, because signing would
otherwise change what is signed. What no digest covers is shown to no model and never run.

Links (symbolic, or a file with a second hard link), pipes, sockets, devices, names that are not UTF-8 and unreadable
entries are *obstacles*. A tree with an obstacle has no digest, because its bytes could change without a change of the
digest. `tests/conformance/digest.json` holds test vectors.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import is_link, opens_beneath
from prowess._internal.files.file_mark import last_change, mark_of, settled_before
from prowess._internal.files.open_flags import READ, READ_DIRECTORY, READ_ROOT
from prowess._internal.files.tree_stamp import TreeStamp
from prowess._internal.text.terminal_text import is_unicode
from prowess.errors import LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from prowess._internal.files.file_mark import Mark

MAX_FILES = 20_000
MAX_ENTRIES = 2 * MAX_FILES  # including directories, links and other entries that take time to examine
MAX_BYTES = 512 * 1024 * 1024
MAX_DEPTH = 64

SIGNATURE_FILE = "skill.oms.sig"  # OpenSSF Model Signing
_LEFT_OUT = ".git"
_CHUNK = 1 << 20
_CACHE_ENTRIES = 20_000

_CacheKey = tuple[str, int, int, int, int]
_cache: dict[_CacheKey, str] = {}


class FileRecord(Struct, frozen=True, kw_only=True):
    """One regular file: `path` relative with `/`, `size` in bytes, `sha256` as lower-case hex."""

    path: str
    executable: bool
    size: int
    sha256: str


class TreeManifest(Struct, frozen=True, kw_only=True):
    """The regular files of a tree, and the obstacles to a digest, both sorted by the path's UTF-8 bytes.

    `signature` is the record of the file `skill.oms.sig` at the root, which is not one of `files`. If `is_recorded`,
    every file had the hash that its package recorded, so a second hard link is no fault.
    """

    files: tuple[FileRecord, ...]
    obstacles: tuple[str, ...] = ()
    signature: FileRecord | None = None
    is_recorded: bool = False

    @property
    def digest(self) -> str | None:
        """`sha256:<64 hex>`, or None if the tree has an obstacle."""
        return None if self.obstacles else self.content_digest

    @property
    def content_digest(self) -> str:
        """The digest of the regular files, which exists even if the tree has obstacles."""
        return f"sha256:{hashlib.sha256(self.listing).hexdigest()}"

    @property
    def listing(self) -> bytes:
        """The lines of which the digest is made, one for each regular file."""
        marks = {True: "x", False: "-"}
        lines = (f"{file.path}\0{marks[file.executable]}\0{file.size}\0{file.sha256}\n" for file in self.files)
        return "".join(lines).encode()

    def find(self, path: str) -> FileRecord | None:
        """Return the record of a relative path, or None. The path must be spelled as in the manifest."""
        return next((file for file in self.files if file.path == path), None)


def is_left_out(path: str) -> bool:
    """Return whether the file at `path`, relative to a tree, is covered by no digest, so that it is no part of it."""
    return path == SIGNATURE_FILE or _LEFT_OUT in path.split("/")


class KeptFile(Struct, frozen=True, kw_only=True):
    """The bytes of one file as they were hashed, and the file's `stat` values at that time."""

    data: bytes
    mark: Mark


class TreeReading(Struct, frozen=True, kw_only=True):
    """Result of one walk over a tree: its hashes, its stamp, and the bytes of the requested files by path.

    `stamp` is None if the tree has an obstacle or was changed within the last two seconds. `stamp` is also None on
    systems that cannot open files relative to a directory, because on such systems a changed entry may not change the
    time of its directory.
    """

    manifest: TreeManifest
    stamp: TreeStamp | None
    kept: Mapping[str, KeptFile]


def read_tree(root: str) -> TreeManifest:
    """Hash every regular file below `root`. The root itself may be a link.

    A hash is cached in this process by (path, size, mtime, inode, ctime), but only if the last change of the file is
    more than two seconds ago. A second edit within that time could leave the time stamps as they are.

    Raises:
        OSError: the root does not exist, is not a directory, or cannot be read.
        LimitExceededError: more than 20 000 files, 40 000 entries of any kind, 512 MiB or 64 levels.
    """
    return read_stamped_tree(root).manifest


def read_stamped_tree(
    root: str, *, keep: Collection[str] = (), most: int = 0, allow_hard_links: bool = False
) -> TreeReading:
    """Read a tree as `read_tree` does, and also return its stamp and the bytes of the files named in `keep`.

    Files with more than `most` bytes are not kept. A kept file is read in this walk even if its hash is cached. With
    `allow_hard_links`, a file with a second hard link is no obstacle; the caller compares the hashes with a record.
    """
    real = os.path.realpath(root)
    walk = _Walk(real, keep, most, allow_hard_links=allow_hard_links)
    if opens_beneath():
        fd = os.open(real, READ_ROOT)
        try:
            walk.directory(fd, "", 0)
        finally:
            os.close(fd)
    else:
        walk.directory(real, "", 0)
    manifest = TreeManifest(
        files=tuple(sorted(walk.files, key=lambda file: file.path.encode())),
        obstacles=tuple(sorted(walk.obstacles, key=os.fsencode)),
        signature=walk.signature,
    )
    return TreeReading(manifest=manifest, stamp=walk.stamp(), kept=walk.kept)


class _Walk:
    def __init__(self, root: str, keep: Collection[str], most: int, *, allow_hard_links: bool) -> None:
        self.root = root
        self._allow_hard_links = allow_hard_links
        self.kept: dict[str, KeptFile] = {}
        self._keep, self._most = keep, most
        self.files: list[FileRecord] = []
        self.signature: FileRecord | None = None
        self.obstacles: list[str] = []
        self._bytes = 0
        self._entries = 0
        self._settled_before = settled_before()
        self._marks: list[tuple[str, Mark]] | None = []

    def stamp(self) -> TreeStamp | None:
        """Return the stamp of the walked tree; None if it has none (see `TreeReading`)."""
        return None if self._marks is None or self.obstacles else TreeStamp(root=self.root, marks=tuple(self._marks))

    def directory(self, fd: int | str, prefix: str, depth: int) -> None:
        """Walk a directory, given as a descriptor, or as a path on systems that cannot open relative to a directory.

        If the directory is given as a path, only the weaker protection of `prowess._internal.files.contained` applies.
        """
        if depth > MAX_DEPTH:
            raise LimitExceededError("directory levels in one skill", MAX_DEPTH, depth)
        if isinstance(fd, int):
            self._mark(prefix, os.fstat(fd))  # before it is listed, so that any later change has a later time
        else:
            self._marks = None
        with os.scandir(fd) as found:
            # Counted one at a time: do not hold the names of a huge directory in memory, as it is refused anyway.
            names = [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                for entry in self._counted(found)
            ]
        if isinstance(fd, str):
            names = [found for found in names if not self._leads_elsewhere(fd, prefix, found[0])]
        for name, is_directory, is_file in names:
            if name == _LEFT_OUT:
                continue
            path = prefix + name
            if not (is_directory or is_file) or not is_unicode(name):
                self.obstacles.append(path)
            elif is_directory:
                self._descend(fd, name, path, depth)
            else:
                self._file(fd, name, path)

    def _leads_elsewhere(self, parent: str, prefix: str, name: str) -> bool:
        """Record a link or a junction as an obstacle. A walk by path has no open flag that refuses links."""
        try:
            linked = is_link(os.lstat(os.path.join(parent, name)))
        except OSError:
            return False  # deleted meanwhile; opening the entry will fail
        if linked and name != _LEFT_OUT:
            self.obstacles.append(prefix + name)
        return linked

    def _descend(self, parent: int | str, name: str, path: str, depth: int) -> None:
        if isinstance(parent, str):
            try:
                self.directory(os.path.join(parent, name), f"{path}/", depth + 1)
            except FileNotFoundError:
                pass  # deleted meanwhile
            except OSError:
                self.obstacles.append(path)
            return
        try:
            fd = os.open(name, READ_DIRECTORY, dir_fd=parent)
        except FileNotFoundError:
            return  # deleted meanwhile, so it is no longer part of the tree
        except OSError:
            self.obstacles.append(path)
            return
        try:
            self.directory(fd, f"{path}/", depth + 1)
        finally:
            os.close(fd)

    def _file(self, parent: int | str, name: str, path: str) -> None:
        try:
            place, above = (os.path.join(parent, name), None) if isinstance(parent, str) else (name, parent)
            fd = os.open(place, READ, dir_fd=above)
        except FileNotFoundError:
            return
        except OSError:
            self.obstacles.append(path)
            return
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or (found.st_nlink > 1 and not self._allow_hard_links):
                self.obstacles.append(path)
                return
            self._charge(found.st_size)
            self._mark(path, found)
            parts: list[bytes] | None = [] if path in self._keep and found.st_size <= self._most else None
            size, digest = _hash(fd, f"{self.root}/{path}", found, parts)
            if parts is not None:
                self.kept[path] = KeptFile(data=b"".join(parts), mark=mark_of(found))
        finally:
            os.close(fd)
        record = FileRecord(path=path, executable=bool(found.st_mode & stat.S_IXUSR), size=size, sha256=digest)
        if path == SIGNATURE_FILE:
            self.signature = record
        else:
            self.files.append(record)

    def _mark(self, path: str, found: os.stat_result) -> None:
        if self._marks is None:
            return
        if last_change(found) > self._settled_before:
            self._marks = None
        else:
            self._marks.append((path.rstrip("/"), mark_of(found)))

    def _counted(self, found: Iterable[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        for entry in found:
            self._entries += 1
            if self._entries > MAX_ENTRIES:
                what = "files, directories and links in one skill"
                raise LimitExceededError(what, MAX_ENTRIES, self._entries, "keep large data outside the skill")
            yield entry

    def _charge(self, size: int) -> None:
        self._bytes += size
        if self._bytes > MAX_BYTES:
            raise LimitExceededError("bytes in one skill", MAX_BYTES, self._bytes, "keep large data outside the skill")
        if len(self.files) >= MAX_FILES:
            raise LimitExceededError(
                "files in one skill", MAX_FILES, len(self.files) + 1, "keep large data outside the skill"
            )


def _hash(fd: int, path: str, found: os.stat_result, parts: list[bytes] | None) -> tuple[int, str]:
    """Return size and hash of an open file. If `parts` is a list, append the bytes of the file to it."""
    key = (path, found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)
    if parts is None and (known := _cache.get(key)) is not None:
        return found.st_size, known
    whole = hashlib.sha256()
    size = 0
    # Read at most one byte more than the counted size: a file that grows meanwhile must not escape the limit.
    while size <= found.st_size and (chunk := os.read(fd, min(_CHUNK, found.st_size + 1 - size))):
        whole.update(chunk)
        size += len(chunk)
        if parts is not None:
            parts.append(chunk)
    digest = whole.hexdigest()
    after = os.fstat(fd)
    if (
        last_change(after) < settled_before()
        and size == found.st_size
        and (after.st_mtime_ns, after.st_ctime_ns) == (found.st_mtime_ns, found.st_ctime_ns)
    ):
        if len(_cache) >= _CACHE_ENTRIES:
            _cache.clear()
        _cache[key] = digest
    return size, digest
