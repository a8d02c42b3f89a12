"""Unpacks an archive into a private directory, after all of it was checked. Everything or nothing is written.

Refused are: links, devices and other special files; absolute paths, `..`, NUL, backslashes and names of Windows
devices; two paths that are equal if case and the Unicode form are ignored; encrypted entries; more than 20 000 files,
64 MiB packed, 512 MiB unpacked or 100 times the packed size. An archive in the archive stays a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prowess._internal.files.tree_digest import MAX_BYTES
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.sources.archives.entry import DAMAGED, MAX_PACKED, MAX_RATIO
from prowess.distribution.sources.archives.tar_format import TarFormat, is_tar
from prowess.distribution.sources.archives.zip_format import ZipFormat
from prowess.distribution.sources.portable_paths import PortablePaths
from prowess.distribution.sources.staged_tree import StagedTree
from prowess.errors import DistributionError, IntegrityError, LimitExceededError, SkillError

if TYPE_CHECKING:
    from prowess.distribution.sources.archives.entry import ArchiveFormat


def unpack_archive(data: bytes, into: str, name: str, *, what: str, digest: str | None = None) -> StagedTree:
    """Unpack a zip, tar or tar.gz into the new directory `into/<name>`. The format is known by its first bytes.

    `what` names the archive in messages, for example its URL. A given `digest` is compared first.

    Raises:
        IntegrityError: the archive has another digest.
        UnsafePathError: a link, a special file, or a path that is not safe on every system.
        LimitExceededError: too many files or bytes.
        DistributionError: the archive is damaged, encrypted, or in another format.
    """
    if digest is not None and (actual := sha256_of(data)) != digest:
        raise IntegrityError(what, digest, actual)
    if len(data) > MAX_PACKED:
        raise LimitExceededError(f"bytes of {what}", MAX_PACKED, len(data))
    archive = _format_of(data, what)
    try:
        _check(archive, len(data), what)
        with StagedTree(into, name) as staged:
            for entry, parts in archive:
                if not entry.is_directory:
                    staged.write(entry.path, parts, executable=entry.executable)
    except DAMAGED as fault:
        if isinstance(fault, SkillError):  # an unsafe path is a ValueError too
            raise
        raise DistributionError(f"{what} cannot be unpacked: {fault}") from fault
    return staged


def _format_of(data: bytes, what: str) -> ArchiveFormat:
    if data.startswith(b"PK"):
        return ZipFormat(data)
    if is_tar(data):
        return TarFormat(data)
    raise DistributionError(f"{what} cannot be unpacked: it is no zip, tar or tar.gz archive")


def _check(archive: ArchiveFormat, packed: int, what: str) -> None:
    """Read the whole archive once and raise if anything in it is refused."""
    paths = PortablePaths(what)
    size = 0
    most = min(MAX_BYTES, MAX_RATIO * packed)
    for entry, parts in archive:
        if entry.is_directory:
            paths.add_directory(entry.path)
            continue
        paths.add_file(entry.path)
        if size + entry.size > most:
            raise LimitExceededError(f"unpacked bytes of {what}", most, size + entry.size)
        for part in parts:
            size += len(part)
            if size > most:
                raise LimitExceededError(f"unpacked bytes of {what}", most, None)
