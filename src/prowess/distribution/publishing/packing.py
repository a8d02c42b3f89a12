"""Packs a skill into one archive: the same files give the same bytes (see `archive_writer`).

SKILL.md is at the root of the archive (discovery index 0.2.0), or below `prefix` (OCI).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from prowess._internal.files.contained import ContainedRoot
from prowess._internal.files.tree_digest import read_tree
from prowess._internal.text.canonical_json import sha256_of
from prowess.distribution.publishing.archive_writer import tar_gz_of, zip_of
from prowess.distribution.sources.archives.entry import MAX_PACKED
from prowess.errors import IntegrityError, LimitExceededError, UnsafePathError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prowess._internal.files.tree_digest import FileRecord

ArchiveForm = Literal["tar.gz", "zip"]


class PackedFile(Struct, frozen=True, kw_only=True):
    """One file of an archive. `path` is relative with `/`."""

    path: str
    executable: bool
    data: bytes


class PackedSkill(Struct, frozen=True, kw_only=True):
    """All files of a skill, sorted, and the digest of its tree."""

    files: tuple[PackedFile, ...]
    tree: str


def read_skill_files(directory: str) -> PackedSkill:
    """Read the files that an archive of a skill contains: those of its digest, and its signature.

    Raises:
        UnsafePathError: the skill has a link, a special file or an unreadable file, so it has no digest.
        LimitExceededError: it is larger than an archive may be.
        IntegrityError: a file was changed while it was read.
    """
    manifest = read_tree(directory)
    if manifest.obstacles:
        reason = "a link, a special file or an unreadable file cannot be packed; put the file itself there"
        raise UnsafePathError(manifest.obstacles[0], reason)
    if (size := sum(file.size for file in manifest.files)) > MAX_PACKED:
        raise LimitExceededError("bytes in one archive", MAX_PACKED, size, "keep large data outside the skill")
    with ContainedRoot(directory) as root:
        files = [_read(root, record) for record in manifest.files]
        if (signature := manifest.signature) is not None:
            files.append(_read(root, signature))
    return PackedSkill(files=tuple(sorted(files, key=lambda file: file.path.encode())), tree=manifest.content_digest)


def pack(
    files: Sequence[PackedFile], form: ArchiveForm = "tar.gz", *, prefix: str = "", compress: bool = False
) -> bytes:
    """Return the archive. With `compress`, its bytes depend on the compression library of this Python.

    Raises:
        LimitExceededError: the archive is larger than one that can be installed.
    """
    data = (zip_of if form == "zip" else tar_gz_of)(files, prefix, compress=compress)
    if len(data) > MAX_PACKED:
        raise LimitExceededError("bytes in one archive", MAX_PACKED, len(data), "keep large data outside the skill")
    return data


def _read(root: ContainedRoot, record: FileRecord) -> PackedFile:
    try:
        with root.open(record.path) as opened:
            data = opened.read(record.size + 1)
    except OSError:
        data = b""
    actual = sha256_of(data)
    if actual != (expected := f"sha256:{record.sha256}"):
        raise IntegrityError(f"{root.root}/{record.path}", expected, actual)
    return PackedFile(path=record.path, executable=record.executable, data=data)
