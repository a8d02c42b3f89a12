"""The trusted projects of this user, stored by real path and outside of every project.

Skills in a project directory are instructions from strangers until the user trusts the project. So a missing or damaged
store means that no project is trusted. A store that other users could have written is not used.

A project is trusted by its path and by its directory's inode number. If the directory is moved away and replaced by
another one, the trust is lost. Device numbers are not compared, because they change when a machine restarts. A copy or
a new clone of a project must be trusted again.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime

from prowess._internal.files.atomic_write import write_atomically
from prowess._internal.files.file_lock import locked
from prowess._internal.places import cache_home, ensure_private_directory, prowess_home
from prowess.catalog.ownership import stranger_in_project

_VERSION = 1
_MAX_BYTES = 4 * 1024 * 1024
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


_Row = tuple[str, int | None]  # (time of the decision, inode of the directory); without an inode, any inode is accepted


class _UnreadableError(Exception):
    """The store exists and cannot be used; the message gives the reason."""


def _identity(real: str) -> int | None:
    """Return the inode number of a directory, or None if the directory is in the cache.

    Directories in the cache may be created again with new inode numbers. Their paths contain a digest of the content,
    so the path is enough to identify them.
    """
    return None if real.startswith(f"{os.path.realpath(cache_home())}{os.sep}") else os.stat(real).st_ino


class TrustStore:
    """The trusted projects of this user, in one JSON file (`PROWESS_HOME/trust.json`, mode 0600).

    Every method reads the file again, so that a decision made in another process takes effect at once.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = os.path.abspath(path) if path else os.path.join(prowess_home(), "trust.json")

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
        try:
            real = os.path.realpath(real_path)
            row = self._read().get(real)
            return row is not None and row[1] in (None, os.stat(real).st_ino)
        except (_UnreadableError, OSError):
            return False

    def listed(self) -> tuple[str, ...]:
        """Return the real paths of all trusted projects, sorted; empty if the store cannot be used."""
        try:
            return tuple(sorted(self._read()))
        except _UnreadableError:
            return ()

    def trust(self, path: str) -> str:
        """Trust a directory and return its real path. The directory may already be trusted.

        Raises:
            NotADirectoryError: there is no such directory.
            PermissionError: the directory or a skill folder in it belongs to another user or is writable by everybody.
            OSError: the store cannot be used or written; it is unchanged.
        """
        real = os.path.realpath(path)
        if not os.path.isdir(real):
            raise NotADirectoryError(20, "not a directory, so it cannot be trusted", path)
        if (why := stranger_in_project(real)) is not None:
            raise PermissionError(1, f"{real} cannot be trusted: {why}", path)
        ensure_private_directory(os.path.dirname(self.path))
        with locked(f"{self.path}.lock"):
            trusted = self._read_to_change()
            inode = _identity(real)
            if real not in trusted or trusted[real][1] != inode:
                trusted[real] = (datetime.now(UTC).isoformat(timespec="seconds"), inode)
            self._write(trusted)
        return real

    def revoke(self, path: str) -> bool:
        """Revoke the trust in a directory, even a missing one. Return whether it was trusted. Raises as `trust`."""
        if not os.path.lexists(self.path):
            return False
        with locked(f"{self.path}.lock"):
            trusted = self._read_to_change()
            known = [name for name in {os.path.realpath(path), os.path.abspath(path)} if name in trusted]
            for name in known:
                del trusted[name]
            if known:
                self._write(trusted)
        return bool(known)

    def _read_to_change(self) -> dict[str, _Row]:
        try:
            return self._read()
        except _UnreadableError as fault:
            # A damaged store is not overwritten, because the user may want to recover its contents.
            raise OSError(f"{fault}; repair or remove it, then try again") from None

    def _write(self, trusted: dict[str, _Row]) -> None:
        rows = [{"path": path, "since": since, "inode": inode} for path, (since, inode) in sorted(trusted.items())]
        text = json.dumps({"version": _VERSION, "trusted": rows}, ensure_ascii=False, indent=1, allow_nan=False)
        write_atomically(self.path, f"{text}\n".encode("utf-8", "surrogateescape"))

    def _read(self) -> dict[str, _Row]:
        """Return the rows by real path; empty without a store. Raises _UnreadableError if the file cannot be used."""
        try:
            fd = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        except FileNotFoundError:
            return {}
        except OSError as fault:
            raise self._unreadable(os.strerror(fault.errno or 0)) from None
        try:
            self._require_own(os.fstat(fd))
            data = os.read(fd, _MAX_BYTES + 1)
        except OSError as fault:
            raise self._unreadable(os.strerror(fault.errno or 0)) from None
        finally:
            os.close(fd)
        return self._parsed(data)

    def _require_own(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise self._unreadable("it is not a regular file")
        if found.st_mode & _OTHERS_WRITE:
            raise self._unreadable("others can write it (make its mode 0600)")
        if hasattr(os, "getuid") and found.st_uid not in (os.getuid(), 0):
            raise self._unreadable(f"it belongs to user {found.st_uid}")

    def _parsed(self, data: bytes) -> dict[str, _Row]:
        if len(data) > _MAX_BYTES:
            raise self._unreadable("it is too large")
        try:
            document = json.loads(data.decode("utf-8", "surrogateescape"))
            if document["version"] != _VERSION:
                raise self._unreadable(f"it has version {document['version']!r}, this program knows {_VERSION}")
            rows = {row["path"]: (row["since"], row.get("inode")) for row in document["trusted"]}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise self._unreadable("it is damaged") from None
        for path, (since, inode) in rows.items():
            if not (isinstance(path, str) and isinstance(since, str) and isinstance(inode, int | None)):
                raise self._unreadable("it is damaged")
        return rows

    def _unreadable(self, why: str) -> _UnreadableError:
        return _UnreadableError(f"the trust store {self.path} cannot be used, so no project is trusted: {why}")
