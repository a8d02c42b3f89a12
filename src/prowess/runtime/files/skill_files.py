"""Bytes of one file of a loaded skill: inside the skill, a plain file, and the bytes that were hashed at load."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.text.near_words import near_words
from prowess.errors import (
    DigestChangedError,
    LimitExceededError,
    NotAFileError,
    ResourceNotFoundError,
    UnavailableError,
)
from prowess.runtime.files.file_windows import remember, settled_mark

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prowess._internal.files.contained import OpenedFile
    from prowess._internal.files.file_mark import Mark
    from prowess._internal.files.tree_digest import TreeManifest
    from prowess.runtime.state import ActiveSkill

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
