"""Bytes of one file of a loaded skill: inside the skill, a plain file, and the bytes that were hashed at load.

Parts of large files that were read whole before are read alone: paging through a file costs its slices, not the file
for each. What a file is, is found when it is read whole. As long as its mark is the same, its bytes are; a file that
was changed within the last two seconds is not remembered. Source of the rule: `prowess._internal.files.file_mark`.

A slice is a part of a file's bytes: where it begins, where it ends, and how to go on. Offsets and limits count bytes.
In text a border that falls inside a character is moved back to its beginning, so that slices taken one after the other
at `next_offset` add up to the exact text; a slice always makes progress.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.files.file_mark import last_change, mark_of, settled_before
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

_LONGEST = 4  # bytes of one character
_CONTINUATION_MASK, _CONTINUATION = 0xC0, 0x80  # a byte 10xxxxxx continues a character (RFC 3629)


class Slice(Struct, frozen=True, kw_only=True):
    """Bytes `offset` up to `end` of a file of `size` bytes."""

    data: bytes
    offset: int
    end: int
    size: int

    @property
    def truncated(self) -> bool:
        """Whether something follows."""
        return self.end < self.size

    @property
    def next_offset(self) -> int | None:
        """Where to go on, or None at the end."""
        return self.end if self.truncated else None


def window(offset: int, limit: int, size: int) -> tuple[int, int]:
    """Return where the bytes begin and end in which both slices can be cut as if the whole file were there."""
    start = max(min(offset, size) - _LONGEST, 0)
    return start, min(start + _LONGEST + limit + _LONGEST, size)


def moved(part: Slice, start: int, size: int) -> Slice:
    """Return a slice of a window as the slice of the file of `size` bytes in which the window begins at `start`."""
    return replace(part, offset=part.offset + start, end=part.end + start, size=size)


def slice_bytes(data: bytes, offset: int, limit: int) -> Slice:
    """Cut at any byte; an offset beyond the end gives an empty slice."""
    start = min(offset, len(data))
    end = min(start + limit, len(data))
    return Slice(data=data[start:end], offset=start, end=end, size=len(data))


def slice_text(data: bytes, offset: int, limit: int, *, stop: int | None = None) -> Slice:
    """Cut valid UTF-8 at characters; `stop` is an end that is not passed, itself at the border of a character."""
    last = len(data) if stop is None else stop
    start = _border(data, min(offset, last))
    end = _border(data, min(start + limit, last))
    if end == start < last:
        end = start + 1  # the limit is smaller than one character: give that one whole
        while end < last and _continues(data[end]):
            end += 1
    return Slice(data=data[start:end], offset=start, end=end, size=len(data))


def _border(data: bytes, position: int) -> int:
    while 0 < position < len(data) and _continues(data[position]):
        position -= 1
    return position


def _continues(byte: int) -> bool:
    return byte & _CONTINUATION_MASK == _CONTINUATION


MIN_BYTES = DEFAULT_LIMIT  # a smaller file is one slice
_MAX_KNOWN = 10_000


class VerifiedWindow(Struct, frozen=True, kw_only=True):
    """The bytes of a file from `start` on; `digest`, `size` and `is_text` (it is UTF-8) are of the whole file."""

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


_known: dict[tuple[str, str], _Known] = {}  # (root, path); each value is replaced as one, so threads need no lock


def settled_mark(file: OpenedFile) -> Mark | None:
    """Return the mark of an open file; None if it was changed just now, or since it was opened."""
    now = os.fstat(file.fd)
    return mark_of(now) if mark_of(now) == mark_of(file.stat) and last_change(now) < settled_before() else None


def remember(root: str, path: str, data: bytes, digest: str, mark: Mark | None) -> None:
    """Keep what was found of a file that was read whole and verified; `mark` is of the moment after that."""
    if mark is None or len(data) <= MIN_BYTES:
        return
    if len(_known) >= _MAX_KNOWN:
        _known.clear()
    _known[root, path] = _Known(mark=mark, digest=digest, is_text=_is_text(data))


def read_window(root: str, manifest: TreeManifest, path: str, offset: int, limit: int) -> VerifiedWindow | None:
    """Return the part of a file that `offset` and `limit` need, or None where it has to be read whole."""
    normalised = "/".join(check_relative(path))
    known, record = _known.get((root, normalised)), manifest.find(normalised)
    if known is None or record is None or known.digest != f"sha256:{record.sha256}":
        return None
    try:
        with ContainedRoot(root) as contained, contained.open(path) as file:
            if mark_of(file.stat) != known.mark:
                return None
            start, end = window(offset, limit, file.size)
            data = file.read(end - start, start)
            if len(data) != end - start or mark_of(os.fstat(file.fd)) != known.mark:
                return None
    except (OSError, UnsafePathError):
        return None  # whoever reads it whole says what is wrong
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
_LEFT_OUT = ".git"  # belongs to no digest, so to no skill
_MAX_SUGGESTIONS = 3


class VerifiedFile(Struct, frozen=True, kw_only=True):
    """A whole file: `path` is normalised, `digest` is `sha256:` and 64 hex digits of `data`."""

    path: str
    data: bytes
    digest: str


def read_verified(skill: ActiveSkill, manifest: TreeManifest, path: str) -> VerifiedFile:
    """Read one file of a skill and compare it with what was loaded.

    Raises:
        UnsafePathError: the path could leave the skill, or a link, a hard link or a special file stands there.
        ResourceNotFoundError: no such file; with the nearest paths.
        NotAFileError: a directory; with what it holds.
        LimitExceededError: over 16 MiB.
        DigestChangedError: edited, or added, since the skill was loaded.
    """
    normalised = "/".join(check_relative(path))
    if _LEFT_OUT in normalised.split("/"):
        raise ResourceNotFoundError(skill.name, path)
    try:
        with ContainedRoot(skill.root_dir) as root:
            data, mark = _bytes_below(root, skill.name, path)
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
    """Return the file with the digest of its bytes."""
    return VerifiedFile(path=path, data=data, digest=f"sha256:{hashlib.sha256(data).hexdigest()}")


def read_whole(file: OpenedFile, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read an open file to its end.

    Raises:
        LimitExceededError: over `limit` bytes.
    """
    size = file.size
    if size <= limit:
        data = file.read(limit + 1)  # one more: it may grow while it is read
        size = max(size, len(data))
        if size <= limit:
            return data
    raise LimitExceededError(f"bytes of {file.path!r}", limit, size, "a script of the skill can process it")


def nearest(asked: str, paths: Iterable[str]) -> tuple[str, ...]:
    """Return up to three paths that may have been meant: the same file name elsewhere, else similar spellings."""
    known = list(paths)
    name = asked.rsplit("/", 1)[-1].casefold()
    same_name = [path for path in known if path.rsplit("/", 1)[-1].casefold() == name]
    similar = same_name or near_words(asked[:200], known[:2000], most=_MAX_SUGGESTIONS, cutoff=0.6)
    return tuple(similar[:_MAX_SUGGESTIONS])


def _bytes_below(root: ContainedRoot, skill: str, path: str) -> tuple[bytes, Mark | None]:
    try:
        opened = root.open(path)
    except IsADirectoryError:
        raise NotAFileError(skill, path, _entries(root, path)) from None
    with opened:
        return read_whole(opened), settled_mark(opened)


def _entries(root: ContainedRoot, path: str) -> tuple[str, ...]:
    names = [f"{name}/" if kind == "directory" else name for name, kind in root.entries(path) if name != _LEFT_OUT]
    if len(names) > MAX_LISTED_ENTRIES:
        return (*names[:MAX_LISTED_ENTRIES], f"and {len(names) - MAX_LISTED_ENTRIES} more")
    return tuple(names)
