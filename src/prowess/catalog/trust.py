"""The trusted projects and packages of this user, and the projects that the user refused.

Skills in a project or package are instructions from strangers until the user trusts it. So a missing or damaged store
means that nothing is trusted. A store that other users could have written is not used. It is outside of every project.

A project is trusted by its path and by its directory's inode number. If the directory is moved away and replaced by
another one, the trust is lost. Device numbers are not compared, because they change when a machine restarts. A copy, a
new clone or a worktree of a project must be trusted again. A refusal is bound in the same way.

A package is trusted by its name, its version and its record: the hash of RECORD of a Python distribution, or the hashes
of the skills' files of a node package. Another version or another record must be trusted again.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.bounded_read import read_at_most
from prowess._internal.files.file_lock import locked
from prowess._internal.places import OTHERS_WRITE, TRUST_FILE, cache_home, ensure_private_directory, prowess_home
from prowess.catalog.ownership import stranger_in_project

if TYPE_CHECKING:
    from collections.abc import Callable

_VERSION = 1
_MAX_BYTES = 4 * 1024 * 1024


_Row = tuple[str, int | None]  # (time of the decision, inode of the directory); without an inode, any inode is accepted
_HEX = 64  # digits of a SHA-256


class TrustedPackage:
    """A package as it was trusted. `kind` is `python` or `node`.

    `record` is the SHA-256 (lower-case hex) of RECORD; empty for a node package, whose `files` map each file of its
    skills to its SHA-256. For a Python distribution `files` is empty.
    """

    __slots__ = ("files", "kind", "name", "record", "since", "version")

    def __init__(
        self,
        *,
        kind: str,
        name: str,
        version: str,
        record: str = "",
        files: dict[str, str] | None = None,
        since: str = "",
    ) -> None:
        self.kind, self.name, self.version = kind, name, version
        self.record, self.files = record, files or {}
        self.since = since

    @property
    def key(self) -> tuple[str, str]:
        """The kind and the name. At most one version of a package is trusted."""
        return self.kind, self.name

    def as_row(self) -> dict[str, object]:
        """Return the package as it is stored."""
        row = {"kind": self.kind, "name": self.name, "version": self.version, "since": self.since}
        return {**row, "record": self.record, "files": self.files}


class _Rows:
    """The contents of the store."""

    __slots__ = ("packages", "refused", "trusted")

    def __init__(self) -> None:
        self.trusted: dict[str, _Row] = {}
        self.refused: dict[str, _Row] = {}
        self.packages: dict[tuple[str, str], TrustedPackage] = {}


class _UnreadableError(Exception):
    """The store exists and cannot be used; the message gives the reason."""


def _identity(real: str) -> int | None:
    """Return the inode number of a directory, or None if the directory is in the cache.

    Directories in the cache may be created again with new inode numbers. Their paths contain a digest of the content,
    so the path is enough to identify them.
    """
    return None if real.startswith(f"{os.path.realpath(cache_home())}{os.sep}") else os.stat(real).st_ino


class TrustStore:
    """The decisions of this user, in one JSON file (`PROWESS_HOME/trust.json`, mode 0600).

    Every method reads the file again, so that a decision made in another process takes effect at once.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = os.path.abspath(path) if path else os.path.join(prowess_home(), TRUST_FILE)

    @property
    def problem(self) -> str | None:
        """Why the store cannot be used, or None. A missing store is not a problem."""
        try:
            self._read()
        except _UnreadableError as fault:
            return str(fault)
        return None

    def is_trusted(self, real_path: str) -> bool:
        """Whether the directory at `real_path` was trusted. Trust in a parent or child directory does not count."""
        return self._holds(real_path, lambda rows: rows.trusted)

    def is_refused(self, real_path: str) -> bool:
        """Whether the user refused to trust the directory at `real_path`."""
        return self._holds(real_path, lambda rows: rows.refused)

    def listed(self) -> tuple[str, ...]:
        """Return the real paths of all trusted projects, sorted; empty if the store cannot be used."""
        return tuple(sorted(self._rows().trusted))

    def refused(self) -> tuple[str, ...]:
        """Return the real paths of all refused projects, sorted; empty if the store cannot be used."""
        return tuple(sorted(self._rows().refused))

    def packages(self) -> dict[tuple[str, str], TrustedPackage]:
        """Return the trusted packages by kind and name, sorted; empty if the store cannot be used."""
        return dict(sorted(self._rows().packages.items()))

    def trust(self, path: str) -> str:
        """Trust a directory and return its real path. The directory may already be trusted, or refused.

        Raises:
            NotADirectoryError: there is no such directory.
            PermissionError: the directory or a skill folder in it belongs to another user or is writable by everybody.
            OSError: the store cannot be used or written; it is unchanged.
        """
        real = _existing(path)
        if (why := stranger_in_project(real)) is not None:
            raise PermissionError(1, f"{real} cannot be trusted: {why}", path)

        def decide(rows: _Rows) -> bool:
            refused = rows.refused.pop(real, None) is not None
            return _note(rows.trusted, real) or refused

        self._change(decide)
        return real

    def refuse(self, path: str) -> str:
        """Record that the user does not trust a directory, and return its real path. Raises as `trust`."""
        real = _existing(path)

        def decide(rows: _Rows) -> bool:
            trusted = rows.trusted.pop(real, None) is not None
            return _note(rows.refused, real) or trusted

        self._change(decide)
        return real

    def revoke(self, path: str) -> bool:
        """Forget the decision about a directory, even a missing one. Return whether it existed. Raises as `trust`."""
        names = {os.path.realpath(path), os.path.abspath(path)}

        def decide(rows: _Rows) -> bool:
            known = [decided.pop(name, None) for decided in (rows.trusted, rows.refused) for name in names]
            return any(row is not None for row in known)

        return os.path.lexists(self.path) and self._change(decide)

    def trust_package(self, package: TrustedPackage) -> None:
        """Trust this version of a package, instead of every other version. Raises OSError as `trust`."""

        def decide(rows: _Rows) -> bool:
            package.since = package.since or _now()
            rows.packages[package.key] = package
            return True

        self._change(decide)

    def revoke_package(self, key: tuple[str, str]) -> bool:
        """Forget the trust in the package with this kind and name. Return whether it was trusted. Raises as `trust`."""
        return os.path.lexists(self.path) and self._change(lambda rows: rows.packages.pop(key, None) is not None)

    def _holds(self, path: str, decided: Callable[[_Rows], dict[str, _Row]]) -> bool:
        try:
            real = os.path.realpath(path)
            row = decided(self._read()).get(real)
            return row is not None and row[1] in (None, os.stat(real).st_ino)
        except (_UnreadableError, OSError):
            return False

    def _rows(self) -> _Rows:
        try:
            return self._read()
        except _UnreadableError:
            return _Rows()

    def _change(self, decide: Callable[[_Rows], bool]) -> bool:
        """Read, change and write the store under its lock. `decide` returns whether it changed anything."""
        ensure_private_directory(os.path.dirname(self.path))
        with locked(f"{self.path}.lock"):
            try:
                rows = self._read()
            except _UnreadableError as fault:
                # A damaged store is not overwritten, because the user may want to recover its contents.
                raise OSError(f"{fault}; repair or remove it, then try again") from None
            if changed := decide(rows):
                self._write(rows)
        return changed

    def _write(self, rows: _Rows) -> None:
        document = {
            "version": _VERSION,
            "trusted": _as_list(rows.trusted),
            "refused": _as_list(rows.refused),
            "packages": [package.as_row() for _, package in sorted(rows.packages.items())],
        }
        text = f"{json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)}\n"
        data = text.encode("utf-8", "surrogateescape")
        if len(data) > _MAX_BYTES:
            raise OSError(f"the trust store {self.path} would be too large; revoke packages that are not used any more")
        write_atomically(self.path, data)

    def _read(self) -> _Rows:
        """Return the contents; empty without a store. Raises _UnreadableError if the file cannot be used."""
        try:
            fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return _Rows()
        except OSError as fault:
            raise self._unreadable(os.strerror(fault.errno or 0)) from None
        try:
            self._require_own(os.fstat(fd))
            data = read_at_most(fd, _MAX_BYTES + 1)
        except OSError as fault:
            raise self._unreadable(os.strerror(fault.errno or 0)) from None
        finally:
            os.close(fd)
        return self._parsed(data)

    def _require_own(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise self._unreadable("it is not a regular file")
        if found.st_mode & OTHERS_WRITE:
            raise self._unreadable("others can write it (make its mode 0600)")
        if hasattr(os, "getuid") and found.st_uid not in (os.getuid(), 0):
            raise self._unreadable(f"it belongs to user {found.st_uid}")

    def _parsed(self, data: bytes) -> _Rows:
        if len(data) > _MAX_BYTES:
            raise self._unreadable("it is too large")
        rows = _Rows()
        try:
            document = json.loads(data.decode("utf-8", "surrogateescape"))
            if document["version"] != _VERSION:
                raise self._unreadable(f"it has version {document['version']!r}, this program knows {_VERSION}")
            rows.trusted = _projects(document["trusted"])
            rows.refused = _projects(document.get("refused", []))
            packages = [_package(row) for row in document.get("packages", [])]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise self._unreadable("it is damaged") from None
        rows.packages = {package.key: package for package in packages}
        return rows

    def _unreadable(self, why: str) -> _UnreadableError:
        return _UnreadableError(f"the trust store {self.path} cannot be used, so no project is trusted: {why}")


def _existing(path: str) -> str:
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        raise NotADirectoryError(20, "not a directory, so it cannot be trusted", path)
    return real


def _note(decided: dict[str, _Row], real: str) -> bool:
    """Record a decision about a directory. Return whether it is new."""
    inode = _identity(real)
    known = real in decided and decided[real][1] == inode
    if not known:
        decided[real] = (_now(), inode)
    return not known


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _as_list(decided: dict[str, _Row]) -> list[dict[str, object]]:
    return [{"path": path, "since": since, "inode": inode} for path, (since, inode) in sorted(decided.items())]


def _projects(rows: list[dict[str, object]]) -> dict[str, _Row]:
    """Return the stored projects. Raises TypeError, KeyError or AttributeError if a row is damaged."""
    decided: dict[str, _Row] = {}
    for row in rows:
        path, since, inode = row["path"], row["since"], row.get("inode")
        if not (isinstance(path, str) and isinstance(since, str) and isinstance(inode, int | None)):
            raise TypeError(path)
        decided[path] = (since, inode)
    return decided


def _package(row: dict[str, object]) -> TrustedPackage:
    """Return a stored package. Raises TypeError, KeyError or AttributeError if the row is damaged."""
    texts = {name: row[name] for name in ("kind", "name", "version", "since", "record")}
    files = row["files"]
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise TypeError(files)
    hashes = [str(texts["record"])] if texts["kind"] == "python" else list(files.values())
    if not hashes or not all(isinstance(one, str) and len(one) == _HEX for one in hashes):
        raise TypeError(hashes)
    return TrustedPackage(files=files, **texts)  # type: ignore[arg-type]  # every value was checked to be a string
