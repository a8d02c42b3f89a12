"""Which projects a person has trusted: kept by real path, outside every project.

Skills that merely lie in a directory someone works in are instructions from strangers until that person says
otherwise, so absence, doubt and damage all mean no. A store that others could have written is not believed.
"""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime

from prowess._internal.atomic_write import write_atomically
from prowess._internal.file_lock import locked
from prowess._internal.places import ensure_private_directory, prowess_home

_VERSION = 1
_MAX_BYTES = 4 * 1024 * 1024
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _UnreadableError(Exception):
    """The store exists and cannot be believed; the text says why."""


class TrustStore:
    """The trusted projects of this user, in one JSON file (`PROWESS_HOME/trust.json`, mode 0600).

    Each question reads the file, so that what another process decides counts at once.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = os.path.abspath(path) if path else os.path.join(prowess_home(), "trust.json")

    @property
    def problem(self) -> str | None:
        """Why the store cannot be believed, None where it can or does not exist."""
        try:
            self._read()
        except _UnreadableError as fault:
            return str(fault)
        return None

    def is_trusted(self, real_path: str) -> bool:
        """Whether this very directory was trusted; one above or below does not count."""
        try:
            return os.path.realpath(real_path) in self._read()
        except _UnreadableError:
            return False

    def listed(self) -> tuple[str, ...]:
        """Return the real paths of all trusted projects, sorted; none where the store cannot be believed."""
        try:
            return tuple(sorted(self._read()))
        except _UnreadableError:
            return ()

    def trust(self, path: str) -> str:
        """Trust a directory and return its real path. Trusting twice is no fault.

        Raises:
            NotADirectoryError: there is no such directory.
            OSError: the store cannot be believed or written; nothing was changed.
        """
        real = os.path.realpath(path)
        if not os.path.isdir(real):
            raise NotADirectoryError(20, "not a directory, so there is nothing to trust", path)
        ensure_private_directory(os.path.dirname(self.path))
        with locked(f"{self.path}.lock"):
            trusted = self._read_to_change()
            trusted.setdefault(real, datetime.now(UTC).isoformat(timespec="seconds"))
            self._write(trusted)
        return real

    def revoke(self, path: str) -> bool:
        """Take trust back, also from a directory that is gone; return whether there was any.

        Raises:
            OSError: as for `trust`.
        """
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

    def _read_to_change(self) -> dict[str, str]:
        try:
            return self._read()
        except _UnreadableError as fault:
            # Written over, a damaged store would lose what it held; that is for its owner to decide.
            raise OSError(f"{fault}; repair or remove it, then try again") from None

    def _write(self, trusted: dict[str, str]) -> None:
        rows = [{"path": path, "since": since} for path, since in sorted(trusted.items())]
        text = json.dumps({"version": _VERSION, "trusted": rows}, ensure_ascii=False, indent=1)
        write_atomically(self.path, f"{text}\n".encode("utf-8", "surrogateescape"))

    def _read(self) -> dict[str, str]:
        """Return real path -> time of the decision; raise `_UnreadableError` where the file cannot be believed."""
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
            raise self._unreadable("it is no regular file")
        if found.st_mode & _OTHERS_WRITE:
            raise self._unreadable("others can write it (make its mode 0600)")
        if hasattr(os, "getuid") and found.st_uid not in (os.getuid(), 0):
            raise self._unreadable(f"it belongs to user {found.st_uid}")

    def _parsed(self, data: bytes) -> dict[str, str]:
        if len(data) > _MAX_BYTES:
            raise self._unreadable("it is too large")
        try:
            document = json.loads(data.decode("utf-8", "surrogateescape"))
            if document["version"] != _VERSION:
                raise self._unreadable(f"it has version {document['version']!r}, this program knows {_VERSION}")
            rows = {row["path"]: row["since"] for row in document["trusted"]}
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._unreadable("it is damaged") from None
        if not all(isinstance(path, str) and isinstance(since, str) for path, since in rows.items()):
            raise self._unreadable("it is damaged")
        return rows

    def _unreadable(self, why: str) -> _UnreadableError:
        return _UnreadableError(f"the trust store {self.path} is not believed, so no project is trusted: {why}")
