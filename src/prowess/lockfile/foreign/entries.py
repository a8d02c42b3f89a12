"""The records of a lock of another tool, in terms of Prowess: a source, the state of it, and a hash to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Never

from msgspec import Struct

from prowess.diagnostics import Location
from prowess.errors import LockfileError

HashKind = Literal["skills", "skills-site", "git-tree", "apm-package", "apm-tree", "apm-files", "toolhive", "hlock"]


class RecordedHash(Struct, frozen=True, kw_only=True):
    """A hash of a skill's files by the rules of another tool (`prowess.lockfile.foreign.hashes`).

    `expected` is the hash in the lock; for `skills-site` it may also be the digest of the artifact. For `apm-files` it
    is empty, and `files` has the hash of each file.
    """

    kind: HashKind
    expected: str = ""
    files: Mapping[str, str] = {}


class ForeignSkill(Struct, frozen=True, kw_only=True):
    """One skill of another tool's lock.

    `source` is a reference without a version; a local path is relative to the directory of the lock. `state` is the
    commit, digest, version or branch that was installed, None for the newest. `is_pinned` means that the state itself
    determines the bytes (a commit or the digest of an artifact). `path` is the skill's directory in the source, None if
    the lock does not have it. `artifact` is the digest of the bytes as fetched. `hashes` are all hashes of its files.
    """

    name: str
    source: str
    state: str | None = None
    is_pinned: bool = False
    path: str | None = None
    version: str | None = None
    artifact: str | None = None
    hashes: tuple[RecordedHash, ...] = ()
    requires: tuple[str, ...] = ()
    is_requested: bool = True
    unsigned: bool = False

    @property
    def can_be_checked(self) -> bool:
        """Whether the lock has anything that determines the bytes."""
        return self.is_pinned or bool(self.hashes) or self.artifact is not None


class ForeignLock(Struct, frozen=True, kw_only=True):
    """A lock of another tool. `unmapped` are its parts that `prowess.lock` has no place for."""

    format: str
    skills: tuple[ForeignSkill, ...]
    unmapped: tuple[str, ...] = ()


def table_of(value: object, path: str, what: str) -> Mapping[str, object]:
    """Return `value` if it is a mapping with texts as keys. Raises LockfileError."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        refuse(path, f"{what} is not a mapping")
    return value


def items_of(value: object, path: str, what: str) -> list[Mapping[str, object]]:
    """Return `value` if it is a list of mappings; an absent one is empty. Raises LockfileError."""
    if value is None:
        return []
    if not isinstance(value, list):
        refuse(path, f"{what} is not a list")
    return [table_of(item, path, f"an entry of {what}") for item in value]


def text_of(table: Mapping[str, object], key: str, path: str, what: str) -> str | None:
    """Return the text of a key, None if it is absent or empty. Raises LockfileError if it is no text."""
    value = table.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        refuse(path, f"{key} of {what} is not a text")
    return value


def needed_text(table: Mapping[str, object], key: str, path: str, what: str) -> str:
    """Return the text of a key. Raises LockfileError if it is absent."""
    if (value := text_of(table, key, path, what)) is None:
        refuse(path, f"{what} has no {key}")
    return value


def refuse(path: str, reason: str) -> Never:
    """Raise LockfileError for a lock of another tool."""
    raise LockfileError(Location(path=path), reason)
