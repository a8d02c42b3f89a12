"""Reads files of a loaded skill: only regular files inside the skill, and only the bytes that were hashed at load.

A large file is read whole and verified once. After that, only the requested part is read, so paging through the file
does not read it again for each slice. The verified digest stays valid while the file's mark is unchanged. A file that
was changed within the last two seconds is not remembered (reason: `prowess._internal.files.file_mark`).

A slice is a range of a file's bytes. Offsets and limits count bytes. In text, a boundary inside a character moves back
to the start of that character. Slices read one after another, each from the previous `next_offset`, join to the exact
text, and every slice makes progress.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.files.file_mark import last_change, mark_of, settled_before
from prowess._internal.files.tree_digest import is_left_out
from prowess._internal.text.near_words import near_words
from prowess.errors import (
    DigestChangedError,
    LimitExceededError,
    NotAFileError,
    ResourceNotFoundError,
    UnavailableError,
    UnsafePathError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.files.contained import OpenedFile
    from prowess._internal.files.file_mark import Mark
    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.runtime.state import ActiveSkill

DEFAULT_LIMIT = 64 * 1024  # bytes

_LONGEST = 4  # bytes of the longest UTF-8 character
_CONTINUATION_MASK, _CONTINUATION = 0xC0, 0x80  # bytes 10xxxxxx continue a character (RFC 3629)


class Slice(Struct, frozen=True, kw_only=True):
    """Bytes `offset` to `end` (exclusive) of a file of `size` bytes."""

    data: bytes
    offset: int
    end: int
    size: int

    @property
    def truncated(self) -> bool:
        """Whether the file continues after this slice."""
        return self.end < self.size

    @property
    def next_offset(self) -> int | None:
        """The offset of the next slice; None at the end of the file."""
        return self.end if self.truncated else None


def window(offset: int, limit: int, size: int) -> tuple[int, int]:
    """Return start and end of the bytes needed to cut a byte or text slice as if the whole file were present."""
    start = max(min(offset, size) - _LONGEST, 0)
    return start, min(start + _LONGEST + limit + _LONGEST, size)


def moved(part: Slice, start: int, size: int) -> Slice:
    """Convert a slice of a window that begins at `start` into the same slice of the file of `size` bytes."""
    return replace(part, offset=part.offset + start, end=part.end + start, size=size)


def slice_bytes(data: bytes, offset: int, limit: int) -> Slice:
    """Cut a slice at any byte. An offset beyond the end gives an empty slice."""
    start = min(offset, len(data))
    end = min(start + limit, len(data))
    return Slice(data=data[start:end], offset=start, end=end, size=len(data))


def slice_text(data: bytes, offset: int, limit: int, *, stop: int | None = None) -> Slice:
    """Cut a slice of valid UTF-8 at character boundaries.

    The slice does not go beyond `stop`, which must be a character boundary itself; None means the end of the data.
    """
    last = len(data) if stop is None else stop
    start = _border(data, min(offset, last))
    end = _border(data, min(start + limit, last))
    if end == start < last:
        end = start + 1  # the limit is smaller than the next character: return that character whole
        while end < last and _continues(data[end]):
            end += 1
    return Slice(data=data[start:end], offset=start, end=end, size=len(data))


def _border(data: bytes, position: int) -> int:
    while 0 < position < len(data) and _continues(data[position]):
        position -= 1
    return position


def _continues(byte: int) -> bool:
    return byte & _CONTINUATION_MASK == _CONTINUATION


MIN_BYTES = DEFAULT_LIMIT  # smaller files fit into one slice
_MAX_KNOWN = 10_000


class VerifiedWindow(Struct, frozen=True, kw_only=True):
    """Part of a verified file, from `start` on. `digest`, `size` and `is_text` (valid UTF-8) are of the whole file."""

    path: str
    data: bytes
    digest: str
    start: int
    size: int
    is_text: bool


class _Known(Struct, frozen=True, kw_only=True):
    mark: Mark
    digest: str
    is_text: bool


_known: dict[tuple[str, str], _Known] = {}  # by (root, path); values are replaced whole, so threads need no lock


def settled_mark(file: OpenedFile) -> Mark | None:
    """Return the mark of an open file; None if the file was changed within two seconds or since it was opened."""
    now = os.fstat(file.fd)
    return mark_of(now) if mark_of(now) == mark_of(file.stat) and last_change(now) < settled_before() else None


def remember(root: str, path: str, data: bytes, digest: str, mark: Mark | None) -> None:
    """Remember a file that was read whole and verified. `mark` must be taken after the reading."""
    if mark is None or len(data) <= MIN_BYTES:
        return
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[root, path] = _Known(mark=mark, digest=digest, is_text=_is_text(data))


def read_window(root: str, manifest: TreeManifest, path: str, offset: int, limit: int) -> VerifiedWindow | None:
    """Return the part of a file that `offset` and `limit` need; None if the file must be read whole."""
    normalised = "/".join(check_relative(path))
    known, record = _known.get((root, normalised)), manifest.find(normalised)
    if known is None or record is None or known.digest != f"sha256:{record.sha256}":
        return None
    try:
        with ContainedRoot(root) as contained, _opened(contained, path, manifest) as file:
            if mark_of(file.stat) != known.mark:
                return None
            start, end = window(offset, limit, file.size)
            data = file.read(end - start, start)
            if len(data) != end - start or mark_of(os.fstat(file.fd)) != known.mark:
                return None
    except (OSError, UnsafePathError):
        return None  # reading the whole file raises the right error
    return VerifiedWindow(
        path=normalised, data=data, digest=known.digest, start=start, size=file.size, is_text=known.is_text
    )


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_LISTED_ENTRIES = 50
_MAX_SUGGESTIONS = 3


class VerifiedFile(Struct, frozen=True, kw_only=True):
    """A whole file. `path` is normalised; `digest` is `sha256:` and 64 hex digits."""

    path: str
    data: bytes
    digest: str


def read_verified(skill: ActiveSkill, manifest: TreeManifest, path: str) -> VerifiedFile:
    """Read one file of a skill and check its digest against the loaded one.

    Only a file that the skill's package recorded may have a second hard link.

    Raises:
        UnsafePathError: the path could leave the skill, or names a symbolic link, a special file, or a file with a
            second hard link that no package recorded.
        ResourceNotFoundError: the skill has no such file; carries the nearest paths.
        NotAFileError: the path names a directory; carries its entries.
        LimitExceededError: the file is larger than 16 MiB.
        DigestChangedError: the file was edited or added after the load.
        UnavailableError: the file cannot be read.
    """
    normalised = "/".join(check_relative(path))
    if is_left_out(normalised):
        raise ResourceNotFoundError(skill.name, path)
    try:
        with ContainedRoot(skill.root_dir) as root:
            data, mark = _bytes_below(root, skill.name, path, manifest)
    except FileNotFoundError:
        raise ResourceNotFoundError(skill.name, path, nearest(path, (file.path for file in manifest.files))) from None
    except OSError as fault:
        raise UnavailableError(f"{path!r} of skill {skill.name!r}", reason=fault.strerror) from fault
    file = verified(normalised, data)
    record = manifest.find(normalised)
    if record is None or f"sha256:{record.sha256}" != file.digest:
        raise DigestChangedError(skill.name, normalised)
    remember(skill.root_dir, normalised, data, file.digest, mark)
    return file


def verified(path: str, data: bytes) -> VerifiedFile:
    """Return the file with the digest of `data`."""
    return VerifiedFile(path=path, data=data, digest=f"sha256:{hashlib.sha256(data).hexdigest()}")


def read_whole(file: OpenedFile, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read an open file to its end. Raise LimitExceededError if it is larger than `limit` bytes."""
    size = file.size
    if size <= limit:
        data = file.read(limit + 1)  # one byte more, because the file may grow while it is read
        size = max(size, len(data))
        if size <= limit:
            return data
    raise LimitExceededError(f"bytes of {file.path!r}", limit, size, "a script of the skill can process it")


