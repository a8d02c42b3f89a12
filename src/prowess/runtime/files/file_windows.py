"""Parts of large files that were read whole before: paging through a file costs its slices, not the file for each.

What a file is, is found when it is read whole. As long as its mark is the same, its bytes are; a file that was changed
within the last two seconds is not remembered. Source of the rule: `prowess._internal.files.file_mark`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot, check_relative
from prowess._internal.files.file_mark import last_change, mark_of, settled_before
from prowess.errors import UnsafePathError
from prowess.runtime.files.slices import DEFAULT_LIMIT, window

if TYPE_CHECKING:
    from prowess._internal.files.contained import OpenedFile
    from prowess._internal.files.file_mark import Mark
    from prowess._internal.files.tree_digest import TreeManifest

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
