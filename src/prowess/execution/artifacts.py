"""Copy the files that a script left in /out to the host: only regular files, counted, measured, with safe names.

The directory is read through a descriptor, after the last process of the run has ended. So no file can change between
check and copy. A refused file is not copied and is named in a notice.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import stat
from typing import TYPE_CHECKING

from prowess._internal.files.open_flags import NEW_FILE, READ, READ_DIRECTORY
from prowess._internal.places import make_directory
from prowess._internal.text.terminal_text import is_unicode, printable_line
from prowess.execution.result import Artifact, ExecNotice

if TYPE_CHECKING:
    from prowess.execution.request import ExecLimits

MAX_DEPTH = 8
MAX_ENTRIES = 1000
MAX_NOTICES = 16

_CHUNK = 1 << 20

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".html": "text/html",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".webp": "image/webp",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".zip": "application/zip",
}


def collect(out_fd: int, destination: str, limits: ExecLimits) -> tuple[tuple[Artifact, ...], tuple[ExecNotice, ...]]:
    """Copy the accepted files of the directory `out_fd` to `destination`.

    `destination` is created only if there is a file to copy. Copies have mode 0600, whatever mode the script set.

    Raises:
        OSError: the destination cannot be written.
    """
    harvest = _Harvest(destination, limits)
    harvest.directory(out_fd, "", 0)
    return tuple(harvest.artifacts), harvest.all_notices()


class _Harvest:
    def __init__(self, destination: str, limits: ExecLimits) -> None:
        self.artifacts: list[Artifact] = []
        self._destination, self._limits = destination, limits
        self._notices: list[ExecNotice] = []
        self._refused = 0
        self._beyond: dict[str, int] = {}  # reason -> number of files that were over a limit of the run
        self._bytes = 0

    def directory(self, fd: int, prefix: str, depth: int) -> None:
        with os.scandir(fd) as entries:
            # Do not hold the names of a huge directory in memory: it is refused anyway.
            names = [entry.name for entry in itertools.islice(entries, MAX_ENTRIES + 1)]
        for name in sorted(names[:MAX_ENTRIES], key=os.fsencode):
            path = prefix + name
            try:
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except PermissionError:
                self._refuse(path, "it cannot be read")
                continue
            if why := self._fault(path, found, depth):
                self._refuse(path, why)
            elif stat.S_ISDIR(found.st_mode):
                try:
                    below = os.open(name, READ_DIRECTORY, dir_fd=fd)
                except PermissionError:
                    self._refuse(path, "it cannot be read")
                    continue
                try:
                    self.directory(below, f"{path}/", depth + 1)
                finally:
                    os.close(below)
            elif over := self._over(found.st_size):
                # Files over a limit may be many. Count them for a single notice.
                self._beyond[over] = self._beyond.get(over, 0) + 1
            else:
                self._file(fd, name, path)
        if len(names) > MAX_ENTRIES:
            self._refuse(f"{prefix}...", f"a directory has more than {MAX_ENTRIES} entries")

    def all_notices(self) -> tuple[ExecNotice, ...]:
        messages = [notice.message for notice in self._notices]
        if self._refused > len(messages):
            messages.append(f"{_files(self._refused - len(messages), 'more ')} left behind")
        messages += [f"{_files(count)} left behind: {why}" for why, count in self._beyond.items()]
        return tuple(ExecNotice(code="artifact_refused", message=message) for message in messages)

    def _fault(self, path: str, found: os.stat_result, depth: int) -> str | None:
        mode = found.st_mode
        if path != printable_line(path) or not is_unicode(path):
            return "its name holds characters that cannot be shown"
        if stat.S_ISDIR(mode):
            return "it is nested too deep" if depth >= MAX_DEPTH else None
        if stat.S_ISLNK(mode):
            return "it is a link"
        if not stat.S_ISREG(mode):
            return "it is not a regular file"
        if found.st_nlink > 1:
            return "it has a second hard link"
        return None

    def _over(self, size: int) -> str | None:
        if len(self.artifacts) >= self._limits.out_files:
            return f"there are more than {self._limits.out_files} files"
        if self._bytes + size > self._limits.out_bytes:
            return f"together the files are larger than {self._limits.out_bytes} bytes"
        return None

    def _refuse(self, path: str, why: str) -> None:
        self._refused += 1
        if len(self._notices) < MAX_NOTICES:
            message = f"{printable_line(path)} was left behind: {why}"
            self._notices.append(ExecNotice(code="artifact_refused", message=message))

    def _file(self, parent: int, name: str, path: str) -> None:
        try:
            source = os.open(name, READ, dir_fd=parent)
        except PermissionError:
            self._refuse(path, "it cannot be read")
            return
        try:
            target = os.path.join(self._destination, *path.split("/"))
            make_directory(os.path.dirname(target))
            size, digest = _copy(source, target)
        finally:
            os.close(source)
        self._bytes += size
        self.artifacts.append(
            Artifact(name=path, size=size, digest=digest, media_type=media_type(path), path=target),
        )


def _files(count: int, more: str = "") -> str:
    return f"{count} {more}file was" if count == 1 else f"{count} {more}files were"


def media_type(path: str) -> str:
    """Return the media type for the file extension, or `application/octet-stream` for an unknown extension."""
    return MEDIA_TYPES.get(os.path.splitext(path)[1].lower(), "application/octet-stream")


def _copy(source: int, target: str) -> tuple[int, str]:
    whole = hashlib.sha256()
    size = 0
    with open(os.open(target, NEW_FILE, 0o600), "wb") as out:
        while chunk := os.read(source, _CHUNK):
            whole.update(chunk)
            size += len(chunk)
            out.write(chunk)
    return size, f"sha256:{whole.hexdigest()}"