def nearest(asked: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Suggest up to three paths: those with the same file name, otherwise those with a similar spelling."""
    known = list(paths)
    name = asked.rsplit("/", 1)[-1].casefold()
    same_name = [path for path in known if path.rsplit("/", 1)[-1].casefold() == name]
    similar = same_name or near_words(asked[:200], known[:2000], most=_MAX_SUGGESTIONS, cutoff=0.6)
    return tuple(similar[:_MAX_SUGGESTIONS])


def _opened(root: ContainedRoot, path: str, manifest: TreeManifest) -> OpenedFile:
    return root.open(path, allow_hard_links=manifest.is_recorded)


def _bytes_below(root: ContainedRoot, skill: str, path: str, manifest: TreeManifest) -> tuple[bytes, Mark | None]:
    try:
        opened = _opened(root, path, manifest)
    except IsADirectoryError:
        raise NotAFileError(skill, path, _entries(root, path)) from None
    with opened:
        return read_whole(opened), settled_mark(opened)


def _entries(root: ContainedRoot, path: str) -> tuple[str, ...]:
    above = "".join(f"{part}/" for part in check_relative(path))
    covered = ((name, kind) for name, kind in root.entries(path) if not is_left_out(f"{above}{name}"))
    names = [f"{name}/" if kind == "directory" else name for name, kind in covered]
    if len(names) > MAX_LISTED_ENTRIES:
        return (*names[:MAX_LISTED_ENTRIES], f"and {len(names) - MAX_LISTED_ENTRIES} more")
    return tuple(names)
